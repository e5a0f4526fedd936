"""Learn what a table imputer must know of each column, and write tables of mixed columns as numbers.

Entries are written as numbers in two ways. *Answers*: one number for a numeric column (standardised), one-hot levels
for any other. All predictions are made in answers: means, or probabilities of the levels. *Outputs* are what the
low-rank model predicts linearly: one for a number or two levels, one per threshold (x > l) of an ordinal column, one
per level of any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from unweave.data.mixed import ReadColumn, column_losses, levels_of, positions_of
from unweave.solve.progress import warn_user

LOSSES = ("squared", "huber", "logistic", "ordinal", "categorical")
MOST_LEVELS = 64  # rarer levels of a column tell the models nothing and are never filled in
_SKEWED = 0.75
_WILD = 5.0  # robust deviations from the median, beyond which a value of a huber column counts as just so far out
_POINTS = 201  # of the map to normal scores
# Gauss-Hermite rule for the mean and the variance of a mapped Gaussian
_NODES, _SHARES = np.polynomial.hermite_e.hermegauss(9)
_SHARES = _SHARES / _SHARES.sum()


@dataclass
class Column:
    """Hold what was learned about one column, and write its entries as numbers and back."""

    name: str
    loss: str
    levels: list = field(default_factory=list)  # empty for numeric columns
    whole: bool = False
    centre: float = 0.0
    scale: float = 1.0
    low: float = 0.0
    high: float = 0.0
    knots: NDArray | None = None  # answers and the normal scores they map to
    scores: NDArray | None = None

    @property
    def numeric(self) -> bool:
        return self.loss in ("squared", "huber")

    @property
    def robust(self) -> bool:
        """Tell whether values far out count less."""
        return self.loss == "huber"

    @property
    def ordered(self) -> bool:
        """Tell whether the outputs are thresholds, which share one direction."""
        return self.loss == "ordinal"

    @property
    def width(self) -> int:
        """Count the answers of the column."""
        return 1 if self.numeric else len(self.levels)

    @property
    def n_outputs(self) -> int:
        """Count the outputs of the column."""
        if self.numeric or self.loss == "logistic":
            return 1
        return len(self.levels) - 1 if self.ordered else len(self.levels)

    def answers(self, read: ReadColumn) -> tuple[NDArray, NDArray]:
        """Write a column as answers, 0 where unknown, and say which entries are known."""
        if self.numeric:
            seen = ~read.holes
            standard = np.where(seen, (read.values - self.centre) / self.scale, 0.0)[:, None]
            return np.clip(standard, -_WILD, _WILD) if self.robust else standard, seen
        code = positions_of(read, self.levels)
        return np.equal.outer(code, np.arange(self.width)).astype(np.float64), code >= 0

    def outputs(self, answers: NDArray, scores: bool) -> NDArray:
        """Write answers as outputs; `scores` maps a skewed column to normal scores."""
        if self.numeric:
            return self.to_scores(answers) if scores else answers
        if self.loss == "logistic":
            return answers[:, 1:]
        if self.ordered:
            return answers[:, ::-1].cumsum(axis=1)[:, -2::-1]
        return answers

    def to_scores(self, answers: NDArray) -> NDArray:
        """Map the answers of a skewed column to normal scores; others stay."""
        if self.knots is None or self.scores is None:
            return answers
        return np.interp(answers, self.knots, self.scores)

    def from_scores(self, mean: NDArray, variance: NDArray) -> tuple[NDArray, NDArray]:
        """Find mean and variance of the answer whose score is N(mean, variance)."""
        if self.knots is None or self.scores is None:
            return mean, variance
        points = np.interp(mean[..., None] + np.sqrt(variance)[..., None] * _NODES, self.scores, self.knots)
        first = points @ _SHARES
        return first, np.maximum((points**2) @ _SHARES - first**2, 1e-12)

    def probabilities(self, p: NDArray) -> NDArray:
        """Turn probabilities of the outputs into those of the levels."""
        if self.loss == "logistic":
            return np.hstack([1 - p, p])
        if self.ordered:
            above = np.hstack([np.ones((len(p), 1)), np.minimum.accumulate(p, axis=1), np.zeros((len(p), 1))])
            return above[:, :-1] - above[:, 1:]
        return p / np.maximum(p.sum(axis=1, keepdims=True), 1e-12)

    def value(self, answer: NDArray) -> NDArray:
        """Turn answers into numbers in the units of the data, inside the range observed, or positions of levels."""
        if not self.numeric:
            return answer.argmax(axis=1)
        found = np.clip(answer[:, 0] * self.scale + self.centre, self.low, self.high)
        return np.rint(found) if self.whole else found


def learn_column(read: ReadColumn, loss: str | None) -> Column:
    """Learn levels, centre, scale and range of a column under the loss asked for (None: by its kind)."""
    _need_known_kind(read)
    loss = _loss(read, loss)
    if loss in ("squared", "huber"):
        return _learn_numbers(read, loss)
    levels = levels_of(read, MOST_LEVELS)
    if not levels:
        raise ValueError(f"column {read.name!r} has no observed value and no known levels: drop it, or fill it first")
    if loss == "logistic" and len(levels) > 2:
        raise ValueError(f"column {read.name!r} has {len(levels)} levels; loss 'logistic' takes two: use 'categorical'")
    if len(levels) == 1:
        loss = "categorical"
    elif len(levels) == 2:
        loss = "logistic"
    return Column(read.name, loss, levels, read.whole)


def _loss(read: ReadColumn, loss: str | None) -> str:
    if loss is None:
        if read.kind == "number":
            known = read.values[~read.holes]
            both = known.size > 0 and bool(np.isin(known, (0.0, 1.0)).all()) and known.min() != known.max()
            return "logistic" if both else "squared"
        return {"bool": "logistic", "ordinal": "ordinal", "category": "categorical"}[read.kind]
    if loss not in LOSSES:
        raise ValueError(f"loss of column {read.name!r} is {loss!r}; use one of {', '.join(LOSSES)}")
    if loss in ("squared", "huber") and read.kind != "number":
        raise ValueError(f"column {read.name!r} is not numeric: loss {loss!r} cannot take it; use 'categorical'")
    return loss


def _learn_numbers(read: ReadColumn, loss: str) -> Column:
    known = read.values[~read.holes]
    if not known.size:
        return Column(read.name, loss, whole=read.whole)
    low, high = float(known.min()), float(known.max())
    unit = max(abs(low), abs(high), np.finfo(np.float64).tiny)
    # Least squares wants mean and standard deviation; a robust loss wants the median and its deviation.
    scaled = known / unit
    centre, scale = float(scaled.mean()), float(scaled.std())
    if loss == "huber":
        centre = float(np.median(scaled))
        scale = float(np.median(np.abs(scaled - centre))) * 1.4826 or scale
    if not scale > 1e-12:
        return Column(read.name, loss, [], read.whole, low if low == high else centre * unit, 1.0, low, high)
    column = Column(read.name, loss, [], read.whole, centre * unit, scale * unit, low, high)
    standard = (scaled - centre) / scale
    if loss == "squared" and known.size >= 20 and abs(float((standard**3).mean())) > _SKEWED:
        column.knots, column.scores = _normal_scores(np.sort(standard))
    return column


def _normal_scores(values: NDArray) -> tuple[NDArray, NDArray]:
    """Find distinct quantiles and the normal quantiles they sit at: a monotone map that makes a column Gaussian."""
    share = np.linspace(0, 1, min(values.size, _POINTS))
    knots, first, times = np.unique(np.quantile(values, share), return_index=True, return_counts=True)
    middle = share[first] + (times - 1) * 0.5 * (share[1] - share[0])
    edge = 0.5 / values.size
    return knots, ndtri(np.clip(middle, edge, 1 - edge))


def _need_known_kind(read: ReadColumn) -> None:
    """Raise for a column that is neither numbers nor levels."""
    if read.kind == "other":
        raise TypeError(
            f"column {read.name!r} has the type {read.dtype}, which cannot be imputed: numbers, Booleans, categories "
            "and text can; convert it (dates to numbers, say) or leave it out"
        )


def _as_fitted(read: ReadColumn, column: Column) -> ReadColumn:
    """Return a new column as the kind that was fitted, or raise an error that says what is wrong with it."""
    _need_known_kind(read)
    if not column.numeric:
        return read
    if read.holes.all():
        return replace(read, kind="number", values=np.full(len(read.holes), np.nan), whole=column.whole)
    if read.kind != "number":
        raise ValueError(f"column {read.name!r} was numeric in fit and is not now: convert it to numbers")
    return read


# -- whole tables ------------------------------------------------------------------------------------------------------


@dataclass
class TableLayout:
    """Say where the answers and the outputs of every column are in a table written as numbers."""

    columns: list[Column]

    def _slices(self, widths: list[int]) -> list[slice]:
        stops = np.cumsum(widths)
        return [slice(int(stop - width), int(stop)) for stop, width in zip(stops, widths, strict=True)]

    @cached_property
    def answers(self) -> list[slice]:
        """Find where the answers of each column are."""
        return self._slices([c.width for c in self.columns])

    @cached_property
    def outputs(self) -> list[slice]:
        """Find where the outputs of each column are."""
        return self._slices([c.n_outputs for c in self.columns])

    @cached_property
    def owner(self) -> NDArray:
        """Name the column that each answer belongs to, by its number."""
        return np.repeat(np.arange(len(self.columns)), [c.width for c in self.columns])

    @cached_property
    def numeric(self) -> NDArray:
        """Tell which answers are numbers."""
        return np.array([self.columns[j].numeric for j in self.owner])

    def __getstate__(self) -> dict:
        return {"columns": self.columns}

    @property
    def n_outputs(self) -> int:
        """Count the outputs of all columns."""
        return self.outputs[-1].stop

    def encode(self, read: list[ReadColumn]) -> EncodedTable:
        """Write a table that was read as answers."""
        parts = [column.answers(one) for column, one in zip(self.columns, read, strict=True)]
        return EncodedTable(self, np.hstack([a for a, _ in parts]), np.column_stack([s for _, s in parts]))

    def as_fitted(self, read: list[ReadColumn]) -> list[ReadColumn]:
        """Return new columns as the kinds that were fitted, or raise an error that says what is wrong with one."""
        return [_as_fitted(one, column) for one, column in zip(read, self.columns, strict=True)]

    def warn_of_new_levels(self, read: list[ReadColumn], table: EncodedTable) -> None:
        """Warn of entries whose levels were not there in the fit."""
        for column, one, known in zip(self.columns, read, table.seen.T, strict=True):
            new = int((~known & ~one.holes).sum())
            if new and len(column.levels) < MOST_LEVELS:
                warn_user(
                    f"column {one.name!r} has {new} entries with levels that were not there in fit: they are left as "
                    "they are and tell nothing about the rest of their rows"
                )


Layout = TableLayout  # the name of the class in files that were saved before it was renamed


@dataclass
class EncodedTable:
    """Hold a table of mixed columns written as answers (0 where unknown), and which cells were seen."""

    layout: TableLayout
    answers: NDArray
    seen: NDArray  # n × columns

    def __len__(self) -> int:
        return len(self.answers)

    def without(self, held: NDArray) -> EncodedTable:
        """Hide some cells."""
        seen = self.seen & ~held
        return EncodedTable(self.layout, np.where(seen[:, self.layout.owner], self.answers, 0.0), seen)

    def take(self, rows) -> EncodedTable:
        """Take some rows."""
        return EncodedTable(self.layout, self.answers[rows], self.seen[rows])

    @property
    def answers_seen(self) -> NDArray:
        """Tell which answers are known (n × answers)."""
        return self.seen[:, self.layout.owner]


def losses_of(loss, names: list[str]) -> list[str | None]:
    """List the loss asked for each column; None where it is left to the kind of the column."""
    if isinstance(loss, str) and loss == "auto":
        return [None] * len(names)
    if not isinstance(loss, Mapping):
        raise ValueError(f"loss must be 'auto' or a dict of column names, got {loss!r}")
    return column_losses(loss, names, None)
