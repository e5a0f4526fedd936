"""Visits in this process, what rows keep between them, and the order in which summaries are added."""

from __future__ import annotations

import gc
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unweave
from unweave.scale.kept import Folder, Kept, read_own, write_own
from unweave.scale.scratch import Scratch
from unweave.scale.summing import Sum, add, same, tree
from unweave.scale.visits import Here, Loader, listening, visited, visiting, visits_now


def as_read(raw, i: int):
    return raw


class Watched:
    """A sequence that notes which blocks are read, when, and by which thread."""

    def __init__(self, blocks):
        self.blocks, self.read, self.threads = blocks, [], set()

    def __len__(self):
        return len(self.blocks)

    def __getitem__(self, i):
        self.read.append(i)
        self.threads.add(threading.current_thread().name)
        return self.blocks[i]


# -- sums --------------------------------------------------------------------------------------------------------------


def joined(few: list) -> str:
    total = few[0]
    for part in few[1:]:
        total = f"({total}+{part})"
    return total


class Text:
    """A summary whose sum tells the order in which it was added."""

    def __init__(self, text: str):
        self.text = text

    def __add__(self, other):
        return Text(f"({self.text}+{other.text})")


@given(st.integers(0, 700))
def test_a_sum_is_added_in_the_order_of_the_tree(n):
    total = Sum()
    for i in range(n):
        total.take(Text(str(i)))
    found, expected = total.close(), tree(map(str, range(n)), joined)
    assert (found.text if n else found) == expected


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=200))
def test_no_part_is_lost(numbers):
    total = Sum()
    for number in numbers:
        total.take({"a": (np.array([number]), 1)})
    found = total.close()
    assert found["a"][1] == len(numbers)
    assert found["a"][0][0] == pytest.approx(np.sum(numbers), abs=1e-6 * (1 + np.abs(numbers).sum()))


def test_a_sum_holds_few_parts_at_a_time():
    total = Sum()
    for _ in range(10_000):
        total.take(1)
        assert sum(map(len, total._levels)) <= 7 * 5
    assert total.close() == 10_000


def test_nothing_adds_nothing():
    assert add(None, 3) == 3 and add(3, None) == 3 and add(None, None) is None
    assert Sum().close() is None and tree([], joined) is None


def test_summaries_agree_to_the_bit_or_not():
    one = {"a": (np.array([1.0, np.nan]), 2)}
    assert same(one, {"a": (np.array([1.0, np.nan]), 2)})
    assert not same(one, {"a": (np.array([np.nextafter(1.0, 2), np.nan]), 2)})


# -- visits ------------------------------------------------------------------------------------------------------------


@pytest.fixture(params=[1, 2], ids=["one thread", "two threads"])
def threads(request):
    before = unweave.set_num_threads(request.param)
    yield request.param
    unweave.set_num_threads(before)


@pytest.mark.parametrize("n", [1, 2, 20])
def test_every_block_is_read_once(n, threads):
    source, here = Watched([np.full((2, 2), i) for i in range(n)]), Here()
    total, kept = here.each(Loader(source, as_read), lambda block, state, own: (float(block.sum()), None))
    assert sorted(source.read) == list(range(n)) and total == 4 * sum(range(n)) and kept is None
    assert (here.passes, here.loads) == (1, n)


def test_two_blocks_are_in_memory_at_a_time_and_no_more(threads):
    """On one thread the next is read while one is worked on, on several both are worked on."""
    source, done, held = Watched([np.full((2, 2), i) for i in range(6)]), [], []

    def task(block, state, own):
        i = int(block[0, 0])
        deadline = time.monotonic() + 10
        while i < 5 and len(source.read) < len(done) + 2 and time.monotonic() < deadline:
            time.sleep(0.001)  # until the next is there
        held.append(len(source.read) - len(done))
        done.append(i)
        return 0, None

    Here().each(Loader(source, as_read), task)
    assert sorted(done) == list(range(6)) and max(held) <= 3  # an answer may be on its way to who adds it up
    assert any(count >= 2 for count in held)
    assert threading.current_thread().name not in source.threads
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("unweave-block")]


def test_some_blocks_in_another_order():
    source, here = Watched([f"{i}" for i in range(5)]), Here()
    load = Loader(source, as_read, places=[4, 1, 2])
    assert list(here.gather(load, lambda block, state, own: (block + state, None), "!")) == ["4!", "1!", "2!"]
    assert here.in_turn(load, lambda block, state, own: (state + block, None), "", [2, 0]) == "24"
    assert (here.passes, here.loads) == (2, 5)


def test_what_a_block_keeps_comes_back_to_it_alone():
    load, here = Loader([np.full(3, i) for i in range(9)], as_read), Here()

    def task(block, state, own):
        before = [] if own is None else own["seen"].tolist()
        return None, {"seen": np.array([*before, int(block[0]) + state])}

    kept = None
    for state in (0, 10, 20):
        _, kept = here.each(load, task, state, kept)
    assert [kept.own(i)["seen"].tolist() for i in range(9)] == [[i, i + 10, i + 20] for i in range(9)]


