"""LDA from batches of documents that come one after the other."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from unweave.data.table import check_table
from unweave.explain.lda_corpus import Corpus
from unweave.explain.lda_variational import Online, warm_start
from unweave.explain.text.vectorizers import ready_vectorizer
from unweave.explain.topic_table import counts_of, need_words
from unweave.factorization.settings import generator, whole
from unweave.solve.certificate import Certificate
from unweave.solve.history import History
from unweave.solve.plan import Plan


def add_documents(model, X, n_documents) -> None:
    """One step of the online method; the state of the stream is kept in ``model._stream``."""
    fresh = not getattr(model, "_stream", None)
    resumed = fresh and hasattr(model, "topics_")
    if fresh and not resumed:
        model.vectorizer_ = None if model.vectorizer is None else ready_vectorizer(model.vectorizer, None)
    X = counts_of(check_table(model, model._read(X), None, reset=fresh and not resumed), "LDA")
    need_words(X)
    batch = Corpus(X, model._size())
    if fresh:
        model._stream = _begin(model, batch, resumed)
    stream = dict(model._stream)
    stream["seen"] += X.shape[0]
    total = stream["seen"] if n_documents is None else max(whole(n_documents, "n_documents", 1), stream["seen"])
    offset, decay = model._rates()
    learn = isinstance(model.alpha, str), False
    seeds = stream.get("seeds")
    all_of_it = SimpleNamespace(shape=(total, X.shape[1]))
    online = Online(all_of_it, stream["alpha"], stream["eta"], learn, X.shape[0], offset, decay, seeds)  # type: ignore[arg-type]
    rate = (offset + stream["t"]) ** -decay
    words, alpha, bound = online.learn_batch(batch, stream["words"], stream["alpha"], stream["eta"], rate)
    model._stream = {**stream, "words": words, "alpha": alpha, "t": stream["t"] + 1}
    _publish(model, online, batch, -bound)
    _add_shares(model, batch)


def _begin(model, batch: Corpus, resumed: bool) -> dict:
    """From the topics of a former fit as strong as this batch, or from its documents dealt out at random."""
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


def _publish(model, online: Online, batch: Corpus, objective: float) -> None:
    stream = model._stream
    model._publish(online.topics(stream), stream["alpha"], stream["eta"])
    model.codes_ = model._fold_in(batch.X)
    model.objective_, model.n_iter_ = float(objective), stream["t"]
    model.history_.add(float(objective), 1.0, 0.0)
    model.certificate_ = Certificate("none", float("-inf"), float("inf"), False, float(objective))
    what = f"documents in batches, {stream['seen']} so far, as mixtures of {batch.k} topics"
    model.plan_ = Plan(what, online.title, "", "", "documents dealt out at random", ["partial_fit learns online"])


def _add_shares(model, batch: Corpus) -> None:
    """Shares of the topics in all words so far, each batch as its own topics explained it."""
    stream, here = model._stream, float(batch.lengths.sum())
    mass = stream["mass"] + here
    shares = (stream["mass"] * stream["shares"] + batch.lengths @ model.codes_) / mass
    model.topic_shares_ = shares
    model._stream = {**stream, "mass": mass, "shares": shares}
