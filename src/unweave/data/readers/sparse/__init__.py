"""Reads formats that list the entries of a sparse table: MatrixMarket, bags of words, libsvm and baskets.

Each module reads one family. Sizes that a header promises are compared with the length of the file before anything is
allocated, and every matrix passes SciPy's full check of its indices (see `unweave.data.readers.build`).
"""
