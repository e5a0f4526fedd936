"""Dask arrays and data frames in `fit`: every chunk a block, computed where it is visited, and the same bits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from tests.laws.test_every_model import every_model, model, table
from unweave.scale.door import as_blocks
from unweave.scale.visits import Here, visiting

da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def counts(n: int = 130, m: int = 6) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.poisson(rng.gamma(1.0, 1.0, (n, 3)) @ rng.gamma(1.0, 1.0, (3, m))).astype(float)


X = counts()
CHUNKS = (40, 40, 50)


def collection(columns: int = 6):
    return da.from_array(X, chunks=(CHUNKS, columns))


def cut() -> list[np.ndarray]:
    return [X[:40], X[40:80], X[80:]]


@every_model
def test_a_model_takes_a_collection_as_it_takes_blocks_or_says_what_to_do(name):
    X = table(name)
    blocks = [X[:21], X[21:44], X[44:]]
    lazy = da.from_array(X, chunks=((21, 23, len(X) - 44), *X.shape[1:]))
    if name == "HiddenMarkov":  # a list of tables is a list of sequences, which chunks are not
        with pytest.raises(ValueError, match=r"HiddenMarkov needs X as one table in memory.*X\.compute\(\)"):
            model(name).fit(lazy)
        return
    try:
        expected = model(name).fit(blocks)
    except ValueError as error:
        assert "blocks" in str(error)
        with pytest.raises(ValueError, match=rf"(?s)({name}|this).* needs X .*(X\.compute\(\)|vstack)"):
            model(name).fit(lazy)
        return
    fitted = model(name).fit(lazy)
    assert fitted.objective_ == expected.objective_
    for answer in ("transform", "predict", "predict_proba", "score_samples"):
        if hasattr(fitted, answer):
            try:
                found = getattr(expected, answer)(blocks)
            except ValueError as error:
                assert "blocks" in str(error) or "block" in str(error)
                with pytest.raises(ValueError, match="block"):
                    getattr(fitted, answer)(lazy)
                continue
            told = getattr(fitted, answer)(lazy)
            np.testing.assert_array_equal(np.asarray(told), np.asarray(found), err_msg=answer)


def test_every_chunk_is_a_block_with_all_columns():
    found = as_blocks(collection(4))
    assert len(found) == 3 and found.sizes == list(CHUNKS) and found.n_columns == 6
    np.testing.assert_array_equal(np.vstack([found[0], found[1], found[-1]]), X)
    assert repr(found) == "<3 blocks of up to 50 rows × 6 columns from a Dask array>"
    assert unweave.blocks(collection(), rows=30).sizes == [30, 30, 30, 30, 10]
    np.testing.assert_array_equal(unweave.blocks(collection(), columns=[4, 0], dtype="float32")[0], X[:40][:, [4, 0]])
    with pytest.raises(IndexError, match="there is no block 3"):
        found[3]


def test_only_the_chunk_that_is_asked_for_is_computed():
    asked = []

    def noted(block, block_info=None):
        asked.append(block_info[0]["chunk-location"][0])
        return block

    lazy = collection().map_blocks(noted, dtype=X.dtype, meta=X[:0])
    found = as_blocks(lazy)
    found[1]
    assert asked == [1]
    here = Here()
    asked.clear()
    with visiting(here):
        unweave.PCA(2).fit(lazy)
    assert here.loads == 3 * here.passes and here.loads <= len(asked) <= here.loads + 3


def test_what_makes_a_block_carries_its_own_part_of_the_data_alone():
    wide = np.random.default_rng(0).random((1000, 50))
    found = as_blocks(da.from_array(wide, chunks=(100, 50)) * 2)
    sent = pickle.dumps(found.fetch(3))
    assert len(sent) < 2 * wide.nbytes / 10
    np.testing.assert_array_equal(pickle.loads(sent)(), 2 * wide[300:400])
    drawn = as_blocks(da.random.default_rng(0).random((100_000, 50), chunks=(100, 50)))
    assert len(pickle.dumps(drawn.fetch(3))) < 10_000


def test_unknown_numbers_of_rows_and_empty_chunks():
    lazy = collection()
    kept = lazy[lazy[:, 0] > 4]
    assert np.isnan(kept.shape[0])
    expected = unweave.PCA(2).fit([block[block[:, 0] > 4] for block in cut()])
    np.testing.assert_array_equal(unweave.PCA(2).fit(kept).components_, expected.components_)
    first = lazy[da.arange(130, chunks=(CHUNKS,)) >= 40]
    np.testing.assert_allclose(unweave.PCA(2).fit(first).components_, unweave.PCA(2).fit(X[40:]).components_, atol=1e-8)


def test_sparse_chunks():
    lazy = collection().map_blocks(sp.csr_array, dtype=X.dtype, meta=sp.csr_array((0, 0)))
    listed = [sp.csr_array(block) for block in cut()]
    for made in (unweave.TruncatedSVD(2), unweave.LDA(2, random_state=0, max_iter=4)):
        np.testing.assert_array_equal(made.fit(lazy).components_, made.fit(listed).components_)


def test_numbers_found_for_auto_and_pages_of_collections(tmp_path):
    found = unweave.KMeans("auto", random_state=0).fit(collection())
    assert found.cluster_centers_.shape == unweave.KMeans("auto", random_state=0).fit(cut()).cluster_centers_.shape
    found.report(tmp_path / "page.html", collection())
    assert "html" in (tmp_path / "page.html").read_text()[:200]


def test_what_is_no_table_is_told():
    with pytest.raises(ValueError, match="X is a Dask Array, not a table: give a Dask array or data frame of two"):
        unweave.PCA(2).fit(da.zeros(5, chunks=2))
    with pytest.raises(ValueError, match="partial_fit of KMeans takes one block at a time"):
        unweave.KMeans(2).partial_fit(collection())
    with pytest.raises(ValueError, match="could not be read: a chunk that fails"):

        def failing(block, block_info=None):
            if block_info[0]["chunk-location"][0] == 1:
                raise RuntimeError("a chunk that fails")
            return block

        unweave.PCA(2).fit(collection().map_blocks(failing, dtype=X.dtype, meta=X[:0]))


# -- data frames -------------------------------------------------------------------------------------------------------


def data_frame():
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    return dd.from_pandas(pd.DataFrame(X, columns=list("abcdef")), npartitions=3, sort=False)


def test_data_frames_bring_their_names():
    lazy = data_frame()
    parts = [lazy.partitions[i].compute() for i in range(3)]
    fitted = unweave.PCA(2).fit(lazy)
    assert list(fitted.feature_names_in_) == list("abcdef")
    np.testing.assert_array_equal(fitted.components_, unweave.PCA(2).fit(parts).components_)
    np.testing.assert_array_equal(fitted.transform(lazy), fitted.transform(parts))
    some = unweave.blocks(lazy[lazy.a > 1], columns=["f", "b"])
    assert some.n_columns == 2 and list(some[0].columns) == ["f", "b"] and some.n_rows is None
    np.testing.assert_array_equal(np.vstack(list(some)), X[X[:, 0] > 1][:, [5, 1]])
    with pytest.raises(ValueError, match="X has no 'z'; its columns are 'a'"):
        unweave.blocks(lazy, columns=["z"])
    with pytest.raises(ValueError, match="its partitions"):
        unweave.blocks(lazy, rows=10)


def test_data_frames_with_words_are_refused_by_name():
    lazy = data_frame()
    lazy = lazy.assign(word=lazy.a.astype(str))
    with pytest.raises(ValueError, match=r"columns that are not numbers \(word\)"):
        unweave.PCA(2).fit(lazy)


# -- on a cluster ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [unweave.PCA(2), unweave.KMeans(3, random_state=0), unweave.NMF(2, random_state=0)])
def test_a_cluster_ends_in_the_same_bits(made, client):
    lazy = collection(3)
    here = made.fit(lazy).components_
    there = made.fit(lazy, client=client).components_
    np.testing.assert_array_equal(here, there)


def test_chunks_are_computed_on_the_workers_and_not_here(client):
    import os

    def elsewhere(block, mine):
        if os.getpid() == mine and len(block) == 50:
            raise RuntimeError("the process that fits was asked for the last chunk")
        return block

    lazy = collection().map_blocks(elsewhere, os.getpid(), dtype=X.dtype, meta=X[:0])
    there = unweave.PCA(2).fit(lazy, client=client).components_
    np.testing.assert_array_equal(there, unweave.PCA(2).fit(cut()).components_)


def test_what_was_persisted_is_read_where_it_lies(client):
    lazy = collection()
    with client.as_current():
        lying = (lazy - lazy.mean(axis=0)).persist()
    expected = unweave.PCA(2).fit([block - X.mean(axis=0) for block in cut()]).components_
    for given in (lying, lying * 2):
        np.testing.assert_allclose(unweave.PCA(2).fit(given, client=client).components_, expected, atol=1e-8)
        np.testing.assert_allclose(unweave.PCA(2).fit(given).components_, expected, atol=1e-8)


def test_data_frames_on_a_cluster(client):
    lazy = data_frame()
    with client.as_current():
        lying = (lazy * 2).persist()
    for given in (lazy[lazy.a > 0], lying, lying[["f", "b", "a"]] + 1):
        here = unweave.PCA(2).fit(given)
        there = unweave.PCA(2).fit(given, client=client)
        np.testing.assert_array_equal(here.components_, there.components_)
        assert list(there.feature_names_in_) == list(given.columns)
        expected = unweave.PCA(2).fit(given.compute()).components_
        np.testing.assert_allclose(here.components_, expected, atol=1e-8)


def test_files_maps_and_arrays_on_a_cluster(client, tmp_path):
    import polars as pl

    pl.DataFrame(X).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame(X).write_csv(tmp_path / "a.csv")
    np.save(tmp_path / "a.npy", X)
    sources = [tmp_path / "a.parquet", tmp_path / "a.csv", np.load(tmp_path / "a.npy", mmap_mode="r"), X]
    expected = unweave.NMF(2, random_state=0).fit(unweave.blocks(X, rows=40)).components_
    for source in sources:
        found = unweave.blocks(source, rows=40)
        fitted = unweave.NMF(2, random_state=0).fit(found, client=client)
        np.testing.assert_array_equal(fitted.components_, expected)


def test_a_function_that_brings_much_data_is_sent_once(client):
    from unweave.scale.cluster import Cluster

    large = np.random.default_rng(0).random((4000, 200))
    cluster = Cluster(client)
    lazy = da.from_array(large, chunks=(2000, 200))
    fitted = unweave.PCA(2).fit(lazy, client=cluster)
    ways = [way for source in cluster._sources.values() for way in source.ways.values()]
    assert len(ways) == 2 and all(hasattr(way, "key") for way in ways)  # tasks that hold it, not functions
    np.testing.assert_array_equal(fitted.components_, unweave.PCA(2).fit(lazy).components_)


def test_a_file_that_is_gone_is_told_from_a_worker(client, tmp_path):
    for i, block in enumerate(cut()):
        np.save(tmp_path / f"{i}.npy", block)
    found = unweave.blocks(str(tmp_path / "*.npy"))
    (tmp_path / "2.npy").unlink()
    with pytest.raises(ValueError, match=r"block 2 of X could not be read: .*2.npy, rows 1 to 50: the file was there"):
        unweave.PCA(2).fit(found, client=client)
