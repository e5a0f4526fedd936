"""Sparse tables from entries: the same as scipy adds up, in the order that times rely on."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from unweave.data.readers.build import from_entries, grouped


@given(st.lists(st.integers(0, 6), max_size=30))
def test_grouped_is_a_stable_sort(codes):
    codes = np.array(codes, np.int32)
    np.testing.assert_array_equal(grouped(codes, 7), np.argsort(codes, kind="stable"))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(-3, 3)), max_size=30))
def test_from_entries_adds_up_like_scipy(entries):
    rows, columns, values = (np.array([e[i] for e in entries], np.int64) for i in range(3))
    built = from_entries(rows, columns, values.astype(float), (4, 5), merge="sum")
    expected = sp.coo_array((values.astype(float), (rows, columns)), shape=(4, 5))
    np.testing.assert_array_equal(built.X.toarray(), expected.toarray())
    assert built.X.nnz == len({entry[:2] for entry in entries}) == len(entries) - built.merged
