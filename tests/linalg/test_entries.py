"""Rows with their own Gram: kernels against their slow twins, and what each half-step promises."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import entries as slow
from unweave.linalg import entries as fast
from unweave.linalg.observed import spread
from unweave.parallel import single_blas


@pytest.fixture(autouse=True)
def blas():
    with single_blas():
        yield


def table(rng, dtype, m=60, k=5, weighted=True, lengths=(0, 1, 3, 5, 12, 40, 60), rank=None):
    """Rows of many lengths, columns in no order: indptr, indices, data, weights, H, F."""
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indices = np.concatenate([rng.permutation(m)[:n] for n in lengths]).astype(np.int32)
    data = rng.normal(size=len(indices)).astype(dtype)
    weights = (rng.uniform(0.2, 2, size=len(indices)) if weighted else np.empty(0)).astype(dtype)
    H = rng.normal(size=(m, k))
    if rank is not None:
        H = H[:, :rank] @ rng.normal(size=(rank, k))
    return indptr, indices, data, weights, H.astype(dtype), rng.normal(size=(len(lengths), k)).astype(dtype)


def close(dtype):
    return {"rtol": 2e-3, "atol": 2e-4} if dtype == np.float32 else {"rtol": 1e-8, "atol": 1e-10}


def objective(problem, F, ridge, l1=0.0):
    F = np.asarray(F, np.float64)
    return slow.row_values(*problem[:5], F) + 0.5 * ridge * (F**2).sum(axis=1) + l1 * np.abs(F).sum(axis=1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("k", [1, 5, 33])
def test_solve_equals_twin(rng, dtype, weighted, ridge, k):
    problem = table(rng, dtype, k=k, weighted=weighted)
    new = fast.solve_rows(*problem, ridge)
    assert new.dtype == dtype
    np.testing.assert_allclose(new, slow.solve_rows(*problem, ridge), **close(dtype))


@pytest.mark.parametrize("k", [64, 100, 150])
def test_solve_long_and_short_rows_at_large_k(rng, dtype, k):
    problem = table(rng, dtype, m=600, k=k, lengths=(0, 2, k - 1, k, k + 1, 241, 480, 600))
    np.testing.assert_allclose(fast.solve_rows(*problem, 1.0), slow.solve_rows(*problem, 1.0), **close(dtype))


def test_solve_takes_one_ridge_a_row(rng, dtype):
    problem = table(rng, dtype)
    ridge = 0.1 * np.diff(problem[0])
    np.testing.assert_allclose(fast.solve_rows(*problem, ridge), slow.solve_rows(*problem, ridge), **close(dtype))


def test_solve_gives_the_least_norm_where_entries_do_not_decide(rng, dtype):
    problem = table(rng, dtype, k=6, rank=3)
    cut = 6 * np.finfo(dtype).eps
    new, known = fast.solve_rows(*problem, 0.0), slow.solve_rows(*problem, 0.0, rcond=cut)
    value, least = objective(problem, new, 0.0), objective(problem, known, 0.0)
    np.testing.assert_allclose(value, least, rtol=1e-4, atol=1e-5)
    if dtype == np.float64:
        np.testing.assert_allclose(new, known, rtol=1e-6, atol=1e-8)
    # in the span of the rows of H: nothing is spent where the data say nothing
    span = np.linalg.svd(problem[4].astype(np.float64))[2][:3]
    np.testing.assert_allclose(new, new @ span.T @ span, atol=1e-4)
    assert not new[0].any()


def test_solve_with_zero_weights_ignores_those_entries(rng, dtype):
    indptr, indices, data, weights, H, F = table(rng, dtype)
    weights[::2] = 0
    new = fast.solve_rows(indptr, indices, data, weights, H, F, 0.0)
    data[::2] = 1e6
    np.testing.assert_allclose(new, fast.solve_rows(indptr, indices, data, weights, H, F, 0.0), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(
        objective((indptr, indices, data, weights, H), new, 0.0),
        objective((indptr, indices, data, weights, H), slow.solve_rows(indptr, indices, data, weights, H, F, 0.0), 0.0),
        rtol=1e-3,
        atol=1e-4,
    )


def test_solve_passes_nan_on_in_its_row_only(rng, dtype):
    problem = table(rng, dtype)
    problem[2][problem[0][4]] = np.nan
    new = fast.solve_rows(*problem, 0.1)
    assert np.isnan(new[4]).all()
    assert np.isfinite(np.delete(new, 4, axis=0)).all()


@pytest.mark.parametrize("held", [(0,), (1, 3)])
def test_held_columns_stay(rng, dtype, held):
    problem = table(rng, dtype)
    before = problem[5].copy()
    new = fast.solve_rows(*problem, 0.2, held=held)
    np.testing.assert_array_equal(new[:, list(held)], before[:, list(held)])
    np.testing.assert_array_equal(problem[5], before)
    np.testing.assert_allclose(new, slow.solve_rows(*problem, 0.2, held=held), **close(dtype))
    stepped = fast.descend_rows(*problem, 0.2, 12, held=held)
    np.testing.assert_allclose(stepped, new, rtol=2e-2, atol=2e-3)
    swept = fast.coordinate_rows(*problem, 0.0, 0.2, False, 500, 0.0, held=held)
    np.testing.assert_allclose(swept, new, rtol=2e-2, atol=2e-3)


@pytest.mark.parametrize("weighted", [False, True])
def test_descend_equals_twin_and_never_rises(rng, dtype, weighted):
    problem = table(rng, dtype, m=1500, weighted=weighted, lengths=(0, 1, 4, 30, 1024, 1025, 1500))
    former = objective(problem, problem[5], 0.1)
    for steps in (0, 1, 2, 3):
        new = fast.descend_rows(*problem, 0.1, steps)
        np.testing.assert_allclose(new, slow.descend_rows(*problem, 0.1, steps), **close(dtype))
        value = objective(problem, new, 0.1)
        assert (value <= former * (1 + 1e-6)).all()
        former = value


def test_descend_stays_at_the_minimum(rng, dtype):
    problem = table(rng, dtype)
    best = fast.solve_rows(*problem, 0.1)
    again = fast.descend_rows(*problem[:5], best, 0.1, 20)
    np.testing.assert_allclose(again, best, rtol=1e-3, atol=1e-4)
    assert (objective(problem, again, 0.1) <= objective(problem, best, 0.1) * (1 + 1e-6) + 1e-9).all()


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("l1", "ridge"), [(0.0, 0.0), (0.4, 0.0), (0.2, 0.3)])
def test_coordinate_equals_twin(rng, dtype, nonnegative, weighted, l1, ridge):
    problem = table(rng, dtype, weighted=weighted)
    for sweeps in (1, 4):
        new = fast.coordinate_rows(*problem, l1, ridge, nonnegative, sweeps, 0.0)
        assert new.dtype == dtype
        known = slow.coordinate_rows(*problem, l1, ridge, nonnegative, sweeps, 0.0)
        np.testing.assert_allclose(new, known, **close(dtype))


def test_coordinate_never_rises_and_ends_at_the_minimum(rng, dtype):
    problem = table(rng, dtype, k=40, lengths=(3, 20, 60))
    F = np.abs(problem[5])
    former = objective(problem, F, 0.1, 0.2)
    for _ in range(4):
        F = fast.coordinate_rows(*problem[:5], F, 0.2, 0.1, True, 2, 0.0)
        value = objective(problem, F, 0.1, 0.2)
        assert (value <= former * (1 + 1e-6)).all()
        former = value
    F = fast.coordinate_rows(*problem[:5], F, 0.2, 0.1, True, 5000, 1e-7 if dtype == np.float32 else 1e-12)
    for i, f in enumerate(F.astype(np.float64)):
        x, w, S = slow.row(i, *problem[:5])
        slope = -S.T @ (w * (x - S @ f)) + 0.1 * f + 0.2
        assert np.abs(np.where(f > 0, slope, np.minimum(slope, 0))).max() < (1e-3 if dtype == np.float32 else 1e-6)


def test_coordinate_stops_row_by_row(rng, dtype):
    """A row at rest stays to the bit whatever the other rows need, and a loose tol takes fewer sweeps."""
    problem = table(rng, dtype)
    whole = fast.coordinate_rows(*problem, 0.0, 0.1, True, 50, 1e-2)
    alone = fast.coordinate_rows(
        problem[0][4:6] - problem[0][4],
        *(v[problem[0][4] :] for v in problem[1:4]),
        problem[4],
        problem[5][4:5],
        0.0,
        0.1,
        True,
        50,
        1e-2,
    )
    np.testing.assert_array_equal(whole[4], alone[0])
    tight = fast.coordinate_rows(*problem, 0.0, 0.1, True, 50, 0.0)
    assert not np.array_equal(whole, tight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 7, 64])
def test_sums_equal_twins(rng, dtype, weighted, k):
    indptr, indices, data, weights, H, F = table(rng, dtype, m=700, k=k, weighted=weighted, lengths=(0, 1, 256, 700))
    near = {"rtol": 1e-4, "atol": 2e-4} if dtype == np.float32 else {"rtol": 1e-10, "atol": 1e-12}
    values = fast.row_values(indptr, indices, data, weights, H, F)
    assert values.dtype == np.float64
    np.testing.assert_allclose(values, slow.row_values(indptr, indices, data, weights, H, F), **near)
    predicted = fast.predict_entries(indptr, indices, H, F)
    assert predicted.dtype == dtype
    np.testing.assert_allclose(predicted, slow.predict_entries(indptr, indices, H, F), **near)
    gradient = fast.gradient_rows(indptr, indices, data, H)
    assert gradient.dtype == dtype
    np.testing.assert_allclose(gradient, slow.gradient_rows(indptr, indices, data, H), **near)
    labels, values = fast.nearest_rows(indptr, indices, data, weights, H)
    known, least = slow.nearest_rows(indptr, indices, data, weights, H)
    np.testing.assert_array_equal(labels, known)
    np.testing.assert_allclose(values, least, **near)


def test_nearest_takes_the_first_on_ties(dtype):
    centres = np.array([[2, 1, 1, 3]], dtype=dtype)
    labels, values = fast.nearest_rows(np.array([0, 1]), np.array([0]), np.array([1], dtype), None, centres)
    assert (labels[0], values[0]) == (1, 0)


def test_gradient_is_that_of_the_values(rng):
    indptr, indices, data, weights, H, F = table(rng, np.float64)
    residual = weights * (fast.predict_entries(indptr, indices, H, F) - data)
    gradient, step = fast.gradient_rows(indptr, indices, residual, H), 1e-6
    for t in range(F.shape[1]):
        move = step * np.eye(F.shape[1])[t]
        up, down = (fast.row_values(indptr, indices, data, weights, H, F + s * move) for s in (1, -1))
        np.testing.assert_allclose((up - down) / (2 * step), gradient[:, t], rtol=1e-5, atol=1e-7)


def test_any_layout_is_taken(rng):
    """int64 indices, lists of weights, Fortran order and integer data give the same answer."""
    indptr, indices, data, weights, H, F = table(rng, np.float64)
    known = fast.solve_rows(indptr, indices, data, weights, H, F, 0.1)
    other = fast.solve_rows(
        indptr.astype(np.int32),
        indices.astype(np.int64),
        list(data),
        list(weights),
        np.asfortranarray(H),
        F.astype(np.float32),
        0.1,
    )
    np.testing.assert_array_equal(known, other)


def test_no_rows_and_no_entries(dtype):
    H = np.ones((3, 2), dtype)
    empty = np.empty(0, dtype)
    assert fast.solve_rows(np.array([0]), [], empty, empty, H, np.empty((0, 2)), 0.0).shape == (0, 2)
    np.testing.assert_array_equal(
        fast.solve_rows(np.array([0, 0]), [], empty, empty, H, np.ones((1, 2)), 0.0), np.zeros((1, 2))
    )
    np.testing.assert_array_equal(fast.gradient_rows(np.array([0, 0]), [], empty, H), np.zeros((1, 2)))


def test_ranges_cover_every_row_once_and_balance_the_work():
    indptr = np.concatenate([[0], np.cumsum([1_000_000, 1, 1, 500_000, 0, 0, 500_000, 10])])
    seen = []
    spread(lambda start, stop: seen.append((start, stop)), indptr, 1000, 10)
    assert sorted(i for start, stop in seen for i in range(start, stop)) == list(range(8))
    assert len(seen) > 2


@pytest.mark.parametrize("weighted", [False, True])
def test_same_bits_on_one_and_two_threads(rng, dtype, two_threads, weighted):
    lengths = np.minimum(rng.zipf(1.4, size=700), 400)
    problem = table(rng, dtype, m=400, k=48, weighted=weighted, lengths=lengths)
    indptr, indices, data, weights, H, F = problem
    calls = [
        lambda: fast.solve_rows(*problem, 0.0),
        lambda: fast.solve_rows(*problem, 0.5, held=(0,)),
        lambda: fast.descend_rows(*problem, 0.1, 3),
        lambda: fast.coordinate_rows(*problem, 0.1, 0.1, True, 5, 1e-3),
        lambda: fast.row_values(*problem),
        lambda: fast.predict_entries(indptr, indices, H, F),
        lambda: fast.gradient_rows(indptr, indices, data, H),
        lambda: np.stack(fast.nearest_rows(indptr, indices, data, weights, H)),
    ]
    for call in calls:
        one, two = two_threads(call)
        np.testing.assert_array_equal(one, two)
