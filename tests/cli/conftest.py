"""The installed program, run in a folder of its own."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

PROGRAM = Path(sys.executable).with_name("unweave")


class Shell:
    """Runs ``unweave …`` in one folder, with `more` in its environment, and keeps what it said."""

    def __init__(self, folder: Path):
        self.folder = folder

    def __call__(self, *words, expect: int = 0, **more: str) -> subprocess.CompletedProcess:
        env = {
            **os.environ,
            **more,
            "COLUMNS": "120",
            "NO_COLOR": "1",
            "UNWEAVE_NUM_THREADS": "1",
            "POLARS_MAX_THREADS": "1",
        }
        done = subprocess.run(
            [str(PROGRAM), *map(str, words)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            env=env,
            timeout=300,
        )
        assert done.returncode == expect, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        if expect == 1:
            lines = [line for line in done.stderr.splitlines() if line.startswith("unweave: ")]
            assert len(lines) == 1 and "Traceback" not in done.stderr, done.stderr
        return done


@pytest.fixture
def unweave(tmp_path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture
def wine(tmp_path) -> Path:
    """The wine table: 178 rows with names, thirteen columns in unlike units, one of them constant."""
    data = load_wine()
    lines = [",".join(["name", *data.feature_names, "bottles"])]
    lines += [",".join([f"wine {i}", *(f"{v:g}" for v in row), "1"]) for i, row in enumerate(data.data)]
    path = tmp_path / "wine.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def holes(tmp_path, rng) -> Path:
    """A low-rank table of numbers with a fifth of its cells empty."""
    X = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 9)) * [1, 1, 1, 1, 1, 1, 1, 1, 100] + 5
    lines = [",".join(f"c{j}" for j in range(9))]
    lines += [",".join("" if rng.random() < 0.2 else f"{v:.6g}" for v in row) for row in X]
    path = tmp_path / "holes.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    np.save(tmp_path / "truth.npy", X)
    return path


@pytest.fixture
def ratings(tmp_path, rng) -> Path:
    """MovieLens-like triples with a header."""
    lines = ["userId,movieId,rating,timestamp"]
    for u in range(60):
        for i in rng.choice(40, 12, replace=False):
            lines.append(f"{u + 1},{i + 100},{rng.integers(1, 6)},{1_000_000_000 + u}")
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
