"""Fit probabilistic latent semantic analysis by expectation–maximisation, tempered if asked."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number
from unweave.data.table import check_table
from unweave.explain.text.vectorizers import takes_texts
from unweave.explain.topics.base import Topics, counts_of, need_words
from unweave.explain.topics.corpus import dealt_start
from unweave.explain.topics.measures import log_sum
from unweave.explain.topics.moves import (
    FIRST,
    ROUNDS,
    SPLIT,
    due_for_repair,
    fell_back,
    halved,
    improved_on,
    merged,
    merging,
    stepped,
)
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting
from unweave.linalg.counts import multiply_rows
from unweave.parallel import single_blas
from unweave.select.auto import chooses
from unweave.solve.iterate import Loop
from unweave.solve.plan import Plan
from unweave.solve.scheme import Scheme, State

_REPEATS, _TOL = 100, 1e-4  # of folding a document in
_LANES = 8  # columns of a SIMD register


class PLSA(Topics, Model, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Fit P(w|d) = Σ_z P(w|z) P(z|d) to counts by expectation–maximisation.

    Maximises Σ x_dw log P(w|d). With U = n_d P(z|d) and Z = P(w|z) this is non-negative factorisation with the KL loss,
    ``NMF(loss="kl")``, up to scale. Free parameters: (N + M)K − N − K for N documents and M words. It has no priors:
    use :class:`LDA` when documents are short or topics many, or temper it.

    Parameters
    ----------
    n_components : int or "auto", default=10
        "auto" takes the fewest that predict held-out words nearly best (document completion, see
        :func:`unweave.select.auto_count`), kept as ``choice_``; it needs whole counts.
    temper : float, default=1.0
        β in P(z|d, w) ∝ (P(w|z) P(z|d))^β; below 1 topics are smoother and overfit less.
    vectorizer : object with ``transform``, optional
        What turns texts into counts (:class:`unweave.TextTable`, say). With it texts are taken in place of tables; one
        that is not fitted yet is fitted (as a copy) to the texts given to `fit`.
    max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    topics_ : array (k, words)
        P(w|z), each row a distribution; also ``components_``.
    codes_ : array (documents, k)
        P(z|d), the conditional form.
    topic_shares_ : array (k,)
        P(z); with P(d|z) (``document_shares_``) and P(w|z) the joint form P(d, w) = Σ_z P(z) P(d|z) P(w|z).
    document_shares_ : array (documents, k)
        P(d|z), each column a distribution.
    objective_ : float
        −(1/β) Σ x log Σ_z (P(w|z) P(z|d))^β: minus the log-likelihood for β = 1.
    n_iter_, history_, plan_, certificate_

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import PLSA
    >>> X = np.array([[4, 3, 0, 0], [3, 5, 0, 0], [0, 0, 6, 2], [0, 0, 4, 4]])
    >>> model = PLSA(2).fit(X)
    >>> model.document_topics(X).max(axis=1).round(2).tolist()
    [1.0, 1.0, 1.0, 1.0]

    References
    ----------
    Hofmann (1999), Probabilistic latent semantic indexing. Gaussier and Goutte (2005), Relation between PLSA and NMF.
    """

    _takes_cluster = False

    def __init__(
        self,
        n_components=10,
        *,
        temper=1.0,
        vectorizer=None,
        max_iter=200,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.temper = temper
        self.vectorizer = vectorizer
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @takes_texts
    @chooses
    def fit(self, X, y=None, *, client=None):
        """Learn the topics from counts of words, one document per row; `client` is refused: no cluster is used."""
        with fitting(self, client):
            X = counts_of(check_table(self, X, None, reset=True), "PLSA")
            need_words(X)
            k = self._number()
            run = Run(self, X)
            scheme = TemperedEM(X, k, self._temper())
            plan = Plan(
                f"{X.shape[0]}×{X.shape[1]} counts ≈ P(z|d) · P(w|z), {k} topics", "expectation–maximisation", "", "",
                "twice the topics, words dealt out at random, those most alike merged",
                ["the EM step is the multiplicative update of KL"],
            )  # fmt: skip
            self._publish(X, *scheme.tables(run.through(scheme, plan)))
            run.close(self._value(X))
        return self

    def _value(self, X: sp.csr_array) -> float:
        """Compute minus the (tempered) log-likelihood of the words under the topics and mixtures as they are."""
        beta = self._temper()
        theta, phi = self.codes_.astype(np.float64) ** beta, np.maximum(self.topics_, 1e-30) ** beta
        return -log_sum(theta, phi, X) / beta

    def _temper(self) -> float:
        beta = number(self.temper, "temper", 1e-6)
        if beta > 1:
            raise ValueError(f"temper must lie above 0 and not above 1, got {beta:g}")
        return beta

    def _publish(self, X: sp.csr_array, documents: NDArray, words: NDArray) -> None:
        words, alike = words.astype(np.float64).T, np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
        words = np.where(words.sum(axis=1, keepdims=True) > 0, words, alike)  # a topic no document kept is the average
        self.topics_ = self.components_ = words / words.sum(axis=1, keepdims=True)
        self.n_components_ = self._n_features_out = len(self.topics_)
        lengths = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
        joint = documents.astype(np.float64) * lengths[:, None]
        mass = joint.sum(axis=0)
        self.topic_shares_ = mass / mass.sum()
        self.document_shares_ = joint / np.where(mass > 0, mass, 1)
        self.codes_ = self._filled(documents, lengths)

    def _filled(self, theta: NDArray, lengths: NDArray) -> NDArray:
        """Give documents that are empty, or have only words of no topic, the shares of the topics."""
        mass = theta.sum(axis=1, keepdims=True)
        known = (lengths[:, None] > 0) & (mass > 0)
        return np.where(known, theta / np.where(known, mass, 1), self.topic_shares_).astype(theta.dtype)

    def transform(self, X) -> NDArray:
        """Find P(z|d) of every document with the topics fixed (folding in); an empty document gets P(z)."""
        check_is_fitted(self)
        with single_blas():
            X, beta = self._counts(X), self._temper()
            H = np.ascontiguousarray((self.topics_.T**beta).astype(X.dtype))
            theta = np.full((X.shape[0], len(self.topics_)), 1 / len(self.topics_), dtype=X.dtype)
            ones, table = np.ones(len(self.topics_)), (X.indptr, X.indices, X.data)
            if beta == 1:
                theta = multiply_rows(*table, H, theta, ones, repeats=_REPEATS, tol=_TOL)
            else:
                for _ in range(_REPEATS):
                    counts = multiply_rows(*table, H, theta**beta, ones)
                    theta = counts / np.maximum(counts.sum(axis=1, keepdims=True), np.finfo(X.dtype).tiny)
            return self._filled(theta, np.asarray(X.sum(axis=1)).ravel())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class TemperedEM(Scheme):
    """Expectation–maximisation as a scheme: P(z|d) with the topics fixed, then P(w|z) with the mixtures fixed.

    With F = P(z|d)^β and H = P(w|z)^β the expected counts Σ_w x r_dwz, r ∝ F·H, are the numerator of the multiplicative
    KL update, F_z Σ_w x H_wz / (F·H_w): its kernel with unit column sums is the whole step. The objective is minus the
    tempered log-likelihood before the step, −(1/β) Σ x log (F·H), and never rises. It begins with twice the topics, and
    splits and merges them when it has nearly settled, as long as that pays.
    """

    def __init__(self, X: sp.csr_array, k: int, beta: float):
        self.X, self.k, self.beta, self.tol, self.plainly = X, k, beta, 0.0, False
        self.rows = X.indptr, X.indices, X.data
        back = sp.csr_array(X.T)
        self.columns = back.indptr.astype(np.int64), back.indices.astype(np.int32), back.data
        self.lengths = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
        seen = X.data[X.data > 0].astype(np.float64)
        self.constant = float((seen * np.log(seen) - seen).sum())
        self.each = np.ones(X.shape[1], dtype=X.dtype)

    def adapt(self, loop: Loop) -> Loop:
        self.tol, self.plainly = loop.tol or 0.0, loop.max_iter < FIRST  # who asks for few sweeps is in a hurry
        return loop

    def begin(self, rng=None) -> State:
        k = self.k if self.plainly else 2 * self.k
        documents = np.full((self.X.shape[0], k), 1 / k, dtype=self.X.dtype)
        words = dealt_start(self.X, k, rng)
        watched = {"value": np.inf, "fall": np.inf, "rounds": 0, "seed": int(rng.integers(2**62))}
        if self.plainly:
            return {**self._merged(words, documents, np.arange(k)), **watched}
        wide = self._widely(documents, words / _safe(words.sum(axis=0)), FIRST)
        return {**self._merged(*wide, merging(*wide, self.k)), **watched}

    def step(self, state: State) -> tuple[State, float]:
        before, rounds = state["value"], state["rounds"]
        if due_for_repair(state, self.tol):
            found = self._repaired(state)
            state, rounds = (state, ROUNDS) if found is None else (found, rounds + 1)
        new, objective = self._improved(state)
        fall = (before - objective) / max(abs(objective), 1e-300)
        return {**new, "value": objective, "fall": fall, "rounds": rounds, "seed": state["seed"]}, objective

    def _improved(self, state: State) -> tuple[State, float]:
        """Make one step of EM; also the objective before it."""
        F, H = self._power(state["documents"]), self._power(state["words"])
        values, ones = np.empty(len(F)), np.ones(F.shape[1])
        documents = multiply_rows(*self.rows, H, F, ones, values=values)
        # The kernel's value is Σ (x log(x/p) − x) + Σ_z F_z.
        objective = (float(values.sum()) - self.constant - float(F.sum(dtype=np.float64))) / self.beta
        documents /= _safe(documents.sum(axis=1, keepdims=True))
        words = multiply_rows(*self.columns, self._power(documents), H, ones)
        words /= _safe(self.each @ words)  # a product is several times faster than a sum over the first axis
        return {**state, "documents": documents, "words": words}, objective

    def _repaired(self, state: State) -> State | None:
        """Split topics, merge those most alike, and return the state if that pays."""
        documents, words = self.tables(state)
        rng = np.random.default_rng((state["seed"], state["rounds"]))
        wide = self._widely(halved(documents, rng), np.hstack([words, words]), SPLIT)
        into = merging(*wide, self.k)
        if fell_back(into):
            return None
        return improved_on(state["value"], self._improved, {**state, **self._merged(*wide, into)})

    def _widely(self, documents: NDArray, words: NDArray, steps: int) -> tuple[NDArray, NDArray]:
        """Make some steps with twice the topics: the counts of words and of documents by topic."""
        state = stepped(self._improved, {"documents": _padded(documents), "words": _padded(words)}, steps)
        counts = state["documents"][:, : 2 * self.k] * self.lengths[:, None].astype(documents.dtype)
        return state["words"][:, : 2 * self.k] * counts.sum(axis=0), counts

    def _merged(self, words: NDArray, documents: NDArray, into: NDArray) -> State:
        words, documents = merged(words, into), merged(documents, into)
        shares = words / _safe(words.sum(axis=0)), documents / _safe(documents.sum(axis=1, keepdims=True))
        return {"words": _padded(shares[0]), "documents": _padded(shares[1])}

    def tables(self, state: State) -> tuple[NDArray, NDArray]:
        """Take P(z|d) and P(w|z) (words × topics) out of the padding."""
        return state["documents"][:, : self.k], state["words"][:, : self.k]

    def _power(self, table: NDArray) -> NDArray:
        return table if self.beta == 1 else table**self.beta


def _padded(table: NDArray) -> NDArray:
    """Add columns of zeros up to whole SIMD registers; the update leaves a zero at zero."""
    return np.pad(table, ((0, 0), (0, -table.shape[1] % _LANES)))


def _safe(sums: NDArray) -> NDArray:
    return np.maximum(sums, np.finfo(sums.dtype).tiny)
