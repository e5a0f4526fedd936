"""Intrinsic dimension of planted shapes, concentration of distances, and plain functions of matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unweave


def ball(d: int, n: int = 1200, m: int = 12) -> np.ndarray:
    """Rows spread evenly in d dimensions, turned into m columns."""
    rng = np.random.default_rng(d)
    return rng.random((n, d)) @ np.linalg.qr(rng.normal(size=(m, d)))[0].T


def roll(n: int = 1200) -> np.ndarray:
    rng = np.random.default_rng(0)
    t, h = 1.5 * np.pi * (1 + 2 * rng.random(n)), 21 * rng.random(n)
    return np.c_[t * np.cos(t), h, t * np.sin(t)]


@pytest.mark.parametrize("method", ["likelihood", "correlation"])
@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_flat_shapes_have_the_planted_dimension(method, d):
    assert float(unweave.intrinsic_dimension(ball(d), method)) == pytest.approx(
        d, rel=0.12
    )  # a little low: rows at the edge have half a ball


@pytest.mark.parametrize("method", ["likelihood", "correlation"])
def test_a_rolled_sheet_has_two_dimensions(method):
    assert float(unweave.intrinsic_dimension(roll(), method)) == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("d", [2, 5])
def test_the_knee_counts_the_directions_of_a_flat_shape(d):
    noisy = ball(d) + 0.005 * np.random.default_rng(1).normal(size=(1200, 12))
    for X in (noisy, sp.csr_array(noisy), ball(d)):
        assert float(unweave.intrinsic_dimension(X, "knee")) == d
    sphere = np.random.default_rng(0).normal(size=(1500, 11))
    sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
    assert float(unweave.intrinsic_dimension(sphere, "knee")) == 11  # flat: sampling noise is no bend


def test_likelihood_is_the_harmonic_mean_of_levina_and_bickel_by_hand():
    X = np.random.default_rng(0).normal(size=(60, 3))
    found = unweave.intrinsic_dimension(X, n_neighbors=7)
    inverses = []
    for i in range(60):
        T = np.sort(np.linalg.norm(np.delete(X, i, axis=0) - X[i], axis=1))[:7]
        inverses.append(np.log(T[-1] / T[:-1]).mean())
    assert float(found) == pytest.approx(1 / np.mean(inverses), rel=1e-12)
    np.testing.assert_allclose(np.sort(found.local), np.sort(1 / np.array(inverses)), rtol=1e-10)


@pytest.mark.parametrize("method", ["likelihood", "correlation"])
def test_duplicates_units_and_constant_columns_change_nothing(method):
    X = roll(300)
    wanted = float(unweave.intrinsic_dimension(X, method))
    again = unweave.intrinsic_dimension(np.vstack([X, X[:50], X[:50]]), method)
    assert float(again) == pytest.approx(wanted) and "100 rows" in again.note
    wide = unweave.intrinsic_dimension(np.c_[X, np.full(300, 7.0)], method)
    assert float(wide) == pytest.approx(wanted) and wide.n_columns == 3 and "1 constant" in str(wide)
    for same in (1e3 * X, X + 1e6, X[::-1], X[:, ::-1]):
        assert float(unweave.intrinsic_dimension(same, method)) == pytest.approx(wanted, rel=1e-6)
    assert float(unweave.intrinsic_dimension(X.astype(np.float32), method)) == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("method", ["likelihood", "correlation", "knee"])
def test_tables_without_a_dimension(method):
    assert float(unweave.intrinsic_dimension(np.ones((5, 3)), method)) == 0
    assert float(unweave.intrinsic_dimension(np.zeros((5, 3)), method)) == 0
    assert np.isfinite(float(unweave.intrinsic_dimension(np.eye(12), method)))
    assert float(unweave.intrinsic_dimension(np.arange(40.0)[:, None] * [1, 2], method)) == pytest.approx(1, rel=0.25)
    for wrong in (np.array([[1.0, np.nan], [2, 3]]), np.zeros((0, 3)), np.ones(4)):
        with pytest.raises(ValueError):
            unweave.intrinsic_dimension(wrong, method)
    with pytest.raises(ValueError, match="blocks"):
        unweave.intrinsic_dimension([np.eye(3), np.eye(3)], method)


def test_wrong_arguments_of_the_dimension_are_named():
    X = ball(2, 50)
    with pytest.raises(ValueError, match="method"):
        unweave.intrinsic_dimension(X, "magic")
    with pytest.raises((ValueError, TypeError), match="n_neighbors"):
        unweave.intrinsic_dimension(X, n_neighbors=1)
    with pytest.raises(ValueError, match="sparse"):
        unweave.intrinsic_dimension(sp.csr_array(X))
    with pytest.raises(ValueError, match="different rows"):
        unweave.intrinsic_dimension(X[:3])
    with pytest.raises(ValueError, match="one row"):
        unweave.distance_concentration(X[:1])
    with pytest.raises(ValueError, match="distances are zero"):
        unweave.distance_concentration(np.ones((4, 2)))


@pytest.mark.parametrize("D", [2, 10, 100])
def test_normalised_squared_distances_of_gaussian_pairs_have_mean_2_and_variance_8_over_D(D):
    X = np.random.default_rng(D).normal(3.0, 2.5, size=(1500, D))
    found = unweave.distance_concentration(X)
    assert found.mean == pytest.approx(2, abs=0.02)
    assert found.variance == pytest.approx(8 / D, rel=0.1)
    assert found.dimension == pytest.approx(D, rel=0.1)
    independent = np.random.default_rng(1).normal(size=(2, 40_000, D))  # pairs that share no row, variance known
    squares = np.square(independent[0] - independent[1]).sum(axis=1) / D
    assert squares.mean() == pytest.approx(2, rel=0.02) and squares.var() == pytest.approx(8 / D, rel=0.08)


def test_over_all_pairs_the_mean_is_two_whatever_the_table():
    X = np.random.default_rng(0).exponential(size=(50, 4)) * [1, 10, 0, 3]
    assert unweave.distance_concentration(X).mean == pytest.approx(2, rel=1e-12)


# -- matrices ----------------------------------------------------------------------------------------------------------


def test_the_worked_matrices():
    six = np.outer(np.arange(1, 7), [1, 2, 3])
    assert unweave.matrix_rank(six) == 1
    errors = unweave.approximation_error([[3, 2, 2], [2, 3, -2]], 1)
    np.testing.assert_allclose(errors, (3, 3), atol=1e-12)
    np.testing.assert_allclose(unweave.approximation_error([[3, 2, 2], [2, 3, -2]], 0), (np.sqrt(34), 5), rtol=1e-12)
    assert unweave.matrix_rank([[1, 2], [2, 4]]) == 1
    np.testing.assert_allclose(np.abs(unweave.null_space([[1, 2], [2, 4]])).ravel(), [2 / 5**0.5, 1 / 5**0.5])


@pytest.mark.parametrize("shape", [(9, 5), (5, 9), (6, 6)])
def test_range_and_null_space_are_what_they_say(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(shape[0], 3)) @ rng.normal(size=(3, shape[1]))
    Q, N = unweave.range_basis(X), unweave.null_space(X)
    assert Q.shape == (shape[0], 3) and N.shape == (shape[1], shape[1] - 3) and unweave.matrix_rank(X) == 3
    np.testing.assert_allclose(Q.T @ Q, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(N.T @ N, np.eye(shape[1] - 3), atol=1e-12)
    np.testing.assert_allclose(Q @ (Q.T @ X), X, atol=1e-10)
    np.testing.assert_allclose(X @ N, 0, atol=1e-10)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(40, 12), (500, 510)])
def test_errors_of_approximations_are_tails_of_the_spectrum(shape, storage):
    X = np.random.default_rng(0).normal(size=shape) * np.geomspace(1, 0.05, shape[1])
    s = np.linalg.svd(X, compute_uv=False)
    for k in (0, 3, 11):
        frobenius, spectral = unweave.approximation_error(storage(X), k)
        assert frobenius == pytest.approx(np.sqrt((s[k:] ** 2).sum()), rel=1e-7)
        assert spectral == pytest.approx(s[k], rel=1e-5)
    assert unweave.approximation_error(storage(X), min(shape)) == (0, 0)


def test_wrong_matrices_are_refused_in_words():
    for function in (unweave.matrix_rank, unweave.range_basis, unweave.null_space):
        for wrong in ([[np.nan, 1.0]], np.zeros((0, 2)), "table", np.ones(3)):
            with pytest.raises((ValueError, TypeError)):
                function(wrong)
        with pytest.raises(ValueError, match="toarray"):
            function(sp.csr_array(np.eye(3)))
        with pytest.raises(ValueError, match="rtol"):
            function(np.eye(3), rtol=-1)
    with pytest.raises(ValueError, match="k=4"):
        unweave.approximation_error(np.eye(3), 4)
    assert unweave.matrix_rank(np.zeros((3, 2))) == 0
    assert unweave.range_basis(np.zeros((3, 2))).shape == (3, 0)
    assert unweave.null_space(np.zeros((3, 2))).shape == (
        2,
        2,
    )
