from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from tests.explain.topics.corpora import matched, planted
from unweave.explain.topics.plsa import PLSA, TemperedEM


def log_likelihood(X, theta, phi):
    p = theta @ phi
    return float((X[X > 0] * np.log(p[X > 0])).sum())


@pytest.mark.parametrize("beta", [1.0, 0.7])
def test_a_step_is_em(beta, dtype, rng):
    X = rng.poisson(0.8, (20, 12)).astype(dtype)
    X[0] = 1
    scheme = TemperedEM(sp.csr_array(X), 3, beta)
    theta, phi = rng.dirichlet(np.ones(3), 20).astype(dtype), rng.dirichlet(np.ones(12), 3).astype(dtype)
    room = scheme.begin(rng)
    state = {**room, **{name: np.zeros_like(room[name]) for name in ("documents", "words")}}
    state["documents"][:, :3], state["words"][:, :3] = theta, phi.T
    new, objective = scheme.step(state)
    theta, phi = theta.astype(float), phi.astype(float)

    def counts(theta, phi):
        r = (theta[:, :, None] * phi[None]) ** beta
        return X[:, None, :] * r / r.sum(axis=1, keepdims=True), r.sum(axis=1)

    expected, p = counts(theta, phi)
    after = expected.sum(axis=2)
    after /= np.maximum(after.sum(axis=1, keepdims=True), 1e-30)
    words = counts(np.maximum(after, 1e-300), phi)[0].sum(axis=0)
    tolerance = 1e-4 if dtype == np.float32 else 1e-9
    assert objective == pytest.approx(-(X * np.log(p)).sum() / beta, rel=tolerance)
    found = scheme.tables(new)
    np.testing.assert_allclose(found[0], after, atol=tolerance)
    np.testing.assert_allclose(found[1].T, words / words.sum(axis=1, keepdims=True), atol=tolerance)
    assert not new["documents"][:, 3:].any() and not new["words"][:, 3:].any()


@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_the_objective_never_rises(beta):
    X, _ = planted(n=100)
    history = PLSA(4, temper=beta, max_iter=60, tol=0).fit(X).history_
    assert np.diff(history.objective).max() <= 1e-9 * abs(history.objective[0])


def test_it_is_nmf_with_the_kl_loss():
    X, topics = planted(n=100)
    model = PLSA(4, max_iter=3000, tol=1e-12).fit(X)
    found = log_likelihood(X, model.codes_, model.topics_)
    assert -model.objective_ == pytest.approx(found, rel=1e-6)
    start = np.maximum(model.codes_, 1e-3) * X.sum(axis=1, keepdims=True), np.maximum(model.topics_, 1e-5)
    nmf = unweave.NMF(4, loss="kl", init=start, max_iter=3000, tol=1e-12).fit(X)
    scale = nmf.components_.sum(axis=1)
    theta = nmf.codes_ * scale
    other = log_likelihood(X, theta / theta.sum(axis=1, keepdims=True), nmf.components_ / scale[:, None])
    assert found == pytest.approx(other, rel=1e-5)
    np.testing.assert_allclose(theta.sum(axis=1), X.sum(axis=1), rtol=1e-3)  # KL keeps the totals of the rows
    assert matched(model.topics_, topics) < 0.15


def test_conditional_and_joint_form_agree():
    X, _ = planted(n=100)
    model = PLSA(4, max_iter=50, tol=0).fit(X)
    share = X.sum(axis=1) / X.sum()
    joint = (model.document_shares_ * model.topic_shares_) @ model.topics_
    np.testing.assert_allclose(joint, share[:, None] * (model.codes_ @ model.topics_), atol=1e-9)
    np.testing.assert_allclose(model.document_shares_.sum(axis=0), 1)
    assert joint.sum() == pytest.approx(1)


@pytest.mark.parametrize("beta", [1.0, 0.8])
def test_folding_in_returns_the_training_mixtures(beta):
    X, _ = planted(n=100)
    model = PLSA(4, temper=beta, max_iter=500, tol=0).fit(X)
    np.testing.assert_allclose(model.transform(X), model.codes_, atol=0.02)
    assert np.array_equal(model.transform(X[:3]), model.transform(X)[:3])


def test_tempering_smooths():
    X, _ = planted(n=40, length=20)

    def entropy(model):
        p = np.maximum(model.topics_, 1e-300)
        return -(p * np.log(p)).sum(axis=1).mean()

    plain, tempered = (PLSA(8, temper=beta, max_iter=200, tol=0).fit(X) for beta in (1.0, 0.6))
    assert entropy(tempered) > entropy(plain)


def test_odd_tables_and_bad_input(two_threads):
    for X in (np.array([[5.0]]), np.array([[1.0, 0], [0, 1]]), np.array([[0.0, 3, 0], [0, 0, 0], [0, 2, 1]])):
        model = PLSA(4, max_iter=20, tol=0).fit(X)
        assert np.abs(model.topics_.sum(axis=1) - 1).max() < 1e-6 and np.isfinite(model.codes_).all()
    for temper in (0.0, 1.5):
        with pytest.raises(ValueError, match="temper must"):
            PLSA(2, temper=temper).fit(np.eye(3))
    X = sp.csr_array(sp.random(2000, 300, 0.2, random_state=0), dtype=np.float32)
    one, two = two_threads(lambda: PLSA(20, max_iter=4, tol=0).fit(X))
    assert np.array_equal(one.topics_, two.topics_)
