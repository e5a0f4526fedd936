"""How much memory a process may use, and when a mapped table is cut because it would not fit."""

from __future__ import annotations

import resource
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from unweave.scale.block_source import BlockSource
from unweave.scale.door import as_blocks
from unweave.scale.memory import _left_by_groups, bytes_of, free_memory, larger_than_memory


@contextmanager
def at_most(more: int):
    """Let this process have only so many bytes of data beyond what it has."""
    has = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData"))
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, ((int(has.split()[1]) << 10) + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def test_amounts_are_read():
    assert [bytes_of(x) for x in ("2GB", "1.5 GiB", "64mb", "100", 7, 2.0)] == [
        2 * 10**9, 3 << 29, 64 * 10**6, 100, 7, 2,
    ]  # fmt: skip
    for wrong in ("", "2 apples", 0, -1, True, "-2GB", float("nan")):
        with pytest.raises(ValueError, match=r"is no amount of memory: give a number of bytes, or text such as '2GB'"):
            bytes_of(wrong)


def test_limits_of_the_process_count():
    before = free_memory()
    with at_most(300 << 20):
        assert 0 < free_memory() <= 300 << 20
        assert larger_than_memory(200 << 20) and not larger_than_memory(50 << 20)
    assert free_memory() > before // 2


def test_limits_of_control_groups_count_from_the_process_upwards(tmp_path):
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "mine").write_text("0::/outer/inner\n")
    for folder, most, now in ((inner, "max", 5), (inner.parent, "1000", 400)):
        (folder / "memory.max").write_text(f"{most}\n")
        (folder / "memory.current").write_text(f"{now}\n")
    (inner.parent / "memory.stat").write_text("anon 300\ninactive_file 100\n")
    assert _left_by_groups(str(tmp_path), str(tmp_path / "mine")) == [700]
    assert _left_by_groups(str(tmp_path / "nowhere"), str(tmp_path / "nothing")) == []


def test_a_map_that_memory_does_not_hold_is_cut(tmp_path):
    X = np.lib.format.open_memmap(tmp_path / "a.npy", mode="w+", dtype=np.float32, shape=(1_500_000, 40))
    assert as_blocks(X) is X  # the 240 MB are never written
    with at_most(400 << 20):
        found = as_blocks(X)
    assert isinstance(found, BlockSource) and found.n_rows == len(X) and len(found) == 4
