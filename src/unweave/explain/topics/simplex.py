"""Fit topics as a factorisation in which codes and components are distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number
from unweave.data.named import NamedTable
from unweave.data.storage import divide_rows
from unweave.data.table import check_table
from unweave.explain.text.vectorizers import ready_vectorizer, takes_texts
from unweave.explain.topics.base import Topics, as_rows, counts_of, need_words
from unweave.explain.topics.plsa import TemperedEM
from unweave.factorization.base import BaseFactorization
from unweave.penalties import Simplex
from unweave.select.auto import chooses
from unweave.solve.plan import make_plan
from unweave.solve.problem import Problem

LOSSES = ("squared",)


class SimplexTopics(Topics, BaseFactorization):
    """Fit X ≈ U·Z with every row of U and of Z on the simplex: documents mix topics, topics are distributions.

    Minimises ½‖F − U·Z‖² for the frequencies F of the words of each document. A sentence on the engine, next to the
    probabilistic :class:`PLSA`; the squared loss makes long and short documents equal and frequent words decisive.
    ``init="auto"`` begins at a few steps of PLSA with twice the topics, those most alike merged.

    Parameters
    ----------
    n_components : int or "auto", default=10
        "auto" takes the fewest that predict held-out words nearly best (document completion, see
        :func:`unweave.select.auto_count`), kept as ``choice_``; it needs whole counts.
    loss : {"squared"}, default="squared"
        The logistic loss is refused: log-odds that are a distribution lie between 0 and 1 and favour a single word.
    vectorizer : object with ``transform``, optional
        What turns texts into counts (:class:`unweave.TextTable`, say). With it texts are taken in place of tables; one
        that is not fitted yet is fitted (as a copy) to the texts given to `fit`.
    solver, init, max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    topics_ : array (k, words)
        Also ``components_``.
    topic_shares_ : array (k,)
        Mean of the codes.
    codes_, objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import SimplexTopics
    >>> X = np.array([[4, 4, 0, 0], [3, 3, 0, 0], [0, 0, 2, 2], [0, 0, 4, 4.0]])
    >>> model = SimplexTopics(2).fit(X)
    >>> model.document_topics(X).max(axis=1).round(2).tolist()
    [1.0, 1.0, 1.0, 1.0]

    References
    ----------
    Arora, Ge, Kannan and Moitra (2012), Computing a nonnegative matrix factorization – provably.
    """

    missing = None
    _check_loaded = None  # type: ignore[assignment]  # a saved model is checked as the factorisation it is

    def __init__(
        self,
        n_components=10,
        *,
        loss="squared",
        vectorizer=None,
        solver="auto",
        init="auto",
        max_iter=200,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.loss = loss
        self.vectorizer = vectorizer
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _loss(self):
        if self.loss == "logistic":  # log(1 + e^p) − x p is nearly (½ − x) p there: best at a corner, one word a topic
            raise ValueError(
                "loss='logistic' takes U·Z as log-odds, and log-odds that sum to one over all words say nothing about "
                "them: every topic would be one word. Use loss='squared', or for which words a document holds "
                "BernoulliMixture or Factorization(loss='logistic', codes='simplex')"
            )
        if self.loss not in LOSSES:
            raise ValueError(f"loss={self.loss!r} is not known; use one of {', '.join(LOSSES)}")
        return self.loss

    def _problem(self, loss, shape, mixed):
        return Problem(self._number(), loss, Simplex(), Simplex())

    def _plan(self, objective, problem, rng):
        if not (isinstance(self.init, str) and self.init == "auto"):
            return super()._plan(objective, problem, rng)
        scheme = TemperedEM(as_rows(objective.X), problem.n_components, 1.0)
        topics = problem.components.prox(np.ascontiguousarray(scheme.tables(scheme.begin(rng))[1].T), 0.0)
        plan, *rest = make_plan(objective, problem, self.solver, topics, rng, number(self.tol, "tol"))
        plan.start = "PLSA with twice the topics, those most alike merged"
        return plan, *rest

    def _prepared(self, X, *, reset: bool) -> NamedTable:
        """Make frequencies of X, with the names of the words; dense tables stay dense."""
        self._loss()
        table = check_table(self, X if reset else self._read(X), None, reset=reset)
        counts = counts_of(table, "SimplexTopics")
        if reset:
            need_words(counts)
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        made = divide_rows(table.values, lengths.clip(min=np.finfo(counts.dtype).tiny))
        names = getattr(self, "feature_names_in_", None)
        return NamedTable(made, columns=None if names is None else [str(name) for name in names])

    @takes_texts
    @chooses
    def _fit(self, X, weights=None):
        table = self._prepared(X, reset=True)
        super()._fit(table)
        codes: Any = self.codes_
        full = ~_empty(table)
        self.topic_shares_ = codes[full].mean(axis=0)
        self.codes_, self._documents = self._filled(codes, table), int(full.sum())
        return self.codes_

    def _publish(self, problem, Z):
        super()._publish(problem, Z)
        self.topics_ = self.components_

    def _filled(self, codes: NDArray, table: NamedTable) -> NDArray:
        """Set the codes of empty documents to the shares of the topics."""
        return np.where(_empty(table)[:, None], self.topic_shares_, codes).astype(codes.dtype)

    def transform(self, X) -> NDArray:
        """Find the mixture of topics of every document, each on its own; an empty document gets the mean mixture."""
        check_is_fitted(self)
        table = self._prepared(X, reset=False)
        return self._filled(self._transform(table), table)

    def certify(self, X):
        """Certify the model as in :class:`unweave.Factorization`, on the counts it was fitted to."""
        check_is_fitted(self)
        return super().certify(self._prepared(X, reset=False))

    def score(self, X, y=None) -> float:
        """Compute minus the mean loss of an entry, after the best mixtures for X: higher is better."""
        check_is_fitted(self)
        return super().score(self._prepared(X, reset=False))

    def partial_fit(self, X, y=None):
        """Learn from one more block of documents; the first call starts the model."""
        first = not hasattr(self, "topics_")
        if first:
            self.vectorizer_ = None if self.vectorizer is None else ready_vectorizer(self.vectorizer, None)
            self.topic_shares_, self._documents = np.full(self._number(), 1 / self._number()), 0
        table = self._prepared(self._read(X), reset=first)
        super().partial_fit(table)
        full = ~_empty(table)
        if full.any():
            before, self._documents = self._documents, self._documents + int(full.sum())
            here = self._transform(table)[full].sum(axis=0)
            self.topic_shares_ = (before * self.topic_shares_ + here) / self._documents
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _empty(table: NamedTable) -> NDArray:
    return np.asarray(abs(table.X).sum(axis=1)).ravel() == 0
