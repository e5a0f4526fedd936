"""Compress: fewer columns, least squares."""

from unweave.compress.pca import PCA
from unweave.compress.truncated_svd import TruncatedSVD

__all__ = ["PCA", "TruncatedSVD"]
