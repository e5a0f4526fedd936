"""SingularValueThresholding: agreement with the entries, recovery, the dual value, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.complete.nuclear.tables import planted, stored
from tests.reference import nuclear as reference
from unweave import SingularValueThresholding


def exact(n=50, m=40, share=0.5):
    """A matrix of rank 2, part of it observed."""
    return planted(n, m, 2, share)


def recovered(model, M):
    return np.linalg.norm(model.inverse_transform(model.codes_) - M) / np.linalg.norm(M)


@pytest.mark.parametrize("step", ["auto", 2.0])
def test_it_finds_the_answer_of_the_printed_algorithm(step):
    M, X = exact()
    seen = ~np.isnan(X)
    best = reference.thresholding(np.where(seen, X, 0), seen, 100.0, 2.0)
    model = SingularValueThresholding(100.0, step=step, tol=1e-6, max_iter=2000).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.codes_), best, atol=1e-3)
    assert model.rank_ == 2 and recovered(model, M) < 1e-4


def test_exact_recovery():
    """1000×1000, rank 10, 12 % observed: relative error below 1e-4 at tol=1e-5."""
    rng = np.random.default_rng(0)
    M = rng.standard_normal((1000, 10)) @ rng.standard_normal((10, 1000))
    X = stored(np.where(rng.random(M.shape) < 0.12, M, np.nan))
    model = SingularValueThresholding(tol=1e-5).fit(X)
    assert model.rank_ == 10 and model.residual_ <= 1e-5
    assert np.linalg.norm(model.codes_ @ model.components_ - M) < 1e-4 * np.linalg.norm(M)


def test_certificate_is_the_dual_value_and_the_residual():
    _, X = exact()
    model = SingularValueThresholding().fit(X)
    found = model.certificate_
    assert found.kind == "dual" and found.exact and found.gap == model.residual_ <= 1e-5
    assert found.lower_bound == pytest.approx(model.objective_, rel=1e-4)
    seen = ~np.isnan(X)
    best = reference.thresholding(np.where(seen, X, 0), seen, model.tau_, 2.0)
    s = np.linalg.svd(best)[1]
    assert found.lower_bound <= (model.tau_ * s.sum() + 0.5 * s @ s) * (1 + 1e-9)


def test_the_dual_value_never_falls():
    _, X = exact(200, 150)
    model = SingularValueThresholding(max_iter=60, tol=0).fit(X)
    objective = np.array(model.history_.objective)
    assert (np.diff(objective) <= 1e-9 * abs(objective[-1])).all()


def test_transform_is_fit_transform_to_the_bit(dtype):
    X = exact()[1].astype(dtype)
    model = SingularValueThresholding()
    codes = model.fit_transform(X)
    np.testing.assert_array_equal(codes, model.transform(X))
    assert codes.dtype == model.components_.dtype == dtype


def test_new_rows_are_completed():
    M, X = exact(160, 60, share=0.6)
    model = SingularValueThresholding().fit(X[:100])
    rest = model.inverse_transform(model.transform(X[100:]))
    assert np.linalg.norm(rest - M[100:]) < 1e-3 * np.linalg.norm(M[100:])


def test_threads_change_no_bit(two_threads):
    _, X = exact(400, 300, share=0.3)
    one, two = two_threads(lambda: SingularValueThresholding(max_iter=10, tol=0).fit(X))
    np.testing.assert_array_equal(one.components_, two.components_)


def test_checkpoint_goes_on_where_it_stopped(tmp_path):
    _, X = exact(200, 150)
    straight = SingularValueThresholding(max_iter=12, tol=0).fit(X)

    def stop(progress):
        if progress.iteration == 6:
            raise KeyboardInterrupt

    path = tmp_path / "fit.ckpt"
    with pytest.warns(UserWarning, match="interrupted"):
        SingularValueThresholding(max_iter=12, tol=0, checkpoint=path, callback=stop).fit(X)
    again = SingularValueThresholding(max_iter=12, tol=0, checkpoint=path).fit(X)
    np.testing.assert_array_equal(straight.components_, again.components_)


def test_zeros_are_completed_by_zeros():
    X = np.zeros((6, 5))
    X[1, 1] = np.nan
    model = SingularValueThresholding().fit(X)
    assert model.rank_ == 0 and not model.inverse_transform(model.codes_).any()


@pytest.mark.parametrize(
    "settings, word",
    [
        ({"tau": 0}, "tau"), ({"tau": "big"}, "tau"), ({"tau": np.inf}, "tau"), ({"step": 0}, "step"),
        ({"step": -1.0}, "step"), ({"step": "long"}, "step"), ({"tol": -1}, "tol"), ({"max_iter": 0}, "max_iter"),
        ({"missing": "gone"}, "missing"), ({"callback": 3}, "callback"),
    ],
)  # fmt: skip
def test_bad_settings_are_named(settings, word):
    with pytest.raises((ValueError, TypeError), match=word):
        SingularValueThresholding(**settings).fit(exact()[1])


@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(2, 9), st.sampled_from([1e-6, 1.0, 1e6]))
def test_small_tables_never_give_nan(seed, n, m, scale):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, m)) < 0.5, scale * rng.standard_normal((n, m)), np.nan)
    X[0, 0] = scale
    model = SingularValueThresholding(max_iter=20, tol=0).fit(X)
    assert np.isfinite(model.inverse_transform(model.transform(X))).all() and np.isfinite(model.objective_)
