"""ICA finds planted sources by every method, in one order and with one sign, and says what cannot be separated."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from tests.reference import contrast as slow
from unweave.compress.ica.contrasts import CONTRASTS, contrast_of
from unweave.compress.ica.rotations import Parallel, random_rotation
from unweave.compress.ica.rows import Whitened
from unweave.linalg.contrast import log_cosh_sums


def amari(P) -> float:
    """How far a product of unmixing and mixing is from a permutation with scales: 0 is perfect, 1 the worst."""
    P, k = np.abs(P), len(P)
    rows, columns = P / P.max(axis=1, keepdims=True), P / P.max(axis=0, keepdims=True)
    return float((rows.sum() + columns.sum() - 2 * k) / (2 * k * (k - 1)))


def planted(seed: int = 0, n: int = 6000):
    """Peaked and flat sources, and a mixing of them into more columns."""
    rng = np.random.default_rng(seed)
    S = np.column_stack(
        [
            rng.laplace(size=n),
            rng.uniform(-1, 1, n),
            rng.exponential(size=n),
            rng.choice([-1.0, 1], n),
            rng.laplace(size=n),
        ]
    )
    S = (S - S.mean(axis=0)) / S.std(axis=0)
    A = rng.normal(size=(7, 5))
    return S @ A.T + 10, S, A


X, S, A = planted()


@pytest.mark.parametrize("contrast", list(CONTRASTS))
@pytest.mark.parametrize("solver", ["parallel", "deflation", "likelihood", "ascent"])
def test_every_method_finds_planted_sources(solver, contrast):
    model = unweave.ICA(5, solver=solver, contrast=contrast)
    if (solver, contrast) == ("likelihood", "cube"):
        with pytest.raises(ValueError, match="logarithm of no density"):
            model.fit(X)
        return
    model.fit(X)
    assert amari(model.components_ @ A) < 0.05
    found = model.transform(X)
    np.testing.assert_allclose(found.var(axis=0), 1, rtol=1e-6)
    np.testing.assert_allclose(model.inverse_transform(found), X, atol=1e-8)
    np.testing.assert_allclose(model.components_ @ model.mixing_, np.eye(5), atol=1e-10)
    assert np.all(np.diff(model.negentropy_) <= 0) and not model.gaussian_.any()
    assert np.all(np.diff(model.history_.objective) <= 1e-9)
    if solver != "deflation":  # the sources one after the other are no stationary point of all at once
        assert model.certify(X).gap < 2e-3


def test_correlations_with_the_sources_are_above_099():
    found = unweave.ICA(5).fit_transform(X)
    assert np.abs(np.corrcoef(found.T, S.T)[:5, 5:]).max(axis=0).min() > 0.99


@pytest.mark.parametrize("solver", ["parallel", "likelihood"])
def test_order_and_signs_do_not_depend_on_the_start(solver):
    one, two = (unweave.ICA(5, solver=solver, random_state=seed, tol=1e-7).fit(X) for seed in (0, 1))
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-4)
    at = np.abs(one.mixing_).argmax(axis=0)
    assert np.all(one.mixing_[at, np.arange(5)] > 0)


def test_the_sources_are_those_of_scikit_learn():
    from sklearn.decomposition import FastICA

    theirs = FastICA(5, random_state=0, whiten="unit-variance", tol=1e-10, max_iter=500).fit(X).transform(X)
    ours = unweave.ICA(5, tol=1e-8).fit_transform(X)
    match = np.corrcoef(ours.T, theirs.T)[:5, 5:]
    assert np.abs(match).max(axis=1).min() > 1 - 1e-8
    np.testing.assert_allclose(ours.std(axis=0), theirs.std(axis=0), rtol=1e-6)


def test_a_step_is_that_of_the_paper():
    rng = np.random.default_rng(1)
    Z = np.linalg.qr(rng.laplace(size=(900, 4)) - 0)[0].T * 30
    W = random_rotation(4, rng)
    scheme = Parallel(Whitened(Z), contrast_of("log-cosh"), W, 1e-4)
    Q, _ = next(iter(scheme.proposals(scheme.begin())))
    wanted = slow.fastica_step(Z, W)
    signs = np.sign((Q @ W * wanted).sum(axis=1))  # ours do not flip from step to step
    np.testing.assert_allclose(Q @ W, signs[:, None] * wanted, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_compiled_contrast_is_its_slow_twin(dtype):
    Y = np.random.default_rng(0).standard_t(2, size=(3, 333)).astype(dtype)
    Y[0, :3] = 0, 80, -80
    wanted = slow.log_cosh_sums(Y)
    for found, right in zip(log_cosh_sums(Y.copy()), wanted, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-12 if dtype == np.float64 else 2e-5, atol=3e-6)


@pytest.mark.parametrize("name", list(CONTRASTS))
def test_contrasts_have_their_derivatives(name):
    contrast, y, h = contrast_of(name), np.linspace(-3, 3, 13)[:, None], 1e-5
    first, slope, level = contrast.sums(y.copy())
    up, down = (contrast.sums(y + d)[2] for d in (h, -h))
    np.testing.assert_allclose(first[:, 0], (up - down) / (2 * h), atol=1e-8)
    np.testing.assert_allclose(slope, (up - 2 * level + down) / h**2, atol=1e-3)


def test_blocks_sparse_and_single_precision_agree():
    whole = unweave.ICA(5, tol=1e-6).fit(X)
    blocks = unweave.ICA(5, tol=1e-6).fit([X[:1000], X[1000:1001], X[1001:]])
    np.testing.assert_allclose(blocks.components_, whole.components_, atol=1e-5)
    single = unweave.ICA(5, tol=1e-4).fit(X.astype(np.float32))
    assert single.components_.dtype == np.float32
    np.testing.assert_allclose(single.components_, whole.components_, atol=2e-3)
    rare = np.where(np.abs(S[:, [0, 1, 2, 4]]) > 1.2, S[:, [0, 1, 2, 4]], 0)
    dense, sparse = (unweave.ICA(4, tol=1e-6).fit(table) for table in (rare, sp.csr_array(rare)))
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-6)


def test_a_long_table_begins_on_a_sample():
    long, _, mixing = planted(3, 40_000)
    model = unweave.ICA(5).fit(long)
    assert "sample" in model.plan_.start and model.n_iter_ <= 4 and amari(model.components_ @ mixing) < 0.02


@pytest.mark.parametrize("seed", range(100, 106))
def test_gaussian_sources_are_told_and_others_are_not(seed):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(4000, 4)) @ rng.normal(size=(4, 4))
    with pytest.warns(UserWarning, match="4 of 4 sources are no less Gaussian"):
        assert unweave.ICA().fit(noise).gaussian_.all()
    mixed = np.column_stack([rng.laplace(size=(4000, 2)), rng.normal(size=(4000, 2))]) @ rng.normal(size=(4, 4))
    with pytest.warns(UserWarning, match="2 of 4"):
        assert unweave.ICA().fit(mixed).gaussian_.tolist() == [False, False, True, True]
    one = np.column_stack([rng.laplace(size=(4000, 2)), rng.normal(size=4000)]) @ rng.normal(size=(3, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert unweave.ICA().fit(one).gaussian_.tolist() == [False, False, True]


def test_tables_that_cannot_be_unmixed():
    flat = np.column_stack([X, X[:, 0] + X[:, 1]])
    assert unweave.ICA().fit(flat).n_components_ == 5  # the rank
    with pytest.raises(ValueError, match=r"n_components=6 .* rank 5: use n_components=5"):
        unweave.ICA(6).fit(flat)
    with pytest.raises(ValueError, match="constant"):
        unweave.ICA().fit(np.full((50, 3), 0.1))
    with pytest.raises(ValueError, match="n_components=8 must be at most"):
        unweave.ICA(8).fit(X)
    with pytest.raises(ValueError, match="contrast='tanh' is not known"):
        unweave.ICA(contrast="tanh").fit(X)
    with pytest.raises(ValueError, match="solver='jade' is not known"):
        unweave.ICA(solver="jade").fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        few = unweave.ICA().fit(X[:4])  # fewer rows than columns: the rank is 3
    assert few.n_components_ == 3 and np.isfinite(few.transform(X)).all()
