from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.explain.topics.corpora import matched, planted
from unweave.explain.topics.corpus import Corpus
from unweave.explain.topics.gibbs import Gibbs
from unweave.explain.topics.lda import LDA
from unweave.explain.topics.variational import Batch

ALL = ["collapsed", "gibbs", "batch", "online"]


def test_sampling_leaves_the_old_state_alone_and_may_go_back(rng):
    X = planted(n=60)[0]
    scheme = Gibbs(Corpus(sp.csr_array(X), 4), np.full(4, 0.1), 0.05, (True, True))
    state = first = scheme.begin(rng)
    before = {name: np.copy(value) for name, value in first.items()}
    for _ in range(12):
        state, value = scheme.step(state)
        assert np.isfinite(value)
    again = scheme.step(first)[0]["z"]
    assert all(np.array_equal(first[name], value) for name, value in before.items())
    assert np.array_equal(again, Gibbs(scheme.corpus, scheme.alpha, 0.05, (True, True)).step(first)[0]["z"])


def test_many_topics_are_sampled_as_well():
    X, _ = planted(n=300)
    model = LDA(100, inference="gibbs", max_iter=60).fit(X)
    assert model.perplexity(X) < 25 and "topics each document has" in str(model.plan_)


def test_gibbs_refuses_more_words_than_it_can_keep():
    with pytest.raises(ValueError, match=r"holds 1e\+09 words .* use inference='collapsed'"):
        LDA(2, inference="gibbs").fit([[1e9, 1.0], [1.0, 2.0]])
    assert np.isfinite(LDA(2, max_iter=5, tol=0).fit([[1e9, 1.0], [1.0, 2.0]]).topics_).all()


@pytest.mark.parametrize("inference", ALL)
def test_planted_topics_are_found(inference, dtype):
    X, topics = planted()
    model = LDA(4, inference=inference, alpha=0.2, eta=0.05, batch_size=50, max_iter=60, tol=0).fit(X.astype(dtype))
    assert matched(model.topics_, topics) < 0.15
    np.testing.assert_allclose(model.topics_.sum(axis=1), 1, atol=1e-9)
    assert model.codes_.dtype == model.transform(X.astype(dtype)).dtype == dtype
    np.testing.assert_allclose(model.codes_.sum(axis=1), 1, atol=1e-5)
    assert model.perplexity(X) < 25 < X.shape[1]
    assert model.topic_shares_.sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("inference", ALL)
def test_threads_change_no_bit(inference, two_threads):
    X = sp.csr_array(sp.random(3000, 300, 0.3, random_state=0, data_rvs=lambda n: np.ones(n) * 2.0), dtype=np.float32)
    kwargs = {"inference": inference, "max_iter": 6, "tol": 0, "batch_size": 2500}
    assert len(Corpus(X, 30).blocks) > 1
    one, two = two_threads(lambda: LDA(30, **kwargs).fit(X))
    assert np.array_equal(one.topics_, two.topics_) and np.array_equal(one.codes_, two.codes_)
    assert np.array_equal(*two_threads(lambda: one.transform(X[:200])))
    assert np.array_equal(one.history_.objective, two.history_.objective)


def test_the_variational_bound_never_falls(rng):
    X = planted(n=80)[0]
    scheme = Batch(Corpus(sp.csr_array(X), 4), np.full(4, 0.3), 0.1, (True, True))
    state, values = scheme.begin(rng), []
    for _ in range(30):
        state, value = scheme.step(state)
        values.append(value)
    assert np.diff(values).max() <= 1e-7 * abs(values[0])


def test_priors_are_learned_or_kept():
    X, _ = planted()
    learned = LDA(4, max_iter=40, tol=0).fit(X)
    assert np.ptp(learned.alpha_) > 0 and learned.eta_ != 0.05
    kept = LDA(4, alpha=[0.1, 0.2, 0.3, 0.4], eta=0.01, max_iter=10, tol=0).fit(X)
    assert kept.alpha_.tolist() == [0.1, 0.2, 0.3, 0.4] and kept.eta_ == 0.01


def test_partial_fit_learns_and_continues():
    X, topics = planted(n=600)
    model = LDA(4, alpha=0.2, random_state=1)
    for _ in range(3):
        for i in range(0, 600, 100):
            model.partial_fit(X[i : i + 100], n_documents=600)
    assert matched(model.topics_, topics) < 0.2 and model.n_iter_ == 18
    fitted = LDA(4, max_iter=30, tol=0).fit(X)
    before = fitted.perplexity(X)
    assert fitted.partial_fit(X[:100]).perplexity(X) < 1.3 * before


def test_sampled_documents_follow_the_model():
    X, topics = planted(n=400)
    model = LDA(4, max_iter=50, tol=0).fit(X)
    drawn = model.sample_documents(300, 80, random_state=3)
    assert drawn.shape == (300, 40) and set(drawn.sum(axis=1).tolist()) == {80.0}
    again = LDA(4, max_iter=50, tol=0).fit(drawn)
    assert matched(again.topics_, topics) < 0.2
    assert model.sample_documents(2, [3, 0]).sum(axis=1).tolist() == [3, 0]
    with pytest.raises(ValueError, match="length must be"):
        model.sample_documents(2, -1)


