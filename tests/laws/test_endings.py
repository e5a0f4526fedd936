"""Every alternating fit ends at codes as good as those it passed through: `objective_` against its history."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

import unweave
from unweave.losses import Absolute
from unweave.objectives import Dense
from unweave.penalties import L1, ElasticNet, Fixed, get_penalty
from unweave.updates import Effort, Half, first_rows
from unweave.updates.reweighted import Reweighted

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

POSITIVE = {
    "NMF": lambda: unweave.NMF(4),
    "NMF, ridge": lambda: unweave.NMF(4, alpha_W=0.01),
    "NMF, l1": lambda: unweave.NMF(4, alpha_W=0.01, l1_ratio=1.0),
    "NMF, huber": lambda: unweave.NMF(3, loss="huber", max_iter=30),
    "NMF, kl": lambda: unweave.NMF(3, loss="kl"),
    "NMF, multiplicative": lambda: unweave.NMF(3, solver="multiplicative"),
    "NMF, projected": lambda: unweave.NMF(3, solver="projected-least-squares"),
}
ANY = {
    "SemiNMF": lambda: unweave.SemiNMF(3),
    "SemiNMF, few iterations": lambda: unweave.SemiNMF(3, max_iter=5),
    "SemiNMF, huber": lambda: unweave.SemiNMF(3, loss="huber", max_iter=30),
    "ConvexNMF": lambda: unweave.ConvexNMF(3),
    "ConvexNMF, cone": lambda: unweave.ConvexNMF(3, kind="cone"),
    "lasso": lambda: unweave.Factorization(3, codes=L1(0.5), components="l2-ball"),
    "elastic net": lambda: unweave.Factorization(3, codes=ElasticNet(0.5, 0.5), components="l2-ball"),
    "ridge": lambda: unweave.Factorization(3, codes="ridge", components="ridge"),
    "simplex": lambda: unweave.Factorization(3, codes="simplex", max_iter=30),
}


def spectra() -> np.ndarray:
    """Mixtures of peaks that overlap: components that are nearly dependent."""
    rng, place = np.random.default_rng(0), np.linspace(0, 1, 50)
    peaks = np.exp(-0.5 * np.square((place - np.linspace(0.2, 0.8, 4)[:, None]) / 0.15))
    return rng.gamma(1, size=(40, 4)) @ peaks + 1e-2 * rng.random((40, 50))


def centred(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


TABLES = {
    "spectra": spectra,
    "far from zero": lambda: 100 + np.random.default_rng(3).normal(size=(30, 5)),
    "wine": lambda: centred(load_wine().data),
    "iris": lambda: load_iris().data - load_iris().data.mean(axis=0),
}


@pytest.mark.parametrize("model", [*POSITIVE, *ANY])
@pytest.mark.parametrize("table", TABLES)
def test_a_fit_ends_no_higher_than_its_history(model, table):
    X = TABLES[table]()
    if model in POSITIVE and X.min() < 0:
        X = X - X.min() + 0.01
    fitted = {**POSITIVE, **ANY}[model]().fit(X)
    assert fitted.objective_ <= fitted.history_.objective[-1] * (1 + 1e-6) + 1e-12 * np.square(X).sum()


def test_codes_of_a_loss_that_is_reweighted_settle_too():
    X = TABLES["iris"]()
    model = unweave.SemiNMF(3, loss="huber", max_iter=60).fit(X)
    again = unweave.Factorization(3, loss="huber", codes="nonnegative", components=Fixed(model.components_)).fit(X)
    assert model.objective_ <= again.objective_ * (1 + 1e-6)


@pytest.mark.parametrize("noise", [0.05, 1e-3])
def test_in_float32_a_good_fit_falls_settles_and_says_its_objective(noise):
    rng = np.random.default_rng(0)
    X = (rng.gamma(1, size=(80, 4)) @ rng.gamma(1, size=(4, 20)) + noise * rng.random((80, 20))).astype(np.float32)
    coarse, fine = unweave.NMF(4).fit(X), unweave.NMF(4).fit(X.astype(np.float64))
    values = coarse.history_.objective
    assert (np.diff(values) <= 0).all()
    assert coarse.n_iter_ == pytest.approx(fine.n_iter_, abs=10)
    assert coarse.objective_ == pytest.approx(fine.objective_, rel=1e-2)
    found = 0.5 * np.square(X - coarse.codes_.astype(np.float64) @ coarse.components_).sum()
    assert coarse.objective_ == pytest.approx(found, rel=1e-4)


def _settling(kind: str, dtype) -> tuple[np.ndarray, dict, dict]:
    """A table for k-means, what its constructor is told, and what its fit is given."""
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)).astype(dtype)
    if kind == "sparse":
        return sp.csr_array(np.where(X > 0, X, 0)), {}, {}
    if kind == "holes":
        return np.where(rng.random(X.shape) < 0.2, np.nan, X), {"missing": "nan"}, {}
    if kind in ("cosine", "hamming"):
        return (X > 0).astype(dtype) if kind == "hamming" else X, {"metric": kind}, {}
    return X, {}, {"sample_weight": rng.random(len(X)) + 0.1} if kind == "weights" else {}


@pytest.mark.parametrize("kind", ["dense", "weights", "sparse", "holes", "cosine", "hamming"])
@pytest.mark.parametrize("repair", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_settled_k_means_ends_whatever_tol_is(kind, repair, dtype):
    X, how, given = _settling(kind, dtype)
    model = unweave.KMeans(4, tol=0, repair=repair, random_state=1, **how).fit(X, **given)
    assert model.n_iter_ < 300 and model.history_.stopped == "nothing changes any more"
    again = unweave.KMeans(4, tol=0, repair=False, init=model.cluster_centers_, **how).fit(X, **given)
    assert again.n_iter_ <= 2 and np.isclose(again.objective_, model.objective_, rtol=1e-6)


@pytest.mark.parametrize("codes", ["l1-ball", "l2-ball", "simplex"])
def test_codes_of_the_absolute_loss_settle(codes):
    """Entries met exactly weigh a thousand times as much as others: rounds over half-solved bounds crept on."""
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(8, 9)), rng.normal(size=(3, 9))
    loss = Absolute().prepare(X)
    model = Dense(X, loss).rows_given(Z)
    half = Half(get_penalty(codes, "codes"))
    start = first_rows(model, half, Reweighted())
    short, long = (Reweighted()(model, start, half, Effort(rounds, 1e-9)) for rounds in (600, 2000))
    assert model.value(short) <= model.value(long) * (1 + 1e-9)
