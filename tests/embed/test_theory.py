"""What the theory says: special cases of these models are other models of the library."""

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave import Cooccurrence, GloVe, LogBilinear, PMIEmbedding
from unweave.embed.pmi import pmi_table


def walks(n_symbols=12, n=60, length=60, seed=0):
    """Sequences in which every pair meets, symbols of three groups more often."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        group = rng.integers(3)
        p = np.where(np.arange(n_symbols) % 3 == group, 4.0, 1.0)
        found.append(rng.choice(n_symbols, size=length, p=p / p.sum()).tolist())
    return found


@pytest.fixture(scope="module")
def all_meet():
    pairs = Cooccurrence(window=4).fit(walks())
    assert pairs.counts_.nnz == 12 * 12
    return pairs


def best_of_rank(M, k):
    U, s, Vt = np.linalg.svd(M)
    return (U[:, :k] * s[:k]) @ Vt[:k], 0.5 * float((s[k:] ** 2).sum())


@pytest.mark.parametrize("solver", ["auto", "als"])
def test_glove_of_equal_weights_on_positive_counts_is_the_svd_of_their_logarithms(all_meet, solver):
    wanted, least = best_of_rank(np.log(all_meet.counts_.toarray()), 3)
    given = {"solver": solver, "alpha": 0, "biases": False, "max_iter": 300, "tol": 1e-9, "random_state": 0}
    model = GloVe(3, **given).fit(all_meet)
    assert ("singular" in model.plan_.solver) == (solver == "auto")
    np.testing.assert_allclose(model.word_vectors_ @ model.context_vectors_.T, wanted, atol=2e-3)
    assert model.objective_ == pytest.approx(least, rel=1e-4)


def test_glove_on_log_1p_is_the_svd_of_a_table_with_zeros():
    pairs = Cooccurrence(window=1).fit(walks(30, 40, 30))
    assert pairs.counts_.nnz < 30 * 30
    wanted, least = best_of_rank(np.log1p(pairs.counts_.toarray()), 4)
    model = GloVe(4, target="log1p", alpha=0, biases=False).fit(pairs)
    np.testing.assert_allclose(model.word_vectors_ @ model.context_vectors_.T, wanted, atol=1e-4)
    assert model.objective_ == pytest.approx(least, rel=1e-4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_glove_of_equal_weights_on_what_was_seen_is_matrix_completion():
    pairs = Cooccurrence(window=1).fit(walks(30, 40, 30))
    N, ridge = pairs.counts_, 2.0
    logs = np.full(N.shape, np.nan)
    logs[N.nonzero()] = np.log(N.data)
    more = {"max_iter": 2000, "tol": 1e-9, "random_state": 0}
    model = GloVe(3, alpha=0, biases=False, ridge=ridge, **more).fit(pairs)
    sentence = {"codes": unweave.penalties.Ridge(ridge), "components": unweave.penalties.Ridge(ridge)}
    other = unweave.Factorization(3, missing="nan", **sentence, **more).fit(logs)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-3)
    found, wanted = model.word_vectors_ @ model.context_vectors_.T, other.codes_ @ other.components_
    np.testing.assert_allclose(found, wanted, atol=0.05 * np.abs(wanted).max())


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_glove_of_weights_zero_and_one_is_matrix_completion_with_its_biases():
    """Of the log counts: `MatrixCompletion` counts its ridge for entries of spread one, and fits biases too."""
    N = Cooccurrence(window=1).fit(walks(30, 40, 30))
    logs = np.full(N.counts_.shape, np.nan)
    logs[N.counts_.nonzero()] = np.log(N.counts_.data)
    more = {"max_iter": 2000, "tol": 1e-10, "random_state": 0}
    model = GloVe(3, alpha=0, ridge=2.0, **more).fit(N)
    given = {"ridge": 2.0 / np.nanstd(logs), "bias_ridge": 1e-9, "weighting": "plain", "missing": "nan"}
    other = unweave.MatrixCompletion(3, **given, **more).fit(logs)
    assert model.objective_ == pytest.approx(other.objective_, rel=1e-5)
    found = model.word_vectors_ @ model.context_vectors_.T + model.biases_[:, None] + model.context_biases_
    np.testing.assert_allclose(found, other.codes_ @ other.components_, atol=5e-3)


def test_pmi_vectors_are_lsa_of_the_table_of_pmi(all_meet):
    k = 4
    model = PMIEmbedding(k, exponent=1.0).fit(all_meet)
    table = pmi_table(all_meet.counts_)
    lsa = unweave.LSA(k).fit(table)
    np.testing.assert_allclose(model.singular_values_, lsa.singular_values_, rtol=1e-4)
    np.testing.assert_allclose(model.vectors_.array, lsa.codes_, atol=1e-4)
    np.testing.assert_allclose(model.context_vectors_, lsa.components_.T, atol=1e-4)
    half = PMIEmbedding(k).fit(all_meet)
    np.testing.assert_allclose(half.vectors_.array @ half.context_vectors_.T, lsa.codes_ @ lsa.components_, atol=1e-4)


def test_pmi_by_its_formula(all_meet):
    N = all_meet.counts_.toarray()
    joint, rows = N / N.sum(), N.sum(axis=1) / N.sum()
    contexts = N.sum(axis=0) ** 0.75 / (N.sum(axis=0) ** 0.75).sum()
    wanted = np.log(joint / np.outer(rows, contexts)) - np.log(1.3)
    found = pmi_table(all_meet.counts_, positive=False, shift=1.3).toarray()
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    np.testing.assert_allclose(pmi_table(all_meet.counts_, shift=1.3).toarray(), np.maximum(wanted, 0), atol=1e-5)


def test_with_room_enough_the_softmax_gives_the_shares_that_were_counted(all_meet):
    N = all_meet.counts_.toarray()
    shares = N / N.sum(axis=1, keepdims=True)
    model = LogBilinear(12, max_iter=2000, tol=1e-7, random_state=0).fit(all_meet)
    found = np.array([model.probabilities(symbol) for symbol in model.vocabulary_.symbols])
    np.testing.assert_allclose(found, shares, atol=1e-3)
    entropy = -float((N * np.log(shares)).sum() / N.sum())
    assert model.objective_ == pytest.approx(entropy, abs=1e-5)


@pytest.mark.parametrize("negatives", [1.0, 8.0])
def test_the_optimum_of_noise_contrastive_estimation_is_normalised_by_itself(all_meet, negatives):
    N = all_meet.counts_.toarray()
    shares = N / N.sum(axis=1, keepdims=True)
    more = {"loss": "nce", "negatives": negatives, "max_iter": 3000, "tol": 1e-7, "random_state": 0}
    model = LogBilinear(12, **more).fit(all_meet)
    h = model.vectors_.array @ model.context_vectors_.T + model.context_biases_
    np.testing.assert_allclose(np.exp(h), shares, atol=2e-3)


def test_a_table_that_is_given_and_texts_are_the_same_fit():
    texts = [" ".join(f"w{i}" for i in walk) for walk in walks()]
    given = {"window": 3, "side": "left", "weights": "flat"}
    pairs = Cooccurrence(**given).fit(texts)
    for kind in (GloVe, PMIEmbedding, LogBilinear):
        one, other = kind(3, random_state=0, **given).fit(texts), kind(3, random_state=0).fit(pairs)
        np.testing.assert_array_equal(one.vectors_.array, other.vectors_.array)
    assert sp.issparse(pairs.counts_)
