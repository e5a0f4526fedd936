"""Files that are larger than the memory given, and several processes: the verbs work on blocks and say so."""

from __future__ import annotations

import csv
import json
import resource
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from tests.cli.conftest import PROGRAM

pytestmark = pytest.mark.slow

N = 90_000
LITTLE = "--memory", "10MB"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Three groups of rows in 12 columns of numbers, a category and a name: 12 MB as numbers; CSV, Parquet, parts."""
    folder, rng = tmp_path_factory.mktemp("large"), np.random.default_rng(0)
    group = rng.integers(3, size=N)
    X = rng.normal(size=(N, 15)) + 6 * np.eye(3, 15)[group]
    X[::1000, 4] = np.nan
    columns = {f"x{j}": pl.Series(X[:, j]).fill_nan(None) for j in range(15)}
    frame = pl.DataFrame(
        {"who": [f"n{i}" for i in range(N)], **columns, "sort": np.array(["red", "green", "blue"])[group]}
    )
    frame.write_parquet(folder / "t.parquet", row_group_size=20_000)
    frame.with_columns(pl.col(pl.Float64).round(4)).write_csv(folder / "t.csv")
    for i in range(3):
        frame[30_000 * i : 30_000 * (i + 1)].write_parquet(folder / f"part-{i}.parquet")
    np.save(folder / "truth.npy", group)
    return folder


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def agreement(folder, path) -> float:
    from sklearn.metrics import adjusted_rand_score

    found = rows(path)
    assert found[0] == ["row", "group", "distance"] and len(found) == N + 1
    assert found[1][0] == "n0" and found[-1][0] == f"n{N - 1}"
    return adjusted_rand_score(np.load(folder / "truth.npy"), [int(line[1]) for line in found[1:]])


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_a_file_larger_than_the_memory_given_is_worked_on_in_blocks(unweave, table, tmp_path, name):
    done = unweave("group", table / name, "-k", "3", "--out", "out", *LITTLE)
    assert "90,000 rows" in done.stderr and "worked on in blocks" in done.stderr and "90,000 rows in 3" in done.stderr
    assert agreement(table, tmp_path / "out" / "groups.csv") > 0.99
    page = (tmp_path / "out" / "report.html").read_text()
    assert "of the 90,000 rows" in page
    again = unweave("transform", tmp_path / "out" / "model.unweave", table / name, "--out", "again.csv", *LITTLE)
    assert "90,000 rows" in again.stderr
    assert rows(tmp_path / "again.csv") == rows(tmp_path / "out" / "groups.csv")


def test_several_files_and_workers(unweave, table, tmp_path):
    words = ["group", *sorted(table.glob("part-*.parquet")), "-k", "3"]
    done = unweave(*words, "--out", "here", *LITTLE)
    assert "in blocks" in done.stderr
    said = unweave(*words, "--out", "two", "--workers", "2", "--memory", "1GB")
    assert "by 2 workers" in said.stderr
    assert agreement(table, tmp_path / "two" / "groups.csv") > 0.99
    pattern = unweave("group", f"{table}/part-*.parquet", "-k", "3", "--out", "pattern", *LITTLE)
    assert "90,000 rows" in pattern.stderr
    assert rows(tmp_path / "pattern" / "groups.csv") == rows(tmp_path / "here" / "groups.csv")


def test_compress_and_explain_give_the_answers_of_the_table_in_memory(unweave, table, tmp_path):
    more = "--columns", ",".join(f"x{j}" for j in range(15) if j != 4), "--scale", "none"
    blocks = json.loads(unweave("compress", table / "t.parquet", "-k", "2", "--json", *more, *LITTLE).stdout)
    whole = json.loads(unweave("compress", table / "t.parquet", "-k", "2", "--json", *more).stdout)
    assert blocks["rows"] == whole["rows"] == N
    assert blocks["objective"] == pytest.approx(whole["objective"], rel=1e-6)
    first, second = (
        np.array([line[1:] for line in rows(tmp_path / one["out"] / "codes.csv")[1:]], float) for one in (blocks, whole)
    )
    np.testing.assert_allclose(first, second, atol=1e-6)
    said = unweave("explain", table / "t.parquet", "-k", "2", *LITTLE).stderr
    assert "that 90,000 rows are made of" in said


def test_plan_says_what_it_would_cost(unweave, table):
    done = unweave("plan", table / "t.parquet", "--job", "group", "-k", "3", *LITTLE)
    assert all(
        words in done.stderr for words in ("blocks of", "visit an iteration", "reads", "of memory here", "about")
    )
    told = json.loads(
        unweave("plan", table / "t.parquet", "--job", "group", "-k", "3", "--workers", "4", "--memory", "1GB", "--json")
        .stdout
    )  # fmt: skip
    assert told["cost"]["blocks"] > 1 and told["cost"]["worker_memory"] > 0 and told["cost"]["seconds"] > 0


def test_describe_looks_at_some_rows(unweave, table):
    done = unweave("describe", table / "t.csv", *LITTLE)
    assert "90,000 rows × 16 columns" in done.stderr and "red" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--memory", "lots"], "2GB or 500MB"),
        (["--memory", "1MB"], "10MB at least"),
        (["--workers", "2", "--cluster", "tcp://127.0.0.1:1"], "not both"),
    ],
)
def test_options_that_make_no_sense(unweave, table, words, said):
    done = unweave("group", table / "t.parquet", *words, expect=2)
    assert said in done.stderr


def test_a_cluster_that_is_not_there_is_one_sentence(unweave, table):
    done = unweave("group", table / "t.parquet", "-k", "3", "--cluster", "tcp://127.0.0.1:1", expect=1)
    assert "no scheduler of Dask answers" in done.stderr


def test_within_a_limit_of_memory_that_the_table_does_not_fit_in(tmp_path):
    """The limit is the operating system's; nothing is said about memory on the command line."""
    X = np.lib.format.open_memmap(tmp_path / "huge.npy", "w+", np.float32, (1_500_000, 80))
    rng = np.random.default_rng(0)
    for start in range(0, len(X), 125_000):
        X[start : start + 125_000] = rng.standard_normal((125_000, 80), dtype=np.float32) * np.arange(1, 81)
    del X
    limit = 1_200 * 2**20  # as float64 the table alone has 960 MB, and the program needs some 400

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    command = [str(PROGRAM), "compress", "huge.npy", "-k", "2", "--scale", "none"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, preexec_fn=limited, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "half of what is free" in done.stderr and (tmp_path / "huge-compress" / "codes.csv").exists()
    in_memory = [sys.executable, "-c", "import unweave; unweave.PCA(2).fit(unweave.read('huge.npy'))"]
    failed = subprocess.run(in_memory, cwd=tmp_path, capture_output=True, text=True, preexec_fn=limited, timeout=300)
    assert failed.returncode != 0
