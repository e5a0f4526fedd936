"""Compress: describe rows by fewer numbers, with the least squared error.

`pca` and `truncated_svd` hold the two estimators, closed forms on the engine; `streaming` and `streaming_svd` are their
`partial_fit`, a covariance and a sketch that blocks of rows are added to (and, of the covariance, taken out again).
`how_many` reads the number of components off the singular values, `quality` how much they keep. `matrices` tells rank,
range, null space and the error of an approximation, `dimension` how many numbers rows really differ in, and `features`
selects columns instead of making new ones.
"""

from unweave.compress.dimension import Concentration, IntrinsicDimension, distance_concentration, intrinsic_dimension
from unweave.compress.features import SelectByInformation, SelectByPath, SelectByVariance
from unweave.compress.matrices import ApproximationError, approximation_error, matrix_rank, null_space, range_basis
from unweave.compress.pca import PCA
from unweave.compress.truncated_svd import TruncatedSVD

__all__ = [
    "PCA",
    "TruncatedSVD",
    "SelectByVariance",
    "SelectByInformation",
    "SelectByPath",
    "intrinsic_dimension",
    "IntrinsicDimension",
    "distance_concentration",
    "Concentration",
    "matrix_rank",
    "range_basis",
    "null_space",
    "approximation_error",
    "ApproximationError",
]
