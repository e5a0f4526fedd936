"""Tables as row blocks from files, arrays, maps and Zarr: the same table, read piece by piece, and clear words."""

from __future__ import annotations

import gzip
import pickle
import re
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp

import unweave
from unweave.data.readers import ReadError
from unweave.scale.visits import Here, Loader, visiting, visits_now

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

NAMES = ["a", "b", "c", "d", "e"]
CUTS = (0, 60, 61, 130)  # rows at which files begin and end: they differ much in length
ROWS = 25


def table() -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.round(rng.gamma(1.0, 1.0, (130, 3)) @ rng.gamma(1.0, 1.0, (3, 5)) + 0.1 * rng.random((130, 5)), 6)


X = table()


def parts() -> list[np.ndarray]:
    return [X[a:b] for a, b in pairwise(CUTS)]


def frame(part: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame(part, schema=NAMES)


def written(folder, suffix: str, write) -> str:
    """Every part in a file of its own; the pattern of their names."""
    for i, part in enumerate(parts()):
        write(part, folder / f"part-{i}{suffix}")
    return str(folder / f"part-*{suffix}")


def parquet(folder):
    return written(folder, ".parquet", lambda part, path: frame(part).write_parquet(path, row_group_size=20))


def csv(folder):
    return written(folder, ".csv", lambda part, path: frame(part).write_csv(path))


def csv_gz(folder):
    return written(
        folder, ".csv.gz", lambda part, path: path.write_bytes(gzip.compress(frame(part).write_csv().encode()))
    )


def npy(folder):
    return written(folder, ".npy", lambda part, path: np.save(path, part))


def npy_by_column(folder):
    return written(folder, ".npy", lambda part, path: np.save(path, np.asfortranarray(part)))


def npz(folder):
    return written(folder, ".npz", lambda part, path: sp.save_npz(path, sp.csr_array(part)))


def mtx(folder):
    return written(folder, ".mtx", lambda part, path: scipy.io.mmwrite(path, sp.coo_array(part), precision=17))


def mapped(folder):
    np.save(folder / "whole.npy", np.vstack([np.zeros((7, 5)), X]))
    return np.load(folder / "whole.npy", mmap_mode="r")[7:]


def in_memory(folder):
    return X


def zarr_path(folder):
    zarr = pytest.importorskip("zarr")
    made = zarr.create_array(str(folder / "x.zarr"), shape=X.shape, chunks=(10, 2), dtype="f8")
    made[:] = X
    return str(folder / "x.zarr")


def zarr_array(folder):
    return pytest.importorskip("zarr").open(zarr_path(folder), mode="r")


FILES = (parquet, csv, npy, npy_by_column)
WHOLE = (csv_gz, npz, mtx)
ARRAYS = (mapped, in_memory, zarr_path, zarr_array)
EVERY = pytest.mark.parametrize("make", [*FILES, *WHOLE, *ARRAYS])


def _like(found) -> list[np.ndarray]:
    """The table in memory, cut as these blocks are."""
    edges = np.cumsum([0, *(block.shape[0] for block in found)])
    return [X[a:b] for a, b in pairwise(edges)]


def dense(block) -> np.ndarray:
    return block.toarray() if sp.issparse(block) else block


# -- the same table ----------------------------------------------------------------------------------------------------


@EVERY
def test_blocks_are_the_rows_in_order(make, tmp_path):
    found = unweave.blocks(make(tmp_path), rows=ROWS)
    blocks = [dense(found[i]) for i in range(len(found))]
    np.testing.assert_allclose(np.vstack(blocks), X, rtol=1e-15)
    assert all(block.dtype == np.float64 and block.flags.c_contiguous for block in blocks)
    assert found.n_columns == 5
    if make in WHOLE:
        assert [len(block) for block in blocks] == np.diff(CUTS).tolist() and found.n_rows is None
    else:
        assert [len(block) for block in blocks] == found.sizes and found.n_rows == len(X)
        assert max(found.sizes) <= ROWS
    if make in FILES:
        assert found.sizes == [25, 25, 10, 1, 25, 25, 19]


@EVERY
def test_fits_are_those_of_the_table(make, tmp_path):
    found = unweave.blocks(make(tmp_path), rows=ROWS)
    listed = [part if make not in (npz, mtx) else sp.csr_array(part) for part in _like(found)]
    whole = unweave.PCA(2).fit(X)
    np.testing.assert_allclose(unweave.PCA(2).fit(found).components_, whole.components_, atol=1e-8)
    np.testing.assert_allclose(whole.transform(found), whole.transform(X), atol=1e-8)
    centres = X[[0, 50, 100]]
    grouped = unweave.KMeans(3, init=centres).fit(found)
    np.testing.assert_allclose(
        grouped.cluster_centers_, unweave.KMeans(3, init=centres).fit(X).cluster_centers_, atol=1e-8
    )
    np.testing.assert_array_equal(grouped.predict(found), grouped.predict(X))
    by_parts = unweave.NMF(2, random_state=0, max_iter=30, tol=0).fit(found).components_
    np.testing.assert_allclose(
        by_parts, unweave.NMF(2, random_state=0, max_iter=30, tol=0).fit(listed).components_, atol=1e-8
    )


def test_what_reads_a_block_is_small_and_reads_it_elsewhere(tmp_path):
    for i, make in enumerate([*FILES, *WHOLE, mapped, zarr_path]):
        folder = tmp_path / str(i)
        folder.mkdir()
        found = unweave.blocks(make(folder), rows=ROWS)
        sent = pickle.dumps(found.fetch(1))
        assert len(sent) < 10_000, make
        assert len(pickle.dumps(found)) < 20_000, make
        np.testing.assert_array_equal(dense(pickle.loads(sent)()), dense(found[1]))
        np.testing.assert_array_equal(dense(found[-1]), dense(found[len(found) - 1]))


def test_files_are_read_from_another_folder_too(tmp_path, monkeypatch):
    parquet(tmp_path)
    csv(tmp_path)
    npz(tmp_path)
    monkeypatch.chdir(tmp_path)
    found = [unweave.blocks(f"part-*.{kind}") for kind in ("parquet", "csv", "npz")]
    monkeypatch.chdir("/")
    for blocks in found:
        np.testing.assert_array_equal(dense(blocks[0]), X[:60])


def test_loads_are_those_that_visits_count(tmp_path):
    found = unweave.blocks(parquet(tmp_path), rows=ROWS)
    reads = []

    class Counted:
        """The blocks, and a note of each that is read."""

        fetch, feature_names = found.fetch, found.feature_names

        def __len__(self):
            return len(found)

        def __getitem__(self, i):
            reads.append(i)
            return found[i]

    here = Here()
    with visiting(here):
        unweave.PCA(2).fit(Counted())
    assert here.loads == here.passes * len(found)
    # Beside visits only the first block is read, to learn the columns and how it is stored.
    assert len(reads) - here.loads <= 3 and set(reads[: len(reads) - here.loads]) >= {0}


def test_blocks_of_float32_stay_so_and_others_become_float64(tmp_path):
    frame(X).cast(pl.Float32).write_parquet(tmp_path / "a.parquet")
    frame(X).write_parquet(tmp_path / "b.parquet")
    np.save(tmp_path / "a.npy", X.astype(np.float32))
    np.save(tmp_path / "whole.npy", np.arange(12).reshape(4, 3))
    assert unweave.blocks(tmp_path / "a.parquet")[0].dtype == np.float32
    assert unweave.blocks([tmp_path / "a.parquet", tmp_path / "b.parquet"])[0].dtype == np.float64
    assert unweave.blocks(tmp_path / "a.npy")[0].dtype == np.float32
    assert unweave.blocks(tmp_path / "whole.npy")[0].dtype == np.float64
    assert unweave.blocks(tmp_path / "b.parquet", dtype="float32")[0].dtype == np.float32
    assert unweave.PCA(2).fit(unweave.blocks(tmp_path / "a.parquet", rows=50)).components_.dtype == np.float32


def test_truth_values_whole_numbers_and_holes_become_floats(tmp_path):
    made = pl.DataFrame({"yes": [True, None, False], "n": [1, 2, None], "x": [0.5, float("nan"), None]})
    made.write_parquet(tmp_path / "a.parquet")
    expected = np.array([[1, 1, 0.5], [np.nan, 2, np.nan], [0, np.nan, np.nan]])
    np.testing.assert_array_equal(unweave.blocks(tmp_path / "a.parquet")[0], expected)
    made.with_columns(pl.col("x").fill_nan(None)).write_csv(tmp_path / "a.csv")
    found = unweave.blocks(tmp_path / "a.csv", rows=2)
    np.testing.assert_array_equal(np.vstack([found[0], found[1]]), expected)


# -- columns -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [parquet, csv, csv_gz])
def test_models_learn_the_names_of_the_columns(make, tmp_path):
    found = unweave.blocks(make(tmp_path), rows=ROWS)
    assert found.feature_names == NAMES
    model = unweave.PCA(2).fit(found)
    assert list(model.feature_names_in_) == NAMES
    np.testing.assert_allclose(model.transform(found), unweave.PCA(2).fit(X).transform(X), atol=1e-8)
    assert list(unweave.KMeans(2).fit(found).feature_names_in_) == NAMES
    with pytest.raises(ValueError, match="does not have the columns that the model was fitted to"):
        model.transform(unweave.blocks(make(tmp_path), columns=["b", "a", "c", "d", "e"]))


@pytest.mark.parametrize("make", [parquet, csv])
def test_some_columns_in_the_order_asked_for(make, tmp_path):
    found = unweave.blocks(make(tmp_path), columns=["d", "a"], rows=ROWS)
    assert found.feature_names == ["d", "a"]
    np.testing.assert_array_equal(found[0], X[:25][:, [3, 0]])
    np.testing.assert_array_equal(unweave.blocks(make(tmp_path), columns="b")[0], X[:60, [1]])


@pytest.mark.parametrize("make", [npy, npz, mapped, in_memory, zarr_path])
def test_columns_without_names_go_by_number(make, tmp_path):
    source = make(tmp_path)
    found = unweave.blocks(source, columns=[3, 0], rows=ROWS)
    np.testing.assert_array_equal(dense(found[0])[:20], X[:20][:, [3, 0]])
    with pytest.raises(ValueError, match="give numbers from 0 to 4"):
        unweave.blocks(source, columns=["a"])


def test_columns_go_by_name_in_whatever_order_files_have_them(tmp_path):
    frame(X[:70]).write_parquet(tmp_path / "0.parquet")
    frame(X[70:]).select(reversed(NAMES)).write_csv(tmp_path / "1.csv")
    found = unweave.blocks([tmp_path / "0.parquet", tmp_path / "1.csv"])
    np.testing.assert_allclose(np.vstack([found[0], found[1]]), X)


def test_a_first_column_that_names_rows_is_left_out_as_by_read(tmp_path):
    named = frame(X).with_columns(pl.Series("who", [f"row {i}" for i in range(len(X))])).select("who", *NAMES)
    named.write_parquet(tmp_path / "a.parquet")
    named.write_csv(tmp_path / "a.csv")
    for name in ("a.parquet", "a.csv"):
        found = unweave.blocks(tmp_path / name, rows=50)
        assert found.feature_names == unweave.read(tmp_path / name).columns == NAMES
        np.testing.assert_allclose(found[2], X[100:])


# -- CSV, cut ----------------------------------------------------------------------------------------------------------


def test_csv_is_cut_outside_quotes_and_blank_lines_are_no_rows(tmp_path):
    lines = ["name,x,y"]
    for i in range(50):
        lines += [f'"row\n{i} ""odd"", yes",{i},{i}.5'] + [""] * (i % 7 == 0)
    (tmp_path / "a.csv").write_bytes("\r\n".join(lines).encode("utf-8-sig"))
    found = unweave.blocks(tmp_path / "a.csv", rows=7)
    assert found.sizes == [7] * 7 + [1] and found.feature_names == ["x", "y"]
    expected = np.column_stack([np.arange(50.0), np.arange(50) + 0.5])
    np.testing.assert_array_equal(np.vstack(list(found)), expected)


def test_csv_of_one_column_keeps_its_empty_cells(tmp_path):
    values = [None if i % 5 == 3 else float(i) for i in range(40)]
    (tmp_path / "a.csv").write_text("x\n" + "\n".join("" if v is None else str(v) for v in values) + "\n")
    found = unweave.blocks(tmp_path / "a.csv", rows=4)
    stacked = np.vstack(list(found)).ravel()
    np.testing.assert_array_equal(stacked, [np.nan if v is None else v for v in values])
    assert [len(block) for block in found] == found.sizes


def test_types_are_the_same_in_every_block_of_a_csv(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n" + "1,2\n" * 1500 + "1.5,NA\n,3e2\n")
    found = unweave.blocks(tmp_path / "a.csv", rows=500)
    assert {block.dtype for block in found} == {np.dtype(np.float64)}
    np.testing.assert_array_equal(found[3], [[1.5, np.nan], [np.nan, 300]])


def test_large_csv_is_read_as_the_reader_of_whole_files_reads_it(tmp_path):
    big = np.random.default_rng(0).standard_normal((60_000, 12))
    pl.DataFrame(big).write_csv(tmp_path / "big.csv")  # over 8 MB: the compiled parser
    found = unweave.blocks(tmp_path / "big.csv", memory="1MB")
    assert len(found) == 6 and max(found.sizes) == 10**6 // (8 * 12)
    np.testing.assert_array_equal(np.vstack(list(found)), unweave.read(tmp_path / "big.csv").X)


def test_csv_in_another_encoding_is_one_block(tmp_path):
    (tmp_path / "a.csv").write_text("é,y\n1,2\n3,4\n", encoding="utf-16")
    found = unweave.blocks(tmp_path / "a.csv", rows=1)
    assert len(found) == 1 and found.feature_names == ["é", "y"]
    np.testing.assert_array_equal(found[0], [[1, 2], [3, 4]])


# -- sparse ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [npz, mtx])
def test_sparse_files_stay_sparse(make, tmp_path):
    found = unweave.blocks(make(tmp_path))
    assert all(isinstance(block, sp.csr_array) for block in found)
    whole = unweave.TruncatedSVD(2).fit(sp.csr_array(X))
    np.testing.assert_allclose(unweave.TruncatedSVD(2).fit(found).components_, whole.components_, atol=1e-8)


def test_topics_and_ratings_of_sparse_files(tmp_path):
    counts = sp.csr_array(np.random.default_rng(0).poisson(0.6, (90, 12)).astype(float))
    cut = [counts[:40], counts[40:]]
    for i, part in enumerate(cut):
        sp.save_npz(tmp_path / f"{i}.npz", part)
    found = unweave.blocks(str(tmp_path / "*.npz"))
    for model in (
        unweave.LDA(3, random_state=0, max_iter=5),
        unweave.MatrixCompletion(2, ridge=0.1, random_state=0, max_iter=5),
        unweave.ImplicitALS(2, ridge=0.1, random_state=0, max_iter=3),
    ):
        by_files, by_list = model.fit(found).components_, model.fit(cut).components_
        np.testing.assert_array_equal(by_files, by_list)
        assert model.transform(found).shape[0] == 90


# -- how large, and how it is said -------------------------------------------------------------------------------------


def test_blocks_say_what_they_are(tmp_path):
    assert repr(unweave.blocks(parquet(tmp_path), rows=ROWS)) == "<7 blocks of up to 25 rows × 5 columns from 3 files>"
    assert (
        repr(unweave.blocks(tmp_path / "part-0.parquet", rows=20))
        == "<3 blocks of 20 rows × 5 columns from part-0.parquet>"
    )
    assert repr(unweave.blocks(npz(tmp_path))) == "<3 blocks × 5 columns from 3 files>"
    assert repr(unweave.blocks(X, rows=len(X))) == "<1 block of 130 rows × 5 columns from an array in memory>"


def test_memory_says_how_many_rows_a_block_has(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((1000, 10), np.float32))
    assert unweave.blocks(tmp_path / "a.npy", memory="4kB").sizes == [100] * 10
    assert unweave.blocks(tmp_path / "a.npy", memory=8000, dtype="float64").sizes == [100] * 10
    assert unweave.blocks(tmp_path / "a.npy").sizes == [1000]


def test_blocks_of_zarr_are_whole_chunks(tmp_path):
    path = zarr_path(tmp_path)
    found = unweave.blocks(path, rows=ROWS)
    assert found.sizes == [20] * 6 + [10] and found.origin == "x.zarr"
    assert unweave.blocks(path, rows=3).sizes == [10] * 13
    pytest.importorskip("zarr").open_group(str(tmp_path / "group"), mode="w").create_array(
        "x", shape=(3, 2), dtype="f8"
    )
    with pytest.raises(ReadError, match=r"is a Zarr group; name one of its arrays: '.*group/x'"):
        unweave.blocks(tmp_path / "group")
    assert unweave.blocks(tmp_path / "group" / "x").n_rows == 3


class Chunked:
    """An array in chunks as other libraries have it: a shape, chunks, and slices on demand."""

    shape, chunks, dtype, ndim = X.shape, (10, 5), X.dtype, 2

    def __getitem__(self, rows):
        return X[rows]


def test_arrays_in_chunks_are_known_by_what_they_can_do():
    np.testing.assert_array_equal(np.vstack(list(unweave.blocks(Chunked(), rows=30))), X)
    np.testing.assert_array_equal(unweave.PCA(2).fit(Chunked()).components_, unweave.PCA(2).fit([X]).components_)


def test_a_part_of_a_map_travels_as_its_place_in_the_file(tmp_path):
    np.save(tmp_path / "a.npy", X)
    part = np.load(tmp_path / "a.npy", mmap_mode="r")[10:100:3, 1:4]
    found = unweave.blocks(part, rows=8)
    np.testing.assert_array_equal(np.vstack(list(found)), X[10:100:3, 1:4])
    assert len(pickle.dumps(found.fetch(0))) < 1000
    changed = np.load(tmp_path / "a.npy", mmap_mode="c")
    changed[:] = 0
    np.testing.assert_array_equal(unweave.blocks(changed)[0], np.zeros_like(X))


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(ReadError, match=r"nothing\.parquet: there is no such file"):
        unweave.blocks(tmp_path / "nothing.parquet")
    with pytest.raises(ReadError, match="no file has such a name; check the pattern"):
        unweave.blocks(str(tmp_path / "*.parquet"))
    with pytest.raises(ValueError, match="the list of files is empty"):
        unweave.blocks([])
    with pytest.raises(TypeError, match="source is a int"):
        unweave.blocks(3)
    with pytest.raises(TypeError, match="a list of tables is given to fit as it is"):
        unweave.blocks([X, X])
    with pytest.raises(TypeError, match="a sequence of blocks already"):
        unweave.blocks(unweave.blocks(X))
    with pytest.raises(ValueError, match="rows must be at least 1"):
        unweave.blocks(X, rows=0)
    with pytest.raises(ValueError, match="memory='much' is no amount of memory"):
        unweave.blocks(X, memory="much")
    with pytest.raises(ValueError, match="dtype='int8' is not known"):
        unweave.blocks(X, dtype="int8")
    with pytest.raises(ValueError, match="columns is empty"):
        unweave.blocks(X, columns=[])
    with pytest.raises(ReadError, match="3 dimensions, not two"):
        unweave.blocks(X[None])
    with pytest.raises(IndexError, match="there is no block 9"):
        unweave.blocks(X)[9]


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_other_columns_are_told_with_the_file(suffix, tmp_path):
    write = {"parquet": pl.DataFrame.write_parquet, "csv": pl.DataFrame.write_csv}[suffix]
    write(frame(X), tmp_path / f"0.{suffix}")
    write(frame(X).rename({"b": "z"}), tmp_path / f"1.{suffix}")
    with pytest.raises(ReadError, match=rf"1.{suffix}: lacks 'b', unlike .*0.{suffix}; give files of the same columns"):
        unweave.blocks(str(tmp_path / f"*.{suffix}"))
    assert unweave.blocks(str(tmp_path / f"*.{suffix}"), columns=["a", "c"]).n_rows == 260
    write(frame(X).with_columns(more=pl.lit(1.0)), tmp_path / f"1.{suffix}")
    with pytest.raises(ReadError, match=rf"1.{suffix}: has 'more' besides"):
        unweave.blocks(str(tmp_path / f"*.{suffix}"))
    with pytest.raises(ReadError, match=r"there is no column 'q' for columns=; the columns are 'a', 'b'"):
        unweave.blocks(str(tmp_path / f"*.{suffix}"), columns=["a", "q"])


def test_sparse_files_of_other_widths_are_told_when_they_are_read(tmp_path):
    sp.save_npz(tmp_path / "0.npz", sp.csr_array(X))
    sp.save_npz(tmp_path / "1.npz", sp.csr_array(X[:, :4]))
    found = unweave.blocks(str(tmp_path / "*.npz"))
    with pytest.raises(ValueError, match=r"block 1 of X could not be read: .*1.npz: has 4 columns, not the 5"):
        unweave.TruncatedSVD(2).fit(found)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "ndjson"])
