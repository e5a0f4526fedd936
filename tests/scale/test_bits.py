"""For the same blocks this process, one worker and several end in the same bits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import unweave

distributed = pytest.importorskip("distributed")

from unweave.scale.cluster import Cluster, start_cluster  # noqa: E402
from unweave.scale.summing import TOGETHER  # noqa: E402
from unweave.scale.visits import visiting  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

PIECES = TOGETHER + 2  # so that sums of sums are made


def counts(n: int = 220, m: int = 14) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.poisson(rng.gamma(1.0, 1.0, (n, 3)) @ rng.gamma(1.0, 1.0, (3, m))).astype(float)


def words() -> sp.csr_array:
    return sp.csr_array(counts(m=40))


def holes() -> np.ndarray:
    X = counts()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    return X


def ratings() -> sp.csr_array:
    rng = np.random.default_rng(2)
    X = 3 + rng.normal(size=(150, 2)) @ rng.normal(size=(2, 40))
    return sp.csr_array(np.where(rng.random(X.shape) < 0.3, X, 0))


def cut(X, pieces: int = PIECES) -> list:
    edges = np.linspace(0, X.shape[0], pieces + 1).astype(int)
    return [X[a:b] for a, b in pairwise(edges)]


CASES = {
    "PCA": (lambda: unweave.PCA(3), counts),
    "PCA, float32": (lambda: unweave.PCA(3), lambda: counts().astype(np.float32)),
    "PCA, wide": (lambda: unweave.PCA(3, random_state=0, max_iter=3), lambda: counts(110, 4200)),
    "TruncatedSVD": (lambda: unweave.TruncatedSVD(3), words),
    "TruncatedSVD, wide": (
        lambda: unweave.TruncatedSVD(3, random_state=0, max_iter=3), lambda: sp.csr_array(counts(110, 4200)),
    ),
    "NMF": (lambda: unweave.NMF(3, random_state=0, max_iter=4), counts),
    "NMF, float32": (lambda: unweave.NMF(3, random_state=0, max_iter=4), lambda: counts().astype(np.float32)),
    "NMF, KL": (lambda: unweave.NMF(3, loss="kl", random_state=0, max_iter=4), words),
    "SemiNMF": (lambda: unweave.SemiNMF(3, random_state=0, max_iter=4), counts),
    "KMeans": (lambda: unweave.KMeans(4, random_state=0, max_iter=4), counts),
    "KMeans, holes": (lambda: unweave.KMeans(4, missing="nan", random_state=0, max_iter=4), holes),
    "KMeans, float32": (lambda: unweave.KMeans(4, random_state=0, max_iter=4), lambda: counts().astype(np.float32)),
    "GaussianMixture": (lambda: unweave.GaussianMixture(3, random_state=0, max_iter=4), counts),
    "BernoulliMixture": (
        lambda: unweave.BernoulliMixture(3, random_state=0, max_iter=4), lambda: (counts() > 2).astype(float),
    ),
    "LDA": (lambda: unweave.LDA(3, random_state=0, max_iter=4), words),
    "LDA, online": (
        lambda: unweave.LDA(3, inference="online", batch_size=16, random_state=0, max_iter=2), words,
    ),
    "MatrixCompletion": (lambda: unweave.MatrixCompletion(2, ridge=0.1, random_state=0, max_iter=3), ratings),
    "ImplicitALS": (
        lambda: unweave.ImplicitALS(3, ridge=0.1, random_state=0, max_iter=2), lambda: abs(ratings()),
    ),
    "SoftClustering": (lambda: unweave.SoftClustering(3, random_state=0, max_iter=4), counts),
    "huber": (
        lambda: unweave.Factorization(3, loss="huber", codes="ridge", components="ridge", random_state=0, max_iter=4),
        counts,
    ),
    "logistic": (
        lambda: unweave.Factorization(2, loss="logistic", random_state=0, max_iter=4),
        lambda: (counts() > 2).astype(float),
    ),
    "holes": (
        lambda: unweave.Factorization(3, codes="ridge", components="ridge", missing="nan", random_state=0, max_iter=4),
        holes,
    ),
}  # fmt: skip


def learned(model) -> dict:
    """Every array and number that a fit has published, and the objective of every iteration."""
    found = {name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")}
    found["objectives"] = model.history_.objective
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray | np.generic | float | int)}


def assert_same_bits(one: dict, other: dict) -> None:
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("case", CASES)
def test_two_workers_end_in_the_bits_of_this_process(case, client):
    make, data = CASES[case]
    blocks = cut(data())
    here, there = make().fit(blocks), make().fit(blocks, client=client)
    assert {"objective_", "objectives"} < learned(here).keys()
    assert_same_bits(learned(here), learned(there))


FEW = ["NMF", "LDA", "MatrixCompletion"]


def test_one_worker_and_four_end_in_the_bits_of_this_process():
    tables = {case: cut(CASES[case][1]()) for case in FEW}
    here = {case: learned(CASES[case][0]().fit(tables[case])) for case in FEW}
    with start_cluster(1) as client:
        for workers in (1, 4):
            client.cluster.scale(workers)
            client.wait_for_workers(workers, timeout=60)
            for case in FEW:
                assert_same_bits(here[case], learned(CASES[case][0]().fit(tables[case], client=client)))


@pytest.mark.parametrize(
    ("case", "asked"),
    [
        ("PCA", "transform"),
        ("NMF", "transform"),
        ("NMF, KL", "transform"),
        ("KMeans", "predict"),
        ("GaussianMixture", "predict_proba"),
        ("LDA", "transform"),
        ("MatrixCompletion", "predict"),
        ("ImplicitALS", "transform"),
        ("logistic", "transform"),
    ],
)
def test_answers_about_rows_are_the_same_bits(case, asked, client):
    make, data = CASES[case]
    model = make().fit(cut(data(), 3))
    blocks = cut(data())
    here = getattr(model, asked)(blocks)
    with visiting(cluster := Cluster(client)):
        there = getattr(model, asked)(blocks)
    assert cluster.loads >= len(blocks)
    np.testing.assert_array_equal(here, there)
