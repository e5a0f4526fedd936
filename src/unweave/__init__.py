"""Matrix factorisations X ≈ U·Z under any loss and any constraints.

A table X (n×m) is explained by codes U (n×k) and components Z (k×m): a loss says what ≈ means, a penalty on each side
says which U and Z are allowed, and one engine fits every such sentence.

>>> import numpy as np
>>> import unweave
>>> X = np.outer([1.0, 2.0, 3.0], [3.0, 0.0, 1.0])
>>> model = unweave.NMF(1, random_state=0).fit(X)
>>> bool(np.allclose(model.codes_ @ model.components_, X, atol=1e-3))
True

Public names are loaded when first used, so ``import unweave`` itself costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unweave import judge, losses, penalties, select
    from unweave.complete import (
        EASE,
        ImplicitALS,
        MatrixCompletion,
        SingularValueThresholding,
        SoftImpute,
        TableImputer,
    )
    from unweave.complete.ratings import ratings
    from unweave.complete.ratings.features import features
    from unweave.compress import PCA, TruncatedSVD
    from unweave.data.named import NamedTable
    from unweave.data.readers import read
    from unweave.data.recipe import prepare
    from unweave.explain import (
        LDA,
        LSA,
        NMF,
        PLSA,
        ConvexNMF,
        OrthogonalNMF,
        SemiNMF,
        SimplexTopics,
        SymmetricNMF,
        TextTable,
    )
    from unweave.factorization import Factorization
    from unweave.group import (
        BFR,
        CURE,
        Agglomerative,
        BernoulliMixture,
        Divisive,
        GaussianMixture,
        HiddenMarkov,
        KMeans,
        SoftClustering,
        SpectralClustering,
        anomaly_score,
        coreset,
        quantize,
        segment,
    )
    from unweave.judge import split_ratings
    from unweave.parallel import get_num_threads, set_num_threads
    from unweave.persist import load

__version__ = "0.1.0.dev0"

__all__ = [
    "Factorization",
    "PCA",
    "TruncatedSVD",
    "NMF",
    "SemiNMF",
    "ConvexNMF",
    "OrthogonalNMF",
    "SymmetricNMF",
    "TextTable",
    "LSA",
    "LDA",
    "PLSA",
    "SimplexTopics",
    "KMeans",
    "coreset",
    "BFR",
    "CURE",
    "Agglomerative",
    "Divisive",
    "SpectralClustering",
    "SoftClustering",
    "GaussianMixture",
    "BernoulliMixture",
    "HiddenMarkov",
    "select",
    "anomaly_score",
    "segment",
    "quantize",
    "MatrixCompletion",
    "ImplicitALS",
    "EASE",
    "SoftImpute",
    "SingularValueThresholding",
    "TableImputer",
    "read",
    "NamedTable",
    "prepare",
    "ratings",
    "features",
    "split_ratings",
    "judge",
    "load",
    "losses",
    "penalties",
    "set_num_threads",
    "get_num_threads",
    "__version__",
]

# Where each public name lives; None marks a submodule that is public itself.
_HOMES: dict[str, str | None] = {
    "Factorization": "unweave.factorization",
    "PCA": "unweave.compress",
    "TruncatedSVD": "unweave.compress",
    "NMF": "unweave.explain",
    "SemiNMF": "unweave.explain",
    "ConvexNMF": "unweave.explain",
    "OrthogonalNMF": "unweave.explain",
    "SymmetricNMF": "unweave.explain",
    "TextTable": "unweave.explain",
    "LSA": "unweave.explain",
    "LDA": "unweave.explain",
    "PLSA": "unweave.explain",
    "SimplexTopics": "unweave.explain",
    "KMeans": "unweave.group",
    "coreset": "unweave.group",
    "BFR": "unweave.group",
    "CURE": "unweave.group",
    "Agglomerative": "unweave.group",
    "Divisive": "unweave.group",
    "SpectralClustering": "unweave.group",
    "SoftClustering": "unweave.group",
    "GaussianMixture": "unweave.group",
    "BernoulliMixture": "unweave.group",
    "HiddenMarkov": "unweave.group",
    "select": None,
    "anomaly_score": "unweave.group",
    "segment": "unweave.group",
    "quantize": "unweave.group",
    "MatrixCompletion": "unweave.complete",
    "ImplicitALS": "unweave.complete",
    "EASE": "unweave.complete",
    "SoftImpute": "unweave.complete",
    "SingularValueThresholding": "unweave.complete",
    "TableImputer": "unweave.complete",
    "read": "unweave.data.readers",
    "NamedTable": "unweave.data.named",
    "prepare": "unweave.data.recipe",
    "ratings": "unweave.complete.ratings",
    "features": "unweave.complete.ratings.features",
    "split_ratings": "unweave.judge",
    "judge": None,
    "load": "unweave.persist",
    "losses": None,
    "penalties": None,
    "set_num_threads": "unweave.parallel",
    "get_num_threads": "unweave.parallel",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'unweave' has no attribute {name!r}")
    home = _HOMES[name]
    value = import_module(f"unweave.{name}") if home is None else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