def test_a_column_of_words_is_told_with_the_remedy(suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    made = frame(X).with_columns(kind=pl.Series(["red", "blue"] * 65))
    getattr(made, f"write_{suffix}")(path)
    with pytest.raises(ReadError, match=r"the column 'kind' holds words; name those of numbers, columns=\['a', 'b'"):
        unweave.blocks(path)
    found = unweave.blocks(path, columns=NAMES)
    np.testing.assert_allclose(np.vstack(list(found)), X)
    with pytest.raises(ReadError, match="the column 'kind' holds words; leave it out of columns="):
        unweave.blocks(path, columns=["kind"])


def test_words_far_down_a_csv_are_told_with_the_rows_and_the_line(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n" + "1,2\n" * 2000 + "1,red\n")
    found = unweave.blocks(tmp_path / "a.csv", rows=1500)
    with pytest.raises(
        ValueError, match=r"block 1 of X .*a.csv, rows 1,501 to 2,001, line 2002: 'red' in the column 'y'"
    ):
        unweave.PCA(1).fit(found)
    empty = "x,y\n" + "1,\n" * 2000 + "1,red\n"
    (tmp_path / "b.csv").write_text(empty)
    with pytest.raises(ReadError, match=r"the column 'y' holds words here.*columns=\["):
        unweave.blocks(tmp_path / "b.csv", rows=1500)[1]


def test_a_damaged_parquet_is_told_with_file_and_rows(tmp_path):
    path = tmp_path / "a.parquet"
    frame(X).write_parquet(path, row_group_size=65, compression="zstd", statistics=False)
    raw = bytearray(path.read_bytes())
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(raw[:-20])
    with pytest.raises(ReadError, match=r"cut.parquet: the Parquet file is cut off or damaged"):
        unweave.blocks(cut)
    middle = len(raw) // 2 + 300
    raw[middle : middle + 800] = bytes(800)
    path.write_bytes(raw)
    found = unweave.blocks(path, rows=65)
    told = r"block 1 of X could not be read: .*a.parquet, rows 66 to 130: the Parquet file is damaged"
    with pytest.raises(ValueError, match=told):
        unweave.PCA(2).fit(found)


@pytest.mark.parametrize("make", [parquet, csv, npy, npz])
def test_a_file_that_changes_or_goes_is_told(make, tmp_path):
    pattern = make(tmp_path)
    found = unweave.blocks(pattern, rows=ROWS)
    first = sorted(tmp_path.iterdir())[0]
    content = first.read_bytes()
    first.write_bytes(content[: len(content) // 2])
    rows = "" if make is npz else ", rows 1 to 25"
    told = re.escape(f"{first}{rows}: the file has changed since it was opened")
    with pytest.raises(ValueError, match=told):
        unweave.TruncatedSVD(2).fit(found)
    with visiting(Here()), pytest.raises(ValueError, match=f"block 0 of X could not be read: {told}"):
        visits_now().each(Loader(found, lambda block, i: block), lambda block, state, own: (0, None))
    first.write_bytes(content[:-1] + b"9")
    with pytest.raises(ReadError, match=told):
        found[0]
    first.unlink()
    with pytest.raises(ReadError, match=r"was there when it was opened, and is not now \(no such file"):
        found[0]


def test_no_rows_at_all_are_told(tmp_path):
    frame(X[:0]).write_parquet(tmp_path / "0.parquet")
    with pytest.raises(ReadError, match=r"0\.parquet: holds no rows"):
        unweave.blocks(tmp_path / "0.parquet")
    frame(X).write_parquet(tmp_path / "1.parquet")
    assert unweave.blocks(str(tmp_path / "*.parquet")).n_rows == len(X)
    (tmp_path / "0.csv").write_text("a,b\n")
    with pytest.raises(ReadError, match=r"0\.csv"):
        unweave.blocks(tmp_path / "0.csv")
    with pytest.raises(ReadError, match="the array has no rows"):
        unweave.blocks(X[:0])


def test_holes_ask_for_missing(tmp_path):
    holed = frame(X).with_columns(pl.when(pl.col("a") > 1).then(pl.col("a")).alias("a"))
    holed.write_parquet(tmp_path / "a.parquet")
    found = unweave.blocks(tmp_path / "a.parquet", rows=50)
    with pytest.raises(ValueError, match="missing='nan'"):
        unweave.PCA(2).fit(found)
    model = unweave.Factorization(2, codes="ridge", components="ridge", missing="nan", random_state=0, max_iter=10)
    listed = model.fit(list(found)).components_
    np.testing.assert_array_equal(model.fit(found).components_, listed)
