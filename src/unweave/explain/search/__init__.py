"""Search: documents, words and queries as points of one space.

`lsa` is the model (a truncated SVD that answers questions), `queries` turns the words of a query into columns;
:mod:`unweave.linalg.nearest` finds the nearest of many points.
"""
