"""Sampling with features and times: both help where they are planted, and every answer agrees with the fit."""

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from tests.complete.ratings.test_drift import halves
from tests.complete.ratings.test_drift import planted as drifting
from tests.complete.ratings.test_features import planted, rmse, table
from unweave.complete.ratings.gibbs import DrawnMap
from unweave.complete.ratings.side_information import FeatureMap

SWEEPS = {"solver": "gibbs", "max_iter": 60, "random_state": 0}


def test_a_map_gathers_round_the_truth(rng):
    F, A = rng.normal(size=(2000, 3)), rng.normal(size=(3, 2))
    side = DrawnMap(FeatureMap(F))
    rows = side.means(A) + 0.1 * rng.normal(size=(2000, 2))
    draws = [side.draw(rows, 100 * np.eye(2), 1.0, rng) for _ in range(50)]
    np.testing.assert_allclose(np.mean([map_ for map_, _ in draws], axis=0), A, atol=0.01)
    spread = np.std([map_ for map_, _ in draws], axis=0)
    assert np.all((spread > 0.1 / np.sqrt(2000) / 2) & (spread < 2 * 0.1 / np.sqrt(2000)))
    assert all(rho > 0 for _, rho in draws)


@pytest.fixture(scope="module")
def featured():
    truth, known, F, G, values = planted(np.random.default_rng(0), share=0.15)
    known[:20], known[:, :8] = False, False
    X = table(values, known)
    return truth, known, F, G, X, unweave.MatrixCompletion(3, **SWEEPS).fit(X, user_features=F, item_features=G)


def test_features_help(featured):
    truth, known, _, _, X, model = featured
    plain = unweave.MatrixCompletion(3, **SWEEPS).fit(X)
    ours, theirs = (m.inverse_transform(m.codes_) for m in (model, plain))
    cold = np.zeros_like(known)
    cold[:20], cold[:, :8] = True, True
    assert rmse(ours[cold], truth[cold]) < 0.3 * rmse(theirs[cold], truth[cold])
    warm = ~known & ~cold
    assert rmse(ours[warm], truth[warm]) < 0.8 * rmse(theirs[warm], truth[warm])
    assert any("features" in reason for reason in model.plan_.reasons)


def test_answers_with_features_agree(featured, tmp_path):
    truth, _, F, G, X, model = featured
    np.testing.assert_allclose(model.transform(X, user_features=F), model.codes_, atol=1e-8)
    row = dict(zip(X[[25]].indices.tolist(), X[[25]].data.tolist(), strict=True))
    np.testing.assert_allclose(model.fold_in(row, features=F[25]).code, model.codes_[25], atol=1e-8)
    np.testing.assert_allclose(model.fold_in(row).code, model.transform(X[[25]])[0], atol=1e-8)
    stranger = model.fold_in({}, features=F[0])
    assert rmse(model.predict(stranger, np.arange(8, 60)), truth[0, 8:]) < 0.4 * truth[0, 8:].std() + 0.2
    new = model.predict([999, 998], [9, 10], user_features=F[[0, 1]])
    assert new[0] == pytest.approx(model.predict(stranger, 9))
    item = model.predict([30], [999], item_features=G[[2]])
    assert item[0] == pytest.approx(truth[30, 2], abs=1.0)
    again = unweave.load(model.save(tmp_path / "m.unweave"))
    assert again.predict(3, 4) == model.predict(3, 4) and again.predict_std(3, 4) == model.predict_std(3, 4)
    np.testing.assert_array_equal(again.fold_in(row, features=F[25]).code, model.fold_in(row, features=F[25]).code)


def test_drift_helps_and_answers_agree(rng, tmp_path):
    X, times, jump = drifting(rng, item=1.5, user=1.0)
    train, when, (rows, columns, values, later) = halves(X, times, rng)
    model = unweave.MatrixCompletion(2, time_ridge=2.0, **SWEEPS).fit(train, timestamps=when)
    plain = unweave.MatrixCompletion(2, **SWEEPS).fit(train)
    timed = model.predict(rows, columns, timestamps=later)
    assert rmse(timed, values) < 0.6 * rmse(plain.predict(rows, columns), values)
    found = model.predict(np.zeros(40, int), np.arange(40), timestamps=900.0)
    found -= model.predict(np.zeros(40, int), np.arange(40), timestamps=100.0)
    assert np.corrcoef(found, jump)[0, 1] > 0.95
    np.testing.assert_allclose(model.transform(train, timestamps=when), model.codes_, atol=1e-8)
    again = unweave.load(model.save(tmp_path / "m.unweave"))
    np.testing.assert_array_equal(again.predict(rows, columns, timestamps=later), timed)
    assert not hasattr(model.fit(train), "drift_"), "a fit without times forgets them"


def test_everything_at_once_on_any_number_of_threads_and_resumed(rng, two_threads, tmp_path):
    X, times, _ = drifting(rng)
    F, G = rng.normal(size=(120, 2)), sp.csr_array(rng.normal(size=(40, 3)))
    more = {"timestamps": times, "user_features": F, "item_features": G}
    short = {**SWEEPS, "max_iter": 12, "time_bins": 2}
    one, two = two_threads(lambda: unweave.MatrixCompletion(2, **short).fit(X, **more).components_)
    assert np.array_equal(one, two)

    class Stop(Exception):
        pass

    def fail(progress):
        if progress.iteration == 5:
            raise Stop

    path = tmp_path / "run.ckpt"
    with pytest.raises(Stop):
        unweave.MatrixCompletion(2, checkpoint=path, callback=fail, **short).fit(X, **more)
    resumed = unweave.MatrixCompletion(2, checkpoint=path, **short).fit(X, **more)
    np.testing.assert_array_equal(resumed.components_, one)
    early = unweave.MatrixCompletion(2, **{**short, "callback": lambda p: p.iteration == 1}).fit(X, **more)
    assert np.isfinite(early.predict(0, 0)) and np.isfinite(early.predict(999, 0, user_features=F[:1])).all()
