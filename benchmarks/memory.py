"""``python -m benchmarks.memory``: fit ten million rows from a file under a limit of memory, a process for each model.

The table is a memory map of 10M×100 float32 numbers (4 GB). Each process compiles its kernels on a small table first,
then limits what it may allocate (``RLIMIT_DATA``, which leaves maps of files alone) to 600 MB more, and fits.
A fit that needs more ends with a MemoryError. Prints seconds, iterations, loads of a block, and the peak of resident
memory that is no map of a file.

    python -m benchmarks.memory                            # all four; makes the table in a temporary folder
    python -m benchmarks.memory --rows 2000000             # smaller
    python -m benchmarks.memory --keep                     # keep it in measured/memory.json, write results.md anew
    python -m benchmarks.memory --model NMF --table t.npy  # one model, a table that is there
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

LIMIT = 600_000_000
PART = 250_000  # rows of a block
# What the system limits is address space, of which the C library sets some aside for every thread that allocates. So
# that the limit is one on memory, there is one heap, and large arrays go back when they are freed.
ONE_HEAP = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "1000000", "MALLOC_TRIM_THRESHOLD_": "1000000"}

MODELS: dict[str, Callable[[Any, int], Any]] = {
    "PCA": lambda unweave, most: unweave.PCA(10),
    "KMeans": lambda unweave, most: unweave.KMeans(16, max_iter=most, random_state=0),
    "NMF": lambda unweave, most: unweave.NMF(10, max_iter=most, random_state=0),
    "GaussianMixture": lambda unweave, most: unweave.GaussianMixture(
        8, covariance_type="diag", max_iter=most, random_state=0
    ),
}


def write_table(path: Path, n: int, m: int = 100) -> None:
    """Eight groups about positive centres, a part at a time."""
    rng = np.random.default_rng(0)
    centres = rng.gamma(2.0, 2.0, (8, m)).astype(np.float32)
    table = np.lib.format.open_memmap(path, "w+", np.float32, (n, m))
    for start in range(0, n, PART):
        rows = min(PART, n - start)
        table[start : start + rows] = centres[rng.integers(8, size=rows)] * rng.gamma(4.0, 0.25, (rows, 1))
        table[start : start + rows] += rng.random((rows, m), dtype=np.float32)
    table.flush()


def _status(name: str) -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


class _Watch(threading.Thread):
    """Notes the peak of anonymous memory twenty times a second."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.ended = 0, threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.05):
            self.peak = max(self.peak, _status("RssAnon"))


def fit(name: str, path: Path, limit: int, part: int, iterations: int, whole: bool) -> dict:
    """Fit one model in this process, under the limit; `whole` reads the table into memory, which must not fit."""
    import unweave
    from unweave.scale.visits import Here, visiting

    warnings.simplefilter("ignore")
    X = np.load(path, mmap_mode="r")
    blocks = [X[start : start + part] for start in range(0, len(X), part)]
    MODELS[name](unweave, 2).fit([np.array(blocks[0][:500]), np.array(blocks[0][500:1000])])
    before = _status("RssAnon")
    threading.stack_size(1 << 20)  # eight times that would be set aside for every thread
    resource.setrlimit(resource.RLIMIT_DATA, (_status("VmData") + limit, resource.RLIM_INFINITY))
    watch, visits = _Watch(), Here(most_kept=limit // 5)  # codes beyond that are kept in files
    watch.start()
    started = time.perf_counter()
    with visiting(visits):
        model = MODELS[name](unweave, iterations).fit(np.array(X) if whole else blocks)
    seconds = time.perf_counter() - started
    watch.ended.set()
    loads = visits.loads / len(blocks)
    return {"seconds": seconds, "iterations": model.n_iter_, "loads": loads, "peak_mb": (watch.peak - before) / 1e6}


def table_of(found: dict[str, dict]) -> str:
    """What was found, as a table."""
    lines = ["| model | s | iterations | loads of a block | MB beyond the map |", "|---|---|---|---|---|"]
    for name, one in found.items():
        if "failed" in one:
            lines.append(f"| {name} | failed: {one['failed']} | | | |")
        else:
            numbers = f"{one['seconds']:.1f} | {one['iterations']} | {one['loads']:g} | {one['peak_mb']:.0f}"
            lines.append(f"| {name} | {numbers} |")
    return "\n".join(lines)


def measure(rows: int, folder: Path) -> dict[str, dict]:
    """Make a table of so many rows, and fit every model to it in a process of its own."""
    path, found = folder / "table.npy", {}
    write_table(path, rows)
    for name in MODELS:
        command = [sys.executable, "-m", "benchmarks.memory", "--model", name, "--table", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | ONE_HEAP)
        said = done.stderr.strip().splitlines() or ["nothing was said"]
        found[name] = {"failed": said[-1]} if done.returncode else json.loads(done.stdout)
        print(table_of({name: found[name]}).splitlines()[-1], file=sys.stderr, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--model", choices=MODELS, help="this one, in this process")
    parser.add_argument("--table", type=Path, help="of --model: a NumPy file")
    parser.add_argument("--limit", type=int, default=LIMIT, help="of --model: bytes")
    parser.add_argument("--part", type=int, default=PART, help="of --model: rows of a block")
    parser.add_argument("--iterations", type=int, default=5, help="of --model")
    parser.add_argument("--whole", action="store_true", help="of --model: read the whole table into memory")
    parser.add_argument("--keep", action="store_true", help="keep what was found, rewrite results.md")
    options = parser.parse_args()
    if options.model:
        how = options.limit, options.part, options.iterations, options.whole
        print(json.dumps(fit(options.model, options.table, *how)))
        return
    with tempfile.TemporaryDirectory() as folder:
        found = measure(options.rows, Path(folder))
    print(table_of(found))
    if options.keep:
        from benchmarks import results

        results.keep_memory({"rows": options.rows, "limit_mb": LIMIT // 1_000_000, "found": found}, sys.argv[1:])


if __name__ == "__main__":
    main()