def test_the_former_is_whole_after_a_visit_that_fails(tmp_path):
    load, here = Loader([np.full(300, i) for i in range(4)], as_read), Here(most_kept=0, folder=tmp_path)
    _, kept = here.each(load, lambda block, state, own: (None, {"codes": block}))

    def failing(block, state, own):
        if block[0] == 2:
            raise RuntimeError("no")
        return None, {"codes": own["codes"] + 1}

    with pytest.raises(RuntimeError, match="no"):
        here.each(load, failing, None, kept)
    gc.collect()
    assert [int(kept.own(i)["codes"][0]) for i in range(4)] == [0, 1, 2, 3]
    assert len(list(tmp_path.iterdir())) == 1, "what the failed visit wrote is gone"
    del kept
    gc.collect()
    assert not any(tmp_path.iterdir())


def test_a_block_that_cannot_be_read_is_named():
    class Broken(Watched):
        def __getitem__(self, i):
            if i == 2:
                raise FileNotFoundError("part-2.parquet: no such file")
            return super().__getitem__(i)

    with pytest.raises(OSError, match=r"block 2 of X could not be read: part-2.parquet: no such file"):
        Here().each(Loader(Broken([np.zeros(1)] * 4), as_read), lambda block, state, own: (0, None))


def test_a_block_too_large_is_named():
    def task(block, state, own):
        raise MemoryError("Unable to allocate 3 TiB")

    with pytest.raises(MemoryError, match=r"block 5 of X does not fit into memory .*: give smaller blocks"):
        visited(np.zeros(1), 5, as_read, task, None, None)


def test_who_listens_hears_of_every_block():
    load, here, heard = Loader(list("abc"), as_read), Here(), []
    task = lambda block, state, own: (0, None)  # noqa: E731
    with listening(lambda *told: heard.append(told)):
        here.each(load, task)
        list(here.gather(load, task))
        here.in_turn(load, task, None, [1, 0])
    here.each(load, task)
    assert heard == [*((p, i, 3) for p in (1, 2) for i in (1, 2, 3)), (3, 1, 2), (3, 2, 2)]


def test_whoever_is_set_visits():
    mine = Here()
    with visiting(mine):
        assert visits_now() is mine
        with visiting(None):
            assert visits_now() is mine
    assert visits_now() is not mine


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_folder_goes_with_the_last_who_holds_it(tmp_path):
    folder = Folder(tmp_path / "a" / "b")
    kept = Kept([write_own(folder.path / "0", {"codes": np.eye(2)}), None], folder)
    path = folder.path
    del folder
    gc.collect()
    np.testing.assert_array_equal(kept.own(0)["codes"], np.eye(2))
    assert kept.own(1) is None
    del kept
    gc.collect()
    assert not path.exists()


def test_a_lasting_folder_stays_until_it_is_told(tmp_path):
    folder = Folder(tmp_path / "rows", lasting=True)
    path = folder.path
    del folder
    gc.collect()
    assert path.exists()
    folder = Folder(path, lasting=True)
    folder.expendable()
    assert path.exists()
    del folder
    gc.collect()
    assert not path.exists()


def test_what_is_stored_is_found_again(tmp_path):
    kept = Kept([{"codes": np.arange(3.0)}, None, {"codes": np.ones(2, np.float32), "former": np.zeros(2)}])
    folder = Folder(tmp_path / "rows", lasting=True)
    again = Kept.stored(folder, kept.store(folder, "kept"))
    assert len(again) == 3 and again.own(1) is None
    for i in (0, 2):
        for name, array in kept.own(i).items():
            np.testing.assert_array_equal(again.own(i)[name], array)
            assert again.own(i)[name].dtype == array.dtype
    Path(again.items[2]).unlink()
    with pytest.raises(ValueError, match=r"the codes of the checkpoint are gone .*delete the checkpoint"):
        Kept.stored(folder, {"kept": ["kept-0", None, "kept-2"]})


def test_what_is_given_is_kept_as_it_is():
    own = {"codes": np.zeros(2)}
    assert read_own(own) is own and read_own(None) is None


def test_a_sheet_is_written_and_read_by_rows(tmp_path, dtype):
    scratch = Scratch(tmp_path)
    sheet = scratch.sheet((6, 3), dtype)
    rows = np.arange(12).reshape(4, 3).astype(dtype)
    sheet.write(2, rows)
    np.testing.assert_array_equal(sheet.rows(2, 6), rows)
    np.testing.assert_array_equal(sheet.array(), np.vstack([np.zeros((2, 3)), rows]))
    assert sheet.array().dtype == sheet.rows(0, 1).dtype == dtype
    sheet.write(1, np.full((1, 3), 7))  # of another type
    np.testing.assert_array_equal(sheet.rows(0, 3), np.vstack([np.zeros(3), np.full(3, 7), rows[0]]))
    sheet.remove()
    assert not Path(sheet.path).exists()
    path = scratch.path
    del scratch
    gc.collect()
    assert not path.exists()
