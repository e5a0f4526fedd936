"""Documents completed: how well topics predict the other half of the words of new documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from unweave.data.arguments import number, whole
from unweave.data.table import check_table
from unweave.select.trial import Trial, fitting

_NEARLY = 1.05


@dataclass(frozen=True)
class Completion:
    """Perplexity of half the words of documents that were not in the fit, given their other half.

    For models of topics (those with ``perplexity``). A model of topics has no missing entries, a word that is hidden is
    a word that did not occur, and the mixture of a new document is fitted to its words: so whole documents are held
    out, and half of each. In texts ever more topics predict ever so slightly better; the fewest that come within 5 % of
    the best are chosen.

    Parameters
    ----------
    share : float, default=0.2
        Of the documents to hold out.
    n_repeats : int, default=3
    """

    share: float = 0.2
    n_repeats: int = 3

    name = "completion"
    title = "perplexity of held-out words"
    larger_is_better = False

    def __post_init__(self):
        whole(self.n_repeats, "n_repeats", 1)
        if not 0 < number(self.share, "share") < 1:
            raise ValueError(f"share must lie between 0 and 1, got {self.share}")

    def pick(self, ks: NDArray, scores: NDArray) -> int:
        """The fewest topics whose perplexity is within 5 % of the least."""
        return int(ks[np.flatnonzero(scores <= _NEARLY * scores.min())[0]])

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        if not hasattr(trial.estimator, "perplexity"):
            kind, other = type(trial.estimator).__name__, fitting(trial.estimator)
            raise TypeError(f"{kind} has no topics to complete documents by: choose by {other!r} or another criterion")
        counts = sp.csr_array(check_table(BaseEstimator(), X, None, reset=True).values)
        if (counts.data != np.floor(counts.data)).any():
            raise ValueError(
                f"X must hold whole counts, because its words are dealt out one by one: give {trial.name} a number"
            )
        rng = np.random.default_rng(seed)
        return np.array([self._once(trial, counts, rng) for _ in range(self.n_repeats)])

    def _once(self, trial: Trial, counts: sp.csr_array, rng: np.random.Generator) -> float:
        order = rng.permutation(counts.shape[0])
        out = max(1, round(self.share * len(order)))
        if out == len(order):
            raise ValueError(f"X has {len(order)} documents, too few to hold some out: give {trial.name} a number")
        model = trial.fit(counts[order[out:]])
        return model.perplexity(counts[order[:out]], int(rng.integers(2**31)))
