"""Weights of rows are repetition, however a table is stored and axes are found; rules for how many components."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from tests.test_equivalences import same_span

_MODELS = (unweave.PCA, unweave.TruncatedSVD)
both = pytest.mark.parametrize("model", _MODELS, ids=lambda kind: kind.__name__)


def table(n: int, m: int, storage: str) -> np.ndarray:
    rng = np.random.default_rng(n + m)
    X = 4 * rng.normal(size=(n, 4)) * [4, 3, 2, 1] @ np.linalg.qr(rng.normal(size=(m, 4)))[0].T
    X += 0.3 * rng.normal(size=(n, m)) + 2
    if "sparse" in storage:
        X[rng.random(X.shape) < 0.6] = 0
    return X.astype(np.float32) if storage == "float32" else X


def stored(X: np.ndarray, storage: str):
    cuts = [len(X) // 3, len(X) // 3 + 1]
    return {
        "dense": lambda: X,
        "float32": lambda: X,
        "sparse": lambda: sp.csr_array(X),
        "blocks": lambda: np.split(X, cuts),
        "sparse blocks": lambda: [sp.csr_array(part) for part in np.split(X, cuts)],
    }[storage]()


@both
@pytest.mark.parametrize("solver", ["auto", "power"])
@pytest.mark.parametrize("shape", [(60, 20), (40, 70)])
@pytest.mark.parametrize("storage", ["dense", "float32", "sparse", "blocks", "sparse blocks"])
def test_weights_are_repetition(model, solver, shape, storage):
    X = table(*shape, storage)
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    weighted = model(3, solver=solver).fit(stored(X, storage), sample_weight=weights)
    repeated = model(3).fit(np.repeat(X, weights, axis=0))
    loose = 2e-3 if storage == "float32" else 1e-6
    names = ["singular_values_", "explained_variance_", "explained_variance_ratio_", "objective_", "r2_"]
    names += ["mean_", "noise_variance_"] if model is unweave.PCA else []
    for name in names:
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=loose, err_msg=name)
    assert same_span(weighted.components_, repeated.components_) or storage == "float32"
    assert weighted.r2(stored(X, storage), sample_weight=weights) == pytest.approx(weighted.r2_, abs=loose)
    assert weighted.certify(stored(X, storage), sample_weight=weights).gap < 10 * loose


@both
@pytest.mark.parametrize("shape", [(700, 400), (400, 700)])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_weights_reach_the_gram_of_either_side(model, shape, storage):
    X = table(*shape, storage)  # more entries than LAPACK is asked for
    weights = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = model(4).fit(stored(X, storage), sample_weight=weights)
    repeated = model(4).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.singular_values_, repeated.singular_values_, rtol=1e-8)
    np.testing.assert_allclose(weighted.explained_variance_, repeated.explained_variance_, rtol=1e-8)


@both
@pytest.mark.parametrize("storage", ["sparse", "blocks", "sparse blocks"])
def test_weights_reach_the_search_in_products(model, storage):
    """Tables too wide to be decomposed at once: Krylov in memory, Krylov with one visit a step in blocks."""
    shape = (60, 4200) if "blocks" in storage else (1100, 1200)
    X = table(*shape, storage)
    weights = np.random.default_rng(1).integers(1, 4, len(X))
    weighted = model(3, tol=1e-9).fit(stored(X, storage), sample_weight=weights)
    assert weighted.plan_.solver == "block Krylov method"
    wanted = np.linalg.svd(
        np.sqrt(weights)[:, None] * (X - (np.average(X, axis=0, weights=weights) if model is unweave.PCA else 0)),
        compute_uv=False,
    )
    # A search stops when its values settle, a little below the true ones.
    np.testing.assert_allclose(weighted.singular_values_, wanted[:3], rtol=1e-5)
    assert weighted.r2_ == pytest.approx((wanted[:3] ** 2).sum() / (wanted**2).sum(), rel=1e-5)


@both
def test_weights_are_refused_in_words_where_they_make_no_sense(model):
    X = table(20, 5, "dense")
    for wrong in (np.ones(19), -np.ones(20), np.zeros(20), np.full(20, np.nan), "heavy"):
        with pytest.raises((ValueError, TypeError), match="sample_weight"):
            model(2).fit(X, sample_weight=wrong)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="sample_weight needs every entry"):
        model(2, missing="nan").fit(X, sample_weight=np.ones(20))
    fitted = model(2).fit(X[1:], sample_weight=np.arange(19))
    with pytest.raises(ValueError, match="sample_weight"):
        fitted.certify(X[1:])


@both
@pytest.mark.parametrize("storage", ["dense", "sparse", "blocks"])
def test_r2_is_the_share_of_squares_that_a_reconstruction_keeps(model, storage):
    X = table(50, 12, storage)
    fitted = model(3).fit(stored(X, storage))
    about = X - (X.mean(axis=0) if model is unweave.PCA else 0)
    left = np.square(X - fitted.inverse_transform(fitted.transform(X))).sum()
    wanted = 1 - left / np.square(about).sum()
    assert fitted.r2_ == pytest.approx(wanted, abs=1e-10)
    assert fitted.r2(stored(X, storage)) == pytest.approx(wanted, abs=1e-10)
    new = table(30, 12, storage) + 1
    reference = fitted.mean_ if model is unweave.PCA else 0
    left = np.square(new - fitted.inverse_transform(fitted.transform(new))).sum()
    assert fitted.r2(stored(new, storage)) == pytest.approx(1 - left / np.square(new - reference).sum(), abs=1e-9)


def test_truncated_svd_in_blocks_tells_the_variances_that_one_table_tells():
    X = table(60, 15, "dense")
    whole, blocks = unweave.TruncatedSVD(3).fit(X), unweave.TruncatedSVD(3).fit(stored(X, "blocks"))
    np.testing.assert_allclose(blocks.explained_variance_, whole.explained_variance_, rtol=1e-8)
    np.testing.assert_allclose(blocks.explained_variance_ratio_, whole.explained_variance_ratio_, rtol=1e-8)


def planted(rank: int = 3) -> np.ndarray:
    rng = np.random.default_rng(4)
    return rng.normal(size=(300, rank)) @ rng.normal(size=(rank, 20)) + 0.02 * rng.normal(size=(300, 20))


@both
@pytest.mark.parametrize("storage", ["dense", "sparse", "blocks"])
def test_the_knee_finds_a_planted_rank_and_the_plan_says_so(model, storage):
    fitted = model("knee").fit(stored(planted(), storage))
    assert fitted.n_components_ == 3 and fitted.components_.shape == (3, 20)
    assert any("knee" in reason for reason in fitted.plan_.reasons)
    assert fitted.r2_ == pytest.approx(model(3).fit(planted()).r2_, rel=1e-9)


@both
def test_a_share_is_reached_with_the_fewest(model):
    X = table(80, 12, "dense")
    fitted = model(0.97).fit(X)
    k = fitted.n_components_
    assert fitted.r2_ >= 0.97 > model(k - 1).fit(X).r2_
    assert any("0.97" in reason for reason in fitted.plan_.reasons)
    assert fitted.transform(X).shape == (80, k) and len(fitted.singular_values_) == k
    with pytest.raises(ValueError, match="share"):
        model(1.5).fit(X)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="every entry"):
        model("knee", missing="nan").fit(X)


def test_a_share_of_a_large_sparse_table_is_searched_for():
    X = sp.random_array((1300, 1200), density=0.02, rng=np.random.default_rng(0), format="csr")
    fitted = unweave.PCA(0.15).fit(X)
    s = np.linalg.svd(X.toarray() - X.toarray().mean(axis=0), compute_uv=False) ** 2
    k = int(np.argmax(np.cumsum(s) >= 0.15 * s.sum())) + 1
    assert abs(fitted.n_components_ - k) <= 1 and fitted.r2_ >= 0.15
    assert fitted.plan_.solver == "block Krylov method"


@pytest.mark.parametrize("X", [np.zeros((6, 4)), np.ones((6, 4)), np.ones((1, 3)), np.outer(np.arange(6), np.ones(4))])
@both
def test_tables_with_nothing_to_explain_are_answered(model, X):
    for k in (1, "knee", 0.9):
        fitted = model(k).fit(X, sample_weight=np.ones(len(X)))
        for name in ("components_", "singular_values_", "explained_variance_", "explained_variance_ratio_", "r2_"):
            assert np.isfinite(getattr(fitted, name)).all(), name
        assert 0 <= fitted.r2_ <= 1 + 1e-12
        assert np.isfinite(fitted.transform(X)).all()


# -- rows that come and go ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("storage", ["dense", "float32", "sparse"])
def test_rows_added_and_forgotten_leave_the_covariance_as_it_was(storage, weights):
    X = table(200, 8, storage) + (np.float32(0) if "sparse" in storage else np.float32(50))
    w = np.random.default_rng(0).random(200) + 0.5
    give = (lambda a, b: {"sample_weight": w[a:b]}) if weights else (lambda a, b: {})
    model = unweave.PCA().partial_fit(stored(X[:80], storage), **give(0, 80))
    before, mean, n = model.get_covariance(), model.mean_, model.n_samples_
    model.partial_fit(stored(X[80:], storage), **give(80, 200))
    assert not np.allclose(model.get_covariance(), before, rtol=1e-4)
    model.forget(stored(X[80:], storage), **give(80, 200))
    scale = np.abs(before).max()
    tight = 1e-5 if storage == "float32" else 1e-8  # float32 models hold float32 components
    np.testing.assert_allclose(model.get_covariance(), before, atol=tight * scale)
    np.testing.assert_allclose(model.mean_, mean, rtol=1e-6)
    assert model.n_samples_ == n == 80


def test_a_window_that_moves_is_the_fit_of_the_window():
    X = table(400, 6, "dense")
    model = unweave.PCA(2)
    for start in range(0, 400, 50):
        model.partial_fit(X[start : start + 50])
        if start >= 100:
            model.forget(X[start - 100 : start - 50])
    window = unweave.PCA(2).fit(X[300:])
    np.testing.assert_allclose(model.singular_values_, window.singular_values_, rtol=1e-8)
    assert same_span(model.components_, window.components_) and model.r2_ == pytest.approx(window.r2_)
    weighted = unweave.PCA(2)
    weighted.partial_fit(X[:100], sample_weight=np.arange(100)).partial_fit(X[100:])
    whole = unweave.PCA(2).fit(X, sample_weight=np.r_[np.arange(100), np.ones(300)])
    np.testing.assert_allclose(weighted.explained_variance_, whole.explained_variance_, rtol=1e-8)


def test_a_fit_may_forget_rows_too():
    X = table(60, 6, "dense")
    np.testing.assert_allclose(
        unweave.PCA().fit(X).forget(X[50:]).explained_variance_, unweave.PCA().fit(X[:50]).explained_variance_,
        rtol=1e-8,
    )  # fmt: skip


def test_rows_that_cannot_be_forgotten_are_refused_and_nothing_changes():
    X = table(40, 5, "dense")
    model = unweave.PCA().partial_fit(X)
    before = model.get_covariance()
    with pytest.raises(ValueError, match="more rows"):
        model.forget(np.vstack([X, X[:1]]))
    with pytest.raises(ValueError, match="every row there is"):
        model.forget(X)
    with pytest.raises(ValueError, match="has not learned"):
        model.forget(100 * X[:5])
    with pytest.raises(ValueError, match="blocks"):
        model.forget([X[:3], X[3:6]])
    np.testing.assert_array_equal(model.get_covariance(), before)
    with pytest.raises(ValueError, match="not fitted"):
        unweave.PCA().forget(X)


# -- the power method --------------------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
def test_power_with_deflation_finds_what_lapack_finds(model, shape):
    X = table(*shape, "dense")
    found, wanted = model(4, solver="power").fit(X), model(4, solver="svd").fit(X)
    assert "power method with deflation" in found.plan_.solver
    np.testing.assert_allclose(found.singular_values_, wanted.singular_values_, rtol=1e-7)
    assert same_span(found.components_, wanted.components_)
