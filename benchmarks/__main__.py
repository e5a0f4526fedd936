"""``python -m benchmarks --data FOLDER [--rows pca,nmf-kl] [--quick] [--keep]``: measure, and print the table."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import machine, results
from benchmarks.rows import all_rows, rows
from benchmarks.table import Report


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the data sets")
    parser.add_argument("--rows", default="", help="only these, separated by commas: " + ", ".join(all_rows()))
    parser.add_argument("--quick", action="store_true", help="small tables, one round: does everything run?")
    parser.add_argument("--repeats", type=int, help="at most so many rounds")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds after which a contender is not run again")
    parser.add_argument("--no-ours", dest="ours", action="store_false", help="the peers alone")
    parser.add_argument("--no-memory", dest="memory", action="store_false", help="do not measure peak memory")
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="do not measure compiling")
    parser.add_argument("--keep", action="store_true", help="keep the rows in benchmarks/measured, rewrite results.md")
    options = parser.parse_args(arguments)
    if options.keep and options.quick:
        parser.error("--keep is for full tables: leave --quick out")
    options.size = "quick" if options.quick else "full"
    options.repeats = 1 if options.quick else options.repeats
    options.rows = [name for name in options.rows.split(",") if name] or list(rows())
    unknown = [name for name in options.rows if name not in all_rows()]
    if unknown:
        parser.error(f"no such row: {', '.join(unknown)}; there are {', '.join(all_rows())}")
    return options


def child(mode: str, row: str, options: argparse.Namespace, *extra: Any, env: dict[str, str] | None = None) -> dict:
    """Run one measurement in a process of its own; what it found, or why it failed."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "answer.json"
        command = [sys.executable, "-m", "benchmarks.child", mode, "--row", row, "--data", str(options.data)]
        command += ["--size", options.size, "--out", str(out), *map(str, extra)]
        ended = subprocess.run(command, env={**os.environ, **(env or {})}, check=False)
        if ended.returncode or not out.exists():
            return {"missing": f"the process ended with code {ended.returncode}"}
        return json.loads(out.read_text())


def measure(name: str, options: argparse.Namespace) -> Report:
    """Times, then the peak memory of the best setting of each contender, then compiling."""
    say(f"{name}: {all_rows()[name].title}")
    extra: list[Any] = ["--budget", options.budget]
    extra += [] if options.ours else ["--no-ours"]
    extra += ["--repeats", options.repeats] if options.repeats else []
    answer = child("time", name, options, *extra)
    report = Report(all_rows()[name], answer.get("results", []), missing=answer.get("missing"))
    if report.missing:
        say(f"  {report.missing}")
        return report
    if options.memory:
        add_memory(report, options)
    if options.compile and options.ours:
        report.compile_seconds = compiling(name, options)
    return report


def add_memory(report: Report, options: argparse.Namespace) -> None:
    for name in dict.fromkeys(record["contender"] for record in report.results):
        record = report.best(name)
        if record is None:
            continue
        extra = ["--contender", name, "--threads", record["threads"]]
        if record["target"] is not None:
            extra += ["--target", record["target"]]
        record["peak_mb"] = child("memory", report.row.name, options, *extra).get("peak_mb")


def compiling(name: str, options: argparse.Namespace) -> float | None:
    """Seconds that a first fit spends compiling: with an empty cache, less with a warm one."""
    with tempfile.TemporaryDirectory() as cache:
        cold = child("first", name, options, env={"NUMBA_CACHE_DIR": cache}).get("seconds")
    warm = child("first", name, options).get("seconds")
    return None if cold is None or warm is None else max(0.0, cold - warm)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    options = parse()
    say("measuring the machine")
    run = results.Run.now(shlex.join(sys.argv[1:]), machine.limits())
    measured: list[results.Measured] = []
    for name in options.rows:
        measured.append(results.Measured(measure(name, options), run))
        if options.keep:  # after each row: a run that is cut short leaves what it has
            results.keep(measured[-1])
    print(results.render(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main())
