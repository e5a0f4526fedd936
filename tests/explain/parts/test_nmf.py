"""NMF: losses, solvers, penalties, streams, and a number of components left to the data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import unweave
from unweave.losses import ItakuraSaito

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def parts(n=80, m=15, k=3, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = (rng.gamma(1, size=(n, k)) @ rng.gamma(1, size=(k, m)) + 0.05) * rng.gamma(20, 1 / 20, size=(n, m))
    return X.astype(dtype)


def falls(history, slack=1e-9) -> bool:
    values = np.asarray(history.objective)
    return bool((np.diff(values) <= slack * np.abs(values[0])).all())


@pytest.mark.parametrize("loss", ["squared", "kl", "huber", "itakura-saito"])
@pytest.mark.parametrize(
    "extra", [{}, {"alpha_W": 0.01, "l1_ratio": 0.5}, {"alpha_W": 0.01}], ids=["", "both", "ridge"]
)
def test_every_loss_falls_and_keeps_both_factors_non_negative(loss, extra):
    model = unweave.NMF(3, loss=loss, max_iter=40, **extra).fit(parts())
    assert model.codes_.min() >= 0 and model.components_.min() >= 0
    assert falls(model.history_) and model.history_.objective[-1] < model.history_.objective[0]


@pytest.mark.parametrize("loss", ["squared", "kl", "huber", "itakura-saito"])
def test_missing_entries_do_not_count(loss):
    X = parts()
    hidden = np.random.default_rng(1).random(X.shape) < 0.2
    wild = np.where(hidden, 1e3, X)
    one = unweave.NMF(3, loss=loss, missing="nan", max_iter=30).fit(np.where(hidden, np.nan, X))
    two = unweave.NMF(3, loss=loss, missing=hidden, max_iter=30).fit(wild)
    np.testing.assert_array_equal(one.components_, two.components_)
    assert falls(one.history_)
    guess = one.inverse_transform(one.codes_)[hidden]
    assert np.abs(guess - X[hidden]).mean() < 0.5 * np.abs(X[hidden].mean() - X[hidden]).mean()


@pytest.mark.parametrize("solver", ["coordinate", "multiplicative", "projected-least-squares"])
def test_named_solvers_reach_the_same_objective(solver):
    X = parts()
    best = unweave.NMF(3, tol=1e-8, max_iter=2000).fit(X)
    model = unweave.NMF(3, solver=solver, tol=1e-8, max_iter=2000).fit(X)
    assert model.objective_ <= 1.05 * best.objective_ and falls(model.history_)


def test_itakura_saito_does_not_care_about_scale():
    X = parts()
    one, two = (unweave.NMF(3, loss="itakura-saito", max_iter=30).fit(c * X) for c in (1.0, 1e4))
    assert two.objective_ == pytest.approx(one.objective_, rel=1e-6)


def test_itakura_saito_value_is_its_formula_and_float32_stays():
    X = parts(dtype=np.float32)
    model = unweave.NMF(3, loss="itakura-saito", max_iter=50).fit(X)
    ratio = X.astype(np.float64) / model.inverse_transform(model.codes_)
    assert model.objective_ == pytest.approx(float((ratio - np.log(ratio) - 1).sum()), rel=1e-4)
    assert model.components_.dtype == np.float32 and model.transform(X).dtype == np.float32


@given(seed=st.integers(0, 2**31), k=st.integers(1, 4), scale=st.sampled_from([1e-6, 1.0, 1e6]))
def test_itakura_saito_never_rises(seed, k, scale):
    X = scale * np.random.default_rng(seed).gamma(0.5, size=(12, 6)) + 1e-8 * scale
    model = unweave.NMF(k, loss=ItakuraSaito(), max_iter=15).fit(X)
    assert falls(model.history_) and np.isfinite(model.components_).all()


@pytest.mark.parametrize("bad", [0.0, -1.0])
def test_itakura_saito_needs_data_above_zero(bad):
    X = parts()
    X[3, 2] = bad
    with pytest.raises(ValueError, match=r"needs data above 0; found.*floor|Negative values"):
        unweave.NMF(2, loss="itakura-saito").fit(X)
    with pytest.raises(ValueError, match="above 0"):
        unweave.NMF(2, loss="itakura-saito").fit(sp.csr_array(np.eye(3)))


def test_itakura_saito_of_stored_entries():
    X = parts()
    model = unweave.NMF(3, loss="itakura-saito", missing="zeros", max_iter=50).fit(sp.csr_array(np.where(X > 1, X, 0)))
    assert falls(model.history_) and model.components_.min() >= 0


@pytest.mark.parametrize("loss", ["squared", "kl", "itakura-saito"])
def test_a_stream_comes_near_to_the_fit(loss):
    X = parts(240)
    model = unweave.NMF(3, loss=loss)
    for _ in range(2):
        for i in range(0, 240, 80):
            model.partial_fit(X[i : i + 80])
    whole = unweave.NMF(3, loss=loss).fit(X)
    one = unweave.NMF(1, loss=loss).fit(X)
    assert abs(model.score(X)) < abs(whole.score(X)) + 0.3 * abs(one.score(X) - whole.score(X))


def test_streams_refuse_negative_blocks():
    model = unweave.NMF(2).partial_fit(parts())
    with pytest.raises(ValueError, match="Negative values in data passed to NMF"):
        model.partial_fit(-parts())
    with pytest.raises(ValueError, match="Negative values in data passed to NMF"):
        unweave.NMF(2).partial_fit(-parts())


def test_the_number_of_parts_can_be_left_to_the_data():
    rng = np.random.default_rng(0)
    X = (rng.gamma(1, size=(90, 3)) @ rng.gamma(1, size=(3, 12))) * rng.normal(1, 0.02, size=(90, 12))
    model = unweave.NMF("auto", max_iter=60).fit(X)
    assert model.n_components_ == 3 and model.n_components == "auto"
    assert any("n_components=3" in reason for reason in model.plan_.reasons)
    with pytest.raises(ValueError, match="give partial_fit a number"):
        unweave.NMF("auto").partial_fit(X)
    with pytest.raises(ValueError, match="whole number or 'auto'"):
        unweave.NMF("many").fit(X)
