"""One way from a raw table to a target: columns → numbers → representation → predictor, fitted in one go.

A `Candidate` says what is to be fitted, a `Pipe` is what was. Representations are models of this library, fitted to the
numbers of the training rows; `REPRESENTATIONS` lists those that are tried by name, and any other model with `transform`
may be given in their place.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from unweave.data.named import NamedTable
from unweave.data.storage import as_dense
from unweave.predict.learned.columns import Columns, Reader, Standard, learn_reader, learn_standard
from unweave.predict.learned.predictors import PREDICTORS
from unweave.registry import find

_KEPT = 0.95  # share of the variance that the axes keep
_MOST_AXES, _MOST_GROUPS, _MOST_PARTS = 50, 32, 20


@dataclass(frozen=True)
class Representation:
    """One sort of representation: its name in a sentence, and how it is made for a table of n rows and d columns.

    `fits(X)` tells whether it can say anything of such a table that the columns do not say. `beside` keeps the columns
    beside what was learned, where that is meant to add to them; `raw` gives the model numbers as they were read, not on
    one scale, with NaN where nothing is known; `trimmed` drops the last codes, which hold next to nothing.
    """

    title: str
    make: Callable[[int, int, int], Any] | None
    fits: Callable[[Any], bool]
    beside: bool = False
    raw: bool = False
    trimmed: bool = False


def _axes(n: int, d: int, seed: int) -> Any:
    return find("PCA")(min(_MOST_AXES, d - 1, max(1, n // 5)), random_state=seed)


def _svd(n: int, d: int, seed: int) -> Any:
    return find("TruncatedSVD")(min(_MOST_AXES, d - 1, max(1, n // 5)), random_state=seed)


def _groups(n: int, d: int, seed: int) -> Any:
    return find("KMeans")(min(_MOST_GROUPS, max(2, n // 20)), random_state=seed)


def _parts(n: int, d: int, seed: int) -> Any:
    return find("NMF")(min(_MOST_PARTS, max(1, d // 2), max(1, n // 5)), random_state=seed)


def _is_array(X: Any) -> bool:
    return isinstance(X, np.ndarray)


REPRESENTATIONS: dict[str, Representation] = {
    "none": Representation("the columns", None, lambda X: True),
    "pca": Representation("principal axes", _axes, lambda X: _is_array(X) and X.shape[1] > 8, trimmed=True),
    "svd": Representation("singular vectors", _svd, lambda X: not _is_array(X) and X.shape[1] > 8),
    "kmeans": Representation("distances to groups", _groups, lambda X: _is_array(X) and len(X) >= 200, beside=True),
    "nmf": Representation(
        "parts", _parts, lambda X: _is_array(X) and X.shape[1] > 8 and bool((X >= 0).all()), raw=True
    ),
    "imputer": Representation(
        "columns whose holes were filled by a model of the table",
        lambda n, d, seed: find("TableImputer")(min(5, max(1, d // 3)), ridge=1.0, random_state=seed),
        lambda X: _is_array(X) and 3 <= X.shape[1] <= 200 and 0.02 < np.isnan(X).mean() < 0.9,
        raw=True,
    ),
}
# What is tried unless asked otherwise: what compiles nothing, is quick, and suits tables of every sort.
USUAL = ("none", "pca", "svd")


@dataclass(frozen=True)
class Candidate:
    """What may be fitted: a representation (by name, or a model), a predictor and its strength."""

    representation: Any
    predictor: str
    strength: float

    @property
    def title(self) -> str:
        """Say it in words.

        >>> Candidate("pca", "linear", 1.0).title
        'linear model (1) on principal axes'
        """
        asked = self.representation
        on = REPRESENTATIONS[asked].title if isinstance(asked, str) else f"codes of {type(asked).__name__}"
        return f"{PREDICTORS[self.predictor].title} ({self.strength:g}) on {on}"


@dataclass
class Codes:
    """A fitted representation, with the scale that its codes are brought to."""

    model: Any
    raw: bool  # whether it was fitted to numbers as they are, NaN where unknown
    beside: bool
    kept: int
    middle: NDArray
    scale: NDArray

    def __call__(self, X: Any, numbers: Any) -> NDArray:
        """Return the codes of rows; `X` is on one scale, `numbers` are as they were read."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = self.model.transform(numbers if self.raw else X)
        codes = as_dense(found)[:, : self.kept]
        codes = (codes - self.middle) / self.scale
        return np.hstack([as_dense(X), codes]) if self.beside else codes


