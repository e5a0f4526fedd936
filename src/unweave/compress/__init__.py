"""Compress: describe rows by fewer numbers, with the least squared error.

`pca` and `truncated_svd` hold the two estimators, closed forms on the engine; `streaming` and `streaming_svd` are their
`partial_fit`, a covariance and a sketch that blocks of rows are added to. `coding` writes rows as sums of few atoms:
sparse codes, dictionaries, sparse components. `bases` are known beforehand (waves, wavelets), and compared there with
those that are learned. `patches` cuts images into squares and puts them together again. `ica` unmixes independent
sources; `autoencoder` is PCA by the optimisers of `solve/optimise`. `tensors` has CP, for arrays of more than two
sides.
"""

from unweave.compress.autoencoder import LinearAutoencoder
from unweave.compress.bases import Comparison, OrthonormalBasis, compare_bases
from unweave.compress.coding import DictionaryLearning, SparseCoder, SparsePCA, lasso_path
from unweave.compress.ica import ICA
from unweave.compress.patches import from_patches, patches, psnr
from unweave.compress.pca import PCA
from unweave.compress.tensors import CP, factor_match
from unweave.compress.truncated_svd import TruncatedSVD

__all__ = [
    "CP",
    "ICA",
    "PCA",
    "Comparison",
    "DictionaryLearning",
    "LinearAutoencoder",
    "OrthonormalBasis",
    "SparseCoder",
    "SparsePCA",
    "TruncatedSVD",
    "compare_bases",
    "factor_match",
    "from_patches",
    "lasso_path",
    "patches",
    "psnr",
]
