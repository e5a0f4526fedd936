"""Fit latent Dirichlet allocation, to a table or to batches of documents that come one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import generator, number, whole
from unweave.data.table import block_type, check_table, is_blocks
from unweave.explain.text.vectorizers import ready_vectorizer, takes_texts
from unweave.explain.topics.base import NO_WORDS, Topics, counts_of, need_words
from unweave.explain.topics.collapsed import Collapsed, smoothed
from unweave.explain.topics.corpus import Corpus, TopicScheme, sample_documents
from unweave.explain.topics.gibbs import Averaged, Gibbs, may_be_drawn
from unweave.explain.topics.in_blocks import (
    CollapsedBlocks,
    Counts,
    OnlineBlocks,
    entries_of,
    fold_in_blocks,
    likelihood_of_block,
    mixtures_of_block,
    open_counts,
)
from unweave.explain.topics.measures import log_sum, mixtures
from unweave.explain.topics.priors import ALPHA, ETA, seed_counts
from unweave.explain.topics.variational import Batch, Online, learn_batch, prior_of, warm_start
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting
from unweave.parallel import single_blas
from unweave.scale.door import as_blocks
from unweave.scale.rows import answers_of_blocks
from unweave.select.auto import chooses
from unweave.solve.certificate import Certificate
from unweave.solve.history import History
from unweave.solve.plan import Plan

_SCHEMES: dict[str, type[TopicScheme]] = {"collapsed": Collapsed, "gibbs": Gibbs, "batch": Batch, "online": Online}
# Documents per topic: with fewer, draws recover planted topics better (set on planted tables of 20 to 150 documents).
_FEW = 3
# Where topics are averaged over draws: at most so many words for each word of each topic (AP gains at 0.7 and not at
# 1.8, 20 Newsgroups at 0.4 and 0.6), at most so many words in all, and sweeps that a fit must be allowed.
_THIN, _SMALL, _LONG = 1.5, 2e6, 150
_REPEATS, _TOL = 100, 1e-4  # of folding a document in


class LDA(Topics, Model, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Explain every word of a document by one of k topics: θ_d ~ Dir(α), φ_k ~ Dir(η), z ~ θ_d, w ~ φ_z.

    Use it for counts of words (or of anything) when rows are mixtures of a few distributions and overfitting is to be
    held back by priors. α (one number for each topic) and η are learned unless given.

    Parameters
    ----------
    n_components : int or "auto", default=10
        Topics. "auto" takes the fewest that predict held-out words nearly best (whole counts only), see ``choice_``.
    inference : {"auto", "collapsed", "gibbs", "batch", "online"}, default="auto"
        "auto" is "collapsed", followed by draws about what it found where there are few words for so many topics (and
        counts are whole): their mean predicts better. It is "gibbs" where there are fewer than three documents for a
        topic.
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
        "auto" does not draw if fewer than 150 are allowed.
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
    codes_ : array (documents, k), or None
        θ of the training documents; none are kept of documents that came in blocks (`transform` finds them).
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

    codes_: NDArray | None

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
    def fit(self, X, y=None, *, client=None):
        """Learn the topics.

        Parameters
        ----------
        X : sparse matrix, array, data frame or NamedTable, or sequence of row blocks
            Counts of words, one document per row; whole numbers for ``inference="gibbs"``. Blocks need
            ``inference="collapsed"`` (as "auto" is then) or "online".
        y : ignored
        client : distributed.Client or str, optional
            A Dask cluster, or the address of its scheduler, whose workers visit the blocks of X.
        """
        with fitting(self, client):
            X = as_blocks(X)
            if is_blocks(X):
                return self._fit_blocks(X)
            X = counts_of(check_table(self, X, None, reset=True), "LDA")
            need_words(X)
            run, corpus = Run(self, X), Corpus(X, self._size())
            scheme = self._scheme(corpus, run.loop.max_iter)
            state = run.through(scheme, self._plan(corpus, scheme))
            self._publish(scheme.topics(state), state["alpha"], state["eta"])
            codes = scheme.mixtures(state)
            codes = self._fold_in(X) if codes is None else codes
            self.codes_ = codes
            self.topic_shares_ = corpus.lengths @ codes / corpus.lengths.sum()
            self._stream = {}
            run.close(-log_sum(codes.astype(np.float64), np.maximum(self.topics_, 1e-30), X))
        return self

    def _fit_blocks(self, X) -> LDA:
        """Learn the topics of documents in blocks; no mixtures are kept."""
        name = self._name()
        if name not in ("collapsed", "online"):
            raise ValueError(
                f"inference={name!r} needs X as one table in memory, not as a sequence of blocks: 'collapsed' and "
                "'online' take blocks, or stack them (scipy.sparse.vstack)"
            )
        side = open_counts(self, X)
        if not side.notes["total"]:
            raise ValueError(NO_WORDS)
        limit = _SCHEMES[name].sweeps if self.max_iter is None else None
        run, counts = Run(self, side.digest, max_iter=limit), Counts(side, self._size())
        alpha, eta = self._priors()
        learn = isinstance(self.alpha, str), isinstance(self.eta, str)
        seeds = self._seeds(sp.csr_array(counts.words[None].astype(counts.dtype)))
        scheme: TopicScheme
        if name == "online":
            size = whole(self.batch_size, "batch_size", 1)
            scheme = OnlineBlocks(counts, alpha, eta, learn, size, *self._rates(), seeds)
        else:
            scheme = CollapsedBlocks(counts, alpha, eta, learn, seeds)
        state = run.through(scheme, self._plan(counts, scheme))
        self._publish(scheme.topics(state), state["alpha"], state["eta"])
        words, likelihood = fold_in_blocks(side, self.topics_, self.alpha_, _REPEATS, _TOL)
        self.codes_, self._stream = None, {}
        self.topic_shares_ = words / words.sum()
        run.close(-likelihood)
        return self

    def _cost_family(self, complete):
        return "topics-online" if self.inference == "online" else "topics"

    def _size(self) -> int:
        return self._number()

    def _name(self) -> str:
        """Name the method asked for; "auto" is collapsed unless the table says otherwise."""
        name = "collapsed" if self.inference == "auto" else self.inference
        if not isinstance(name, str) or name not in _SCHEMES:
            raise ValueError(f"inference={self.inference!r} is not known; use auto, {', '.join(_SCHEMES)}")
        return name

    def _default_max_iter(self) -> int:
        return Averaged.sweeps if self.inference == "auto" else _SCHEMES[self._name()].sweeps

    @property
    def _limits_shape(self) -> bool:
        """Say whether `max_iter` shapes the path: where draws are averaged, it says which of them."""
        return self._name() == "gibbs" or self.inference == "auto"

    def _scheme(self, corpus: Corpus, max_iter: int) -> TopicScheme:
        """Choose the method for these documents and this many sweeps."""
        alpha, eta = self._priors()
        learn = isinstance(self.alpha, str), isinstance(self.eta, str)
        seeds = self._seeds(corpus.X)
        if self._name() == "online":
            size = whole(self.batch_size, "batch_size", 1)
            return Online(corpus, alpha, eta, learn, size, *self._rates(), seeds)
        if self.inference == "auto" and may_be_drawn(corpus):
            if corpus.shape[0] < _FEW * corpus.k:
                return Gibbs(corpus, alpha, eta, learn, seeds)
            thin = corpus.lengths.sum() <= min(_SMALL, _THIN * corpus.k * corpus.shape[1])
            if thin and max_iter >= _LONG:
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
                raise ValueError(f"alpha={self.alpha!r} is not known; use 'auto', a positive number or one per topic")
            alpha = np.full(k, ALPHA)
        else:
            alpha = np.asarray(self.alpha, dtype=np.float64)
            if alpha.shape not in ((), (k,)) or not np.isfinite(alpha).all() or (alpha <= 0).any():
                raise ValueError(f"alpha must be a positive number, or {k} of them, one per topic; got {self.alpha!r}")
            alpha = np.broadcast_to(alpha, (k,)).copy()
        if isinstance(self.eta, str) and self.eta != "auto":
            raise ValueError(f"eta={self.eta!r} is not known; use 'auto' or a positive number")
        return alpha, ETA if isinstance(self.eta, str) else number(self.eta, "eta", 1e-12)

    def _plan(self, corpus: Corpus | Counts, scheme: TopicScheme) -> Plan:
        n, m = corpus.shape
        why = ["as asked"]
        if self.inference == "auto":
            why = [scheme.reason]
        if self.seed_words is not None:
            why.append(f"the first {len(self.seed_words)} topics grow from seed words")
        if isinstance(self.alpha, str):
            why.append("alpha is learned, one number for each topic")
        what = f"{n}×{m} counts, {corpus.total:.6g} words, as mixtures of {corpus.k} topics"
        start = "twice the topics, words dealt out at random, those most alike merged"
        if isinstance(corpus, Counts):
            why.append(f"documents come in {len(corpus.side.load)} blocks: a sweep reads each once")
            start += ", for a sample of the documents"
        return Plan(what, scheme.title, "", "", start, why)

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
        with fitting(self):
            _add_documents(self, X, n_documents)
        return self

    def transform(self, X) -> NDArray:
        """Find θ of every document with the topics fixed, each on its own; an empty document gets the prior."""
        check_is_fitted(self)
        with single_blas():
            X = as_blocks(self._read(X))
            if is_blocks(X):
                return np.concatenate(list(self._mixtures_of_blocks(X)))
            return self._fold_in(self._counts(X))

    def _mixtures_of_blocks(self, X) -> Iterator[NDArray]:
        return self._asked_of_blocks(X, mixtures_of_block)

    def _score_of_blocks(self, X) -> float:
        likelihood, words = np.sum(list(self._asked_of_blocks(X, likelihood_of_block)), axis=0)
        if not words:
            raise ValueError(NO_WORDS)
        return float(likelihood / words)

    def _asked_of_blocks(self, X, task) -> Iterator:
        told = np.maximum(self.topics_, 1e-30), self.alpha_, _REPEATS, _TOL
        return answers_of_blocks(self, X, None, block_type(X), partial(entries_of, "LDA"), task, told)

    def _fold_in(self, X: sp.csr_array) -> NDArray:
        return mixtures(X, np.maximum(self.topics_, 1e-30), self.alpha_, _REPEATS, _TOL)

    def score(self, X, y=None) -> float:
        """Compute the mean log-probability of a word of X under the mixtures that fit it best: higher is better."""
        check_is_fitted(self)
        with single_blas():
            X = self._read(X)
            if is_blocks(X):
                return self._score_of_blocks(X)
            X = self._counts(X)
            need_words(X)
            theta = self._fold_in(X).astype(np.float64)
            return log_sum(theta, np.maximum(self.topics_, 1e-30), X) / float(X.sum(dtype=np.float64))

    def sample_documents(self, n=1, length=100, random_state=None) -> sp.csr_array:
        """Draw `n` new documents of the fitted model as counts, `length` words each (a number or one for each)."""
        check_is_fitted(self)
        return sample_documents(self.topics_, self.alpha_, n, length, generator(random_state))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _add_documents(model: LDA, X, n_documents) -> None:
    """Make one step of the online method; the state of the stream is kept in ``model._stream``."""
    fresh = not getattr(model, "_stream", None)
    resumed = fresh and hasattr(model, "topics_")
    if fresh and not resumed:
        model.vectorizer_ = None if model.vectorizer is None else ready_vectorizer(model.vectorizer, None)
    X = counts_of(check_table(model, model._read(X), None, reset=fresh and not resumed), "LDA")
    need_words(X)
    batch = Corpus(X, model._size())
    if fresh:
        model._stream = _begin_stream(model, batch, resumed)
    stream = dict(model._stream)
    stream["seen"] += X.shape[0]
    total = stream["seen"] if n_documents is None else max(whole(n_documents, "n_documents", 1), stream["seen"])
    offset, decay = model._rates()
    words, alpha, rate = stream["words"], stream["alpha"], (offset + stream["t"]) ** -decay
    prior = prior_of(stream["eta"], stream.get("seeds"), words.dtype)
    words, alpha, bound = learn_batch(batch, words, alpha, prior, rate, total, isinstance(model.alpha, str))
    model._stream = {**stream, "words": words, "alpha": alpha, "t": stream["t"] + 1}
    _publish_stream(model, batch, -bound)
    _add_shares(model, batch)


def _begin_stream(model: LDA, batch: Corpus, resumed: bool) -> dict:
    """Begin with the topics of a former fit, as strong as this batch, or with its documents dealt out at random."""
    alpha, eta = (model.alpha_, model.eta_) if resumed else model._priors()
    seeds = None if resumed else model._seeds(batch.X)
    if resumed:
        words = (model.topics_.T * model.topic_shares_ * batch.lengths.sum() + eta).astype(batch.dtype)
    else:
        words = warm_start(batch, alpha, eta, generator(model.random_state), seeds)
    model.history_ = History()
    shares = model.topic_shares_ if resumed else np.zeros(model._size())
    mass = float(batch.lengths.sum()) if resumed else 0.0  # a former fit counts as much as this batch
    stream = {"words": words, "alpha": alpha, "eta": float(eta), "t": 0, "seen": 0, "mass": mass, "shares": shares}
    return stream if seeds is None else {**stream, "seeds": seeds}


def _publish_stream(model: LDA, batch: Corpus, objective: float) -> None:
    """Publish what the stream has learned; the history has one entry per batch."""
    stream = model._stream
    model._publish(smoothed(stream["words"], 0.0), stream["alpha"], stream["eta"])
    model.codes_ = model._fold_in(batch.X)
    model.objective_, model.n_iter_ = float(objective), stream["t"]
    model.history_.add(float(objective), 1.0, 0.0)
    model.certificate_ = Certificate.none(float(objective))
    what = f"documents in batches, {stream['seen']} so far, as mixtures of {batch.k} topics"
    model.plan_ = Plan(what, Online.title, "", "", "documents dealt out at random", ["partial_fit learns online"])


def _add_shares(model: LDA, batch: Corpus) -> None:
    """Average the shares of the topics over all words so far, each batch as its own topics explained it."""
    stream, here = model._stream, float(batch.lengths.sum())
    mass, codes = stream["mass"] + here, model.codes_
    assert codes is not None
    shares = (stream["mass"] * stream["shares"] + batch.lengths @ codes) / mass
    model.topic_shares_ = shares
    model._stream = {**stream, "mass": mass, "shares": shares}
