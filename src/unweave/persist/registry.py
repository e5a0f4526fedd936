"""Name the classes that a saved model may hold: a fixed table of ours, so that a file never says what is imported.

Estimators are those of :mod:`unweave.registry`; losses, penalties and updates those of their rooms, with what users
registered there. Whatever else a model holds is one name here; ``tests/persist`` fails for one that is missing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from unweave import registry
from unweave.registry import ESTIMATORS

_PARTS: dict[str, str] = {
    "unweave.losses.columns": "_Group",
    "unweave.losses": "ColumnLosses",
    "unweave.penalties": "Both",
    "unweave.complete.ratings.sgd": "SGD",
    "unweave.complete.imputer.columns": "Column TableLayout Layout",  # Layout: as it was called in files saved before
    "unweave.complete.imputer.low_rank": "LowRank",
    "unweave.complete.imputer.groups": "Groups",
    "unweave.complete.imputer.gaussian": "Gaussian",
    "unweave.complete.imputer.fill": "Fitted",
    "unweave.embed.corpus": "Vocabulary",
    "unweave.embed.vectors": "Vectors",
    "unweave.explain.text.table": "TextTable",
    "unweave.group.soft.codes": "NearSimplex FreeCentres Centres Relaxed Shares",  # Centres: in files saved before
    "unweave.predict.trees.nodes": "TreeNodes",
    "unweave.predict.trees.columns": "TreeColumns",
    "unweave.predict.kernels.vectors": "Linear Polynomial",
    "unweave.predict.kernels.strings": "Substrings Spectrum WeightedDegree",
    "unweave.predict.kernels.subsequences": "Subsequences",
    "unweave.predict.kernels.trees": "Trees",
    "unweave.predict.kernels.algebra": "Sum Product PolynomialOf Exponential Normalised",
    "unweave.solve.problem": "Problem",
    "unweave.solve.plan": "Plan",
    "unweave.solve.history": "History",
    "unweave.solve.certificate": "Certificate",
    "unweave.select.choose": "Choice",
    "unweave.objectives.opening": "Learned",
    "unweave.factorization.stream": "Stream",
    "unweave.data.encode": "Part",
    "unweave.predict.learned.columns": "Columns Reader Standard",
    "unweave.predict.learned.representing": "HeldOut",
    "unweave.predict.learned.pipe": "Codes Constant Pipe",
    "unweave.predict.learned.trees": "Boosted Forest",
}

# A class whose own name another one has already says in `_name_in_files` what files call it.
_RENAMED: dict[str, tuple[str, str]] = {
    "GaussianKernel": ("unweave.predict.kernels.vectors", "Gaussian"),
    "LinearPredictor": ("unweave.predict.learned.predictors", "Linear"),
    "SupportVectors": ("unweave.predict.learned.predictors", "Vectors"),
    "GrownTrees": ("unweave.predict.learned.trees", "Trees"),
}

# name in a file → (module, attribute)
CLASSES: dict[str, tuple[str, str]] = {
    **{name: (module, name) for module, names in _PARTS.items() for name in names.split()},
    **_RENAMED,
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
    return registry.find(name)


def part_name(kind: type) -> str | None:
    """The name of a class of ours that models hold, None for any other.

    >>> from unweave.losses import Huber
    >>> part_name(Huber), part_name(set)
    ('Huber', None)
    """
    name = getattr(kind, "_name_in_files", kind.__name__)
    known = name in CLASSES or name in ESTIMATORS or name in _registered()
    return name if known and find_part(name) is kind else None


def find_part(name: str) -> Any:
    """The class of that name; an estimator may be part of another, such as the representation of a predictor."""
    if name not in CLASSES and name in ESTIMATORS:
        return find_estimator(name)
    if name not in CLASSES:
        if name not in (registered := _registered()):
            raise UnknownClassError(f"there is no class {name!r}")
        return registered[name]
    module, attribute = CLASSES[name]
    return getattr(import_module(module), attribute)


def _registered() -> dict[str, type]:
    """Losses, penalties and updates by the names of their classes: those of the package and those that users added."""
    from unweave.losses import LOSSES
    from unweave.penalties import PENALTIES
    from unweave.updates import UPDATES

    return {kind.__name__: kind for kind in (*LOSSES.values(), *PENALTIES.values(), *map(type, UPDATES))}
