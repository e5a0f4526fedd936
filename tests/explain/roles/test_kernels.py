"""Kernels of roles agree with their slow twins."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference import roles as reference
from unweave.explain.roles.access import Access
from unweave.explain.roles.core import merge, reduce
from unweave.explain.roles.sides import Covered, Prices, Side, Sides
from unweave.explain.roles.starts import association, formal_concepts
from unweave.linalg import bits
from unweave.linalg.roles import codes_of_rows, cover_greedily, fit_roles, gains_of_roles, near_cells


def table(n, m, seed, density=0.4):
    return np.random.default_rng(seed).random((n, m)) < density


def access_of(X):
    return Access(bits.sorted_csr(X.astype(np.uint8)))


@pytest.mark.parametrize("m", [1, 63, 64, 65, 130])
def test_bits_come_back(m):
    X = table(7, m, m)
    words = bits.pack(bits.sorted_csr(X.astype(np.uint8)))
    np.testing.assert_array_equal(bits.unpack(words, m), X)
    np.testing.assert_array_equal(bits.pack_bits(X), words)
    np.testing.assert_array_equal(bits.unpack_sparse(words, m).toarray(), X)
    np.testing.assert_array_equal(bits.unpack(bits.transpose(words, m), 7), X.T)
    np.testing.assert_array_equal(bits.ones_in_rows(words), X.sum(axis=1))


@pytest.mark.parametrize("seed", range(12))
def test_codes_are_those_of_the_best_flips(seed):
    rng = np.random.default_rng(seed)
    X, roles, seen = table(9, 70, seed), table(6, 70, seed + 99, 0.15), rng.random((9, 70)) < 0.8
    most, exact = (0, 2)[seed % 2], seed % 3 == 0
    X[:4] |= roles[:4]
    begin = (rng.random((9, 6)) < 0.5).astype(np.uint8) if seed % 4 == 1 and not most else None
    ones, zeros = bits.pack_bits(X & seen), bits.pack_bits(~X & seen)
    found = codes_of_rows(ones, zeros, bits.pack_bits(roles), (1.0, 2.5), exact=exact, most=most, begin=begin)
    for i in range(9):
        first = None if begin is None else begin[i]
        wanted, _ = reference.best_flips(X[i], seen[i], roles, 1.0, 2.5, exact, most, first)
        np.testing.assert_array_equal(found[i], wanted)


@pytest.mark.parametrize("seed", range(4))
def test_cells_that_fit_together(seed):
    X = table(8, 9, seed)
    cells = np.argwhere(X)
    near = bits.unpack(near_cells(bits.pack_bits(X), cells), len(cells))
    wanted = [[reference.fit_together(X, a, b) for b in cells] for a in cells]
    np.testing.assert_array_equal(near, wanted)


@pytest.mark.parametrize("seed", range(6))
def test_one_role_gains_what_it_says(seed):
    X = table(30, 20, seed)
    sides, prices = Sides(access_of(X), Prices(1.0, 1.5)), Prices(1.0, 1.5)
    users, items, gains = fit_roles(sides.rows, sides.columns, bits.pack_bits(X[:3]), prices)
    for who, what, gain in zip(bits.unpack(users, 30), bits.unpack(items, 20), gains, strict=True):
        block = np.outer(who, what) > 0
        assert gain == (X & block).sum() - 1.5 * (~X & block).sum() > 0


def test_what_is_free_without_a_role_and_what_would_be_lost_with_it():
    X, rng = table(30, 20, 3), np.random.default_rng(3)
    X[5:9], X[:, 4] = X[2], X[:, 7]  # kinds of several rows and columns
    sides = Sides(access_of(X), Prices(1.0, 1.5))
    U, Z = rng.random((4, 30)) < 0.3, rng.random((4, 20)) < 0.3
    U[:, 5:9], Z[:, 4] = U[:, 2:3], Z[:, 7]
    users, roles = bits.pack_bits(U), bits.pack_bits(Z)
    covered = Covered(sides, users, roles)
    for r in range(4):
        wanted = sides.free(np.delete(users, r, axis=0), np.delete(roles, r, axis=0))
        for found, side in zip(covered.without(r), wanted, strict=True):
            np.testing.assert_array_equal(found.ones, side.ones)
            np.testing.assert_array_equal(found.zeros, side.zeros)
        lost = sides.cost(np.delete(users, r, axis=0), np.delete(roles, r, axis=0)) - sides.cost(users, roles)
        assert covered.values()[r] == lost


def test_gains_of_candidates():
    X, roles = table(25, 30, 1), table(5, 30, 2, 0.2)
    side = Side.of(bits.pack_bits(X), bits.pack_bits(~X))
    gains = gains_of_roles(side, bits.pack_bits(roles), Prices(1.0, 0.5))
    for gain, z in zip(gains, roles, strict=True):
        each = (X & z).sum(axis=1) - 0.5 * (~X & z).sum(axis=1)
        assert gain == each[each > 0].sum()


@pytest.mark.parametrize("seed", range(3))
def test_starts_are_the_published_greedy_methods(seed):
    X = table(40, 18, seed, 0.5)
    sides = Sides(access_of(X), Prices())
    covered, _ = reference.grecond(X, 4)
    users, roles = formal_concepts(sides, 4)
    assert sides.errors(users, roles) == ((X & ~covered).sum(), 0)
    users, roles = association(sides, 4)
    costs = [(reference.asso(X, 4, limit)[0] != X).sum() for limit in (0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)]
    assert sides.cost(users, roles) == min(costs)


def test_greedy_cover_covers_and_keeps_apart():
    X = table(20, 12, 5)
    apart = np.zeros((12, 12), dtype=np.uint8)
    apart[0, 1] = apart[1, 0] = 1
    rows, columns = bits.pack_bits(X), bits.pack_bits(X.T)
    left = rows.copy()
    roles = bits.unpack(cover_greedily(rows, columns, left, np.argwhere(X), bits.pack_bits(apart), 3), 12) > 0
    assert not left.any() and roles.sum(axis=1).max() <= 3 and not (roles[:, 0] & roles[:, 1]).any()
    covered = np.zeros_like(X)
    for role in roles:
        covered |= np.outer((role <= X).all(axis=1), role)
    np.testing.assert_array_equal(covered, X)


@pytest.mark.parametrize("seed", range(20))
def test_the_reduction_keeps_the_least_number_and_its_cells_are_apart(seed):
    X = table(6, 6, seed, 0.5)
    core = reduce(merge(access_of(X)))
    assert core.n_forced + core.apart() <= reference.fewest_roles(X)
    if not len(core.cells):
        assert core.n_forced == reference.fewest_roles(X)
        roles = bits.unpack(core.merged.spread(core.roles(np.zeros(0, np.int64))), 6) > 0
        covered = np.logical_or.reduce([np.outer((z <= X).all(axis=1), z) for z in roles]) if len(roles) else X & False
        np.testing.assert_array_equal(covered, X)


def test_sparse_rows_with_no_word_of_ones():
    assert bits.pack(sp.csr_array((2, 70), dtype=np.uint8)).tolist() == [[0, 0], [0, 0]]
