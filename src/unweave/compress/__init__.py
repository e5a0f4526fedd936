"""Compress: describe rows by fewer numbers, with the least squared error.

`pca` and `truncated_svd` hold the two estimators, closed forms on the engine; `streaming` and `streaming_svd` are their
`partial_fit`, a covariance and a sketch that blocks of rows are added to (and, of the covariance, taken out again).
`how_many` reads the number of components off the singular values, `quality` how much they keep. `matrices` tells rank,
range, null space and the error of an approximation, `dimension` how many numbers rows really differ in, and `features`
selects columns instead of making new ones (its names are imported from there). `coding` writes rows as sums of few
atoms: sparse codes, dictionaries, sparse components. `bases` are known beforehand (waves, wavelets), and compared there
with those that are learned. `patches` cuts images into squares and puts them together again. `ica` unmixes
independent sources; `autoencoder` is PCA by the optimisers of `solve/optimise`. `tensors` has CP, for arrays of more
than two sides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.compress.patches import from_patches, patches, psnr  # at once: the file has the name of the function
from unweave.registry import lazily

if TYPE_CHECKING:
    from unweave.compress.autoencoder import LinearAutoencoder
    from unweave.compress.bases import Comparison, OrthonormalBasis, compare_bases
    from unweave.compress.coding import DictionaryLearning, SparseCoder, SparsePCA, lasso_path
    from unweave.compress.dimension import (
        Concentration,
        IntrinsicDimension,
        distance_concentration,
        intrinsic_dimension,
    )
    from unweave.compress.ica import ICA
    from unweave.compress.matrices import ApproximationError, approximation_error, matrix_rank, null_space, range_basis
    from unweave.compress.pca import PCA
    from unweave.compress.tensors import CP, factor_match
    from unweave.compress.truncated_svd import TruncatedSVD

__all__ = [
    "CP",
    "ICA",
    "PCA",
    "ApproximationError",
    "Comparison",
    "Concentration",
    "DictionaryLearning",
    "IntrinsicDimension",
    "LinearAutoencoder",
    "OrthonormalBasis",
    "SparseCoder",
    "SparsePCA",
    "TruncatedSVD",
    "approximation_error",
    "compare_bases",
    "distance_concentration",
    "factor_match",
    "from_patches",
    "intrinsic_dimension",
    "lasso_path",
    "matrix_rank",
    "null_space",
    "patches",
    "psnr",
    "range_basis",
]

# One job does not load what another needs: each name is imported when it is asked for.
_HOMES = {
    "CP": "tensors",
    "ICA": "ica",
    "PCA": "pca",
    "ApproximationError": "matrices",
    "Comparison": "bases",
    "Concentration": "dimension",
    "DictionaryLearning": "coding",
    "IntrinsicDimension": "dimension",
    "LinearAutoencoder": "autoencoder",
    "OrthonormalBasis": "bases",
    "SparseCoder": "coding",
    "SparsePCA": "coding",
    "TruncatedSVD": "truncated_svd",
    "approximation_error": "matrices",
    "compare_bases": "bases",
    "distance_concentration": "dimension",
    "factor_match": "tensors",
    "intrinsic_dimension": "dimension",
    "lasso_path": "coding",
    "matrix_rank": "matrices",
    "null_space": "matrices",
    "range_basis": "matrices",
}

__getattr__, _ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
