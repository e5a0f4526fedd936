"""The answer of a search for the number of components."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unweave.solve.history import History

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOUR, _MARK = "#0072B2", "#D55E00"


@dataclass
class Choice:
    """The score of every number of components that was tried, and the best of them.

    Attributes
    ----------
    best : int
        The number chosen.
    scores : dict of int to float
        The score of each number (the mean where there are several repeats).
    errors : dict of int to float
        Standard errors of these means; empty if there is one value a number.
    skipped : dict of int to str
        Numbers that could not be fitted, and why.
    by : str
        The criterion; `title` says what its scores are and `larger_is_better` how to read them.
    name : str
        The parameter chosen, "n_clusters" or "n_components".
    best_estimator : estimator or None
        Fitted with the best number to the whole table; None if the search was ended before its end.
    history : History
        What happened, one entry a number tried.
    note : str
        What else is to be said, such as that no number fits; empty as a rule.
    """

    best: int
    scores: dict[int, float]
    errors: dict[int, float]
    by: str
    title: str
    name: str
    larger_is_better: bool
    skipped: dict[int, str] = field(default_factory=dict)
    best_estimator: Any = None
    history: History = field(default_factory=History)
    note: str = ""

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        return self.history.stopped == "interrupted"

    @property
    def reason(self) -> str:
        """The choice in a sentence.

        >>> Choice(3, {2: 0.5, 3: 0.7}, {}, "silhouette", "mean silhouette", "n_clusters", True).reason
        'n_clusters=3 by silhouette (mean silhouette 0.7), from 2 to 3'
        """
        title = self.title.split(" (")[0]
        span = f"from {min(self.scores)} to {max(self.scores)}"
        return f"{self.name}={self.best} by {self.by} ({title} {self.scores[self.best]:.4g}), {span}"

    def table(self) -> dict[str, list]:
        """Columns: the number tried, its score, standard error (NaN if unknown) and whether it is the best.

        >>> Choice(3, {2: 0.5, 3: 0.7}, {}, "silhouette", "mean silhouette", "n_clusters", True).table()["score"]
        [0.5, 0.7]
        """
        ks = list(self.scores)
        return {
            self.name: ks,
            "score": [self.scores[k] for k in ks],
            "error": [self.errors.get(k, math.nan) for k in ks],
            "best": [k == self.best for k in ks],
        }

    def plot(self) -> Figure:
        """A matplotlib figure of the scores, with bars of one standard error and the choice marked."""
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError(
                "drawing needs matplotlib, which is not installed: pip install 'unweave[plot]'"
            ) from error
        from matplotlib.ticker import MaxNLocator

        ks = list(self.scores)
        figure, axis = pyplot.subplots(figsize=(6.4, 3.8), layout="constrained")
        bars = [self.errors.get(k, 0.0) for k in ks] if self.errors else None
        axis.errorbar(ks, list(self.scores.values()), bars, fmt="-o", color=_COLOUR, markersize=4, linewidth=1.2)
        axis.axvline(self.best, color=_MARK, linestyle="--", linewidth=1, zorder=0)
        axis.plot([self.best], [self.scores[self.best]], "o", color=_MARK, markersize=8)
        axis.set(xlabel=self.name, ylabel=self.title, title=f"{self.name} = {self.best} by {self.by}")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.spines[["top", "right"]].set_visible(False)
        return figure

    def __str__(self) -> str:
        lines = [self.reason]
        for k, score in self.scores.items():
            error = f" ± {self.errors[k]:.2g}" if k in self.errors else ""
            lines.append(f"{k:>5}  {score:.6g}{error}{'  ← best' if k == self.best else ''}")
        lines += [f"{k:>5}  not scored: {why}" for k, why in self.skipped.items()]
        return "\n".join([*lines, self.note] if self.note else lines)
