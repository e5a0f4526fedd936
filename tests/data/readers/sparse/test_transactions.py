"""Transactions: random baskets come back, and anything but whole numbers names its line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.broken_files import broken, reads_or_refuses
from tests.data.helpers import read_bytes
from unweave.data.readers.lines import blocks, whole_numbers
from unweave.data.readers.source import ReadError, Source
from unweave.data.readers.sparse.transactions import looks_like, read_transactions

SEEDS = (b"1 2 3\n2 4\n\n7 7 1 \n", b"39 40 41\r\n30 31\r\n")


def read(data: bytes, **options):
    return read_bytes(read_transactions, data, **options)


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 10**12), max_size=6), min_size=1, max_size=8).filter(any))
def test_baskets_come_back(baskets):
    table = read("".join(" ".join(map(str, basket)) + "\n" for basket in baskets).encode())
    assert (table.kind, table.missing, table.shape[0]) == ("pairs", None, len(baskets))
    assert table.columns == [str(i) for i in sorted({i for basket in baskets for i in basket})]
    back = [{int(table.columns[j]) for j in row.nonzero()[0]} for row in table.X.toarray()]
    assert back == [set(basket) for basket in baskets]
    assert set(table.X.data) == {1.0}


def test_empty_lines_and_repeats_are_noted():
    table = read(SEEDS[0])
    assert table.shape == (4, 5) and table.X.nnz == 7
    assert any("1 empty lines" in note for note in table.notes)
    assert any("1 left out" in note for note in table.notes)


def test_a_last_line_without_end_and_windows_line_ends():
    np.testing.assert_array_equal(read(b"1 2\r\n2").X.toarray(), [[1, 1], [0, 1]])


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"1 2\n3 -4\n", 2, "negative"),
        (b"1 2\n\nmilk\n", 3, "'m' is no part of a whole number"),
        (b"1 2.5\n", 1, "'.'"),
        (b"1\n2\n\xe9\n", 3, "0xe9"),
        (b"1\n" + b"9" * 19 + b"\n", 2, "18 digits"),
    ],
)
def test_errors_name_the_line(data, line, words):
    with pytest.raises(ReadError) as error:
        read(data)
    assert error.value.line == line and words in error.value.message


def test_no_item_at_all():
    with pytest.raises(ReadError, match="no item"):
        read(b"\n\n")


@given(st.lists(st.lists(st.integers(0, 10**18 - 1), max_size=5), min_size=1, max_size=30), st.integers(1, 40))
def test_whole_numbers_in_blocks_of_any_size(tmp_path_factory, lines, size):
    path = tmp_path_factory.mktemp("numbers") / "n.dat"
    path.write_text("".join("  ".join(map(str, line)) + "\n" for line in lines))
    source = Source(path)
    values, counts, starts = [], [], []
    for block in blocks(source, size):
        numbers = whole_numbers(source, block)
        starts.append(block.line)
        values += numbers.values.tolist()
        counts += numbers.counts.tolist()
    assert values == [number for line in lines for number in line]
    assert counts == [len(line) for line in lines]
    assert starts[0] == 1 and starts == sorted(starts)


@settings(max_examples=100)
@given(broken(*SEEDS))
def test_damaged_files(data):
    reads_or_refuses(data, "transactions")


def test_looks_like():
    assert looks_like(SEEDS[0], "retail.dat") == "transactions"
    assert looks_like(b"1 2\n3 4\n", "a.fimi") == "transactions"
    assert looks_like(b"1 2\n3 4\n", "a.dat") is None
    assert looks_like(b"2\n3\n1\n1 3 5\n", "docword.dat") is None
    assert looks_like(b"1 2 3\n1 2\nx\n", "a.dat") is None
