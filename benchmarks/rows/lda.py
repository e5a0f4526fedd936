"""LDA: seconds to a peer's document-completion perplexity on 20 Newsgroups; perplexity of the default call on AP."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets
from benchmarks.harness import Fit, Row

K = 50
TEST = 1500
LADDER = (3, 5, 10, 15, 20, 30, 50, 100)


@dataclass
class Documents:
    """Training counts, and the two halves of each test document over the same words."""

    train: sp.csr_matrix
    seen: sp.csr_array
    asked: sp.csr_array


def _split(train: sp.csr_matrix, test: sp.csr_matrix, least: int) -> Documents:
    from unweave.explain.topics.measures import halves

    keep = np.flatnonzero(train.getnnz(axis=0) >= least)
    return Documents(sp.csr_matrix(train[:, keep]).astype(np.float32), *halves(test[:, keep], 1))


def load(folder: Path, size: str) -> Documents:
    """20 Newsgroups, words of two posts at least; 1500 test posts."""
    names = "train_counts_csr.npz", "test_counts_csr.npz"
    datasets.need(folder / "20newsgroups", *names)
    train, test = (sp.csr_matrix(sp.load_npz(folder / "20newsgroups" / name)) for name in names)
    rows = {"full": None, "quick": 2000, "tiny": 300}[size]
    return _split(train[:rows], test[:TEST], 2)


def load_ap(folder: Path, size: str) -> Documents:
    """Associated Press, 224 random documents held out."""
    counts = sp.csr_matrix(sp.load_npz(datasets.need(folder / "ap", "ap_counts_csr.npz")))
    order = np.random.default_rng(0).permutation(counts.shape[0])
    test, train = np.sort(order[:224]), np.sort(order[224:])
    return _split(counts[train[: 300 if size == "tiny" else None]], counts[test], 1)


def ours(data: Documents, target: float | None) -> Fit:
    """Fits of more and more sweeps until the target is met; the seconds are those of the one that met it."""
    import unweave.explain.topics.lda as lda

    for sweeps in LADDER:
        started = time.perf_counter()
        model = lda.LDA(K, max_iter=sweeps, tol=0, random_state=0).fit(data.train)
        seconds = time.perf_counter() - started
        if target is None or objective(data, model.topics_) <= target:
            break
    return Fit(model.topics_, sweeps, seconds)


def default(data: Documents, target: float | None) -> Fit:
    import unweave.explain.topics.lda as lda

    model = lda.LDA(n_components=K).fit(data.train)
    return Fit(model.topics_, model.n_iter_)


def tomotopy(data: Documents, threads: int, *, sweeps: int = 100) -> Fit:
    """tomotopy's defaults; the seconds are those of training alone, without handing the documents over."""
    import tomotopy as tp

    model, X = tp.LDAModel(k=K, seed=0), data.train
    for start, stop in zip(X.indptr[:-1], X.indptr[1:]):
        words = np.repeat(X.indices[start:stop], X.data[start:stop].astype(int))
        if len(words):
            model.add_doc([str(word) for word in words])
    started = time.perf_counter()
    model.train(sweeps, workers=threads)
    seconds = time.perf_counter() - started
    topics = np.zeros((K, X.shape[1]))
    topics[:, [int(word) for word in model.used_vocabs]] = [model.get_topic_word_dist(k) for k in range(K)]
    return Fit(topics, sweeps, seconds)


def long_tomotopy(data: Documents, threads: int) -> Fit:
    return tomotopy(data, threads, sweeps=1000)


def sklearn(data: Documents, threads: int) -> Fit:
    """Two passes of scikit-learn's online method, otherwise its defaults."""
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(K, learning_method="online", max_iter=2, random_state=0, n_jobs=threads)
    model.fit(data.train)
    return Fit(model.components_ / model.components_.sum(axis=1, keepdims=True), 2)


def objective(data: Documents, topics: Any) -> float:
    from unweave.explain.topics.measures import document_completion

    return document_completion(topics, data.seen, data.asked)


_COMMON: dict[str, Any] = {"ours": ours, "objective": objective, "value": "perplexity", "repeats": 1, "slack": 0.0}

ROWS = [
    Row(
        name="lda",
        tuned_on="planted topics, AP, part of 20 Newsgroups, docstrings",
        reported_on="as named (tuned on, too)",
        title="LDA, 20 Newsgroups, k=50: time to tomotopy's 100-sweep perplexity",
        target=1.5,
        load=load,
        peers={"tomotopy": tomotopy},
        **_COMMON,
    ),
    Row(
        name="lda-online",
        tuned_on="planted topics, AP, part of 20 Newsgroups, docstrings",
        reported_on="as named (tuned on, too)",
        title="LDA, 20 Newsgroups, k=50: time to scikit-learn-online's 2-pass perplexity",
        target=10.0,
        load=load,
        peers={"sklearn online": sklearn},
        **_COMMON,
    ),
    Row(
        name="lda-ap",
        tuned_on="planted topics, AP, part of 20 Newsgroups, docstrings",
        reported_on="as named (tuned on, too)",
        title="LDA, AP, k=50: perplexity of the default call",
        target=0.0,
        load=load_ap,
        peers={"tomotopy": long_tomotopy},
        **{**_COMMON, "ours": default, "aim": "below"},
    ),
]
