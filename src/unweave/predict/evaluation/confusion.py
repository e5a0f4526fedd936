"""Count what is taken for what, and say accuracy, precision, recall and F of it with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix
from sklearn.utils.validation import check_consistent_length, column_or_1d

from unweave.predict.evaluation.intervals import check_level, resampled, wilson

Interval = tuple[float, float]


@dataclass
class Measures:
    """Precision, recall and F of one class, with their intervals.

    Precision is the share of right ones among those called so, recall the share that is found of those that are so, and
    F = 2/(1/precision + 1/recall). What would divide by nothing is 0.
    """

    precision: float
    recall: float
    f: float
    precision_interval: Interval
    recall_interval: Interval
    f_interval: Interval
    support: int


@dataclass
class Confusion:
    """Hold what was taken for what.

    Attributes
    ----------
    matrix : array
        Rows are the truth, columns what was predicted, in the order of `classes`.
    classes : array
    accuracy, accuracy_interval : float, (float, float)
        Share of rows that are right, and its interval of Wilson.
    of : dict
        Class → :class:`Measures`.
    positive : class or None
        The class that `precision`, `recall` and `f` are of; None where they are means over the classes.
    level : float
        Of the intervals: Wilson's for accuracy, precision and recall, resampled cases for F.
    """

    matrix: NDArray
    classes: NDArray
    accuracy: float
    accuracy_interval: Interval
    of: dict[Any, Measures]
    positive: Any
    level: float

    @property
    def precision(self) -> float:
        return self._one("precision")

    @property
    def recall(self) -> float:
        return self._one("recall")

    @property
    def f(self) -> float:
        return self._one("f")

    def _one(self, name: str) -> float:
        if self.positive is not None:
            return getattr(self.of[self.positive], name)
        return float(np.mean([getattr(one, name) for one in self.of.values()]))

    def table(self) -> dict[str, list]:
        """List the measures of every class as columns."""
        rows = list(self.of.values())
        return {
            "class": list(self.of),
            **{name: [getattr(one, name) for one in rows] for name in ("precision", "recall", "f", "support")},
        }

    def plot(self):
        """Draw the counts as a matplotlib figure."""
        from unweave.predict.evaluation.figures import plot_confusion

        return plot_confusion(self)

    def __str__(self) -> str:
        low, high = self.accuracy_interval
        lines = [f"accuracy {self.accuracy:.3f} ({low:.3f} to {high:.3f})"]
        width = max(5, *(len(str(name)) for name in self.of))
        lines.append(f"{'class':<{width}}  precision              recall                 F                      rows")
        for name, one in self.of.items():
            cells = (
                f"{value:.3f} ({low:.3f} to {high:.3f})"
                for value, (low, high) in (
                    (one.precision, one.precision_interval), (one.recall, one.recall_interval), (one.f, one.f_interval)
                )
            )  # fmt: skip
            lines.append(f"{name!s:<{width}}  {'  '.join(cells)}  {one.support:>4}")
        lines.append(f"intervals hold {self.level:.0%}: Wilson's, and of F by resampled rows")
        return "\n".join(lines)


def confusion(y_true, y_pred, *, positive=None, labels=None, level: float = 0.95) -> Confusion:
    """Count what is taken for what, with accuracy, precision, recall and F, and how sure these are.

    Accuracy alone deceives where one class is rare: who calls 9990 of 9990 + 10 rows by the first name is right in
    99.9 % of them, and finds none of the ten.

    Parameters
    ----------
    y_true, y_pred : array
        The classes as they are, and as they were predicted.
    positive : class, optional
        The class that ``precision``, ``recall`` and ``f`` are of; of two classes the second, unless given. With more
        classes they are means over the classes.
    labels : list of classes, optional
        The classes, in the order wanted.
    level : float, default=0.95
        Of the intervals.

    Returns
    -------
    Confusion
        Numbers, ``str`` and ``plot()``.

    Examples
    --------
    >>> truth = ["cat"] * 17 + ["dog"] * 13
    >>> said = ["cat"] * 16 + ["dog"] + ["cat"] * 3 + ["dog"] * 10
    >>> found = confusion(truth, said, positive="cat")
    >>> [round(x, 3) for x in (found.accuracy, found.precision, found.recall, found.f)]
    [0.867, 0.842, 0.941, 0.889]

    References
    ----------
    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22, 1927.
    """
    truth, said = column_or_1d(y_true), column_or_1d(y_pred)
    check_consistent_length(truth, said)
    check_level(level)
    if not len(truth):
        raise ValueError("y_true is empty: there is nothing to compare")
    classes = np.unique(np.concatenate([truth, said])) if labels is None else np.asarray(labels)
    matrix = np.asarray(confusion_matrix(truth, said, labels=classes))
    if not matrix.sum():
        raise ValueError("labels has none of the classes that occur")
    if positive is not None and positive not in classes:
        raise ValueError(f"positive={positive!r} is none of the classes: {', '.join(map(repr, classes.tolist()))}")
    if positive is None and len(classes) == 2:
        positive = classes[1]
    right, total = int(np.trace(matrix)), int(matrix.sum())
    of = {name: _measures(matrix, i, level) for i, name in enumerate(classes.tolist())}
    chosen = positive.item() if isinstance(positive, np.generic) else positive
    return Confusion(matrix, classes, right / total, wilson(right, total, level), of, chosen, level)


def _measures(matrix: NDArray, i: int, level: float) -> Measures:
    hit, said, true = int(matrix[i, i]), int(matrix[:, i].sum()), int(matrix[i].sum())
    # Hit, called so in vain, missed, and the rest: F is of the first three.
    counts = np.array([hit, said - hit, true - hit, matrix.sum() - said - true + hit])
    return Measures(
        hit / said if said else 0.0, hit / true if true else 0.0, float(_f(counts[None])[0]),
        wilson(hit, said, level), wilson(hit, true, level), resampled(counts, _f, level), true,
    )  # fmt: skip


def _f(counts: NDArray) -> NDArray:
    below = 2 * counts[:, 0] + counts[:, 1] + counts[:, 2]
    return 2 * counts[:, 0] / np.where(below > 0, below, 1)
