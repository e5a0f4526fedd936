"""Cluster rows in trees: from the bottom up (`agglomerative`) and from the top down (`divisive`).

A fit checks its rows (`unweave.group.distances`), then the one loop runs a scheme that finds joins: Ward and single
linkage of Euclidean rows over tiles of neighbours (`euclidean`), the others in a table of all distances (`table`), or
splits by 2-means. `tree` turns joins into scipy's format and cuts and draws it.
"""
