"""Entries held out of a fit: drawn by their share, never all of a row or column, and gone from what is fitted."""

import numpy as np
import pytest
import scipy.sparse as sp

from unweave.data.hold_out import KnownEntries, draw_entries, exact_share, hide, known_block, known_csr, part
from unweave.data.table import Table


def sparse(rng, n=30, m=12, density=0.4):
    X = sp.random_array((n, m), density=density, rng=rng, format="csr")
    X.data += 1.0
    return X


def test_a_sparse_table_and_the_array_of_it_hide_the_same_entries(rng):
    X = sparse(rng)
    seen = np.zeros(X.shape, bool)
    seen[X.tocoo().coords] = True
    stored = hide(Table(X, "stored"), 0.2, np.random.default_rng(3))
    dense = hide(Table(X.toarray(), seen), 0.2, np.random.default_rng(3))
    assert (stored.missing, dense.missing) == ("zeros", "nan")
    for name in ("rows", "columns", "truth"):
        np.testing.assert_array_equal(getattr(stored, name), getattr(dense, name))
    np.testing.assert_array_equal(stored.seen.toarray(), np.nan_to_num(dense.seen))
    assert stored.seen.nnz + len(stored.truth) == X.nnz
    np.testing.assert_array_equal(X.toarray()[stored.rows, stored.columns], stored.truth)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_no_row_and_no_column_loses_everything(rng, share):
    X = sparse(rng).tocoo()
    rows, columns = X.coords
    hidden = draw_entries(rows, columns, X.shape, share, rng)
    for places in (rows, columns):
        assert set(places) == set(places[~hidden])


def test_zeros_that_are_data_can_be_hidden_and_small_tables_are_refused(rng):
    X = sparse(rng)
    hidden = hide(Table(X, None), 0.3, rng)
    assert hidden.missing == "nan" and (hidden.truth == 0).any() and np.isnan(hidden.seen).sum() == len(hidden.truth)
    with pytest.raises(ValueError, match="too few observed entries"):
        hide(Table(np.ones((1, 1)), None), 0.5, rng)


def test_shares_are_exact_and_leave_some_of_both(rng):
    for n, share in ((10, 0.2), (3, 0.99), (2, 0.01)):
        held = exact_share(n, share, rng)
        assert 1 <= held.sum() <= n - 1 and held.sum() == min(max(round(share * n), 1), n - 1)


def test_known_entries_however_they_are_stored(rng):
    X = sparse(rng)
    holed = np.full(X.shape, np.nan)
    holed[X.tocoo().coords] = X.data
    table = Table(np.nan_to_num(holed), ~np.isnan(holed))
    for known in (known_csr(table), known_csr(Table(X, "stored")), KnownEntries(X).csr(), KnownEntries(holed).csr()):
        np.testing.assert_array_equal(known.toarray(), X.toarray())
        assert known.nnz == X.nnz
    for one in (table, Table(X, "stored")):
        values, seen = known_block(one, 5, 9)
        np.testing.assert_array_equal(values, X.toarray()[5:9])
        np.testing.assert_array_equal(seen, ~np.isnan(holed[5:9]))
    kept = rng.random(X.nnz) < 0.5
    np.testing.assert_array_equal(np.nan_to_num(part(holed, kept)), part(X, kept).toarray())