def test_empty_documents_get_the_prior():
    X, _ = planted(n=50)
    X[7] = 0
    for inference in ALL:
        model = LDA(4, inference=inference, max_iter=8, tol=0).fit(X)
        prior = model.alpha_ / model.alpha_.sum()
        np.testing.assert_allclose(model.transform(np.zeros((1, 40)))[0], prior, rtol=1e-6)
        np.testing.assert_allclose(model.document_topics(X)[7], prior, rtol=1e-6)


@pytest.mark.parametrize("inference", ALL)
def test_odd_tables(inference):
    for X in (
        np.array([[1.0, 0], [0, 1]]),  # documents of one word, more topics than words
        np.array([[0.0, 3, 0, 1], [0, 2, 0, 0], [0, 0, 0, 0]]),  # columns and a row of zeros
        np.array([[5.0]]),
        np.array([[1e6, 1.0], [1.0, 1e6]]),
    ):
        if inference == "gibbs":
            X = np.minimum(X, 1000)
        model = LDA(6, inference=inference, max_iter=12, tol=0).fit(X)
        assert np.isfinite(model.topics_).all() and np.isfinite(model.codes_).all()
        np.testing.assert_allclose(model.topics_.sum(axis=1), 1, atol=1e-6)


@given(arrays(np.int64, (6, 5), elements=st.integers(0, 4)), st.sampled_from(ALL), st.integers(1, 4))
def test_topics_are_always_distributions(X, inference, k):
    if not X.any():
        return
    model = LDA(k, inference=inference, max_iter=7, tol=0).fit(X)
    assert np.abs(model.topics_.sum(axis=1) - 1).max() < 1e-6 and model.topics_.min() >= 0
    theta = model.document_topics(X)
    assert np.abs(theta.sum(axis=1) - 1).max() < 1e-6 and theta.min() >= 0
    assert np.isfinite(model.history_.objective).all()


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[1.0, -1.0], [0, 1]], {}, "Negative values"),
        (np.zeros((3, 4)), {}, "holds no words"),
        (np.zeros((0, 4)), {}, "0 sample"),
        (np.eye(3), {"inference": "magic"}, "inference='magic' is not known"),
        (np.eye(3), {"alpha": 0.0}, "alpha must be a positive"),
        (np.eye(3), {"alpha": [0.1, 0.2, 0.3]}, "alpha must be a positive"),
        (np.eye(3), {"alpha": "flat"}, "alpha='flat' is not known"),
        (np.eye(3), {"eta": -1.0}, "eta must be"),
        (0.5 * np.eye(3), {"inference": "gibbs"}, "whole numbers"),
        ([[np.nan, 1.0]], {}, "NaN"),
    ],
)
def test_bad_input(X, options, message):
    with pytest.raises(ValueError, match=message):
        LDA(2, **options).fit(X)


def test_checkpoint_continues_to_the_bit(tmp_path):
    X, _ = planted()
    for inference in ALL:
        path, kwargs = tmp_path / f"{inference}.ckpt", {"inference": inference, "tol": 0, "batch_size": 64}
        whole = LDA(4, max_iter=12, **kwargs).fit(X)

        def stop(progress):
            if progress.iteration == 5:
                raise KeyboardInterrupt

        with pytest.warns(UserWarning, match="interrupted"):
            LDA(4, max_iter=12, callback=stop, checkpoint=path, **kwargs).fit(X)
        resumed = LDA(4, max_iter=12, checkpoint=path, **kwargs).fit(X)
        assert np.array_equal(resumed.topics_, whole.topics_) and not path.exists()


def test_progress_is_told_and_may_end_the_fit():
    X, _ = planted()
    assert LDA(4, callback=lambda p: p.iteration == 3).fit(X).n_iter_ == 3
    assert "learned" in str(LDA(4, max_iter=3, tol=0).fit(X).plan_)
    assert -np.log(40) < LDA(4, max_iter=30, tol=0).fit(X).score(X) < 0


def test_auto_averages_draws_about_what_it_found(tmp_path):
    """Held-out words are predicted better than by the collapsed updates alone, and a fit that was cut goes on."""
    from unweave.explain.topics.measures import document_completion, halves

    rng = np.random.default_rng(3)
    topics = rng.dirichlet(np.full(1500, 0.05), size=6)
    X = np.array([rng.multinomial(40, p / p.sum()) for p in rng.dirichlet(np.full(6, 0.2), size=260) @ topics])
    train, held = X[:160].astype(float), halves(X[160:], 0)
    alone = LDA(6, inference="collapsed", random_state=0).fit(train)
    auto = LDA(6, random_state=0).fit(train)
    assert "draws" not in str(LDA(6).fit(planted()[0]).plan_)  # enough words for every topic
    assert "draws" in str(auto.plan_) and "draws" not in str(LDA(6, max_iter=40, tol=0).fit(train).plan_)
    assert document_completion(auto.topics_, *held) < document_completion(alone.topics_, *held)
    path = tmp_path / "auto.ckpt"
    for when in (20, auto.n_iter_ - 9):  # before and among the draws

        def stop(progress, when=when):
            if progress.iteration == when:
                raise KeyboardInterrupt

        with pytest.warns(UserWarning, match="interrupted"):
            LDA(6, random_state=0, checkpoint=path, callback=stop).fit(train)
        again = LDA(6, random_state=0, checkpoint=path).fit(train)
        np.testing.assert_array_equal(again.topics_, auto.topics_)
