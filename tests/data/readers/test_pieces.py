"""Files in pieces: together they are the table that `read` makes of the whole file."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import polars as pl
import pytest

from unweave.data.readers import read
from unweave.data.readers.pieces import Sliced, Streamed, pieces_of, some_of
from unweave.data.readers.several import joined
from unweave.data.readers.source import Options, ReadError

N = 120_000


def cut(path, size):
    found = pieces_of(path, "auto", Options())
    if found is not None:
        found.cut(size)
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One table of words and numbers with holes, as CSV, packed CSV and Parquet, and one of numbers as npy."""
    folder, rng = tmp_path_factory.mktemp("files"), np.random.default_rng(0)
    size = rng.normal(size=N)
    size[::7] = np.nan
    frame = pl.DataFrame(
        {
            "who": [f"row {i}" for i in range(N)],
            "size": pl.Series(size).fill_nan(None),
            "count": rng.integers(0, 9, N),
            "sort": rng.choice(["a,b", 'q"q', "line\nend"], N),
            "price": [f"${x:.2f}" for x in rng.random(N)],
        }
    )
    frame.write_csv(folder / "t.csv")
    (folder / "t.csv.gz").write_bytes(gzip.compress((folder / "t.csv").read_bytes(), 1))
    frame.write_parquet(folder / "t.parquet", row_group_size=10_000)
    np.save(folder / "t.npy", rng.normal(size=(N, 4)).astype(np.float32))
    return folder


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.npy"])
def test_pieces_are_the_table(files, name):
    pieces = cut(files / name, 1 << 20)
    if name == "t.parquet":
        assert isinstance(pieces, Sliced) and pieces.n_rows == N
    elif name != "t.npy":
        assert isinstance(pieces, Streamed)
    tables, whole = list(pieces), read(files / name)
    assert len(tables) > 1 and joined(tables).shape == whole.shape
    together = joined(tables)
    assert together.rows == whole.rows and together.columns == whole.columns and together.missing == whole.missing
    if whole.numeric:
        np.testing.assert_array_equal(together.X, whole.X)
    else:
        assert together.X.equals(whole.X)


@pytest.mark.parametrize("name", ["t.parquet", "t.npy"])
def test_rows_are_read_where_they_are_asked_for(files, name):
    pieces = cut(files / name, 1 << 20)
    fetch = pickle.loads(pickle.dumps(pieces.fetch(len(pieces) - 1)))
    assert len(pickle.dumps(fetch)) < 2000
    assert fetch().shape[0] == N - (len(pieces) - 1) * pieces.rows
    some = pieces.some(1000)
    assert 900 <= some.shape[0] <= 1000
    whole = read(files / name)
    assert some.shape[1] == whole.shape[1]


def test_all_rows_of_a_short_file_are_some(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(12.0).reshape(6, 2))
    pieces = cut(tmp_path / "a.npy", 1 << 20)
    np.testing.assert_array_equal(pieces.some(100).X, np.arange(12.0).reshape(6, 2))
    assert some_of(read(tmp_path / "a.npy"), [0, 5]).X.tolist() == [[0, 1], [10, 11]]


def test_words_in_a_column_that_was_empty_so_far_begin_anew(tmp_path):
    lines = ["a,b"] + [f"{i}," for i in range(900_000)] + [f"{i},many" for i in range(100)]
    (tmp_path / "late.csv").write_text("\n".join(lines))
    pieces, seen, again = cut(tmp_path / "late.csv", 1 << 20), [], []

    def forget():
        again.append(1)
        seen.clear()

    pieces.looked_at(seen.append, forget)
    assert again == [1]
    assert {table.X.schema["b"] for table in seen} == {pl.String}
    assert sum(table.shape[0] for table in seen) == 900_100


def test_formats_that_are_read_whole_have_no_pieces(files, tmp_path):
    (tmp_path / "t.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 3\n")
    assert cut(tmp_path / "t.mtx", 1 << 20) is None
    assert cut(tmp_path, 1 << 20) is None


def test_a_file_that_changed_says_which_rows(files, tmp_path):
    pl.DataFrame({"a": np.arange(5000.0)}).write_parquet(tmp_path / "p.parquet")
    pieces = cut(tmp_path / "p.parquet", 8 * 1000)
    pl.DataFrame({"a": np.arange(4500.0)}).write_parquet(tmp_path / "p.parquet")
    with pytest.raises(ReadError, match=r"p\.parquet: rows 4,001 to 5,000: .*were announced"):
        pieces.fetch(4)()
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    with pytest.raises(ReadError, match="3 dimensions"):
        cut(tmp_path / "cube.npy", 1 << 20)
