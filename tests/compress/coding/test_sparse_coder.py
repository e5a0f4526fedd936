"""Codes on a dictionary that is given: every method, its certificate, its refusals."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave.compress.coding.methods import LASSO


@pytest.fixture
def atoms(rng):
    D = rng.normal(size=(14, 9))
    return D / np.linalg.norm(D, axis=1, keepdims=True)


@pytest.fixture
def X(rng, atoms):
    return (rng.normal(size=(40, 14)) * (rng.random((40, 14)) < 0.2)) @ atoms + 0.1 * rng.normal(size=(40, 9))


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("method", list(LASSO))
def test_every_lasso_method_comes_within_its_proof(X, atoms, method, positive):
    best = unweave.SparseCoder(atoms, strength=0.2, positive_code=positive).fit(X)
    coder = unweave.SparseCoder(atoms, strength=0.2, positive_code=positive, method=method, max_iter=5000, tol=1e-9)
    coder.fit(X)
    assert best.certificate_.gap < 1e-9
    share = 0.05 if method == "subgradient" else 1e-4
    assert best.objective_ * (1 - 1e-9) <= coder.objective_ <= best.objective_ * (1 + share)
    # the gap of every row holds what it truly lies above the best
    rows = 0.5 * np.square(X - coder.codes_ @ atoms).sum(axis=1) + 0.2 * np.abs(coder.codes_).sum(axis=1)
    exact = 0.5 * np.square(X - best.codes_ @ atoms).sum(axis=1) + 0.2 * np.abs(best.codes_).sum(axis=1)
    assert (rows - exact <= coder.gaps_ + 1e-9).all()
    assert not positive or coder.codes_.min() >= 0
    np.testing.assert_allclose(coder.objective_, rows.sum())


def test_the_convention_is_half_the_square():
    # one atom of length one: soft(x, λ), not soft(x, λ/2)
    coder = unweave.SparseCoder([[1.0]], strength=0.5).fit([[2.0], [-0.4]])
    np.testing.assert_allclose(coder.codes_, [[1.5], [0.0]])


def test_scikit_learn_finds_the_same(X, atoms):
    from sklearn.decomposition import sparse_encode
    from sklearn.linear_model import Lasso

    # sparse_encode stops early in older versions, and has no tolerance to give
    lasso = Lasso(0.3 / atoms.shape[1], fit_intercept=False, tol=1e-12, max_iter=100_000)
    known = [lasso.fit(atoms.T, row).coef_ for row in X]
    np.testing.assert_allclose(unweave.SparseCoder(atoms, strength=0.3).fit(X).transform(X), known, atol=1e-6)
    greedy = sparse_encode(X, atoms, algorithm="omp", n_nonzero_coefs=3)
    np.testing.assert_allclose(unweave.SparseCoder(atoms, n_nonzero=3, method="omp").fit(X).codes_, greedy, atol=1e-8)


def test_exact_supports_are_the_best_of_all(X, atoms):
    error = {
        method: 2 * unweave.SparseCoder(atoms, n_nonzero=2, method=method).fit(X).objective_
        for method in ("exact", "joint-omp", "omp")
    }
    known = 0.0
    for x in X:
        pairs = (atoms[list(pair)] for pair in combinations(range(len(atoms)), 2))
        known += min(np.square(x - np.linalg.lstsq(P.T, x, rcond=None)[0] @ P).sum() for P in pairs)
    np.testing.assert_allclose(error["exact"], known)
    assert error["exact"] <= error["joint-omp"] and error["exact"] <= error["omp"]


@pytest.mark.parametrize("positive", [False, True])
def test_codes_in_a_ball(X, atoms, positive):
    ours = unweave.SparseCoder(atoms, radius=0.8, positive_code=positive).fit(X)
    steps = unweave.SparseCoder(atoms, radius=0.8, positive_code=positive, method="fista", max_iter=20000, tol=1e-10)
    assert np.abs(ours.codes_).sum(axis=1).max() <= 0.8 * (1 + 1e-9)
    assert ours.certificate_.gap < 1e-8
    np.testing.assert_allclose(ours.objective_, steps.fit(X).objective_, rtol=1e-6)


def test_path_has_every_knot(X, atoms):
    strengths, codes = unweave.lasso_path(X[0], atoms)
    assert (np.diff(strengths) < 0).all() and not codes[0].any() and strengths[-1] == 0
    for strength in (0.7 * strengths[0], 0.2 * strengths[0]):
        between = [np.interp(-strength, -strengths, column) for column in codes.T]
        exact = unweave.SparseCoder(atoms, strength=strength).fit(X[:1]).codes_[0]
        np.testing.assert_allclose(between, exact, atol=1e-8)
    np.testing.assert_allclose(strengths[0], np.abs(atoms @ X[0]).max())


def test_units_do_not_matter(X, atoms):
    one, other = unweave.SparseCoder(atoms).fit(X), unweave.SparseCoder(atoms).fit(1000 * X)
    np.testing.assert_allclose(other.codes_, 1000 * one.codes_, rtol=1e-9)
    longer = unweave.SparseCoder(10 * atoms).fit(X)
    np.testing.assert_allclose(10 * longer.codes_, one.codes_, rtol=1e-9, atol=1e-12)
    assert 0 < np.count_nonzero(one.codes_) < one.codes_.size


def test_sparse_and_blocks_and_float32(X, atoms):
    coder = unweave.SparseCoder(atoms, strength=0.2).fit(X)
    np.testing.assert_allclose(unweave.SparseCoder(atoms, strength=0.2).fit(sp.csr_array(X)).codes_, coder.codes_)
    blocks = unweave.SparseCoder(atoms, strength=0.2).fit([X[:15], X[15:]])
    np.testing.assert_allclose(blocks.objective_, coder.objective_)
    np.testing.assert_allclose(np.vstack([blocks.transform([X[:15], X[15:]])]), coder.codes_, atol=1e-12)
    small = coder.transform(X.astype(np.float32))
    np.testing.assert_allclose(small, coder.codes_, atol=1e-4)


def test_missing_entries(X, atoms, rng):
    holes = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    holes[0] = np.nan
    coder = unweave.SparseCoder(atoms, strength=0.2, missing="nan").fit(holes)
    assert not coder.codes_[0].any() and coder.certificate_.gap < 1e-9
    for x, f in zip(holes[1:6], coder.codes_[1:6], strict=True):
        seen = np.isfinite(x)
        alone = unweave.SparseCoder(atoms[:, seen], strength=0.2).fit(x[None, seen])
        np.testing.assert_allclose(alone.codes_[0], f, atol=1e-8)
    assert np.isfinite(unweave.SparseCoder(atoms, n_nonzero=2, missing="nan").fit(holes).codes_).all()
    with pytest.raises(ValueError, match="method='coordinate' needs every entry"):
        unweave.SparseCoder(atoms, strength=0.2, missing="nan", method="coordinate").fit(holes)


def test_says_when_nothing_is_left(X, atoms):
    with pytest.warns(UserWarning, match="every code is zero: strength=1e\\+06"):
        coder = unweave.SparseCoder(atoms, strength=1e6).fit(X)
    assert not coder.codes_.any()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"strength": -1.0}, "strength must be"), ({"strength": "much"}, "strength='much' is not known"),
        ({"n_nonzero": 0}, "n_nonzero must be at least 1"), ({"n_nonzero": 2, "radius": 1.0}, "two questions"),
        ({"n_nonzero": 2, "positive_code": True}, "positive_code=True needs"),
        ({"n_nonzero": 2, "method": "fista"}, "method='fista' does not answer for n_nonzero"),
        ({"radius": 0.0}, "radius must be above 0"), ({"method": "guess"}, "method='guess'"),
        ({"dictionary": np.ones((3, 4))}, "dictionary has 4 columns, but X has 9"),
        ({"dictionary": [[np.nan] * 9]}, "dictionary holds NaN"), ({"dictionary": "sines"}, "dictionary='sines'"),
    ],
)  # fmt: skip
def test_refusals_name_the_argument(X, atoms, how, message):
    with pytest.raises(ValueError, match=message):
        unweave.SparseCoder(**{"dictionary": atoms, **how}).fit(X)


def test_too_many_supports_are_refused(rng):
    with pytest.raises(ValueError, match="method='exact' would try"):
        unweave.SparseCoder(rng.normal(size=(200, 5)), n_nonzero=5, method="exact").fit(rng.normal(size=(3, 5)))


def test_certify_is_about_the_table_given(X, atoms):
    coder = unweave.SparseCoder(atoms, strength=0.2).fit(X)
    assert coder.certify(X[:10]).objective < coder.objective_ and coder.certificate_.gap < 1e-9


@pytest.mark.parametrize("missing", [None, "nan"])
def test_no_more_atoms_than_the_noise_asks_for(X, atoms, missing):
    seen = np.ones(X.shape, bool)
    if missing:
        seen[:, ::4] = False
    coder = unweave.SparseCoder(atoms, n_nonzero=9, noise=0.15, missing=missing).fit(np.where(seen, X, np.nan))
    fewer = unweave.SparseCoder(atoms, n_nonzero=1, missing=missing).fit(np.where(seen, X, np.nan))
    left = np.where(seen, X - coder.codes_ @ atoms, 0)
    assert (np.sqrt(np.square(left).sum(axis=1) / seen.sum(axis=1)) <= 0.15 + 1e-9).all()
    alone = np.where(seen, X - fewer.codes_ @ atoms, 0)
    enough = np.sqrt(np.square(alone).sum(axis=1) / seen.sum(axis=1)) <= 0.15
    assert enough.any() and (np.count_nonzero(coder.codes_[enough], axis=1) <= 1).all()
