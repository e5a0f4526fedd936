"""libsvm: what scikit-learn writes is read back with its labels; faults name the line."""

from __future__ import annotations

import io

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from sklearn.datasets import dump_svmlight_file

from tests.data.broken_files import broken, reads_or_refuses
from tests.data.helpers import peak_of, read_bytes
from unweave.data.readers.source import ReadError
from unweave.data.readers.sparse.libsvm import looks_like, read_libsvm

SEEDS = (b"+1 1:0.5 3:2 # first\n-1 2:1e1\n", b"# head\n3 qid:1 1:0.5\n2 qid:2 2:-1 4:.5\n")


def read(data: bytes, **options):
    return read_bytes(read_libsvm, data, **options)


@pytest.mark.parametrize("zero_based", [True, False])
def test_rows_and_labels_come_back(rng, zero_based, dtype):
    X = np.where(rng.random((25, 10)) < 0.4, rng.normal(size=(25, 10)), 0)
    X[:, [0, -1]] = 1  # so that the file tells where columns begin and end
    X = sp.csr_array(X)
    y = rng.normal(size=25)
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, zero_based=zero_based, comment="a table")
    table = read(file.getvalue(), dtype=np.dtype(dtype).name)
    assert table.X.dtype == dtype and table.X.has_canonical_format
    np.testing.assert_allclose(table.X.toarray(), X.toarray(), rtol=1e-6)
    np.testing.assert_allclose(table.labels, y)
    assert f"columns count from {0 if zero_based else 1}" in table.notes


def test_queries_and_comments_are_passed_over():
    table = read(SEEDS[1])
    np.testing.assert_array_equal(table.X.toarray(), [[0.5, 0, 0, 0], [0, -1, 0, 0.5]])
    np.testing.assert_array_equal(table.labels, [3, 2])


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"1 1:2\n1 3:1 2:1\n", 2, "must ascend"),
        (b"1 1:2\n1 3:1 3:1\n", 2, "must ascend"),
        (b"1 1:2\nx 3:1\n", 2, "the label 'x'"),
        (b"1 1:2\n1,2 3:1\n", 2, "several labels"),
        (b"1 1:2\n1 -3:1\n", 2, "not column:value"),
        (b"1 1:2\n1 3:nan\n", 2, "finite"),
        (b"1 1:2\n1 3:inf\n", 2, "finite"),
        (b"1 1:2\ninf 3:1\n", 2, "label"),
        (b"1 1:2\n1 3\n", 2, "not column:value"),
        (b"1 1:2\n1 99999999999:1\n", 2, "beyond"),
    ],
)
def test_errors_name_the_line(data, line, words):
    with pytest.raises(ReadError) as error:
        read(data)
    assert error.value.line == line and words in error.value.message


def test_one_huge_column_is_refused_before_anything_is_allocated():
    def refused():
        with pytest.raises(ReadError, match="believed"):
            read(b"1 1:1\n1 2000000000:1\n")

    refused()
    assert peak_of(refused) < 4 << 20


def test_no_values_at_all():
    with pytest.raises(ReadError, match="no row has a value"):
        read(b"1\n2\n")


@settings(max_examples=100)
@given(broken(*SEEDS))
def test_damaged_files(data):
    reads_or_refuses(data, "libsvm")


def test_looks_like():
    assert [looks_like(seed, "a1a") for seed in SEEDS] == ["libsvm", "libsvm"]
    assert looks_like(b"1 2 3\n", "a.svm") is None
    assert looks_like(b"time 12:30 is over\n", "a.txt") is None
