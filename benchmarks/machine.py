"""What this machine can do at most: GEMM rate and memory bandwidth, measured beside the fits."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = [
    "unweave", "numpy", "scipy", "scikit-learn", "numba", "faiss-cpu", "implicit", "scikit-surprise", "threadpoolctl",
    "dask", "distributed", "dask-ml", "pyspark",
]  # fmt: skip


def _best(call: Callable[[], object], repeats: int = 5) -> float:
    call()
    seconds = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def gemm(dtype: str, threads: int, n: int = 2048) -> float:
    """GFLOP/s of a product of two n×n matrices with the BLAS that NumPy uses."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    a = np.random.default_rng(0).random((n, n)).astype(dtype)
    out = np.empty_like(a)
    with threadpool_limits(limits=threads, user_api="blas"):
        return 2 * n**3 / _best(lambda: np.dot(a, a, out=out)) / 1e9


def bandwidth(threads: int, megabytes: int = 512) -> float:
    """GB/s of copying arrays far larger than the caches (bytes read plus bytes written)."""
    import numpy as np

    size = megabytes * 2**20 // 8 // threads
    pairs = [(np.ones(size), np.zeros(size)) for _ in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        seconds = _best(lambda: list(pool.map(lambda pair: np.copyto(pair[1], pair[0]), pairs)))
    return 2 * 8 * size * threads / seconds / 1e9


def limits() -> dict[str, float]:
    """``{"float32 1": GFLOP/s, ..., "copy 2": GB/s}`` for one and two threads."""
    found = {f"{dtype} {t}": gemm(dtype, t) for dtype in ("float32", "float64") for t in (1, 2)}
    return found | {f"copy {t}": bandwidth(t) for t in (1, 2)}


def cpu() -> str:
    """The model of the processor, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def versions() -> dict[str, str]:
    """Versions of what is measured; packages that are not installed are left out."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
