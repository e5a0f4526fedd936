"""Cluster rows softly: every row is a mixture of centres, its code says how much of each there is in it.

`model` is the estimator, a sentence on the engine of :mod:`unweave.factorization` about the middle of the table;
`codes` has the updates that find shares, and the penalty that draws their sum to one.
"""

from unweave.group.soft.model import SoftClustering

__all__ = ["SoftClustering"]
