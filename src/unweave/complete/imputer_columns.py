"""What a table imputer knows of each column, and the two ways its entries are written as numbers.

*Answers*: one number for a numeric column (standardised), one-hot levels for any other. All
predictions are made in answers: means, or probabilities of the levels. *Outputs* are what the low-rank model predicts
linearly: one for a number or two levels, one a threshold (x > l) of an ordinal column, one a level of any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

LOSSES = ("squared", "huber", "logistic", "ordinal", "categorical")
MOST_LEVELS = 64  # rarer levels of a column tell the models nothing and are never filled in
_SKEWED = 0.75
_WILD = 5.0  # robust deviations from the median, beyond which a value of a huber column counts as just so far out
_POINTS = 201  # of the map to normal scores
# Gauss-Hermite rule for the mean and the variance of a mapped Gaussian
_NODES, _SHARES = np.polynomial.hermite_e.hermegauss(9)
_SHARES = _SHARES / _SHARES.sum()


@dataclass
class Raw:
    """A column as read: numbers with NaN, or objects with a mask of holes."""

    name: str
    kind: str  # number, bool, ordinal or category
    values: NDArray
    holes: NDArray
    declared: list | None = None  # levels in the order that the type states
    whole: bool = False  # the type holds whole numbers only


@dataclass
class Column:
    """What was learned about one column."""

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
    def width(self) -> int:
        """Number of answers."""
        return 1 if self.numeric else len(self.levels)

    @property
    def n_outputs(self) -> int:
        if self.numeric or self.loss == "logistic":
            return 1
        return len(self.levels) - 1 if self.loss == "ordinal" else len(self.levels)

    def answers(self, raw: Raw) -> tuple[NDArray, NDArray]:
        """(entries as answers with 0 where unknown, which entries are known)."""
        if self.numeric:
            seen = ~raw.holes
            standard = np.where(seen, (raw.values - self.centre) / self.scale, 0.0)[:, None]
            return np.clip(standard, -_WILD, _WILD) if self.loss == "huber" else standard, seen
        code = codes(raw, self.levels)
        return np.equal.outer(code, np.arange(self.width)).astype(np.float64), code >= 0

    def outputs(self, answers: NDArray, scores: bool) -> NDArray:
        if self.numeric:
            return self.to_scores(answers) if scores else answers
        if self.loss == "logistic":
            return answers[:, 1:]
        if self.loss == "ordinal":
            return answers[:, ::-1].cumsum(axis=1)[:, -2::-1]
        return answers

    def to_scores(self, answers: NDArray) -> NDArray:
        if self.knots is None or self.scores is None:
            return answers
        return np.interp(answers, self.knots, self.scores)

    def from_scores(self, mean: NDArray, variance: NDArray) -> tuple[NDArray, NDArray]:
        """Mean and variance of the answer whose score is N(mean, variance)."""
        if self.knots is None or self.scores is None:
            return mean, variance
        points = np.interp(mean[..., None] + np.sqrt(variance)[..., None] * _NODES, self.scores, self.knots)
        first = points @ _SHARES
        return first, np.maximum((points**2) @ _SHARES - first**2, 1e-12)

    def probabilities(self, p: NDArray) -> NDArray:
        """Answers from the probabilities of the outputs."""
        if self.loss == "logistic":
            return np.hstack([1 - p, p])
        if self.loss == "ordinal":
            above = np.hstack([np.ones((len(p), 1)), np.minimum.accumulate(p, axis=1), np.zeros((len(p), 1))])
            return above[:, :-1] - above[:, 1:]
        return p / np.maximum(p.sum(axis=1, keepdims=True), 1e-12)

    def value(self, answer: NDArray) -> NDArray:
        """Numbers in the units of the data, inside the range that was observed, or positions of levels."""
        if not self.numeric:
            return answer.argmax(axis=1)
        found = np.clip(answer[:, 0] * self.scale + self.centre, self.low, self.high)
        return np.rint(found) if self.whole else found


def codes(raw: Raw, levels: list) -> NDArray:
    """Position of every entry among the levels; -1 for holes and for values that are none of them."""
    place = {level: i for i, level in enumerate(levels)}
    try:
        return np.fromiter(
            (-1 if hole else place.get(v, -1) for v, hole in zip(raw.values, raw.holes)), np.int64, len(raw.holes)
        )
    except TypeError as error:
        raise TypeError(f"column {raw.name!r} has values that cannot be hashed: write them as text") from error


def learn_column(raw: Raw, loss: str | None) -> Column:
    """Levels, centre, scale and range of a column under the loss asked for (None: by its kind)."""
    loss = _loss(raw, loss)
    if loss in ("squared", "huber"):
        return _learn_numbers(raw, loss)
    levels = _levels(raw)
    if not levels:
        raise ValueError(f"column {raw.name!r} has no observed value and no known levels: drop it, or fill it first")
    if loss == "logistic" and len(levels) > 2:
        raise ValueError(f"column {raw.name!r} has {len(levels)} levels; loss 'logistic' takes two: use 'categorical'")
    if len(levels) == 1:
        loss = "categorical"
    elif len(levels) == 2:
        loss = "logistic"
    return Column(raw.name, loss, levels, raw.whole)


def _loss(raw: Raw, loss: str | None) -> str:
    if loss is None:
        if raw.kind == "number":
            known = raw.values[~raw.holes]
            both = known.size > 0 and bool(np.isin(known, (0.0, 1.0)).all()) and known.min() != known.max()
            return "logistic" if both else "squared"
        return {"bool": "logistic", "ordinal": "ordinal", "category": "categorical"}[raw.kind]
    if loss not in LOSSES:
        raise ValueError(f"loss of column {raw.name!r} is {loss!r}; use one of {', '.join(LOSSES)}")
    if loss in ("squared", "huber") and raw.kind != "number":
        raise ValueError(f"column {raw.name!r} is not numeric: loss {loss!r} cannot take it; use 'categorical'")
    return loss


def _learn_numbers(raw: Raw, loss: str) -> Column:
    known = raw.values[~raw.holes]
    if not known.size:
        return Column(raw.name, loss, whole=raw.whole)
    low, high = float(known.min()), float(known.max())
    unit = max(abs(low), abs(high), np.finfo(np.float64).tiny)
    # Least squares wants mean and standard deviation; a robust loss wants the median and its deviation.
    scaled = known / unit
    centre, scale = float(scaled.mean()), float(scaled.std())
    if loss == "huber":
        centre = float(np.median(scaled))
        scale = float(np.median(np.abs(scaled - centre))) * 1.4826 or scale
    if not scale > 1e-12:
        return Column(raw.name, loss, [], raw.whole, low if low == high else centre * unit, 1.0, low, high)
    column = Column(raw.name, loss, [], raw.whole, centre * unit, scale * unit, low, high)
    standard = (scaled - centre) / scale
    if loss == "squared" and known.size >= 20 and abs(float((standard**3).mean())) > _SKEWED:
        column.knots, column.scores = _normal_scores(np.sort(standard))
    return column


def _normal_scores(values: NDArray) -> tuple[NDArray, NDArray]:
    """Distinct quantiles and the normal quantiles they sit at: a monotone map that makes a column Gaussian."""
    share = np.linspace(0, 1, min(values.size, _POINTS))
    knots, first, times = np.unique(np.quantile(values, share), return_index=True, return_counts=True)
    middle = share[first] + (times - 1) * 0.5 * (share[1] - share[0])
    edge = 0.5 / values.size
    return knots, ndtri(np.clip(middle, edge, 1 - edge))


def _levels(raw: Raw) -> list:
    if raw.kind == "bool":
        return [False, True]
    known = [v for v, hole in zip(raw.values, raw.holes) if not hole]
    try:
        counts: dict = {}
        for v in known:
            counts[v] = counts.get(v, 0) + 1
    except TypeError as error:
        raise TypeError(f"column {raw.name!r} has values that cannot be hashed: write them as text") from error
    if not counts:
        return list(raw.declared or [])[:MOST_LEVELS]
    kept = sorted(counts, key=lambda v: (-counts[v], str(v)))[:MOST_LEVELS]
    if raw.declared is not None:
        return [v for v in raw.declared if v in set(kept)]
    return sorted(kept) if raw.kind == "number" else sorted(kept, key=str)
