"""Reads delimited text: CSV, TSV and their relatives.

`read.read_csv` walks through the modules in this order. `dialect` looks at the first lines and finds the delimiter, the
decimal sign and the header. `columns` decides what each column holds and which one names the rows. `chunks` cuts the
file into pieces of whole records, and `parse` turns each piece into numbers and words. Large files of plain numbers go
through the loop in `compiled` instead, which hands every piece that it does not understand back to `parse`. `read`
appends the pieces to one growing array and makes the table.
"""
