"""Bernoulli mixtures: the slow twin, storage, holes, weights, bad input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import adjusted_rand_score

from tests.reference import bernoulli as reference
from unweave.group.mixtures.bernoulli import BernoulliMixture

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def coins(n=400, d=20, k=3, seed=0):
    rng = np.random.default_rng(seed)
    means, labels = rng.random((k, d)) ** 2, rng.integers(k, size=n)
    return (rng.random((n, d)) < means[labels]).astype(float), labels


@pytest.mark.parametrize("holes", [False, True])
def test_a_step_is_that_of_the_slow_twin(holes, rng):
    X, _ = coins(50, 6, 2)
    seen = rng.random(X.shape) < 0.7 if holes else np.ones(X.shape, bool)
    first = rng.uniform(0.2, 0.8, (2, 6))
    model = BernoulliMixture(2, init=first, smoothing=0.5, missing="nan", max_iter=1, tol=0)
    model.fit(np.where(seen, X, np.nan))
    count, ones, known, _ = reference.step(X, seen, np.full(2, 0.5), first)
    np.testing.assert_allclose(model.weights_, count / count.sum(), rtol=1e-10)
    np.testing.assert_allclose(model.means_, (ones + 0.5) / (known + 1), rtol=1e-10)
    value = reference.step(X, seen, model.weights_, model.means_)[3]
    prior = 0.5 * (np.log(model.means_) + np.log1p(-model.means_)).sum()
    assert model.lower_bound_ == pytest.approx((value + prior) / 50, rel=1e-10)
    assert model.score(np.where(seen, X, np.nan)) == pytest.approx(value / 50, rel=1e-10)


def test_it_finds_the_groups_and_the_bound_never_falls():
    X, labels = coins(1000, 30)
    model = BernoulliMixture(3, tol=0, max_iter=40).fit(X)
    assert (np.diff(model.history_.objective) <= 0).all()
    assert adjusted_rand_score(labels, model.labels_) > 0.85
    assert model.n_parameters_ == 2 + 90 and model.bic(X) > model.aic(X)
    assert np.array_equal(model.codes_, model.transform(X))


def test_sparse_is_dense_and_float32_is_kept(dtype):
    X, _ = coins()
    dense, sparse = (BernoulliMixture(3).fit(Y) for Y in (X.astype(dtype), sp.csr_array(X.astype(dtype))))
    np.testing.assert_allclose(sparse.means_, dense.means_, rtol=1e-6)
    assert sparse.predict_proba(sp.csr_array(X.astype(dtype))).dtype == dtype


@pytest.mark.parametrize("pack", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_one_thread_and_two_agree_to_the_bit(pack, two_threads):
    X = pack(coins(3000, 300)[0])
    one, two = two_threads(lambda: BernoulliMixture(3, max_iter=5, tol=0).fit(X))
    assert np.array_equal(one.means_, two.means_) and np.array_equal(one.codes_, two.codes_)


def test_weights_blocks_and_streams():
    X, _ = coins(600)
    first = np.random.default_rng(1).uniform(0.2, 0.8, (3, 20))
    times = np.random.default_rng(2).integers(0, 3, 600)
    told = BernoulliMixture(3, init=first, tol=0, max_iter=6).fit(X, sample_weight=times)
    done = BernoulliMixture(3, init=first, tol=0, max_iter=6).fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(told.means_, done.means_, rtol=1e-9)
    whole = BernoulliMixture(3, init=first, tol=0, max_iter=6).fit(X)
    parts = BernoulliMixture(3, init=first, tol=0, max_iter=6).fit([X[:100], X[100:]])
    np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-9)
    stream = BernoulliMixture(3)
    for part in np.array_split(coins(6000)[0], 12):
        stream.partial_fit(part)
    assert stream.score(X) > BernoulliMixture(3).fit(coins(6000)[0]).score(X) - 0.1


def test_samples_have_the_means_of_the_model():
    X, _ = coins()
    model = BernoulliMixture(2).fit(X)
    drawn, labels = model.sample(20_000, random_state=0)
    for c in range(2):
        np.testing.assert_allclose(drawn[labels == c].mean(axis=0), model.means_[c], atol=0.03)


def test_binarize_is_a_threshold_for_dense_and_sparse(rng):
    X, B = rng.normal(size=(80, 5)), None
    B = (X > 0.3).astype(float)
    wanted = BernoulliMixture(2).fit(B)
    np.testing.assert_allclose(BernoulliMixture(2, binarize=0.3).fit(X).means_, wanted.means_)
    np.testing.assert_allclose(BernoulliMixture(2, binarize=0.3).fit(sp.csr_array(X)).means_, wanted.means_)
    low = BernoulliMixture(2, binarize=-1.0)
    np.testing.assert_allclose(low.fit(sp.csr_array(X)).means_, low.fit(X).means_)


def test_a_component_that_dies_is_revived_if_that_helps():
    X = np.repeat([[1.0] * 6 + [0.0] * 6, [0.0] * 6 + [1.0] * 6], 50, axis=0)
    first = np.full((2, 12), 0.5)
    first[1] = np.tile([0.999, 0.001], 6)
    model = BernoulliMixture(2, init=first, smoothing=0.01).fit(X)
    assert (np.diff(model.history_.objective) <= 0).all() and np.isfinite(model.score_samples(X)).all()


@pytest.mark.parametrize(
    "options, words",
    [({"smoothing": -1}, "smoothing"), ({"init": "best"}, "init"), ({"init": np.full((1, 2), 2.0)}, "probabilities"),
     ({"n_components": 9}, "n_components"), ({"binarize": "yes"}, "binarize")],
)  # fmt: skip
def test_wrong_arguments_are_named(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        BernoulliMixture(**options).fit(np.array([[0.0, 1.0], [1.0, 1.0]]))


def test_zeros_and_ones_are_what_they_are_and_counts_become_presence(rng):
    X = rng.poisson(0.7, size=(60, 6)).astype(float)
    present = (X > 0).astype(float)
    plain = BernoulliMixture(2, binarize=None).fit(present)
    for table in (present, X, sp.csr_array(X)):
        np.testing.assert_allclose(BernoulliMixture(2).fit(table).means_, plain.means_, rtol=1e-12)
    np.testing.assert_array_equal(BernoulliMixture(2).fit(present).means_, plain.means_)
    with pytest.raises(ValueError, match="NaN"):
        BernoulliMixture(2).fit(np.where(X > 1, np.nan, X))


def test_numbers_other_than_zero_and_one_are_refused_on_request():
    for X in (np.array([[0.5, 1.0], [0.0, 1.0]]), sp.csr_array(np.array([[2.0, 0.0], [0.0, 1.0]]))):
        with pytest.raises(ValueError, match="binarize"):
            BernoulliMixture(binarize=None).fit(X)
    model = BernoulliMixture(binarize=None).fit([[0, 1], [1, 1]])
    with pytest.raises(ValueError, match="binarize"):
        model.predict([[0.0, 3.0]])


@settings(max_examples=25)
@given(st.data())
def test_any_small_table_gives_finite_answers(data):
    n, d = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 4))
    X = data.draw(arrays(np.float64, (n, d), elements=st.sampled_from([0.0, 1.0])))
    smoothing = data.draw(st.sampled_from([0.0, 1e-3, 1.0]))
    model = BernoulliMixture(data.draw(st.integers(1, n)), smoothing=smoothing, max_iter=15).fit(X)
    assert np.isfinite(model.history_.objective).all() and (np.diff(model.history_.objective) <= 0).all()
    assert ((model.means_ > 0) & (model.means_ < 1)).all() and np.isfinite(model.score_samples(X)).all()
