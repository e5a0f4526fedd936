"""The classes a saved model may hold: a fixed table of ours, so that a file never says what is imported.

A new estimator, loss, penalty or update is one name here; ``tests/persist`` fails for one that is missing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Where estimators live. The rooms above this one are imported by these fixed words and no others.
ESTIMATORS: dict[str, str] = {
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
    "BFR": "unweave.group",
    "CURE": "unweave.group",
    "Agglomerative": "unweave.group",
    "Divisive": "unweave.group",
    "SpectralClustering": "unweave.group",
    "SoftClustering": "unweave.group",
    "GaussianMixture": "unweave.group",
    "BernoulliMixture": "unweave.group",
    "HiddenMarkov": "unweave.group",
    "MatrixCompletion": "unweave.complete",
    "ImplicitALS": "unweave.complete",
    "EASE": "unweave.complete",
    "SoftImpute": "unweave.complete",
    "SingularValueThresholding": "unweave.complete",
    "TableImputer": "unweave.complete",
}

_PARTS: dict[str, str] = {
    "unweave.losses": "Squared Weighted Huber Absolute KL ItakuraSaito Logistic Hinge Ordinal Categorical ColumnLosses",
    "unweave.losses.columns": "_Group",
    "unweave.penalties": "Free NonNegative Simplex OneHot Orthonormal UnitNorm Boolean L1Ball L2Ball Sparse Hull Cone "
    "Fixed Ridge L1 ElasticNet Nuclear Both",
    "unweave.updates": "Nearest Flip Procrustes Pursuit ConjugateGradient LeastSquares Coordinate Multiplicative "
    "Reweighted Proximal Mirror ProjectedLeastSquares",
    "unweave.complete.sgd": "SGD",
    "unweave.complete.imputer_columns": "Column",
    "unweave.complete.imputer_layout": "Layout",
    "unweave.complete.imputer_low_rank": "LowRank",
    "unweave.complete.imputer_groups": "Groups",
    "unweave.complete.imputer_gaussian": "Gaussian",
    "unweave.complete.imputer_fill": "Fitted",
    "unweave.explain.text_table": "TextTable",
    "unweave.group.soft.codes": "NearSimplex FreeCentres Centres Relaxed Shares",
    "unweave.solve.problem": "Problem",
    "unweave.solve.plan": "Plan",
    "unweave.solve.history": "History",
    "unweave.solve.certificate": "Certificate",
    "unweave.select.chosen": "Choice",
    "unweave.factorization.door": "Learned",
    "unweave.factorization.stream": "Stream",
}

# name in a file → (module, attribute)
CLASSES: dict[str, tuple[str, str]] = {
    name: (module, name) for module, names in _PARTS.items() for name in names.split()
}


class UnknownClassError(ValueError):
    """A file names a class that is not in the table."""


def library_version() -> str:
    """The version of this library, which files carry."""
    return import_module("unweave").__version__


def estimator_name(model) -> str:
    """The name under which a model is saved; TypeError if it is not one of ours."""
    name = type(model).__name__
    if name not in ESTIMATORS or type(model) is not find_estimator(name):
        raise TypeError(
            f"only estimators of unweave can be saved ({', '.join(ESTIMATORS)}), not {type(model).__module__}.{name}"
        )
    return name


def find_estimator(name: str) -> type:
    """The estimator class of that name.

    >>> find_estimator("PCA").__name__
    'PCA'
    """
    if name not in ESTIMATORS:
        raise UnknownClassError(f"there is no estimator {name!r}")
    return getattr(import_module(ESTIMATORS[name]), name)


def part_name(kind: type) -> str | None:
    """The name of a class of ours that models hold, None for any other.

    >>> from unweave.losses import Huber
    >>> part_name(Huber), part_name(set)
    ('Huber', None)
    """
    name = kind.__name__
    return name if name in CLASSES and find_part(name) is kind else None


def find_part(name: str) -> Any:
    """The class of that name."""
    if name not in CLASSES:
        raise UnknownClassError(f"there is no class {name!r}")
    module, attribute = CLASSES[name]
    return getattr(import_module(module), attribute)
