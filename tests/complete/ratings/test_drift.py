"""Biases that drift in time: planted drift is found, the bookkeeping of times, and what may go wrong."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unweave
from unweave.complete.ratings import ratings
from unweave.complete.ratings.drift import Calendar, Drift, drift_at

N, M = 120, 40


def planted(rng, item=1.0, user=0.0, share=0.6, noise=0.2):
    """Items whose bias jumps in the middle of the time, users who drift along the power of it."""
    known = rng.random((N, M)) < share
    rows, columns = np.nonzero(known)
    times = rng.random(len(rows)) * 1000
    jump = item * rng.normal(size=M)
    centre = np.bincount(rows, times) / np.bincount(rows)
    since = (times - centre[rows]) / 1000
    dev = np.sign(since) * np.abs(since) ** 0.4
    level = 3 + 0.5 * rng.normal(size=N)[rows] + 0.5 * rng.normal(size=M)[columns]
    values = level + jump[columns] * np.where(times > 500, 0.5, -0.5) + user * rng.normal(size=N)[rows] * dev
    values += noise * rng.normal(size=len(rows))
    return sp.csr_array((values, (rows, columns)), shape=(N, M)), times, jump


def halves(X, times, rng):
    coo, out = X.tocoo(), rng.random(X.nnz) < 0.2
    train = sp.csr_array((coo.data[~out], (coo.row[~out], coo.col[~out])), shape=X.shape)
    return train, times[~out], (coo.row[out], coo.col[out], coo.data[out], times[out])


def rmse(a, b):
    return float(np.sqrt(np.mean((a - b) ** 2)))


def test_planted_drift_is_found_and_predicted(rng):
    X, times, jump = planted(rng, item=1.5, user=1.0)
    train, when, (rows, columns, values, later) = halves(X, times, rng)
    model = unweave.MatrixCompletion(1, ridge=1.0, time_ridge=2.0).fit(train, timestamps=when)
    plain = unweave.MatrixCompletion(1, ridge=1.0).fit(train)
    error = rmse(model.predict(rows, columns, timestamps=later), values)
    assert error < 0.5 * rmse(plain.predict(rows, columns), values) and error < 0.45
    found = model.predict(np.zeros(M, int), np.arange(M), timestamps=900.0)
    found -= model.predict(np.zeros(M, int), np.arange(M), timestamps=100.0)
    assert np.corrcoef(found, jump)[0, 1] > 0.95
    assert len(model.drift_["edges"]) >= 1 and min(model.bins_path_, key=model.bins_path_.get) > 1


def test_without_drift_no_bins_are_taken(rng):
    X, times, _ = planted(rng, item=0.0)
    model = unweave.MatrixCompletion(1, ridge=1.0).fit(X, timestamps=times)
    assert model.bins_path_[1] == min(model.bins_path_.values()) and model.drift_["bins"].shape == (M, 1)


def test_the_ridge_is_chosen_with_the_same_times(rng):
    X, times, _ = planted(rng, item=2.0)
    model = unweave.MatrixCompletion(1, time_bins=2, time_ridge=1.0).fit(X, timestamps=times)
    assert min(model.ridge_path_.values()) < 0.5 * min(unweave.MatrixCompletion(1).fit(X).ridge_path_.values())


def test_without_a_time_the_score_is_the_product_and_the_average_over_times(rng):
    X, times, _ = planted(rng)
    model = unweave.MatrixCompletion(2, ridge=1.0, time_bins=4).fit(X, timestamps=times)
    rows, columns = X.nonzero()
    scores = np.einsum("ek,ke->e", model.codes_[rows], model.components_[:, columns])
    np.testing.assert_allclose(model.predict(rows, columns), scores, atol=1e-10)
    off = model.predict(rows, columns, timestamps=times) - scores
    np.testing.assert_allclose(drift_at(model.drift_, rows, columns, times), off, atol=1e-10)
    by_item = np.bincount(columns, drift_at({**model.drift_, "slopes": np.zeros(N)}, rows, columns, times))
    by_user = np.bincount(rows, drift_at({**model.drift_, "bins": np.zeros((M, 4))}, rows, columns, times))
    np.testing.assert_allclose(by_item, 0, atol=1e-9)
    np.testing.assert_allclose(by_user, 0, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_objective_never_rises_and_is_the_one_stated(dtype, rng):
    X, times, _ = planted(rng, user=1.0)
    model = unweave.MatrixCompletion(2, ridge=1.0, time_bins=4, tol=1e-7, max_iter=300)
    model.fit(X.astype(dtype), timestamps=times)
    assert np.all(np.diff(model.history_.objective) <= 1e-5 * np.array(model.history_.objective[:-1]))
    assert model.codes_.dtype == model.components_.dtype == dtype
    assert model.objective_ == pytest.approx(model.history_.objective[-1], rel=1e-3)
    assert model.certificate_.kind == "kkt" and model.certificate_.gap < 1e-2


@pytest.mark.parametrize("bias_ridge", [None, 0.3])
def test_codes_come_back_from_the_same_ratings_and_times(bias_ridge, rng):
    X, times, _ = planted(rng, user=1.0)
    model = unweave.MatrixCompletion(2, ridge=1.0, bias_ridge=bias_ridge, time_bins=4).fit(X, timestamps=times)
    np.testing.assert_allclose(model.transform(X, timestamps=times), model.codes_, atol=1e-8)
    ends = X.indptr
    part = model.transform(X[5:9], timestamps=times[ends[5] : ends[9]])
    np.testing.assert_allclose(part, model.codes_[5:9], atol=1e-8)


def test_one_and_two_threads_agree(rng, two_threads):
    X, times, _ = planted(rng)
    two = unweave.MatrixCompletion(2, ridge=1.0, time_bins=4).fit(X, timestamps=times)
    unweave.set_num_threads(1)
    one = unweave.MatrixCompletion(2, ridge=1.0, time_bins=4).fit(X, timestamps=times)
    assert np.array_equal(one.codes_, two.codes_) and np.array_equal(one.drift_["bins"], two.drift_["bins"])


def test_the_order_and_the_kind_of_times_do_not_matter(rng):
    X, times, _ = planted(rng)
    whole = np.floor(times).astype(np.int64)
    model = unweave.MatrixCompletion(1, ridge=1.0, time_bins=3)
    first = model.fit(X, timestamps=whole).predict(3, 4, timestamps=700)
    dates = whole.astype("datetime64[s]")
    later = model.fit(X, timestamps=dates).predict(3, 4, timestamps=np.datetime64(700, "s"))
    assert isinstance(first, float) and first == pytest.approx(later, abs=1e-9)
    coo, order = X.tocoo(), rng.permutation(X.nnz)
    mixed = sp.coo_array((coo.data[order], (coo.row[order], coo.col[order])), shape=X.shape)
    assert model.fit(mixed, timestamps=whole[order]).predict(3, 4, timestamps=700) == pytest.approx(first, abs=1e-9)
    dense, table = np.full(X.shape, np.nan), np.full(X.shape, np.nan)
    dense[coo.row, coo.col], table[coo.row, coo.col] = coo.data, whole
    assert model.fit(dense, timestamps=table).predict(3, 4, timestamps=700) == pytest.approx(first, abs=1e-9)
    assert model.fit(dense, timestamps=whole).predict(3, 4, timestamps=700) == pytest.approx(first, abs=1e-9)


def test_ratings_bring_their_times(rng):
    X, times, _ = planted(rng)
    coo, order = X.tocoo(), rng.permutation(X.nnz)
    frame = {"u": coo.row[order] + 1000, "i": coo.col[order] + 500, "v": coo.data[order], "t": times[order]}
    table = ratings(frame, user="u", item="i", value="v", time="t")
    model = unweave.MatrixCompletion(1, ridge=1.0, time_bins=3).fit(table, timestamps=table.times)
    plain = unweave.MatrixCompletion(1, ridge=1.0, time_bins=3).fit(X, timestamps=times)
    ours = model.predict([1003, 1009], [504, 507], timestamps=[100.0, 800.0])
    np.testing.assert_allclose(ours, plain.predict([3, 9], [4, 7], timestamps=[100.0, 800.0]), atol=0.02)


def test_new_ratings_with_times_join(rng):
    X, times, _ = planted(rng, item=1.5)
    cut = X.indptr[80]
    model = unweave.MatrixCompletion(1, ridge=1.0, time_bins=2, time_ridge=2.0).fit(X[:80], timestamps=times[:cut])
    model.partial_fit(X[80:], timestamps=times[cut:])
    whole = unweave.MatrixCompletion(1, ridge=1.0, time_bins=2, time_ridge=2.0).fit(X, timestamps=times)
    rows, columns = X.nonzero()
    clear = np.abs(times - 500) > 50  # the stretches stay those of the first ratings, and end a little elsewhere
    ours, theirs = (m.predict(rows, columns, timestamps=times)[clear] for m in (model, whole))
    assert len(model.drift_["times"]) == X.nnz and rmse(ours, theirs) < 0.1
    with pytest.raises(ValueError, match="fitted with timestamps"):
        model.partial_fit(X[:2])


def test_a_saved_model_predicts_alike(rng, tmp_path):
    X, times, _ = planted(rng)
    model = unweave.MatrixCompletion(1, ridge=1.0, time_bins=3).fit(X, timestamps=times)
    again = unweave.load(model.save(tmp_path / "m.unweave"))
    pairs = np.arange(10), np.arange(10)
    assert np.array_equal(again.predict(*pairs, timestamps=5.0), model.predict(*pairs, timestamps=5.0))


def test_explanations_still_add_up(rng):
    X, times, _ = planted(rng, user=1.0)
    model = unweave.MatrixCompletion(1, ridge=1.0, time_bins=3).fit(X, timestamps=times)
    told = model.explain(3, 4, n=M)
    assert told.score == pytest.approx(model.predict(3, 4), abs=1e-9) and abs(told.rest) < 1e-3


def test_refitting_without_times_forgets_them(rng):
    X, times, _ = planted(rng)
    model = unweave.MatrixCompletion(1, ridge=1.0, time_bins=3).fit(X, timestamps=times).fit(X)
    assert not hasattr(model, "drift_")
    with pytest.raises(ValueError, match="without timestamps"):
        model.predict(0, 0, timestamps=1.0)


@pytest.mark.parametrize(
    "bad, kind, message",
    [
        (lambda t: np.where(np.arange(len(t)) == 3, np.nan, t), ValueError, "1 values that are missing.*rating 3"),
        (lambda t: np.where(t > 500, np.inf, t), ValueError, "infinite"),
        (lambda t: t[:-1], ValueError, "one time for each"),
        (lambda t: t.astype(str), TypeError, "numbers or dates"),
        (lambda t: np.full(len(t), np.datetime64("NaT")), ValueError, "NaT"),
        (lambda t: np.array([{}] * len(t), dtype=object), TypeError, "parse them first"),
    ],
)
def test_bad_times_are_named(bad, kind, message, rng):
    X, times, _ = planted(rng)
    with pytest.raises(kind, match=message):
        unweave.MatrixCompletion(1, ridge=1.0).fit(X, timestamps=bad(times))


def test_other_refusals(rng):
    X, times, _ = planted(rng)
    with pytest.raises(ValueError, match="alternating least squares"):
        unweave.MatrixCompletion(1, solver="sgd").fit(X, timestamps=times)
    with pytest.raises(ValueError, match="time_bins"):
        unweave.MatrixCompletion(1, ridge=1.0, time_bins=0).fit(X, timestamps=times)
    with pytest.raises(ValueError, match="time_ridge"):
        unweave.MatrixCompletion(1, ridge=1.0, time_ridge=-1.0).fit(X, timestamps=times)
    with pytest.raises(TypeError, match="CSR"):
        unweave.MatrixCompletion(1, ridge=1.0).fit(X.tolil(), timestamps=times)
    twice = sp.coo_array((np.ones(2), ([0, 0], [1, 1])), shape=(3, 3))
    with pytest.raises(ValueError, match="twice"):
        unweave.MatrixCompletion(1, ridge=1.0).fit(twice, timestamps=[1, 2])
    model = unweave.MatrixCompletion(1, ridge=1.0, time_bins=2).fit(X, timestamps=times)
    with pytest.raises(TypeError, match="numbers in fit"):
        model.predict(0, 0, timestamps=np.datetime64("2020-01-01"))
    with pytest.raises(ValueError, match="one time for each"):
        model.predict([0, 1, 2], [0, 1, 2], timestamps=[1.0, 2.0])
    with pytest.raises(ValueError, match="does not know the user"):
        model.predict(N + 5, 0, timestamps=1.0)
    assert np.isfinite(model.predict(N + 5, 0, timestamps=1.0, unknown="mean"))
    assert np.isfinite(model.predict([0], [M + 3], timestamps=[-1e9], unknown="mean")).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(1, 4), st.floats(0, 50), st.integers(0, 10_000))
def test_improving_the_drift_lowers_its_objective(n, bins, ridge, seed):
    rng = np.random.default_rng(seed)
    rows, columns, times = rng.integers(0, 4, n), rng.integers(0, 3, n), rng.integers(0, 5, n).astype(float)
    drift = Drift(rows, columns, times, (4, 3), Calendar.of(times, bins), ridge)
    left, parts = rng.normal(size=n), drift.start()

    def value(parts):
        return 0.5 * np.sum((left - drift.at_entries(parts)) ** 2) + drift.penalty(parts)

    for _ in range(3):
        new = drift.improve(left, parts)
        assert np.isfinite(new["bins"]).all() and value(new) <= value(parts) + 1e-9
        parts = new
    np.testing.assert_allclose(
        drift_at(drift.published(parts), rows, columns, times), drift.at_entries(parts), atol=1e-12
    )