@dataclass
class Pipe:
    """A fitted way from a raw table to a target.

    Attributes
    ----------
    reader : Reader
    standard : Standard or None
        None where the predictor takes numbers as they are.
    codes : Codes or None
    predictor : Linear, Vectors, Forest or Boosted
    classes : array
        The classes that occurred in the rows of the fit, as places among all classes; empty for numbers.
    n_outputs : int
        How many classes there are in all, 1 for numbers.
    """

    reader: Reader
    standard: Standard | None
    codes: Codes | None
    predictor: Any
    classes: NDArray
    n_outputs: int

    def numbers(self, table: NamedTable) -> Any:
        """Return the raw table as numbers."""
        return self.reader.numbers(table)

    def answers(self, numbers: Any) -> NDArray:
        """Return shares of all classes, or numbers, a row for each row of what :meth:`numbers` gave."""
        X = numbers if self.standard is None else self.standard(numbers)
        X = X if self.codes is None else self.codes(X, numbers)
        found = self.predictor.answers(X)
        if found.shape[1] == self.n_outputs:
            return found
        out = np.zeros((len(found), self.n_outputs))
        out[:, self.classes] = found
        return out

    def check(self) -> None:
        """Raise ValueError unless the parts fit together."""
        wide = len(self.reader.owner)
        if self.standard is not None:
            if np.shape(self.standard.middle) != (wide,) or np.shape(self.standard.scale) != (wide,):
                raise ValueError("the scale does not fit the columns")
            wide += len(self.standard.holes)
        if self.codes is not None:
            if np.shape(self.codes.middle) != (self.codes.kept,) or np.shape(self.codes.scale) != (self.codes.kept,):
                raise ValueError("the scale of the codes does not fit them")
            wide = self.codes.kept + (wide if self.codes.beside else 0)
        self.predictor.check(wide)


@dataclass
class Constant:
    """The same answer for every row, where the rows of a fit have one class alone."""

    value: NDArray = field(default_factory=lambda: np.ones(1))
    takes_holes = True
    takes_sparse = True

    def answers(self, X: Any) -> NDArray:
        """Repeat the answer."""
        return np.repeat(self.value[None], X.shape[0], axis=0)

    def check(self, n_columns: int) -> None:
        if np.ndim(self.value) != 1:
            raise ValueError("the constant is no list")


@dataclass
class Prepared:
    """The rows of one fit as numbers, which all candidates share."""

    reader: Reader
    numbers: Any
    standard: Standard
    standardised: Any
    y: NDArray
    classes: NDArray
    n_outputs: int


def prepare_rows(columns: Columns, table: NamedTable, y: NDArray, n_classes: int) -> Prepared:
    """Learn how the columns of these rows become numbers, and write them so; `y` are places of classes, or numbers."""
    reader = learn_reader(columns, table)
    numbers = reader.numbers(table)
    standard = learn_standard(numbers, reader.blocks)
    own = np.unique(y) if n_classes else np.zeros(0, dtype=np.int64)
    return Prepared(reader, numbers, standard, standard(numbers), y, own, max(1, n_classes))


def fit_pipe(candidate: Candidate, rows: Prepared, seed: int) -> Pipe:
    """Fit a candidate to rows that were prepared."""
    way = PREDICTORS[candidate.predictor]
    bare = isinstance(candidate.representation, str) and candidate.representation == "none"
    codes = None if bare else learn_codes(candidate.representation, rows, seed)
    plain = codes is None and way.takes_holes
    X = rows.numbers if plain else rows.standardised if codes is None else codes(rows.standardised, rows.numbers)
    k = len(rows.classes)
    if k == 1:
        return Pipe(rows.reader, rows.standard, None, Constant(), rows.classes, rows.n_outputs)
    y = np.searchsorted(rows.classes, rows.y) if k else rows.y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predictor = way.fit(X, y, k, candidate.strength, seed)
    return Pipe(rows.reader, None if plain else rows.standard, codes, predictor, rows.classes, rows.n_outputs)


def learn_codes(asked: Any, rows: Prepared, seed: int) -> Codes:
    """Fit a representation to the rows."""
    known = REPRESENTATIONS[asked] if isinstance(asked, str) else None
    raw = known is not None and known.raw
    X = rows.numbers if raw else rows.standardised
    model = clone(asked) if known is None else known.make(X.shape[0], X.shape[1], seed)  # type: ignore[misc]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = as_dense(model.fit(X).transform(X))
    kept = _enough(found) if known is not None and known.trimmed else found.shape[1]
    found = found[:, :kept]
    # One scale for all codes of a model, so that directions that matter little stay small.
    spread = float(np.sqrt(found.var(axis=0).max()))
    scale = np.full(kept, spread if spread > 0 else 1.0)
    return Codes(_bare(model), raw, known is not None and known.beside, kept, found.mean(axis=0), scale)


def _enough(codes: NDArray) -> int:
    """Count the axes that hold most of what all hold."""
    total = np.cumsum(codes.var(axis=0))
    return int(np.searchsorted(total, _KEPT * total[-1])) + 1 if total[-1] > 0 else 1


def _bare(model: Any) -> Any:
    """Forget what a model keeps of the rows of its fit, which new rows do not need."""
    for name in ("codes_", "labels_", "uncertainty_"):
        if vars(model).get(name) is not None:
            vars(model)[name] = vars(model)[name][:1]
    return model
