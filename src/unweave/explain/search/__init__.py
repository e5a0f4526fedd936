"""Search: documents, words and queries as points of one space.

`lsa` is the model (a truncated SVD that answers questions), `index` finds the nearest of many points and turns the
words of a query into columns.
"""
