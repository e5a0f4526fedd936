from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import psi

from tests.reference import lda as twin
from unweave.explain.lda_collapsed import Collapsed
from unweave.explain.lda_corpus import Corpus
from unweave.explain.lda_gibbs import Gibbs
from unweave.explain.lda_priors import expected_sums, fit_dirichlet, inverse_digamma, learn_alpha
from unweave.explain.lda_variational import expect
from unweave.kernels.lda_gibbs import gibbs_range
from unweave.kernels.lda_priors import digamma


def state_for(X, k, dtype, rng):
    words = rng.gamma(1.0, size=(X.shape[1], k))
    words *= X.sum() / words.sum()
    documents = rng.dirichlet(np.ones(k), size=len(X)) * X.sum(axis=1, keepdims=True)
    alpha = rng.uniform(0.05, 0.4, k)
    return {"words": words.astype(dtype), "documents": documents.astype(dtype), "alpha": alpha, "eta": 0.07, "sweep": 0}


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


def test_gibbs_sweep_is_its_twin(dtype, rng):
    X = rng.poisson(0.6, (15, 12)).astype(dtype)
    scheme = Gibbs(Corpus(sp.csr_array(X), 4), np.array([0.1, 0.2, 0.3, 0.4]), 0.05, (False, False))
    state = scheme.begin(rng)
    totals, z, values = state["words"].sum(axis=0, dtype=np.float64), np.empty_like(state["z"]), np.empty(15)
    corpus = scheme.corpus
    counts = np.ascontiguousarray(state["words"][corpus.words[0]])
    gibbs_range(
        corpus.indptr, corpus.local, scheme.tokens, counts, totals.copy(), scheme.alpha, 0.05, 12, np.uint64(7),
        state["z"], z, values, 0, 15,
    )  # fmt: skip
    expected, slow = twin.gibbs(X, state["z"], state["words"], totals, scheme.alpha, 0.05, 7)
    assert np.array_equal(z, expected)
    np.testing.assert_allclose(values, slow, rtol=1e-9)


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
