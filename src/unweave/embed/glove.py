"""Words as vectors whose products are the logarithms of counts (GloVe)."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.arguments import number
from unweave.embed.base import Embedding, table_of_pairs
from unweave.embed.pairs import AdaptPairs, AlternatePairs, Pairs, balanced
from unweave.embed.vectors import Vectors
from unweave.factorization.run import Run, fitting
from unweave.solve.plan import Plan
from unweave.solve.scheme import Scheme, State
from unweave.solve.svd import truncated_svd

SOLVERS, TARGETS = ("auto", "als", "adagrad", "svd"), ("log", "log1p")


class GloVe(Embedding):
    """Learn a vector for each word so that products of vectors are the logarithms of how often words meet.

    min ½ Σ_ij f(n_ij)(x_i·y_j + b_i + c_j − log n_ij)² over the pairs that occur, with f(n) = min(1, (n/x_max)^alpha):
    rare pairs are noise, and frequent ones must not decide everything. ``vectors_`` are x + y, as published.

    Use it for words, and for any symbols that come in sequences: it sees counts alone, so the time of a pass depends on
    how many pairs there are, not on how long the texts are.

    Parameters
    ----------
    n_components : int, default=100
    window, min_count, max_vocabulary, side, weights, lowercase
        As in :class:`unweave.Cooccurrence`; a fitted one may be given to `fit` in place of texts.
    x_max : float, default=100
        The count from which a pair has the full weight.
    alpha : float, default=0.75
        0 gives all pairs that occur the same weight.
    target : "log" or "log1p", default="log"
        log n of the pairs that occur; or log(1 + n), which with alpha=0 is asked of all pairs: those that never occur
        are zeros.
    biases : bool, default=True
    ridge : float, default=0.0
        Strength of ½·ridge·(‖X‖² + ‖Y‖²).
    solver : "auto", "als", "adagrad" or "svd", default="auto"
        "als" improves all words with the contexts fixed, then all contexts, by conjugate gradients that share a
        preconditioner. "adagrad" is the published one. "svd" is exact, where weights are equal, every pair has a
        target and there are no biases and no ridge; "auto" takes it there, and otherwise "als". All give the same
        bits on any number of threads.
    learning_rate : float, default=0.05
        Of AdaGrad.
    max_iter : int, default=25
        Rounds of als, or passes of AdaGrad.
    tol : float, default=0.01
        als ends when the objective falls by less than this (relative). AdaGrad makes all its passes.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    vectors_ : Vectors
        x + y.
    word_vectors_, context_vectors_ : arrays (symbols, n_components)
        x and y, balanced after als and svd: their columns are orthogonal, and as long on both sides.
    biases_, context_biases_ : arrays (symbols,)
    vocabulary_ : Vocabulary
    objective_, history_, n_iter_, plan_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> from unweave import GloVe
    >>> texts = ["the cat sat on the mat", "the dog sat on the rug"] * 5
    >>> model = GloVe(2, window=3, random_state=0).fit(texts)
    >>> model.vectors_["cat"].shape, model.vocabulary_.symbols[:3]
    ((2,), ['the', 'sat', 'on'])

    References
    ----------
    Pennington, Socher and Manning (2014), GloVe: Global vectors for word representation.
    """

    def __init__(
        self,
        n_components=100,
        *,
        window=10,
        min_count=5,
        max_vocabulary=None,
        side="both",
        weights="harmonic",
        lowercase=True,
        x_max=100.0,
        alpha=0.75,
        target="log",
        biases=True,
        ridge=0.0,
        solver="auto",
        learning_rate=0.05,
        max_iter=25,
        tol=0.01,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.window = window
        self.min_count = min_count
        self.max_vocabulary = max_vocabulary
        self.side = side
        self.weights = weights
        self.lowercase = lowercase
        self.x_max = x_max
        self.alpha = alpha
        self.target = target
        self.biases = biases
        self.ridge = ridge
        self.solver = solver
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X, y=None):
        """Learn from texts, lists of symbols, paths of files, a corpus, or a fitted :class:`unweave.Cooccurrence`."""
        with fitting(self):
            self._check()
            counts, vocabulary, symmetric = table_of_pairs(self, X)
            run = Run(self, counts, vocabulary.counts)
            scheme, plan = self._scheme(counts, symmetric, len(vocabulary))
            state = run.through(scheme, plan)
            self._learn(state, vocabulary)
            run.close(float(self.history_.objective[-1]))
        return self

    def _check(self) -> None:
        for value, known, name in ((self.solver, SOLVERS, "solver"), (self.target, TARGETS, "target")):
            if not isinstance(value, str) or value not in known:
                words = f"{', '.join(map(repr, known[:-1]))} or {known[-1]!r}"
                raise ValueError(f"{name}={value!r} is not known; use {words}")
        if not isinstance(self.biases, bool):
            raise TypeError(f"biases must be True or False, got {self.biases!r}")
        if number(self.x_max, "x_max") <= 0:
            raise ValueError(f"x_max must be above 0, got {self.x_max}")
        number(self.alpha, "alpha")
        number(self.ridge, "ridge")
        if number(self.learning_rate, "learning_rate") <= 0:
            raise ValueError(f"learning_rate must be above 0, got {self.learning_rate}")

    def _scheme(self, counts: sp.csr_array, symmetric: bool, size: int) -> tuple[Scheme, Plan]:
        """The method for a table, and what it is in words."""
        k, every = self._number(), self.target == "log1p" and self.alpha == 0
        why_not = self._why_not_svd(counts, every)
        if self.solver == "svd" and why_not:
            raise ValueError(f"solver='svd' cannot do this problem: {why_not}")
        if every and why_not:
            raise ValueError(f"target='log1p' with alpha=0 asks for all pairs, which only the SVD fits, and {why_not}")
        problem = f"{size}×{size} counts, {counts.nnz} pairs ≈ {k} numbers a symbol"
        targets = np.log1p(counts.data) if self.target == "log1p" else np.log(counts.data)
        if self.solver in ("auto", "svd") and not why_not:
            table = sp.csr_array((targets, counts.indices, counts.indptr), shape=counts.shape)
            why = "equal weights, every pair has a target: the leading singular vectors are the answer"
            return _Decomposed(table, k), Plan(problem, "singular value decomposition", "", "", "none needed", [why])
        weights = np.minimum(1.0, (counts.data / self.x_max) ** self.alpha)
        pairs = Pairs(counts, targets, weights, self.ridge, symmetric)
        if self.solver == "adagrad":
            if self.ridge:
                raise ValueError("solver='adagrad' has no ridge: use solver='als', or ridge=0")
            return AdaptPairs(pairs, k, self.biases, self.learning_rate), Plan(
                problem, "AdaGrad", "pairs in random order", "", "small random vectors", ["as asked"]
            )
        why = "all words in turn with all contexts: no step raises the objective, no rate to set"
        return AlternatePairs(pairs, k, self.biases), Plan(
            problem,
            "alternating least squares",
            "conjugate gradients",
            "conjugate gradients",
            "small random vectors",
            [why],
        )

    def _why_not_svd(self, counts: sp.csr_array, every: bool) -> str | None:
        if self.biases:
            return "there are biases: set biases=False"
        if self.ridge:
            return "there is a ridge: set ridge=0"
        if self.alpha:
            return "weights differ: set alpha=0"
        if not every and counts.nnz < np.prod(counts.shape):
            return "some pairs never occur and have no logarithm: use target='log1p', or solver='als'"
        return None

    def _learn(self, state: State, vocabulary) -> None:
        X, Y = state["codes"], state["contexts"]
        self.word_vectors_, self.context_vectors_ = X[:, 1:-1].copy(), Y[:, 1:-1].copy()
        self.biases_, self.context_biases_ = X[:, -1].copy(), Y[:, 0].copy()
        self.vocabulary_ = vocabulary
        self.vectors_ = Vectors(vocabulary.symbols, self.word_vectors_ + self.context_vectors_, vocabulary.counts)


class _Decomposed(Scheme):
    """The k leading singular triplets of a table, halved between words and contexts; one step."""

    def __init__(self, table: sp.csr_array, k: int):
        self.table, self.k = table, k

    def adapt(self, loop):
        return loop.once()

    def begin(self, rng=None) -> State:
        return {}

    def step(self, state: State) -> tuple[State, float]:
        kept = min(self.k, *self.table.shape)
        found: Any = truncated_svd(self.table, kept)
        return {"left": found.U, "s": found.s, "right": found.Vt}, 0.5 * float(found.tail)

    def finish(self, state: State) -> State:
        return balanced(_padded(state["left"] * state["s"], self.k), _padded(state["right"].T, self.k))


def _padded(F: NDArray, k: int) -> NDArray:
    """The vectors between two columns of no biases, with zeros for components that the table does not have."""
    out = np.zeros((len(F), k + 2), np.float32)
    out[:, 1 : F.shape[1] + 1] = F
    return out
