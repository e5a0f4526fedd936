"""Latent Dirichlet allocation."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.table import check_table
from unweave.explain.lda_collapsed import Collapsed
from unweave.explain.lda_corpus import Corpus
from unweave.explain.lda_gibbs import Averaged, Gibbs, may_be_drawn
from unweave.explain.lda_priors import ALPHA, ETA
from unweave.explain.lda_stream import add_documents
from unweave.explain.lda_variational import Batch, Online
from unweave.explain.perplexity import log_sum, mixtures
from unweave.explain.seed_words import seed_counts
from unweave.explain.topic_table import counts_of, need_words
from unweave.explain.topics import Topics
from unweave.explain.vectorizers import takes_texts
from unweave.factorization.settings import generator, make_loop, number, whole
from unweave.factorization.showing import Showing
from unweave.parallel import single_blas
from unweave.select.auto import Counting, chooses
from unweave.solve.certificate import Certificate
from unweave.solve.iterate import iterate
from unweave.solve.plan import Plan

_SCHEMES: dict[str, Any] = {"collapsed": Collapsed, "gibbs": Gibbs, "batch": Batch, "online": Online}
_WHY: dict[type, str] = {
    Collapsed: "the fastest to a good perplexity",
    Averaged: "few words: the mean of draws predicts better than one setting",
    Gibbs: "few documents for so many topics",
}
# Documents a topic: with fewer, draws recover planted topics better (set on planted tables of 20 to 150 documents).
_FEW = 3
# Words up to which topics are averaged over draws (more say enough), and sweeps that a fit must be allowed for it.
_SMALL, _LONG = 2e6, 100
_REPEATS, _TOL = 100, 1e-4  # of folding a document in


class LDA(Counting, Topics, Showing, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Every word of a document comes from one of k topics: θ_d ~ Dir(α), φ_k ~ Dir(η), z ~ θ_d, w ~ φ_z.

    Use it for counts of words (or of anything) when rows are mixtures of a few distributions and overfitting is to be
    held back by priors. α (one number for each topic) and η are learned unless given.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Topics. "auto" takes the fewest that predict held-out words nearly best (whole counts only), see ``choice_``.
    inference : {"auto", "collapsed", "gibbs", "batch", "online"}, default="auto"
        "auto" is "collapsed", followed by draws about what it found where words are whole and no more than two million:
        their mean predicts better. It is "gibbs" where there are fewer than three documents for a topic.
        "collapsed": zero-order collapsed updates, deterministic and the fastest. "gibbs": collapsed Gibbs
        sampling in time that grows with the topics of a document, averaged over the later half of its sweeps.
        "batch": variational inference, whose bound never falls. "online": the same in small batches, a few passes over
        many documents.
    alpha : "auto", float or array (k,), default="auto"
        Prior of the topics in a document; "auto" learns one number for each topic.
    eta : "auto" or float, default="auto"
        Prior of the words in a topic; "auto" learns it (the online method keeps 0.05).
    batch_size, learning_offset, learning_decay : int, float, float
        Of the online method: ρ = (learning_offset + t)^−learning_decay.
    seed_words : dict or list of lists of str, optional
        Words that topics are to grow from, ``{"sports": ["game", "team"], "space": ["orbit"]}``: the first topics, in
        this order; the others are free. Words are names of columns, or their numbers where X has no names.
    seed_strength : float, default=1.0
        How much seeds weigh: each counts in its topic as often again, times this, as it occurs in X.
    vectorizer : object with ``transform``, optional
        What turns texts into counts (:class:`unweave.TextTable`, say). With it texts are taken in place of tables; one
        that is not fitted yet is fitted (as a copy) to the texts given to `fit`.
    max_iter : int, optional
        Sweeps over the documents: 600 (auto), 250 (collapsed), 300 (Gibbs), 100 (batch) or 10 (online) if not given.
        "auto" does not draw if fewer than 100 are allowed.
    tol : float, default=5e-6
        Ends "collapsed" and "batch" when the objective falls by less (relative); the noisy methods make all sweeps.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    topics_ : array (k, words)
        φ, each row a distribution; also ``components_``.
    alpha_, eta_ : array (k,), float
        The priors used at the end.
    topic_shares_ : array (k,)
        Of all words of the training documents.
    codes_ : array (documents, k)
        θ of the training documents.
    objective_ : float
        Minus the log-likelihood of the words under ``codes_`` and ``topics_``, −Σ x log(θφ), whatever the inference;
        ``history_`` has what the method itself watches.
    n_iter_, history_, plan_, certificate_

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import LDA
    >>> X = np.array([[4, 3, 0, 0], [3, 5, 0, 0], [0, 0, 6, 2], [0, 0, 4, 4], [0, 0, 0, 0]])
    >>> model = LDA(2).fit(X)
    >>> sorted(sorted(words) for words in model.top_words(2, vocabulary=["ape", "bee", "cat", "dog"]))
    [['ape', 'bee'], ['cat', 'dog']]
    >>> model.document_topics(X).round(1).max(axis=1)[:4].tolist()
    [1.0, 1.0, 1.0, 1.0]

    References
    ----------
    Blei, Ng and Jordan (2003), Latent Dirichlet allocation. Asuncion, Welling, Smyth and Teh (2009), On smoothing and
    inference for topic models. Wallach, Mimno and McCallum (2009), Rethinking LDA: why priors matter.
    """

    def __init__(
        self,
        n_components=10,
        *,
        inference="auto",
        alpha="auto",
        eta="auto",
        batch_size=1024,
        learning_offset=10.0,
        learning_decay=0.7,
        seed_words=None,
        seed_strength=1.0,
        vectorizer=None,
        max_iter=None,
        tol=5e-6,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.inference = inference
        self.alpha = alpha
        self.eta = eta
        self.batch_size = batch_size
        self.learning_offset = learning_offset
        self.learning_decay = learning_decay
        self.seed_words = seed_words
        self.seed_strength = seed_strength
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
        """Learn the topics.

        Parameters
        ----------
        X : sparse matrix, array, data frame or NamedTable
            Counts of words, one document a row; whole numbers for ``inference="gibbs"``.
        y : ignored
        """
        with single_blas():
            X = counts_of(check_table(self, X, None, reset=True), "LDA")
            need_words(X)
            rng = generator(self.random_state)
            corpus = Corpus(X, self._size())
            scheme = self._scheme(corpus)
            loop = scheme.pace(make_loop(self, X))
            state, history = iterate(scheme.step, scheme.begin(rng), loop, settled=getattr(scheme, "settled", None))
            self.history_, self.n_iter_, self.plan_ = history, len(history), self._plan(corpus, scheme)
            self._publish(scheme.topics(state), state["alpha"], state["eta"])
            codes = scheme.mixtures(state)
            self.codes_ = self._fold_in(X) if codes is None else codes
            self.objective_ = -log_sum(self.codes_.astype(np.float64), np.maximum(self.topics_, 1e-30), X)
            self.certificate_ = Certificate("none", float("-inf"), float("inf"), False, self.objective_)
            self.topic_shares_ = corpus.lengths @ self.codes_ / corpus.lengths.sum()
            self._stream = {}
            if loop.checkpoint is not None and history.stopped != "interrupted":
                loop.checkpoint.remove()
        return self

    def _size(self) -> int:
        return self._number()

    def _name(self) -> str:
        """The method asked for; "auto" is collapsed unless the table says otherwise."""
        name = "collapsed" if self.inference == "auto" else self.inference
        if not isinstance(name, str) or name not in _SCHEMES:
            raise ValueError(f"inference={self.inference!r} is not known; use auto, {', '.join(_SCHEMES)}")
        return name

    def _default_max_iter(self) -> int:
        return Averaged.sweeps if self.inference == "auto" else _SCHEMES[self._name()].sweeps

    @property
    def _limits_shape(self) -> bool:
        """Only draws of the second half of the sweeps are averaged."""
        return self._name() == "gibbs" or self.inference == "auto"

    def _scheme(self, corpus: Corpus):
        alpha, eta = self._priors()
        learn = isinstance(self.alpha, str), isinstance(self.eta, str)
        seeds = self._seeds(corpus.X)
        if self._name() == "online":
            size = whole(self.batch_size, "batch_size", 1)
            return Online(corpus, alpha, eta, learn, size, *self._rates(), seeds)
        if self.inference == "auto" and may_be_drawn(corpus):
            if corpus.shape[0] < _FEW * corpus.k:
                return Gibbs(corpus, alpha, eta, learn, seeds)
            if corpus.lengths.sum() <= _SMALL and (self.max_iter is None or self.max_iter >= _LONG):
                return Averaged(corpus, alpha, eta, learn, seeds)
        return _SCHEMES[self._name()](corpus, alpha, eta, learn, seeds)

    def _seeds(self, X: sp.csr_array) -> NDArray | None:
        strength = number(self.seed_strength, "seed_strength", 0.0)
        return seed_counts(self.seed_words, strength, X, getattr(self, "feature_names_in_", None), self._size())

    def _rates(self) -> tuple[float, float]:
        return number(self.learning_offset, "learning_offset", 1.0), number(self.learning_decay, "learning_decay")

    def _priors(self) -> tuple[NDArray, float]:
        k = self._size()
        if isinstance(self.alpha, str):
            if self.alpha != "auto":
                raise ValueError(f"alpha={self.alpha!r} is not known; use 'auto', a positive number or one a topic")
            alpha = np.full(k, ALPHA)
        else:
            alpha = np.asarray(self.alpha, dtype=np.float64)
            if alpha.shape not in ((), (k,)) or not np.isfinite(alpha).all() or (alpha <= 0).any():
                raise ValueError(f"alpha must be a positive number, or {k} of them, one a topic; got {self.alpha!r}")
            alpha = np.broadcast_to(alpha, (k,)).copy()
        if isinstance(self.eta, str) and self.eta != "auto":
            raise ValueError(f"eta={self.eta!r} is not known; use 'auto' or a positive number")
        return alpha, ETA if isinstance(self.eta, str) else number(self.eta, "eta", 1e-12)

    def _plan(self, corpus: Corpus, scheme) -> Plan:
        n, m = corpus.shape
        why = ["as asked"]
        if self.inference == "auto":
            why = [_WHY[type(scheme)]]
        if self.seed_words is not None:
            why.append(f"the first {len(self.seed_words)} topics grow from seed words")
        if isinstance(self.alpha, str):
            why.append("alpha is learned, one number for each topic")
        what = f"{n}×{m} counts, {corpus.lengths.sum():.6g} words, as mixtures of {corpus.k} topics"
        return Plan(
            what, scheme.title, "", "", "twice the topics, words dealt out at random, those most alike merged", why
        )

    def _publish(self, topics: NDArray, alpha: NDArray, eta: float) -> None:
        self.topics_ = self.components_ = topics
        self.alpha_, self.eta_, self.n_components_ = alpha, float(eta), len(topics)
        self._n_features_out = len(topics)

    def partial_fit(self, X, y=None, n_documents=None):
        """Learn from one more batch of documents by the online method; the first call starts the model.

        Parameters
        ----------
        X : counts as in `fit`
        y : ignored
        n_documents : int, optional
            How many documents there will be in all; those seen so far if not given.
        """
        with single_blas():
            add_documents(self, X, n_documents)
        return self

    def transform(self, X) -> NDArray:
        """θ of every document with the topics fixed, each on its own; an empty document gets the prior."""
        check_is_fitted(self)
        with single_blas():
            return self._fold_in(self._counts(X))

    def _fold_in(self, X: sp.csr_array) -> NDArray:
        return mixtures(X, np.maximum(self.topics_, 1e-30), self.alpha_, _REPEATS, _TOL)

    def score(self, X, y=None) -> float:
        """Mean log-probability of a word of X under the mixtures that fit it best: higher is better."""
        check_is_fitted(self)
        with single_blas():
            X = self._counts(X)
            need_words(X)
            theta = self._fold_in(X).astype(np.float64)
            return log_sum(theta, np.maximum(self.topics_, 1e-30), X) / float(X.sum(dtype=np.float64))

    def sample_documents(self, n=1, length=100, random_state=None) -> sp.csr_array:
        """`n` new documents of the fitted model as counts, `length` words each (a number or one for each)."""
        from unweave.explain.lda_sample import sample_documents

        check_is_fitted(self)
        return sample_documents(self.topics_, self.alpha_, n, length, generator(random_state))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
