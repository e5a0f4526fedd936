"""Gaussian mixtures: scikit-learn's numbers, holes, weights, blocks, hard cases."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture as Peer

from tests.reference import gaussian as reference
from unweave.group.anomaly import anomaly_score
from unweave.group.kmeans import KMeans
from unweave.group.mixtures import forms, shapes
from unweave.group.mixtures.bernoulli import BernoulliMixture
from unweave.group.mixtures.gaussian import GaussianMixture

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every_kind = pytest.mark.parametrize("kind", shapes.SHAPES)


def blobs(n=600, d=3, k=3, seed=0, spread=6.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    noise = np.einsum("nd,nde->ne", rng.normal(size=(n, d)), rng.normal(size=(k, d, d))[labels])
    return spread * rng.normal(size=(k, d))[labels] + noise, labels


def start(kind, X, k):
    d = X.shape[1]
    covariances = np.ones(shapes.shape_of(kind, k, d)) if not shapes.dense(kind) else np.eye(d)
    if kind == "full":
        covariances = np.tile(np.eye(d), (k, 1, 1))
    return {"means": X[:k].copy(), "weights": np.arange(1, k + 1) / (k * (k + 1) / 2), "covariances": covariances}


def with_holes(X, share=0.2, seed=1):
    X = X.copy()
    X[np.random.default_rng(seed).random(X.shape) < share] = np.nan
    return X


# -- scikit-learn --------------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("direct", [False, True], ids=["products", "direct"])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_each_step_is_that_of_scikit_learn(kind, direct, steps, monkeypatch):
    if direct:
        monkeypatch.setattr(forms, "_CANCELS", 0.0)
    X, _ = blobs(700, 4)
    init = start(kind, X, 3)
    ours = GaussianMixture(3, covariance_type=kind, init=init, max_iter=steps, tol=0).fit(X)
    peer = Peer(
        3, covariance_type=kind, max_iter=steps, tol=0, weights_init=init["weights"], means_init=init["means"],
        precisions_init=init["covariances"],
    ).fit(X)  # fmt: skip
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(peer, name), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.score_samples(X), peer.score_samples(X), rtol=1e-8)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-8)
    assert ours.lower_bound_ == pytest.approx(peer.score(X), rel=1e-9)
    assert ours.n_parameters_ == peer._n_parameters()
    assert ours.bic(X) == pytest.approx(peer.bic(X)) and ours.aic(X) == pytest.approx(peer.aic(X))


@every_kind
def test_the_default_finds_the_blobs_and_is_no_worse_than_scikit_learn(kind):
    X, labels = blobs(900, 3, seed=3)
    ours = GaussianMixture(3, covariance_type=kind).fit(X)
    assert ours.converged_ and ours.score(X) >= Peer(3, covariance_type=kind, random_state=0).fit(X).score(X) - 1e-3
    if kind in ("full", "diag"):
        assert adjusted_rand_score(labels, ours.labels_) > 0.9


# -- what it promises ----------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_the_bound_never_falls_and_is_that_of_the_answer(kind, holes):
    X, _ = blobs(300, 4, 4, seed=2, spread=1.0)
    X = with_holes(X, holes) if holes else X
    model = GaussianMixture(4, covariance_type=kind, missing="nan", max_iter=40, tol=0).fit(X)
    assert len(model.history_) == model.n_iter_ == 40
    assert (np.diff(model.history_.objective) <= 0).all()
    assert model.lower_bound_ == pytest.approx(model.score(X), rel=1e-10)
    assert model.objective_ == -model.lower_bound_ == model.history_.objective[-1]


@every_kind
def test_one_thread_and_two_agree_to_the_bit(kind, two_threads, dtype):
    X = blobs(5000, 6, 3)[0].astype(dtype)
    for data in (X, with_holes(X)):
        one, two = two_threads(lambda data=data: GaussianMixture(3, covariance_type=kind, missing="nan").fit(data))
        assert np.array_equal(one.covariances_, two.covariances_) and np.array_equal(one.codes_, two.codes_)
        assert one.history_.objective.tolist() == two.history_.objective.tolist()


def test_codes_are_probabilities_in_the_type_of_the_table(dtype):
    X = blobs()[0].astype(dtype)
    model = GaussianMixture(3).fit(X)
    codes = model.transform(X)
    assert codes.dtype == dtype and np.array_equal(codes, model.codes_)
    np.testing.assert_allclose(codes.sum(axis=1), 1, rtol=1e-6)
    assert np.array_equal(model.predict(X), model.labels_) and np.array_equal(codes.argmax(axis=1), model.labels_)
    assert np.array_equal(GaussianMixture(3).fit_transform(X), codes)
    assert model.components_ is model.means_ and model.get_feature_names_out()[0] == "gaussianmixture0"


def test_float32_far_from_zero_loses_no_more_than_its_own_digits():
    X, _ = blobs(400, 2, 2)
    far = (X + 1000).astype(np.float32)
    narrow, wide = (GaussianMixture(2, random_state=0).fit(Y) for Y in (far, far.astype(np.float64)))
    np.testing.assert_allclose(narrow.covariances_, wide.covariances_, rtol=1e-6)


@every_kind
def test_far_from_the_origin_nothing_is_lost(kind):
    X, _ = blobs(400, 3, 2, spread=3.0)
    init = start(kind, X, 2)
    near = GaussianMixture(2, covariance_type=kind, init=init, max_iter=10, tol=0).fit(X)
    moved = {**init, "means": init["means"] + 1e6}
    far = GaussianMixture(2, covariance_type=kind, init=moved, max_iter=10, tol=0).fit(X + 1e6)
    np.testing.assert_allclose(far.covariances_, near.covariances_, rtol=1e-6)
    outlier = np.vstack([X, np.full((1, 3), 1e7)])  # squares about the mean would cancel: the direct form is taken
    found = GaussianMixture(3, covariance_type=kind, random_state=0).fit(outlier)
    assert np.isfinite(found.score_samples(outlier)).all() and found.labels_[-1] not in found.labels_[:-1]


# -- missing entries -------------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("direct", [False, True], ids=["products", "direct"])
def test_a_step_with_holes_is_that_of_the_slow_twin(kind, direct, monkeypatch, rng):
    if direct:
        monkeypatch.setattr(forms, "_CANCELS", 0.0)
    X, _ = blobs(60, 3, 2, spread=1.0)
    X = with_holes(X, 0.35)
    X[0] = np.nan
    init, weights = start(kind, np.nan_to_num(X[1:]), 2), rng.random(60)
    model = GaussianMixture(2, covariance_type=kind, init=init, missing="nan", max_iter=1, tol=0, reg_covar=0)
    model.fit(X, sample_weight=weights)
    covariances = shapes.each(kind, init["covariances"], 2, 3)
    full = covariances if shapes.dense(kind) else np.stack([np.diag(v) for v in covariances])
    count, first, second, _ = reference.moments(X, ~np.isnan(X), weights, init["weights"], init["means"], full)
    means = first / count[:, None]
    scatter = second / count[:, None, None] - means[:, :, None] * means[:, None, :]
    wanted = {
        "full": scatter, "tied": np.einsum("k,kij->ij", count / count.sum(), scatter),
        "diag": np.einsum("kii->ki", scatter), "spherical": np.einsum("kii->k", scatter) / 3,
    }[kind]  # fmt: skip
    np.testing.assert_allclose(model.weights_, count / count.sum(), rtol=1e-9)
    np.testing.assert_allclose(model.means_, means, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.covariances_, wanted, rtol=1e-8, atol=1e-10)
    learned = shapes.each(kind, model.covariances_, 2, 3)
    full = learned if shapes.dense(kind) else np.stack([np.diag(v) for v in learned])
    known = ~np.isnan(X)
    value = reference.moments(X, known, weights, model.weights_, model.means_, full)[3]
    assert model.lower_bound_ == pytest.approx(value, rel=1e-9)


def test_no_holes_is_the_same_with_and_without_missing():
    X, _ = blobs()
    plain, told = GaussianMixture(3).fit(X), GaussianMixture(3, missing="nan").fit(X)
    assert np.array_equal(plain.means_, told.means_)


def test_holes_do_not_hide_the_clusters():
    X, labels = blobs(800, 5, 3, seed=4)
    model = GaussianMixture(3, missing="nan", n_init=3).fit(with_holes(X, 0.3))
    assert adjusted_rand_score(labels, model.predict(with_holes(X, 0.3))) > 0.7
    assert np.isfinite(model.score_samples([[np.nan] * 5, X[0]])).all()
    np.testing.assert_allclose(model.predict_proba([[np.nan] * 5, X[0]])[0], model.weights_, rtol=1e-9)


# -- weights, blocks, streams ----------------------------------------------------------------------------------------


@every_kind
def test_whole_weights_are_repeated_rows_and_zero_ones_do_not_matter(kind, rng):
    X, _ = blobs(200, 3, 2)
    times = rng.integers(0, 4, 200)
    times[:2] = 1
    init = start(kind, X, 2)
    told = GaussianMixture(2, covariance_type=kind, init=init, max_iter=8, tol=0).fit(X, sample_weight=times)
    done = GaussianMixture(2, covariance_type=kind, init=init, max_iter=8, tol=0).fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(told.covariances_, done.covariances_, rtol=1e-8)
    assert told.lower_bound_ == pytest.approx(done.lower_bound_)
    wild = np.where(times[:, None] == 0, 1e3, X)
    np.testing.assert_allclose(
        GaussianMixture(2, covariance_type=kind, random_state=0).fit(wild, sample_weight=times).lower_bound_,
        GaussianMixture(2, covariance_type=kind, random_state=0).fit(X, sample_weight=times).lower_bound_, rtol=1e-6,
    )  # fmt: skip


def test_blocks_are_the_whole_table():
    X, _ = blobs(1000, 4)
    init = start("full", X, 3)
    whole = GaussianMixture(3, init=init, max_iter=10, tol=0).fit(X)
    blocks = GaussianMixture(3, init=init, max_iter=10, tol=0).fit([X[:300], X[300:310], X[310:]])
    np.testing.assert_allclose(blocks.means_, whole.means_, rtol=1e-9)
    assert blocks.codes_ is None and np.array_equal(blocks.labels_, whole.labels_)
    default = GaussianMixture(3)
    assert default.fit([X[:500], X[500:]]).score(X) == pytest.approx(default.fit(X).score(X), abs=1e-6)


@every_kind
def test_a_stream_of_blocks_comes_near_to_the_fit(kind):
    X, _ = blobs(6000, 3, 3, seed=5, spread=8.0)
    model = GaussianMixture(3, covariance_type=kind)
    for part in np.array_split(X, 20):
        model.partial_fit(part)
    assert model.n_iter_ == 20 and len(model.labels_) == 300
    whole = GaussianMixture(3, covariance_type=kind).fit(X)
    assert model.score(X) > whole.score(X) - 0.02
    before = model.means_.copy()
    whole.partial_fit(X[:10])
    assert np.abs(whole.means_ - GaussianMixture(3, covariance_type=kind).fit(X).means_).max() < 0.05
    assert np.array_equal(before, model.means_)


def test_sparse_tables_are_read_in_pieces():
    X, _ = blobs()
    X[X < 0] = 0
    dense, sparse = GaussianMixture(2).fit(X), GaussianMixture(2).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.means_, dense.means_)


# -- starts and given parts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["k-means", "random"])
def test_named_starts_and_restarts(init):
    X, _ = blobs(seed=7)
    one = GaussianMixture(3, init=init, random_state=1).fit(X)
    many = GaussianMixture(3, init=init, n_init=5, random_state=1).fit(X)
    assert many.lower_bound_ >= one.lower_bound_ - 0.05 and "Start: " + init in str(many.plan_)


@pytest.mark.parametrize("model", [GaussianMixture, BernoulliMixture])
@pytest.mark.parametrize("init", ["k-means", "random"])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_more_starts_never_end_lower(model, init, holes, dtype):
    X, _ = blobs(250, 4, 5, seed=11, spread=1.5)
    X = (with_holes(X, holes) if holes else X).astype(dtype)
    weights = np.random.default_rng(0).random(250)
    bounds = []
    for n_init in (1, 2, 5):
        fitted = model(4, init=init, n_init=n_init, missing="nan", random_state=3).fit(X, sample_weight=weights)
        bounds.append(fitted.lower_bound_)
        assert fitted.n_components_ == 4 and len(fitted.history_) == fitted.n_iter_
    assert bounds == sorted(bounds)


def test_starts_differ_where_k_means_finds_one():
    # A small flat cloud across a long one: k-means cuts the long one whatever its seed, its mixture stays cut.
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, (8, 0.3), (400, 2)), rng.normal(0, (0.3, 3), (400, 2))])
    from unweave.group.kmeans.inside import trial_centres

    found = [trial_centres(X, 2, np.random.default_rng(seed), 0) for seed in range(3)]
    assert all(np.allclose(np.sort(c, axis=0), np.sort(found[0], axis=0), atol=1e-6) for c in found)
    others = [trial_centres(X, 2, np.random.default_rng(0), trial) for trial in range(1, 4)]
    assert len({tuple(np.sort(c, axis=0).round(6).ravel()) for c in [found[0], *others[:2]]}) == 3
    truth = {"means": np.zeros((2, 2)), "covariances": np.array([np.diag([64, 0.09]), np.diag([0.09, 9.0])])}
    best = GaussianMixture(2, init=truth).fit(X).lower_bound_
    assert GaussianMixture(2, n_init=5).fit(X).lower_bound_ > best - 1e-3


def test_several_starts_resume_from_a_checkpoint(tmp_path):
    X, _ = blobs(spread=1.0)
    path, whole = tmp_path / "fit", GaussianMixture(3, n_init=3, tol=0, max_iter=9).fit(X)

    def stop(progress):
        if progress.iteration == 4:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        GaussianMixture(3, n_init=3, checkpoint=path, callback=stop, tol=0, max_iter=9).fit(X)
    rest = GaussianMixture(3, n_init=3, checkpoint=path, tol=0, max_iter=9).fit(X)
    assert np.array_equal(rest.means_, whole.means_) and rest.n_iter_ == 9 and not path.exists()


def test_given_covariances_stay_and_vanishing_ones_are_k_means():
    X, _ = blobs(500, 3, 4, seed=8)
    hard = KMeans(4, init=X[:4], tol=0, max_iter=100).fit(X)
    soft = GaussianMixture(4, covariance_type="spherical", covariances=1e-4, init=hard.cluster_centers_, tol=0,
                           max_iter=20).fit(X)  # fmt: skip
    assert np.array_equal(soft.labels_, hard.labels_) and (soft.covariances_ == 1e-4).all()
    np.testing.assert_allclose(soft.means_, hard.cluster_centers_, rtol=1e-6, atol=1e-8)
    fixed = np.stack([np.eye(3), 2 * np.eye(3)])
    model = GaussianMixture(2, covariances=fixed).fit(X)
    assert np.array_equal(model.covariances_, fixed) and model.n_parameters_ == 1 + 2 * 3


def test_a_component_that_dies_is_revived():
    X = np.concatenate([np.random.default_rng(0).normal(c, 1, (100, 2)) for c in (0.0, 20.0)])
    far = np.array([[0.0, 0.0], [1e7, 1e7]])
    for kind in shapes.SHAPES:
        init = {**start(kind, X, 2), "means": far}
        model = GaussianMixture(2, covariance_type=kind, init=init).fit(X)
        assert sorted(model.means_[:, 0].round()) == [0.0, 20.0], kind
        assert (np.diff(model.history_.objective) <= 0).all()


# -- using -------------------------------------------------------------------------------------------------------------


@every_kind
def test_samples_have_the_moments_of_the_model(kind):
    X, _ = blobs(500, 2, 2)
    model = GaussianMixture(2, covariance_type=kind).fit(X)
    drawn, labels = model.sample(40_000, random_state=0)
    spread = shapes.each(kind, model.covariances_, 2, 2)
    for c in range(2):
        own = drawn[labels == c]
        wanted = spread[c] if shapes.dense(kind) else np.diag(spread[c])
        np.testing.assert_allclose(np.cov(own.T), wanted, atol=0.06 * np.abs(wanted).max())
    assert np.array_equal(model.sample(5)[0], model.sample(5)[0]) and drawn.shape == (40_000, 2)


def test_anomaly_scores_are_higher_for_stranger_rows():
    X, _ = blobs()
    model = GaussianMixture(3).fit(X)
    assert model.anomaly_score([[1e3] * 3])[0] > model.anomaly_score(X).max()
    assert np.array_equal(anomaly_score(model, X), -model.score_samples(X))
    near = anomaly_score(KMeans(3).fit(X), X)
    assert near.shape == (600,) and (near >= 0).all()
    assert anomaly_score(Peer(2, random_state=0).fit(X), X).shape == (600,)
    with pytest.raises(TypeError, match="neither a density"):
        from sklearn.cluster import DBSCAN

        anomaly_score(DBSCAN().fit(X), X)


def test_checkpoint_callback_and_interrupt(tmp_path):
    X, _ = blobs(spread=1.0)
    path, seen = tmp_path / "fit", []

    def stop(progress):
        seen.append(progress.objective)
        if len(seen) == 4:
            raise KeyboardInterrupt

    init = start("full", X, 3)
    with pytest.warns(UserWarning, match="interrupted"):
        GaussianMixture(3, init=init, checkpoint=path, callback=stop, tol=0, max_iter=9).fit(X)
    rest = GaussianMixture(3, init=init, checkpoint=path, tol=0, max_iter=9).fit(X)
    whole = GaussianMixture(3, init=init, tol=0, max_iter=9).fit(X)
    assert np.array_equal(rest.means_, whole.means_) and rest.n_iter_ == 9 and not path.exists()


# -- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options, words",
    [
        ({"n_components": 0}, "n_components"), ({"n_components": 7}, "n_components=7"),
        ({"n_components": 2.5}, "n_components"), ({"covariance_type": "round"}, "covariance_type"),
        ({"reg_covar": -1}, "reg_covar"), ({"init": "best"}, "init"), ({"init": np.ones((3, 2))}, "init"),
        ({"init": {"weights": [1.0]}}, "means"), ({"init": {"means": np.ones((1, 2)), "weights": [2.0]}}, "weights"),
        ({"init": {"means": np.ones((1, 2)), "covariances": -np.ones((1, 2, 2))}}, "positive definite"),
        ({"covariances": np.eye(2)}, "shape"), ({"tol": -1}, "tol"), ({"max_iter": 0}, "max_iter"),
        ({"n_init": 0}, "n_init"), ({"missing": "what"}, "missing"), ({"callback": 3}, "callback"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        GaussianMixture(**options).fit(np.random.default_rng(0).normal(size=(6, 2)))


def test_wrong_data_and_weights_are_named():
    X = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.raises(ValueError, match="missing='nan'"):
        GaussianMixture().fit(with_holes(X, 0.5))
    with pytest.raises(ValueError, match="overflow float32"):
        GaussianMixture().fit((X * 1e30).astype(np.float32))
    for weights, words in [(-np.ones(6), "[Nn]egative"), (np.zeros(6), "zero"), (np.ones(5), "6 rows, it has 5")]:
        with pytest.raises(ValueError, match=words):
            GaussianMixture().fit(X, sample_weight=weights)
    with pytest.raises(ValueError, match="n_components=3"):
        GaussianMixture(3).fit(X, sample_weight=[1, 1, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="reg_covar"):
        GaussianMixture(reg_covar=0, covariance_type="diag").fit(np.ones((6, 2)))


@every_kind
@settings(max_examples=15)
@given(data=st.data())
def test_any_small_table_gives_finite_answers(kind, data):
    n, d = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 3))
    numbers = st.sampled_from([0.0, 1.0, -1.0, 1.5, 1e-9, 1e6])
    X = data.draw(arrays(np.float64, (n, d), elements=numbers))
    holes = data.draw(arrays(bool, (n, d)))
    if data.draw(st.booleans()) and not holes.all():
        X = np.where(holes, np.nan, X)
    k = data.draw(st.integers(1, n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianMixture(k, covariance_type=kind, missing="nan", max_iter=15).fit(X)
    assert np.isfinite(model.history_.objective).all() and (np.diff(model.history_.objective) <= 0).all()
    assert np.isfinite(model.covariances_).all() and model.weights_.sum() == pytest.approx(1)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-9)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("reg", [1e-6, 0.0])
@pytest.mark.parametrize("apart", [1e8, 1e9])
def test_components_far_apart_keep_their_own_spread(kind, reg, apart):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) + np.repeat([0, apart], 200)[:, None]
    model = GaussianMixture(2, covariance_type=kind, reg_covar=reg).fit(X)
    assert sorted(np.bincount(model.labels_)) == [200, 200]
    spread = shapes.each(kind, model.covariances_, 2, 2)
    np.testing.assert_allclose(np.diagonal(spread, axis1=-2, axis2=-1) if shapes.dense(kind) else spread, 1, atol=0.25)


def test_a_covariance_beyond_rounding_is_named():
    with pytest.raises(ValueError, match="not positive definite up to rounding: raise reg_covar"):
        shapes.precision_factors("tied", np.array([[1e-6, -32.0], [-32.0, 1e-6]]))


@pytest.mark.parametrize("model", [GaussianMixture(3), BernoulliMixture(3)])
def test_few_distinct_rows_are_called_by_the_mixtures_name(model):
    with pytest.warns(ConvergenceWarning, match="only 1 of n_components=3.*lower n_components") as caught:
        model.fit(np.ones((20, 2)))
    assert not any("n_clusters" in str(warning.message) for warning in caught)
