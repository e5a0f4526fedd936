"""LSA of 20 Newsgroups (tf–idf) against gensim: building the space to the same quality, and the latency of a query.

And against scikit-learn: whether the weights of TextTable put posts of one group beside each other. Those weights were
set on docstrings of SciPy, scikit-learn and the standard library.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets, evaluate
from benchmarks.harness import Fit, Row, stop_at

K, QUERIES, WORDS, BEST = 100, 200, 5, 10


def load(folder: Path, size: str) -> sp.csr_matrix:
    counts = datasets.newsgroups(folder, {"full": None, "quick": 2000, "tiny": 300}[size])
    return datasets.tfidf(counts)


def load_double(folder: Path, size: str) -> sp.csr_matrix:
    """The same in float64, which is what scikit-learn's vectorisers hand out."""
    return load(folder, size).astype(np.float64)


def ours(X: sp.csr_matrix, target: float | None) -> Fit:
    import unweave.explain.search.lsa as lsa

    model = lsa.LSA(K, tol=1e-10 if target is not None else 1e-5, callback=stop_at(target)).fit(X)
    return Fit(model.components_, model.n_iter_)


def _lsi(X: sp.csr_matrix):
    from gensim.models import LsiModel

    words = {j: str(j) for j in range(X.shape[1])}
    return LsiModel(sp.csc_matrix(X.T), num_topics=K, id2word=words, random_seed=0, dtype=X.dtype.type)


def gensim(X: sp.csr_matrix, threads: int) -> Fit:
    """gensim's defaults but for the dtype, that of the table, and the sparse matrix itself: its fastest way in."""
    return Fit(_lsi(X).projection.u.T, 1)


def objective(X: sp.csr_matrix, components: Any) -> float:
    """Half of what the space leaves of ‖X‖²: the lower, the more of the norm is captured."""
    return evaluate.subspace(X, components)


def _queries(X: sp.csr_matrix) -> list[np.ndarray]:
    """Some words each of documents that are spread over the table."""
    rows = np.linspace(0, X.shape[0] - 1, QUERIES).astype(int)
    return [X.indices[X.indptr[i] : X.indptr[i + 1]][:WORDS] for i in rows]


def _latency(ask: Callable[[Any], Any], queries: list[Any]) -> float:
    """Median seconds of a query, after a few to warm up."""
    for query in queries[:5]:
        ask(query)
    took = []
    for query in queries:
        started = time.perf_counter()
        ask(query)
        took.append(time.perf_counter() - started)
    return float(np.median(took))


def ours_query(X: sp.csr_matrix, target: float | None) -> Fit:
    """A text of some words in, ten documents out."""
    import unweave.explain.search.lsa as lsa
    from unweave.data.named import NamedTable

    model = lsa.LSA(K).fit(NamedTable(sp.csr_array(X), columns=[str(j) for j in range(X.shape[1])], kind="counts"))
    queries = [" ".join(str(j) for j in words) for words in _queries(X)]
    return Fit(model.components_, QUERIES, _latency(lambda words: model.search(words, BEST), queries))


def gensim_query(X: sp.csr_matrix, threads: int) -> Fit:
    """Numbers of words in, folded in by LsiModel, ten documents out of MatrixSimilarity."""
    from gensim.matutils import Sparse2Corpus
    from gensim.similarities import MatrixSimilarity

    lsi = _lsi(X)
    corpus = Sparse2Corpus(sp.csc_matrix(X.T))
    index = MatrixSimilarity(lsi[corpus], num_features=K, num_best=BEST)
    queries = [[(int(j), 1.0) for j in words] for words in _queries(X)]
    return Fit(lsi.projection.u.T, QUERIES, _latency(lambda bag: index[lsi[bag]], queries))


def load_labelled(folder: Path, size: str) -> tuple[sp.csr_array, np.ndarray]:
    """Counts of words and the group of each post."""
    base = folder / "20newsgroups"
    counts = sp.load_npz(datasets.need(base, "train_counts_csr.npz", "train_labels.npz"))
    rows = np.random.default_rng(0).permutation(counts.shape[0])[: {"full": None, "quick": 2000, "tiny": 300}[size]]
    counts = sp.csr_array(counts)[rows].astype(np.float64)
    return counts[:, (counts > 0).sum(axis=0) >= 2], np.load(base / "train_labels.npz")["label"][rows]


def _space(weighted: sp.csr_array) -> np.ndarray:
    """Documents as points of the same LSA, so that only the weights differ."""
    import unweave

    return unweave.LSA(K).fit(weighted).codes_


def ours_neighbours(data: tuple, target: float | None) -> Fit:
    import unweave
    from unweave.data.named import NamedTable

    table = NamedTable(data[0], columns=[f"word{j}" for j in range(data[0].shape[1])], kind="counts")
    return Fit(_space(unweave.TextTable(weights="tf-idf").fit_transform(table)))


def _sklearn_neighbours(**options: Any) -> Callable[[tuple, int], Fit]:
    def fit(data: tuple, threads: int) -> Fit:
        from sklearn.feature_extraction.text import TfidfTransformer

        return Fit(_space(sp.csr_array(TfidfTransformer(**options).fit_transform(data[0]))))

    return fit


def strangers(data: tuple, codes: np.ndarray) -> float:
    """Share of posts whose nearest post (cosine) is of another group."""
    units, labels = codes / np.maximum(np.linalg.norm(codes, axis=1, keepdims=True), 1e-12), data[1]
    wrong = 0
    for start in range(0, len(units), 2000):
        cosine = units[start : start + 2000] @ units.T
        cosine[np.arange(len(cosine)), start + np.arange(len(cosine))] = -2
        wrong += int((labels[cosine.argmax(axis=1)] != labels[start : start + 2000]).sum())
    return wrong / len(units)


ROWS = [
    Row(
        name="lsa-neighbours",
        tuned_on="docstrings",
        title="LSA, 20 Newsgroups, k=100: posts whose nearest post is of another group, default weights",
        target=1.0,
        load=load_labelled,
        ours=ours_neighbours,
        peers={
            "TfidfVectorizer": _sklearn_neighbours(),
            "TfidfVectorizer, sublinear": _sklearn_neighbours(sublinear_tf=True),
        },
        objective=strangers,
        aim="below",
        stops=False,
        value="share",
        dtype="float64",
        repeats=1,
    ),
    Row(
        name="lsa",
        title="LSA, 20 Newsgroups tf–idf, k=100: building the space",
        target=2.0,
        load=load,
        ours=ours,
        peers={"gensim": gensim},
        objective=objective,
        repeats=2,
    ),
    Row(
        name="lsa-double",
        title="LSA, 20 Newsgroups tf–idf, k=100: building the space, float64",
        target=2.0,
        load=load_double,
        ours=ours,
        peers={"gensim": gensim},
        objective=objective,
        dtype="float64",
        repeats=2,
    ),
    Row(
        name="lsa-query",
        title="LSA, 20 Newsgroups, k=100: one query of five words, ten documents back",
        target=1.0,
        load=load,
        ours=ours_query,
        peers={"gensim": gensim_query},
        objective=objective,
        aim="none",
        stops=False,
        unit="s a query",
        repeats=1,
    ),
]
