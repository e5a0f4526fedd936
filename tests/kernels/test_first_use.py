"""The first use in a new process: silent and quick with a warm cache, one line when it compiles.

Seconds are of this process on a processor, so that other tests running beside it do not count.
"""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import time, sklearn.base, sklearn.utils.validation, numpy as np, unweave
X = np.random.default_rng(0).random((100, 10))
began = time.process_time()
unweave.{model}.fit(X)
print(time.process_time() - began)
"""


def first_fit(model: str, **env: str) -> tuple[float, str]:
    command = [sys.executable, "-c", SCRIPT.format(model=model)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **env})
    return float(ended.stdout), ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("model", ["PCA(3)", "NMF(3)", "KMeans(3)"])
def test_a_first_fit_with_a_warm_cache_is_quick_and_silent(model):
    first_fit(model)
    runs = [first_fit(model) for _ in range(3)]
    assert min(seconds for seconds, _ in runs) < 1.0
    assert all("compiling" not in said for _, said in runs)


@pytest.mark.slow
def test_a_first_compile_says_so_once(tmp_path):
    _, said = first_fit("NMF(3)", NUMBA_CACHE_DIR=str(tmp_path))
    assert said.count("compiling kernels") == 1
    assert "unweave warmup" in said
