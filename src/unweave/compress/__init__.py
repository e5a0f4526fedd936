"""Compress: describe rows by fewer numbers, with the least squared error.

`pca` and `truncated_svd` hold the two estimators, closed forms on the engine; `streaming` and `streaming_svd` are their
`partial_fit`, a covariance and a sketch that blocks of rows are added to. `ica` unmixes independent sources;
`autoencoder` is PCA by the optimisers of `solve/optimise`.
"""

from unweave.compress.autoencoder import LinearAutoencoder
from unweave.compress.ica import ICA
from unweave.compress.pca import PCA
from unweave.compress.truncated_svd import TruncatedSVD

__all__ = ["ICA", "PCA", "LinearAutoencoder", "TruncatedSVD"]
