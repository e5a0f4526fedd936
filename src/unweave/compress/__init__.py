"""Compress: describe rows by fewer numbers, with the least squared error.

`pca` and `truncated_svd` hold the two estimators, closed forms on the engine; `streaming` and `streaming_svd` are their
`partial_fit`, a covariance and a sketch that blocks of rows are added to. `tensors` has CP, for arrays of more than two
sides.
"""

from unweave.compress.pca import PCA
from unweave.compress.tensors import CP, factor_match
from unweave.compress.truncated_svd import TruncatedSVD

__all__ = ["CP", "PCA", "TruncatedSVD", "factor_match"]
