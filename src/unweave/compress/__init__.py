"""Compress: fewer columns, least squares."""

from .pca import PCA
from .truncated_svd import TruncatedSVD

__all__ = ["PCA", "TruncatedSVD"]
