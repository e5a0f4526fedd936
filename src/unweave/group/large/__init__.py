"""Cluster more rows than fit in memory: rows come in blocks, and little of them is kept.

`blocks` opens an array, a mapped file or a sequence of blocks and hands out one dense, checked block at a time.
`bfr` reads them once into statistics (`reading` is its scheme, `sets` the statistics), `cure` draws a sample, merges it
and labels the rest, and `coresets` draws weighted rows that stand for all of them.
"""
