"""Hidden blocks: the errors of all numbers from one decomposition are those of plain algebra, and ranks are found."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave.select import BiCrossValidation, choose
from unweave.select.trial import Trial


def low_rank(rng, n=90, m=30, k=4, noise=0.5):
    L = rng.standard_normal((n, k)) @ rng.standard_normal((k, m))
    return L + noise * L.std() * rng.standard_normal(L.shape)


def plainly(X, k, folds, seed, centred):
    """B·D_k⁺·C by LAPACK, one block after the other."""
    rng = np.random.default_rng(seed)
    parts = [np.array_split(rng.permutation(n), folds) for n in X.shape]
    errors = []
    for rows, columns in product(*parts):
        keep, others = (np.setdiff1d(np.arange(n), out) for n, out in zip(X.shape, (rows, columns)))
        Y = X - X[keep].mean(axis=0) if centred else X
        U, s, Vt = np.linalg.svd(Y[np.ix_(keep, others)], full_matrices=False)
        inverse = Vt[:k].T @ np.diag(1 / s[:k]) @ U[:, :k].T
        guess = Y[np.ix_(rows, others)] @ inverse @ Y[np.ix_(keep, columns)]
        errors.append(np.sqrt(np.square(Y[np.ix_(rows, columns)] - guess).mean()))
    return np.array(errors)


@pytest.mark.parametrize("kind", [unweave.PCA, unweave.TruncatedSVD])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_errors_are_those_of_plain_algebra(rng, kind, make, dtype):
    X = np.where(rng.random((90, 30)) < 0.5, low_rank(rng) + 2, 0).astype(dtype)
    known = BiCrossValidation(4).ready(kind(), make(X), 6, 3)
    for k in (1, 3, 6):
        want = plainly(X.astype(np.float64), k, 4, 3, kind is unweave.PCA)
        np.testing.assert_allclose(known.errors[:, k - 1], want, rtol=1e-8 if dtype == np.float64 else 2e-4)
        found = BiCrossValidation(4).values(Trial(kind(), "n_components", k), make(X), 3)
        np.testing.assert_allclose(found, want, rtol=1e-8 if dtype == np.float64 else 2e-4)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 4])
def test_the_rank_is_found(seed, k):
    X = low_rank(np.random.default_rng(seed), k=k)
    assert choose(unweave.TruncatedSVD(), X, range(1, 9)).best == k
    found = choose(unweave.PCA(), X + 7, range(1, 9))
    assert (found.best, found.by, len(found.errors)) == (k, "bi-cross-validation", 8)


def test_directions_without_spread_are_no_trouble(rng):
    X = np.column_stack([low_rank(rng), np.zeros((90, 3)), np.full((90, 2), 5.0)])
    choice = choose(unweave.PCA(), X, range(1, 30))
    assert np.isfinite(list(choice.scores.values())).all() and choice.best == 4
    constant = choose(unweave.PCA(), np.ones((20, 6)), range(1, 4))
    assert constant.best == 1 and set(constant.scores.values()) == {0.0}


def test_more_than_a_part_of_the_table_has_is_skipped(rng):
    choice = choose(unweave.TruncatedSVD(), low_rank(rng, 20, 10, 2), range(1, 15))
    assert max(choice.scores) == 8 and set(choice.skipped) == set(range(9, 15))
    assert "blocks are hidden" in choice.skipped[9]


def test_what_is_refused(rng):
    X = low_rank(rng)
    with pytest.raises(TypeError, match="KMeans is no singular value decomposition: choose by 'groups'"):
        choose(unweave.KMeans(), X, [1, 2], by="bi-cross-validation")
    with pytest.raises(ValueError, match="complete table only: choose by 'held-out'"):
        holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)
        choose(unweave.PCA(missing="nan"), holes, [1, 2], by="bi-cross-validation")
    with pytest.raises(ValueError, match="too small"):
        choose(unweave.PCA(), X[:2], [1])
    with pytest.raises(ValueError, match="n_folds"):
        BiCrossValidation(1)
