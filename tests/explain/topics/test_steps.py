from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import psi

from tests.reference import lda as twin
from unweave.explain.topics.collapsed import Collapsed
from unweave.explain.topics.corpus import Corpus
from unweave.explain.topics.gibbs import Gibbs
from unweave.explain.topics.priors import counted_sums, expected_sums, fit_dirichlet, inverse_digamma, learn_alpha
from unweave.explain.topics.variational import expect
from unweave.kernels.lda import digamma
from unweave.kernels.lda_gibbs import gibbs_range, prior_sums_range


def state_for(X, k, dtype, rng):
    words = rng.gamma(1.0, size=(X.shape[1], k))
    words *= X.sum() / words.sum()
    documents = rng.dirichlet(np.ones(k), size=len(X)) * X.sum(axis=1, keepdims=True)
    alpha = rng.uniform(0.05, 0.4, k)
    tables = {"words": words.astype(dtype), "documents": documents.astype(dtype)}
    tables |= {f"former_{name}": table for name, table in tables.items()}
    return {**tables, "alpha": alpha, "eta": 0.07, "sweep": 0, "value": np.inf, "fall": np.inf, "rounds": 0, "seed": 0}


def test_collapsed_step_is_its_twin(dtype, rng):
    X = rng.poisson(0.6, (30, 20)).astype(dtype)
    X[3] = 0
    state = state_for(X, 5, dtype, rng)
    scheme = Collapsed(Corpus(sp.csr_array(X), 5), state["alpha"], 0.07, (False, False))
    new, objective = scheme.step(state)
    tables = (state[name].astype(np.float64) for name in ("words", "documents"))
    documents, share, values = twin.collapsed(X, *tables, state["alpha"], 0.07, 2)
    tolerance = 1e-4 if dtype == np.float32 else 1e-10
    assert new["words"].dtype == new["documents"].dtype == dtype
    np.testing.assert_allclose(new["documents"], documents, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(new["words"], share, rtol=tolerance, atol=tolerance)
    assert objective == pytest.approx(values.sum(), rel=tolerance)


def test_variational_documents_are_their_twin(dtype, rng):
    X = rng.poisson(0.6, (30, 20)).astype(dtype)
    words, alpha = rng.gamma(1.0, size=(20, 5)) + 0.1, rng.uniform(0.1, 0.4, 5)
    gamma = np.tile(alpha + 2.0, (30, 1)).astype(dtype)
    out, gained, _, _ = expect(Corpus(sp.csr_array(X), 5), words.astype(dtype), alpha, gamma, passes=1)
    E = np.exp(psi(words) - psi(words.sum(axis=0)))
    expected = twin.variational(X.astype(np.float64), E, alpha, gamma.astype(np.float64), 1)
    tolerance = 2e-4 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(out, expected[0], rtol=tolerance)
    np.testing.assert_allclose(gained, expected[1], rtol=tolerance, atol=tolerance)


def drawn(scheme, z, seed):
    """One wave over all documents with the counts of `z`."""
    corpus, dtype, alpha, eta = scheme.corpus, scheme.corpus.dtype.type, scheme.alpha, scheme.eta
    scheme._count(z)
    totals = np.bincount(z, minlength=corpus.k)
    inverse = 1 / (totals + corpus.shape[1] * eta)
    prior, sums = (alpha * inverse).astype(dtype), np.empty(corpus.shape[1], dtype)
    prior_sums_range(scheme.table, prior, dtype(eta), sums, 0, len(sums))
    np.testing.assert_allclose(sums, (scheme.table[:, : corpus.k] + eta) @ prior, rtol=1e-5)
    after, values = np.empty_like(z), np.empty(corpus.shape[0])
    gibbs_range(
        scheme.ends, scheme.names, scheme.table, totals.astype(dtype), inverse.astype(dtype), prior, sums,
        alpha.astype(dtype), dtype(eta), dtype(corpus.shape[1] * eta), np.uint64(seed), z, after, values,
        0, len(values),
    )  # fmt: skip
    return after, values


@pytest.mark.parametrize("k", [1, 4, 40])
def test_gibbs_draws_are_their_twin(k, dtype, rng):
    X = rng.poisson(0.6, (15, 12)).astype(dtype)
    X[3] = 0
    scheme = Gibbs(Corpus(sp.csr_array(X), k), rng.uniform(0.05, 0.5, k), 0.05, (False, False))
    z = scheme.begin(rng)["z"]
    after, values = drawn(scheme, z, 7)
    expected, slow = twin.gibbs(X, z, scheme.table[:, :k].astype(float), scheme.alpha, 0.05, 7)
    assert np.array_equal(after, expected)
    np.testing.assert_allclose(values, slow, rtol=1e-5 if dtype == np.float32 else 1e-9)


def test_gibbs_draws_have_the_conditional_distribution(rng):
    """Ten thousand equal documents of three words: the first token's new topic against its exact weights."""
    k, n = 20, 10_000
    X = sp.csr_array(np.tile([1.0, 1.0, 1.0, 0.0], (n, 1)))
    scheme = Gibbs(Corpus(X, k), rng.uniform(0.1, 1.0, k), 0.3, (False, False))
    z = np.tile(np.array([0, 2, 5], np.int32), n)
    z[::3] = rng.integers(k, size=n)
    after, _ = drawn(scheme, z, 11)
    words, totals, own = scheme.table[0, :k], np.bincount(z, minlength=k), 1 / k  # own: on average
    weights = (np.array([0, 0, 1, 0, 0, 1] + [0] * 14) + scheme.alpha) * (words - own + 0.3) / (totals - own + 1.2)
    share = np.bincount(after[::3], minlength=k) / n
    assert np.abs(share - weights / weights.sum()).max() < 4 * np.sqrt(0.25 / n)


def test_settled_counts_are_counted_ones(rng):
    X = rng.poisson(1.0, (30, 12)).astype(float)
    scheme = Gibbs(Corpus(sp.csr_array(X), 5), np.full(5, 0.2), 0.05, (False, False))
    state = scheme.begin(rng)
    new, _ = scheme.step(state)
    settled, scheme.counted = scheme.table.copy(), None
    scheme._count(new["z"])
    assert np.array_equal(settled, scheme.table)
    assert np.array_equal(settled.sum(axis=1), X.sum(axis=0))
    assert np.array_equal(scheme._documents(new["z"]).sum(axis=1), X.sum(axis=1))


def test_counted_sums_are_their_twin(rng):
    N, prior = rng.poisson(0.7, (3000, 3)).astype(np.int32), np.array([0.05, 0.5, 2.0])
    np.testing.assert_allclose(counted_sums(N, prior), (psi(N + prior) - psi(prior)).sum(axis=0), rtol=1e-9)


def test_digamma_and_its_inverse():
    x = np.array([1e-4, 0.01, 0.3, 1.0, 2.5, 6.0, 40.0, 1e5])
    np.testing.assert_allclose([digamma(v) for v in x], psi(x), rtol=1e-9)
    np.testing.assert_allclose(inverse_digamma(psi(x)), x, rtol=1e-6)


def test_expected_sums_are_their_twin(dtype, rng):
    N = (rng.gamma(0.2, size=(5000, 3)) * 5).astype(dtype)
    prior = np.array([0.05, 0.5, 2.0])
    np.testing.assert_allclose(expected_sums(N, prior), twin.expected_sums(N.astype(float), prior), rtol=1e-4)


def test_alpha_is_found_again(rng):
    true = np.array([0.1, 0.4, 1.5])
    theta = rng.dirichlet(true, size=4000)
    counts = np.array([rng.multinomial(200, p) for p in theta]).astype(float)
    alpha, by_logs = np.ones(3), np.ones(3)
    for _ in range(300):
        alpha = learn_alpha(alpha, counts, counts.sum(axis=1))
        by_logs = fit_dirichlet(by_logs, np.log(np.maximum(theta, 1e-300)).mean(axis=0))
    np.testing.assert_allclose(alpha, true, rtol=0.15)
    np.testing.assert_allclose(by_logs, true, rtol=0.1)
