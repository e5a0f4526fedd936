"""Words as vectors that give the probability of each neighbour (log-bilinear model), on small vocabularies."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.arguments import number
from unweave.embed.base import Embedding, table_of_pairs
from unweave.embed.vectors import Vectors
from unweave.factorization.run import Run, fitting
from unweave.parallel import run
from unweave.solve.optimise import QuasiNewton, Smooth
from unweave.solve.plan import Plan

LOSSES = ("softmax", "nce")
_MOST = 30_000  # symbols: beyond that each step would take minutes
_ROWS = 256  # of the table of probabilities that one thread holds at a time


class LogBilinear(Embedding):
    """Learn a vector for each word so that a softmax over all words gives the probability of its neighbours.

    log p(j | i) = x_i·y_j + b_j − log Σ_l exp(x_i·y_l + b_l), most likely for the neighbours that were seen
    ("softmax"). Every step looks at all pairs of symbols, so it is for small vocabularies: songs, products, letters,
    up to some thousands. There it has no noise and no rate to set, and its probabilities are proper.

    "nce" is noise-contrastive estimation: tell seen pairs from `negatives` drawn by frequency, x_i·y_j + b_j being
    log p(j | i) itself, without a normaliser. The mean over all draws is used in place of draws, so it is exact, too.

    Parameters
    ----------
    n_components : int, default=50
    window : int, default=5
    min_count, max_vocabulary, side, weights, lowercase
        As in :class:`unweave.Cooccurrence`; a fitted one may be given to `fit` in place of texts.
    loss : "softmax" or "nce", default="softmax"
    negatives : float, default=5
        Of "nce", for each pair that was seen.
    biases : bool, default=True
        b_j: without them frequency must be told by the vectors.
    ridge : float, default=0.0
        Strength of ½·ridge·(‖X‖² + ‖Y‖²) beside the loss, which is a mean over pairs.
    max_iter : int, default=200
    tol : float, default=1e-4
        On the largest entry of the gradient, of which the first one is the measure.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    vectors_ : Vectors
        x.
    context_vectors_ : array (symbols, n_components)
        y.
    context_biases_ : array (symbols,)
    vocabulary_ : Vocabulary
    objective_, history_, n_iter_, plan_
        As in :class:`unweave.Factorization`; the objective is the mean of −log p(j | i) over pairs, or that of nce.

    Examples
    --------
    >>> from unweave import LogBilinear
    >>> walks = [["a", "b", "c"], ["c", "b", "a"], ["d", "e", "d"]] * 5
    >>> model = LogBilinear(2, window=1, random_state=0).fit(walks)
    >>> model.probabilities("d").round(2).tolist(), model.vocabulary_.symbols
    ([0.0, 0.0, 0.0, 0.0, 1.0], ['a', 'b', 'c', 'd', 'e'])

    References
    ----------
    Mnih and Hinton (2007), Three new graphical models for statistical language modelling. Gutmann and Hyvärinen (2010),
    Noise-contrastive estimation.
    """

    def __init__(
        self,
        n_components=50,
        *,
        window=5,
        min_count=5,
        max_vocabulary=None,
        side="both",
        weights="flat",
        lowercase=True,
        loss="softmax",
        negatives=5.0,
        biases=True,
        ridge=0.0,
        max_iter=200,
        tol=1e-4,
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
        self.loss = loss
        self.negatives = negatives
        self.biases = biases
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X, y=None):
        """Learn from texts, lists of symbols, paths of files, a corpus, or a fitted :class:`unweave.Cooccurrence`."""
        with fitting(self):
            if self.loss not in LOSSES:
                raise ValueError(f"loss={self.loss!r} is not known; use 'softmax' or 'nce'")
            if not isinstance(self.biases, bool):
                raise TypeError(f"biases must be True or False, got {self.biases!r}")
            negatives, ridge = number(self.negatives, "negatives"), number(self.ridge, "ridge")
            if negatives <= 0:
                raise ValueError(f"negatives must be above 0, got {self.negatives}")
            k = self._number()
            counts, vocabulary, _ = table_of_pairs(self, X)
            if len(vocabulary) > _MOST:
                raise ValueError(
                    f"{len(vocabulary)} symbols are too many for a model that looks at all pairs: set max_vocabulary, "
                    "or use GloVe or SkipGram"
                )
            run = Run(self, counts, vocabulary.counts)
            kind = _Softmax if self.loss == "softmax" else _Contrast
            problem = kind(counts, k, self.biases, ridge, negatives)
            first = problem.first(run.rng)
            steepest = float(np.abs(problem.value_and_gradient(first)[1]).max(initial=0.0))
            scheme = QuasiNewton(problem, first, number(self.tol, "tol") * steepest)
            sentence = (
                f"probabilities of {len(vocabulary)}×{len(vocabulary)} pairs ≈ {k} numbers a symbol, {self.loss} loss"
            )
            state = run.through(
                scheme, Plan(sentence, "L-BFGS", "", "", "small random vectors", ["all pairs in each step"])
            )
            x, self.context_vectors_, self.context_biases_ = problem.parts(state["x"])
            self.vocabulary_ = vocabulary
            self.vectors_ = Vectors(vocabulary.symbols, x, vocabulary.counts)
            run.close(float(self.history_.objective[-1]))
        return self

    def probabilities(self, symbol) -> NDArray[np.float64]:
        """The probability of each symbol of the vocabulary as a neighbour of one; they sum to one."""
        x = self.vectors_.array[self.vocabulary_.place(symbol)]
        logits = self.context_vectors_ @ x + self.context_biases_
        p = np.exp(logits - logits.max())
        return p / p.sum()


class _Softmax(Smooth):
    """−Σ n_ij log p(j | i) / Σ n_ij, and its gradient, of (X, Y, b) in one array; all in float64."""

    def __init__(self, counts: sp.csr_array, k: int, biases: bool, ridge: float, negatives: float):
        self.counts, self.k, self.biases, self.ridge, self.negatives = counts, k, biases, ridge, negatives
        self.n = counts.shape[0]
        self.total = float(counts.data.sum())
        self.rows, self.columns = (np.asarray(counts.sum(axis=axis)).ravel() for axis in (1, 0))

    def first(self, rng) -> NDArray[np.float64]:
        """Small vectors, and biases by which every symbol has its frequency."""
        vectors = (rng.random(2 * self.n * self.k) - 0.5) / np.sqrt(self.k)
        share = np.log((self.columns + 1) / (self.columns + 1).sum())
        return np.concatenate([vectors, share if self.biases else np.zeros(self.n)])

    def parts(self, x: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        size = self.n * self.k
        return x[:size].reshape(self.n, self.k), x[size : 2 * size].reshape(self.n, self.k), x[2 * size :]

    def value_and_gradient(self, x: NDArray, rows: NDArray | None = None) -> tuple[float, NDArray]:
        X, Y, b = self.parts(x)

        def task(start: int, stop: int) -> tuple[float, NDArray, NDArray, NDArray]:
            H = X[start:stop] @ Y.T + b
            value, G = self._rows(H, start, stop)  # the loss of these rows, and its gradient by H
            return value, G @ Y, G.T @ X[start:stop], G.sum(axis=0)

        found = run(task, self.n, _ROWS)
        value = sum(part[0] for part in found) / self.total
        gradient = np.concatenate(
            [np.concatenate([part[1] for part in found]).ravel(), np.zeros(self.n * (self.k + 1))]
        )
        _, of_Y, of_b = self.parts(gradient)
        for part in found:
            of_Y += part[2]
            if self.biases:
                of_b += part[3]
        gradient /= self.total
        size = 2 * self.n * self.k
        gradient[:size] += self.ridge * x[:size]
        return value + 0.5 * self.ridge * float(x[:size] @ x[:size]), gradient

    def _rows(self, H: NDArray, start: int, stop: int) -> tuple[float, NDArray]:
        N, mass = self.counts[start:stop], self.rows[start:stop, None]
        H -= H.max(axis=1, keepdims=True)
        seen = float((N.data * H[_rows_of(N), N.indices]).sum())
        np.exp(H, out=H)
        normaliser = H.sum(axis=1, keepdims=True)
        value = float((mass * np.log(normaliser)).sum()) - seen
        H *= mass / normaliser
        return value, _less(H, N)


class _Contrast(_Softmax):
    """−Σ n_ij log σ(d_ij) − negatives Σ n_i q_j log σ(−d_ij) over Σ n_ij, d_ij = h_ij − log(negatives q_j)."""

    def _rows(self, H: NDArray, start: int, stop: int) -> tuple[float, NDArray]:
        N, mass = self.counts[start:stop], self.rows[start:stop, None]
        # symbols that are nobody's neighbour would be noise of no weight: any share will do
        noise = self.negatives * (self.columns + 1) / (self.columns + 1).sum()
        H -= np.log(noise)
        mass = mass * noise
        soft = np.logaddexp(0, H)  # −log σ(−d), and −log σ(d) = soft − d
        where = _rows_of(N), N.indices
        value = float((mass * soft).sum()) + float((N.data * (soft[where] - H[where])).sum())
        share = np.exp(H - soft)  # σ(d)
        G = mass * share
        G[where] += N.data * (share[where] - 1)
        return value, G


def _rows_of(N: sp.csr_array) -> NDArray[np.int64]:
    return np.repeat(np.arange(N.shape[0]), np.diff(N.indptr))


def _less(H: NDArray, N: sp.csr_array) -> NDArray:
    """H − N, in place."""
    H[_rows_of(N), N.indices] -= N.data
    return H
