"""Reads files with one entry per line: user, item, value and maybe a time, or user and item alone.

`read.read_triples` and `read.read_pairs` ask `fields` which field of a line is which and what separates them. `read`
turns blocks of lines into columns, numbers the ids of users and items, and makes a sparse table.
"""
