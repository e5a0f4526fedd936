"""Compress: describe rows by fewer numbers, with the least squared error.

`pca` and `truncated_svd` hold the two estimators, closed forms on the engine; `streaming` and `streaming_svd` are their
`partial_fit`, a covariance and a sketch that blocks of rows are added to. `bases` are known beforehand (waves, wavelets),
and compared there with those that are learned.
`partial_fit`, a covariance and a sketch that blocks of rows are added to. `tensors` has CP, for arrays of more than two
sides.
"""

from unweave.compress.bases.compare import Comparison, compare_bases
from unweave.compress.bases.model import OrthonormalBasis
from unweave.compress.bases.tiles import from_tiles, tiles
from unweave.compress.pca import PCA
from unweave.compress.tensors import CP, factor_match
from unweave.compress.truncated_svd import TruncatedSVD

__all__ = ["PCA", "Comparison", "OrthonormalBasis", "TruncatedSVD", "compare_bases", "from_tiles", "tiles"]
`partial_fit`, a covariance and a sketch that blocks of rows are added to. `coding` writes rows as sums of few atoms:
sparse codes, dictionaries, sparse components. `patches` cuts images into squares and puts them together again.
"""

from unweave.compress.coding import DictionaryLearning, SparseCoder, SparsePCA, lasso_path
from unweave.compress.patches import from_patches, patches, psnr
from unweave.compress.pca import PCA
from unweave.compress.truncated_svd import TruncatedSVD

__all__ = [
    "PCA",
    "DictionaryLearning",
    "SparseCoder",
    "SparsePCA",
    "TruncatedSVD",
    "from_patches",
    "lasso_path",
    "patches",
    "psnr",
]
`partial_fit`, a covariance and a sketch that blocks of rows are added to. `ica` unmixes independent sources.
"""

from unweave.compress.ica import ICA
from unweave.compress.pca import PCA
from unweave.compress.truncated_svd import TruncatedSVD

__all__ = ["ICA", "PCA", "TruncatedSVD"]
__all__ = ["CP", "PCA", "TruncatedSVD", "factor_match"]
