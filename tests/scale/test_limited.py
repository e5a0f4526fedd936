"""Tables that do not fit into memory as a whole are fitted in blocks, within a limit that the system enforces."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.memory import MODELS, ONE_HEAP, write_table

LIMIT, PART, ROWS = 200_000_000, 40_000, 1_000_000  # bytes, rows of a block (16 MB), rows of the table (400 MB)
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "table.npy"
    write_table(path, ROWS)
    yield path
    path.unlink()


def fitted_under_the_limit(model, table, *more):
    command = [sys.executable, "-m", "benchmarks.memory", "--model", model, "--table", str(table)]
    command += ["--limit", str(LIMIT), "--part", str(PART), "--iterations", "2", *more]
    env = os.environ | ONE_HEAP
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=env)


@pytest.mark.parametrize("model", MODELS)
def test_a_table_twice_the_limit_is_fitted_in_blocks(model, table):
    done = fitted_under_the_limit(model, table)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert 0 < found["peak_mb"] < LIMIT / 1e6
    assert found["loads"] <= found["iterations"] + 4  # one look, the start, iterations, the last visit


def test_the_limit_is_one_that_the_whole_table_does_not_fit_under(table):
    done = fitted_under_the_limit("PCA", table, "--whole")
    assert done.returncode and "Unable to allocate" in done.stderr
