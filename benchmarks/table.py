"""Turn measurements into verdicts and markdown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from benchmarks.harness import Row

Record = dict[str, Any]
_COLUMNS = [
    "work", "ours", "hardest peer (best setting)", "ratio", "at least", "verdict", "of the machine's limit",
    "tuned on", "reported on", "measured",
]  # fmt: skip


@dataclass
class Match:
    """Set ours against one peer, each with its best number of threads."""

    peer: Record
    ours: Record
    ratio: float
    reached: bool


@dataclass
class Report:
    """Everything measured for one row."""

    row: Row
    results: list[Record]
    compile_seconds: float | None = None
    missing: str | None = None

    def matches(self) -> list[Match]:
        """One match for each peer that ran, the hardest first: the best where quality is the aim, else the quickest."""
        found = []
        for name in self.row.peers:
            peer, ours = self.best(name), self.best("unweave", f"unweave to {name}")
            if peer and ours:
                found.append(Match(peer, ours, peer["seconds"] / ours["seconds"], self._reached(ours, peer)))
        by_quality = self.row.aim == "below"
        return sorted(found, key=lambda match: quality(match.peer) if by_quality else (match.ratio,))

    def best(self, *names: str) -> Record | None:
        """The best setting of a contender: of the best quality on quality rows, else the quickest."""
        done = [r for r in self.results if r["contender"] in names and not r["error"] and r["runs"]]
        by_quality = self.row.aim == "below"
        return min(done, key=lambda r: quality(r) if by_quality else (r["seconds"],), default=None)

    def _reached(self, ours: Record, peer: Record) -> bool:
        if self.row.aim == "none":
            return True
        slack = self.row.slack if self.row.aim == "reach" else 0.0
        limit = peer["objective"] if ours["target"] is None else ours["target"]
        # Twice the slack: once where ours stopped, once for the float32 sums it stopped on.
        return ours["objective"] <= limit + 2 * slack * abs(limit)

    def verdict(self) -> str:
        """Pass or fail, in words."""
        if self.missing:
            return f"not measured: {self.missing}"
        errors = [r["error"] for r in self.results if r["contender"].startswith("unweave") and r["error"]]
        matches = self.matches()
        if not matches:
            return f"not measured: {errors[0] if errors else 'no contender ran'}"
        short = [m for m in matches if not m.reached]
        if short:
            worst = ", ".join(f"{m.peer['contender']} by {excess(m):.1e}" for m in short)
            return f"fail: {self.row.value} above that of {worst}"
        if self.row.aim == "below":
            return f"pass: lower {self.row.value}"
        if matches[0].ratio < self.row.target:
            return f"fail: {matches[0].ratio:.2f}× is below {self.row.target:g}×"
        return "pass"


def quality(record: Record) -> tuple[float, float]:
    """What the best record has least of: the objective, of equals the time; an unknown objective comes last."""
    value = record["objective"]
    return (math.inf if math.isnan(value) else value), record["seconds"]


def excess(match: Match) -> float:
    """How far ours is above the peer, relative."""
    return match.ours["objective"] / match.peer["objective"] - 1


def fraction(record: Record, row: Row, limits: dict[str, float]) -> str:
    """What part of the machine's GEMM rate and memory bandwidth a fit reached."""
    if not row.work or not math.isfinite(record["seconds"]) or not limits:
        return "–"
    peak = max(limits[f"{row.dtype} 1"], limits[f"{row.dtype} 2"]) * 1e9
    copy = max(limits["copy 1"], limits["copy 2"]) * 1e9
    gemm, memory = (record[key] / record["seconds"] / top for key, top in (("flops", peak), ("bytes", copy)))
    return f"{gemm:.0%} GEMM, {memory:.0%} memory"


def cell(record: Record, row: Row) -> str:
    """``1.23 s (2 threads), objective 4.5, 67 MB``."""
    parts = [f"{record['seconds']:.3g} {row.unit} ({record['threads']} thr.)"]
    if math.isfinite(record["objective"]):
        parts.append(
            f"{row.value} {record['objective']:.7g}" if row.value == "objective" else f"{record['objective']:.4f}"
        )
    if record.get("peak_mb") is not None:
        parts.append(f"{record['peak_mb']:.0f} MB")
    return ", ".join(parts)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def heading() -> str:
    """The first two lines of the summary."""
    return "\n".join([_line(_COLUMNS), _line(["---"] * len(_COLUMNS))])


def summary(report: Report, limits: dict[str, float], run: str) -> str:
    """One line: ours against the peer that is hardest to beat, the data that constants rest on, and the run."""
    row, matches = report.row, report.matches()
    aim = "better " + row.value if row.aim == "below" else f"{row.target:g}×"
    ends = [row.tuned_on, row.reported_on, run]
    if not matches:
        return _line([row.title, "–", "–", "–", aim, report.verdict(), "–", *ends])
    match = matches[0]
    return _line([
        row.title, cell(match.ours, row), f"{match.peer['contender']}: {cell(match.peer, row)}",
        f"{match.ratio:.2f}×", aim, report.verdict(), fraction(match.ours, row, limits), *ends,
    ])  # fmt: skip


def details(report: Report) -> str:
    """Every contender with every number of threads, and the time to compile."""
    lines = [f"### {report.row.title}", ""]
    if report.missing:
        return "\n".join([*lines, f"Not measured: {report.missing}."])
    lines += [_line(["contender", "threads", report.row.unit, report.row.value, "iterations", "peak MB", "runs"])]
    lines += [_line(["---"] * 7)]
    lines += [_detail(record) for record in report.results]
    for match in report.matches():
        lines += ["", f"Against {match.peer['contender']}: {match.ratio:.2f}×."]
    if report.compile_seconds is not None:
        lines += ["", f"Compiling (first use on a machine): {report.compile_seconds:.1f} s."]
    return "\n".join(lines)


def _detail(record: Record) -> str:
    if record["error"]:
        return _line([record["contender"], str(record["threads"]), "–", record["error"], "–", "–", "–"])
    peak = "–" if record.get("peak_mb") is None else f"{record['peak_mb']:.0f}"
    value = f"{record['objective']:.8g}" if math.isfinite(record["objective"]) else "–"
    return _line([
        record["contender"], str(record["threads"]), f"{record['seconds']:.4g}", value,
        str(record["iterations"]), peak, str(record["runs"]),
    ])  # fmt: skip
