"""The table of the benchmark names the peer that is hardest to beat: by quality where that is the aim, else by time."""

import math
from pathlib import Path

import pytest

from benchmarks import results
from benchmarks.harness import Row
from benchmarks.rows import all_rows, rows
from benchmarks.table import Report, summary


def nothing(*_):
    """Stands where a row has a function that the table never calls."""


def record(contender, seconds, objective, threads=1, **more):
    known = {"contender": contender, "threads": threads, "seconds": seconds, "objective": objective, "runs": 1}
    return {**known, "iterations": 1, "error": None, "target": None, "flops": 0.0, "bytes": 0.0, **more}


def report(aim, results):
    peers = dict.fromkeys(["careful", "hasty", "lost"], nothing)
    row = Row("row", "a row", 1.0, nothing, nothing, peers, nothing, aim=aim, value="mean error")
    return Report(row, results)


RESULTS = [
    record("unweave", 4.0, 0.43),
    record("careful", 5.0, 0.54, 1),
    record("careful", 6.0, 0.52, 2),
    record("hasty", 0.2, 0.86),
    record("lost", 0.1, math.nan),
]


def test_rows_of_quality_name_the_best_peer_at_its_best_setting():
    found = report("below", RESULTS)
    assert [match.peer["contender"] for match in found.matches()] == ["careful", "hasty", "lost"]
    assert found.matches()[0].peer["threads"] == 2 and found.matches()[0].ratio == pytest.approx(1.5)
    assert "careful: 6 s (2 thr.), 0.5200" in summary(found, {}, "today")
    assert report("below", RESULTS[:4]).verdict() == "pass: lower mean error"


def test_rows_of_speed_name_the_quickest_peer():
    found = report("none", [r for r in RESULTS if r["contender"] != "lost"])
    assert [match.peer["contender"] for match in found.matches()] == ["hasty", "careful"]
    assert found.matches()[1].peer["threads"] == 1
    assert "hasty: 0.2 s (1 thr.), 0.8600" in summary(found, {}, "today")


def test_contenders_that_failed_are_left_out():
    found = report("below", [RESULTS[0], record("careful", math.inf, math.nan, error="no memory"), RESULTS[3]])
    assert [match.peer["contender"] for match in found.matches()] == ["hasty"]
    assert report("below", [RESULTS[1]]).verdict() == "not measured: no contender ran"


def test_the_page_of_results_is_written_from_the_measured_rows():
    page = Path(results.__file__).with_name("results.md").read_text(encoding="utf-8")
    assert page == results.render(results.kept_rows())
    kept = [one.report.row.name for one in results.kept_rows()]
    assert [name for name in kept if name in rows()] == list(rows())
    assert [name for name in kept if name not in rows()] == [
        name for name in all_rows() if name in set(kept) - set(rows())
    ]
    assert all(one.report.row.title in page and one.run.commit for one in results.kept_rows())
