"""Choose the number of components of any estimator, by any criterion."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import get_tags

from unweave.data.arguments import generator, whole
from unweave.parallel import get_num_threads
from unweave.select.criteria import Criterion, find_criterion
from unweave.select.stability import Stability
from unweave.select.trial import Trial, count_name, searched, unnamed
from unweave.solve.history import History
from unweave.solve.iterate import Loop, iterate
from unweave.solve.scheme import Scheme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROUNDING = 1e-9  # of a score: far more than sums of another order differ, far less than anybody would pay for
_COLOUR, _MARK = "#0072B2", "#D55E00"


@dataclass
class Choice:
    """Hold the score of every number of components that was tried, and the best of them.

    Attributes
    ----------
    best : int
        The number chosen.
    scores : dict of int to float
        The score of each number (the mean where there are several repeats).
    errors : dict of int to float
        Standard errors of these means; empty if there is one value per number.
    skipped : dict of int to str
        Numbers that could not be fitted, and why.
    by : str
        The criterion; `title` says what its scores are and `larger_is_better` how to read them.
    name : str
        The parameter chosen, "n_clusters" or "n_components".
    best_estimator : estimator or None
        Fitted with the best number to the whole table; None if the search was ended before its end.
    history : History
        What happened, one entry per number tried.
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
        """Tell whether Ctrl-C ended the search."""
        return self.history.stopped == "interrupted"

    @property
    def reason(self) -> str:
        """Say the choice in a sentence.

        >>> Choice(3, {2: 0.5, 3: 0.7}, {}, "silhouette", "mean silhouette", "n_clusters", True).reason
        'n_clusters=3 by silhouette (mean silhouette 0.7), from 2 to 3'
        """
        title = self.title.split(" (")[0]
        span = f"from {min(self.scores)} to {max(self.scores)}"
        return f"{self.name}={self.best} by {self.by} ({title} {self.scores[self.best]:.4g}), {span}"

    def table(self) -> dict[str, list]:
        """List the numbers tried, their scores, standard errors (NaN if unknown) and which is the best, as columns.

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
        """Draw the scores as a matplotlib figure, with bars of one standard error and the choice marked."""
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


def choose(
    estimator: Any,
    X,
    n_components: Iterable[int] = range(1, 20),
    by: Any = "auto",
    *,
    threads: int | None = None,
    callback=None,
    verbose: bool = False,
    random_state=None,
) -> Choice:
    """Try several numbers of components and take the best; works for every estimator of the library.

    A copy of the estimator is fitted for each number (`n_clusters` where that is the name) and scored by the criterion;
    the best number is fitted to the whole table at the end. Numbers are tried side by side on threads; the answer does
    not depend on how many. Ctrl-C and the callback end the search and keep what was scored.

    Parameters
    ----------
    estimator : estimator with `n_clusters` or `n_components`
        Left as it is.
    X : table
    n_components : numbers to try, default=range(1, 20)
        Those that cannot be fitted (more clusters than rows) are skipped, see ``skipped``.
    by : str or criterion, default="auto"
        "groups", "stability", "silhouette", "bic", "aic", "icl", "held-out", "bi-cross-validation", "completion",
        "cross-validation", "elbow", "knee", or an object with its options (``Stability(n_repeats=20)``). "auto" takes
        bic for models that have one (mixtures, hidden states), completion for topics, groups for other clusterings
        (held-out entries where the table has holes), bi-cross-validation for singular value decompositions, held-out
        entries for other factorisations, else cross-validation.
    threads : int, optional
        Fits at once; the number of threads of the library if not given.
    callback : callable, optional
        Called after each number with ``iteration``, ``objective`` (the score, turned so that less is better) and
        ``seconds``; a true value ends the search.
    verbose : bool, default=False
        Show a progress bar.
    random_state : None, int or generator
        For what is drawn by the criterion. Every number meets the same draws. Fits to the whole table keep the
        estimator's own random state.

    Returns
    -------
    Choice
        ``best``, ``best_estimator``, ``scores``, ``errors``, ``table()``, ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import KMeans
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, size=(50, 2)) for c in ((0, 0), (4, 0), (0, 4))])
    >>> choice = choose(KMeans(), X, range(1, 7), by="silhouette")
    >>> choice.best, choice.best_estimator.n_clusters
    (3, 3)
    """
    estimator, X = unnamed(estimator, X)
    name, ks = count_name(estimator), _checked(n_components)
    if hasattr(estimator, "__sklearn_tags__") and get_tags(estimator).input_tags.three_d_array:
        kind = type(estimator).__name__
        raise TypeError(f"criteria look at tables, and {kind} takes tensors: leave the number to {kind}({name}='auto')")
    tried, _, own = searched(estimator, X) if by == "auto" else (estimator, X, name)
    choice = search(tried, X, own, ks, find_criterion(by, tried, X), threads, callback, verbose, random_state)
    choice.name = name
    if len(choice.history) == len(ks) and not choice.interrupted:
        choice.best_estimator = clone(estimator).set_params(**{name: choice.best}).fit(X)
    return choice


def stability(
    estimator: Any, X, n_components: Iterable[int] | None = None, *, threads: int | None = None, callback=None,
    verbose: bool = False, random_state=None, **options: Any,
) -> Choice:  # fmt: skip
    """Draw the curve of stability over the number of clusters: how surely perturbed data give the same clusters.

    Twice `n_repeats` perturbed tables are clustered; each pair of clusterings is carried over to all rows, and
    1 − d/d_chance is averaged, d their :func:`clustering_distance` and d_chance the same for random labels of the same
    sizes. 1 is perfect, 0 is chance. One cluster is always found again and says nothing: its stability is set to 0.

    Parameters
    ----------
    estimator : clustering
    X : table
    n_components : numbers of clusters, optional
        The estimator's own if not given.
    n_repeats, perturb, noise, transfer, sample
        See :class:`Stability`.
    threads, callback, verbose, random_state
        As in :func:`choose`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import KMeans
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, size=(50, 2)) for c in ((0, 0), (4, 0), (0, 4))])
    >>> curve = stability(KMeans(), X, range(1, 6))
    >>> curve.best, curve.scores[3], curve.scores[5] < 0.9
    (3, 1.0, True)

    References
    ----------
    Lange, Roth, Braun and Buhmann (2004), Stability-based validation of clustering solutions. Ben-Hur, Elisseeff and
    Guyon (2002), A stability based method for discovering structure in clustered data.
    """
    estimator, X = unnamed(estimator, X)
    name = count_name(estimator)
    ks = _checked([estimator.get_params(deep=False)[name]] if n_components is None else n_components)
    return search(estimator, X, name, ks, Stability(**options), threads, callback, verbose, random_state)


def joined(former: Choice, found: Choice, criterion: Criterion) -> Choice:
    """Join two searches of the same table into one."""
    history = History(found.history.stopped)
    began = former.history.seconds[-1] if len(former.history) else 0.0
    for part, start in ((former.history, 0.0), (found.history, began)):
        for objective, change, seconds in zip(part.objective, part.change, part.seconds):
            history.add(objective, change, seconds + start)
    return _choice(
        dict(sorted((former.scores | found.scores).items())), former.errors | found.errors,
        former.skipped | found.skipped, criterion, former.name, history,
    )  # fmt: skip


def _checked(n_components) -> list[int]:
    if isinstance(n_components, str | bytes) or not isinstance(n_components, Iterable):
        raise TypeError(f"n_components must be the numbers to try, such as range(1, 20), got {n_components!r}")
    ks = sorted({whole(k, "n_components", 1) for k in n_components})
    if not ks:
        raise ValueError("n_components must hold at least one number to try")
    return ks


def search(
    estimator, X, name, ks, criterion: Criterion, threads=None, callback=None, verbose=False, random_state=None
) -> Choice:
    """Score every number: fits run on a pool of their own, and each step of the loop waits for one number."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable with one argument (progress), got {callback!r}")
    workers = get_num_threads() if threads is None else whole(threads, "threads", 1)
    seed = int(generator(random_state).integers(2**31))
    if hasattr(criterion, "ready"):
        criterion = criterion.ready(estimator, X, max(ks), seed)
    stop, sign = threading.Event(), -1.0 if criterion.larger_is_better else 1.0
    loop = Loop(
        max_iter=len(ks), tol=0, callback=callback, bar=f"choosing {name}" if verbose else None,
        ending="every number was tried",
    )  # fmt: skip
    with warnings.catch_warnings(), ThreadPoolExecutor(workers, thread_name_prefix="unweave-select") as pool:
        warnings.simplefilter("ignore", ConvergenceWarning)  # a hundred small fits: their scores tell enough
        futures = [pool.submit(criterion.values, Trial(estimator, name, k, stop), X, seed) for k in ks]
        scoring = Scoring(ks, futures, sign)
        try:
            state, history = iterate(scoring, scoring.begin(), loop)
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
    done = range(state["done"])
    scores = {ks[i]: float(state["means"][i]) for i in done if np.isfinite(state["means"][i])}
    if not scores:
        raise scoring.failures[0]
    errors = {k: float(state["errors"][i]) for i, k in enumerate(ks) if k in scores and np.isfinite(state["errors"][i])}
    return _choice(scores, errors, scoring.skipped, criterion, name, history)


