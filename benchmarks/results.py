"""Keep what was measured, one file per row, and write ``results.md`` from all of them.

A row is measured whole in one run; rows may be of different runs. Each file in ``measured/`` says when, on what machine
and of which commit it is, so the table can be brought up to date row by row.
"""

from __future__ import annotations

import datetime
import json
import shlex
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import machine
from benchmarks.rows import all_rows
from benchmarks.table import Report, details, heading, summary

_HERE = Path(__file__).parent
_MEMORY = _HERE / "measured" / "memory.json"
_TEXT = """\
Time to reach the peer's final objective (judged by one evaluator for all), best of the runs in turns in one
process; peak memory of the fit beyond the loaded data, in a process of its own where it was measured. How:
`README.md` beside this file. "Tuned on" names the data that the constants behind our side were set on, "reported
on" the data of the row where its title does not. LDA's times to a perplexity are those of the first of a ladder of
fits (more sweeps each) that reaches it. Saving is bound by the disk, whose speed differed by a factor of three
between equal calls."""


@dataclass(frozen=True)
class Run:
    """One run of the benchmarks: when, of which code, on what machine."""

    when: str
    commit: str
    command: str
    machine: str
    versions: dict[str, str]
    limits: dict[str, float]

    @classmethod
    def now(cls, command: str, limits: dict[str, float]) -> Run:
        """The run that begins now."""
        when = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M")
        asked = ["git", "-C", str(_HERE), "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
        return cls(when, commit, command, f"{machine.cpu()}, {machine.cores()} cores", machine.versions(), limits)

    def name(self) -> str:
        """What the table calls it."""
        return f"{self.when}, {self.commit or 'no commit'}"

    def lines(self) -> str:
        """Machine, versions and command, for the head of the page."""
        told = f"- **{self.name()}** (UTC, commit): {self.machine}; `python -m benchmarks {self.command}`"
        if self.limits:
            rates = [f"{k} {self.limits[f'{k} 1']:.0f} / {self.limits[f'{k} 2']:.0f}" for k in ("float32", "float64")]
            copied = f"{self.limits['copy 1']:.1f} / {self.limits['copy 2']:.1f}"
            told += f"; GEMM, GFLOP/s with 1 / 2 threads: {', '.join(rates)}; memory copied, GB/s: {copied}"
        return told + "; " + ", ".join(f"{package} {number}" for package, number in self.versions.items())


@dataclass(frozen=True)
class Measured:
    """One row and the run that it was measured in."""

    report: Report
    run: Run


def keep(measured: Measured) -> None:
    """Write one row to ``measured/``, and ``results.md`` anew from all that is there."""
    report = measured.report
    if report.missing:
        return
    kept = {"run": asdict(measured.run), "results": report.results, "compile_seconds": report.compile_seconds}
    (_HERE / "measured").mkdir(exist_ok=True)
    path = _HERE / "measured" / f"{report.row.name}.json"
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (_HERE / "results.md").write_text(render(kept_rows()), encoding="utf-8")


def keep_memory(found: dict, arguments: list[str]) -> None:
    """The same for ``benchmarks.memory``, whose rows are no contest."""
    run = Run.now("", {})
    told = {"when": run.name(), "machine": run.machine, "command": shlex.join(["benchmarks.memory", *arguments])}
    _MEMORY.write_text(json.dumps({**told, **found}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (_HERE / "results.md").write_text(render(kept_rows()), encoding="utf-8")


def memory_section() -> list[str]:
    """What was found about memory, if it was measured."""
    if not _MEMORY.exists():
        return []
    from benchmarks.memory import table_of

    kept = json.loads(_MEMORY.read_text(encoding="utf-8"))
    told = (
        f"A memory map of {kept['rows'] / 1e6:g}M×100 float32 in blocks, each fit in a process that may allocate "
        f"{kept['limit_mb']} MB beyond it (`RLIMIT_DATA`). {kept['when']} (UTC, commit), {kept['machine']}; "
        f"`python -m {kept['command']}`."
    )
    return ["## Memory of tables in blocks", told, table_of(kept["found"])]


def kept_rows() -> list[Measured]:
    """Every row that has been measured, in the order of the benchmarks."""
    found = []
    for name, row in all_rows().items():
        path = _HERE / "measured" / f"{name}.json"
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            found.append(Measured(Report(row, kept["results"], kept["compile_seconds"]), Run(**kept["run"])))
    return found


def render(measured: list[Measured]) -> str:
    """The whole page: runs, one line per row, and everything measured."""
    runs = dict.fromkeys(one.run.lines() for one in measured)
    table = [heading(), *(summary(one.report, one.run.limits, one.run.name()) for one in measured)]
    blocks = [details(one.report) for one in measured]
    parts = ["# Benchmarks", "\n".join(runs), _TEXT, "\n".join(table)]
    parts += [*memory_section(), "## Everything measured", *blocks]
    return "\n\n".join(parts) + "\n"
