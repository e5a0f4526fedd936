"""Products of tensors with factors, however the tensor is stored, against entry-by-entry sums."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference.tensors import model, product
from unweave.linalg.tensors import DenseProducts, ListedProducts, compressed, pairs, squares_of_pairs

SHAPES = [(4, 5, 6), (1, 3, 2), (3, 4, 2, 5), (2, 3, 1, 3, 2)]


def case(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random(shape) < 0.6, rng.standard_normal(shape), 0).astype(dtype)
    return X, [rng.standard_normal((n, 3)).astype(dtype) for n in shape], rng


def listed(X):
    coords = np.argwhere(X != 0)
    shuffled = np.random.default_rng(1).permutation(len(coords))
    return ListedProducts(coords[shuffled], X[tuple(coords[shuffled].T)], X.shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_products_of_every_storage_equal_the_slow_ones(shape, dtype):
    X, F, rng = case(shape, dtype)
    slack = 1e-12 if dtype == np.float64 else 1e-4
    for products in (DenseProducts(X), listed(X), compressed(X, shape, rng)):
        for d, found in products.each(F):
            assert found.dtype == dtype
            np.testing.assert_allclose(found, product(X, F, d), atol=slack)
            np.testing.assert_allclose(products.one(F, d), found, atol=slack)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_factor_that_is_replaced_on_the_way_counts_from_then_on(shape):
    X, F, rng = case(shape, np.float64)
    for products in (DenseProducts(X), listed(X), compressed(X, shape, rng)):
        factors = list(F)
        for d, found in products.each(factors):
            np.testing.assert_allclose(found, product(X, factors, d), atol=1e-12)
            factors[d] = rng.standard_normal(factors[d].shape)


def test_many_entries_are_cut_and_one_thread_or_two_agree_to_the_bit(two_threads):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 50, 70)) < 0.5, rng.standard_normal((60, 50, 70)), 0)
    F = [rng.standard_normal((n, 40)) for n in X.shape]
    for products in (DenseProducts(X), listed(X)):
        one, two = two_threads(lambda products=products: [found for _, found in products.each(F)])
        for d in range(3):
            np.testing.assert_array_equal(one[d], two[d])
            letters = "ijk".replace("ijk"[d], "")
            other = [F[e] for e in range(3) if e != d]
            whole = np.einsum(f"ijk,{letters[0]}r,{letters[1]}r->{'ijk'[d]}r", X, *other, optimize=True)
            np.testing.assert_allclose(one[d], whole, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES[:3])
def test_residuals_of_arrays_and_of_lists(shape):
    X, F, rng = case(shape, np.float64)
    gap = X - model(F)
    seen = rng.random(shape) < 0.7
    assert DenseProducts(X).half_residual(F) == pytest.approx(0.5 * np.square(gap).sum())
    assert DenseProducts(X).half_residual(F, seen.astype(float)) == pytest.approx(0.5 * np.square(gap[seen]).sum())
    assert listed(X).half_residual(F) == pytest.approx(0.5 * np.square(gap[X != 0]).sum())


def test_a_tensor_of_low_ranks_is_compressed_without_loss():
    rng = np.random.default_rng(0)
    F = [rng.standard_normal((n, 3)) for n in (30, 20, 25)]
    small = compressed(model(F), (5, 5, 5), rng)
    assert small.core.X.shape == (5, 5, 5)
    G = [rng.standard_normal((n, 4)) for n in (30, 20, 25)]
    for d in range(3):
        np.testing.assert_allclose(small.one(G, d), DenseProducts(model(F)).one(G, d), rtol=1e-8, atol=1e-8)


def test_pairs_are_the_products_of_columns():
    F = np.random.default_rng(0).standard_normal((5, 4))
    np.testing.assert_allclose(squares_of_pairs(pairs(F), 4), F[:, :, None] * F[:, None, :])
