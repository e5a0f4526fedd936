"""Probabilistic latent semantic analysis."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.table import check_table
from unweave.explain.perplexity import log_sum
from unweave.explain.plsa_em import TemperedEM
from unweave.explain.text.vectorizers import takes_texts
from unweave.explain.topic_table import counts_of, need_words
from unweave.explain.topics import Topics
from unweave.factorization.reportable import Reportable
from unweave.factorization.settings import generator, make_loop, number
from unweave.linalg.counts import multiply_rows
from unweave.parallel import single_blas
from unweave.select.auto import Counting, chooses
from unweave.solve.certificate import Certificate
from unweave.solve.iterate import iterate
from unweave.solve.plan import Plan

_REPEATS, _TOL = 100, 1e-4  # of folding a document in


class PLSA(Counting, Topics, Reportable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """P(w|d) = Σ_z P(w|z) P(z|d), fitted to counts by expectation–maximisation.

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
    def fit(self, X, y=None):
        """Learn the topics from counts of words, one document a row."""
        with single_blas():
            X = counts_of(check_table(self, X, None, reset=True), "PLSA")
            need_words(X)
            k = self._number()
            scheme = TemperedEM(X, k, self._temper())
            loop = scheme.pace(make_loop(self, X))
            state, history = iterate(scheme.step, scheme.begin(generator(self.random_state)), loop)
            self.history_, self.n_iter_ = history, len(history)
            self.plan_ = Plan(
                f"{X.shape[0]}×{X.shape[1]} counts ≈ P(z|d) · P(w|z), {k} topics", "expectation–maximisation", "", "",
                "twice the topics, words dealt out at random, those most alike merged",
                ["the EM step is the multiplicative update of KL"],
            )  # fmt: skip
            self._publish(X, *scheme.tables(state))
            self.objective_ = self._value(X)
            self.certificate_ = Certificate("none", float("-inf"), float("inf"), False, self.objective_)
            if loop.checkpoint is not None and history.stopped != "interrupted":
                loop.checkpoint.remove()
        return self

    def _value(self, X: sp.csr_array) -> float:
        """Minus the (tempered) log-likelihood of the words under the topics and mixtures as they are."""
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
        """Mixtures; a document that is empty, or has only words of no topic, gets the shares of the topics."""
        mass = theta.sum(axis=1, keepdims=True)
        known = (lengths[:, None] > 0) & (mass > 0)
        return np.where(known, theta / np.where(known, mass, 1), self.topic_shares_).astype(theta.dtype)

    def transform(self, X) -> NDArray:
        """P(z|d) of every document with the topics fixed (folding in); an empty document gets P(z)."""
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
