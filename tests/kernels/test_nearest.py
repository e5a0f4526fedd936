"""The scan in bytes finds what the scan in float32 finds, to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import nearest as slow
from unweave import parallel
from unweave.kernels.nearest import LANE, coarsen_point, coarsen_range
from unweave.linalg import nearest as of_points
from unweave.linalg.nearest import Index, unit_row, unit_rows


def units_of(n, width, seed=0, clustered=False):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, width)) * rng.gamma(0.3, 1, width)
    return unit_rows(rows + 20 * rng.standard_normal(width) if clustered else rows)


def plain(index):
    """The same index with bounds that rule nothing out: every row is multiplied in float32."""
    index._copy[2][:] = np.inf
    return index


def same(one, two):
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("width", [1, 5, 64, 65, 100, 300])
def test_a_row_in_bytes_is_as_near_as_its_bound_says(width):
    units = units_of(50, width)
    units[7] = 0
    lanes = -(-width // LANE)
    in_lanes, tails = np.zeros((lanes, 50, LANE), np.int8), np.empty((lanes, 50), np.float32)
    steps, errors = (np.empty(50, np.float32) for _ in range(2))
    coarsen_range(units, in_lanes, steps, errors, tails, 3, 50)
    coarse = in_lanes.transpose(1, 0, 2).reshape(50, -1)
    assert not coarse[:3].any() and not coarse[:, width:].any() and not coarse[7].any()
    for i in range(3, 50):
        step, numbers, error = slow.coarsen(units[i], 127)
        assert steps[i] == pytest.approx(step, rel=1e-6)
        assert np.abs(coarse[i, :width] - numbers).max() <= 1  # a half may be rounded either way
        left = np.linalg.norm(units[i].astype(np.float64) - np.float64(steps[i]) * coarse[i, :width])
        assert left <= errors[i] <= error + 1e-4
        for lane in range(lanes):
            tail = np.linalg.norm(units[i, LANE * (lane + 1) :].astype(np.float64))
            assert tail <= tails[lane, i] <= tail + 1e-4


@pytest.mark.parametrize("width", [1, 100, 3000])
def test_a_point_in_16_bits_is_as_near_as_its_bound_says(width):
    point = units_of(1, width, 3)[0]
    lanes = -(-width // LANE)
    whole, tails = np.zeros((lanes, LANE), np.int16), np.empty(lanes)
    step, slack = coarsen_point(point, whole, tails)
    assert tails == pytest.approx([np.linalg.norm(point[LANE * (lane + 1) :]) for lane in range(lanes)], rel=1e-4)
    assert not whole.reshape(-1)[width:].any()
    whole = whole.reshape(-1)[:width]
    left = np.linalg.norm(point.astype(np.float64) - step * whole)
    assert 2 * left <= slack < 1e-2 and 127 * np.abs(whole.astype(np.int64)).sum() < 2**31


@pytest.mark.parametrize("clustered", [False, True], ids=["spread", "clustered"])
@pytest.mark.parametrize("width", [1, 3, 64, 100, 200])
@pytest.mark.parametrize("n", [1, 10, 300, 1000])
def test_what_is_found_is_what_multiplying_every_row_finds(width, n, clustered):
    units = units_of(1000, width, clustered=clustered)
    index, all_rows = Index(units), plain(Index(units))
    for point in (*units_of(20, width, 5, clustered), units[3], np.zeros(width, np.float32)):
        found = index.nearest(point, n)
        same(found, all_rows.nearest(point, n))
        rows, products = slow.nearest(units, point, n)
        np.testing.assert_allclose(found[1], products, atol=1e-6)
        assert len(set(found[0])) == n and (np.diff(found[1]) <= 0).all()
        clear = np.diff(products, prepend=2, append=products[-1]) < -1e-5  # places that rounding cannot swap
        clear = clear[:-1] & clear[1:]
        np.testing.assert_array_equal(found[0][clear], rows[clear])


def test_rows_that_are_ruled_out_are_not_multiplied():
    units = units_of(5000, 100)
    index, far = Index(units), units @ units[0] < 0.9
    assert far.sum() > 4900
    index.units = np.where(far[:, None], 1e6 * units[0], units)  # one of these would win if it were looked at
    assert index.nearest(units[0], 1)[0][0] == 0


def test_equal_rows_come_in_their_order():
    units = units_of(40, 9)[np.arange(400) % 40]
    places, scores = Index(units).nearest(units[5], 15)
    assert places[:10].tolist() == list(range(5, 400, 40))
    assert (np.diff(places[10:]) > 0).all() or len(set(scores[10:])) > 1


def test_the_floor_of_one_piece_hides_no_equal_row_of_another(monkeypatch):
    units = units_of(300, 70)[np.arange(3000) % 300]  # the same rows in every piece
    monkeypatch.setattr(of_points, "_BYTES", 128 * 300)
    index = Index(units)
    for turned in (list, reversed):  # whatever piece comes first
        monkeypatch.setattr(of_points.parallel, "run", lambda task, n, size, turned=turned: [
            found for _, found in sorted([(a, task(a, b)) for a, b in turned(list(parallel.chunks(n, size)))])
        ])  # fmt: skip
        places, _ = index.nearest(units[7], 10)
        assert places.tolist() == list(range(7, 3000, 300))


def test_pieces_and_threads_do_not_change_a_bit(monkeypatch, two_threads):
    units = units_of(3000, 70)[np.random.default_rng(1).integers(0, 2000, 3000)]  # with ties across pieces
    points = units_of(5, 70, 9)
    whole = [Index(units).nearest(point, 50) for point in points]
    monkeypatch.setattr(of_points, "_BYTES", 128 * 170)
    for answers in two_threads(lambda: [Index(units).nearest(point, 50) for point in points]):
        for one, two in zip(whole, answers, strict=True):
            same(one, two)
    everything = Index(units).nearest(points[0], 3000)
    assert sorted(everything[0]) == list(range(3000)) and (np.diff(everything[1]) <= 0).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 80), st.integers(1, 130), st.integers(1, 80), st.integers(0, 10_000), st.sampled_from([1, 3, 9]))
def test_any_rows(n, width, wanted, seed, levels):
    rng = np.random.default_rng(seed)
    units = unit_rows(rng.integers(-levels, levels + 1, (n, width)).astype(float))  # many equal, some zero
    point = unit_row(rng.integers(-levels, levels + 1, width).astype(float))
    same(Index(units).nearest(point, min(wanted, n)), plain(Index(units)).nearest(point, min(wanted, n)))


def test_one_row_is_scaled_like_many():
    rows = np.random.default_rng(0).standard_normal((6, 30)) * np.logspace(-300, 300, 6)[:, None]
    rows[2] = 0
    np.testing.assert_allclose([unit_row(row) for row in rows], unit_rows(rows), atol=1e-7)