class Scoring(Scheme):
    """Take the scores of the numbers `ks` as their fits finish, one number per step.

    `failures` and `skipped` hold what could not be fitted, and why.
    """

    rises = True  # scores go up and down from number to number

    def __init__(self, ks: list[int], futures: list[Future], sign: float):
        self.ks, self.futures, self.sign = ks, futures, sign
        self.skipped: dict[int, str] = {}
        self.failures: list[ValueError] = []

    def begin(self, rng=None) -> dict:
        blank = np.full(len(self.ks), np.nan)
        return {"done": 0, "means": blank, "errors": blank}

    def step(self, state: dict) -> tuple[dict, float]:
        """Wait for the next number; one that cannot be fitted is noted and counts as 0."""
        i = state["done"]
        means, errors = state["means"].copy(), state["errors"].copy()
        try:
            values = self.futures[i].result()
            means[i] = values.mean()
            errors[i] = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
        except ValueError as error:
            self.failures.append(error)
            self.skipped[self.ks[i]] = str(error)
        here = means[i] if np.isfinite(means[i]) else 0.0
        return {"done": i + 1, "means": means, "errors": errors}, self.sign * here


def _choice(scores, errors, skipped, criterion: Criterion, name: str, history: History) -> Choice:
    ks, values = np.array(list(scores)), np.array(list(scores.values()))
    if hasattr(criterion, "pick") and len(ks) > 2:
        best = criterion.pick(ks, values)
    else:
        losses = -values if criterion.larger_is_better else values
        least = np.nanmin(losses)
        # of scores that differ by rounding alone the fewest components win, on every processor
        slack = _ROUNDING * abs(least) if np.isfinite(least) else 0.0
        best = int(ks[losses <= least + slack].min())
    return Choice(
        best, scores, errors, criterion.name, criterion.title, name, criterion.larger_is_better, skipped,
        history=history,
    )  # fmt: skip
