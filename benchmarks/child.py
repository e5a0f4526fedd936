"""One measurement in a process of its own: ``python -m benchmarks.child MODE --row NAME …``.

``time`` runs all contenders of a row in turns, ``memory`` one contender alone, ``first`` times the first small fit of
a process (with a fresh ``NUMBA_CACHE_DIR`` that includes compiling). The answer is written to ``--out`` as JSON.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.harness import Duel, Missing, Row, run_ours, run_peer
from benchmarks.rows import all_rows

OURS = "unweave"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _one(row: Row, contender: str, data: Any, threads: int, target: float | None) -> None:
    if contender.startswith(OURS):
        run_ours(row, data, threads, target)
    else:
        run_peer(row, contender, data, threads)


def _warm(row: Row, folder: Path, contenders: list[str]) -> None:
    """A tiny fit of each: imports, compiled kernels and thread pools are there before anything is measured."""
    tiny = row.load(folder, "tiny")
    for contender in contenders:
        try:
            _one(row, contender, tiny, 2, None)
        except Exception as error:  # said again, and recorded, when it is measured
            _say(f"  {contender} on tiny data: {type(error).__name__}: {error}")


def measure_time(row: Row, options: argparse.Namespace) -> dict:
    contenders = [*row.peers, *([OURS] if options.ours else [])]
    _warm(row, options.data, contenders)
    data = row.load(options.data, options.size)
    repeats = min(row.repeats, options.repeats) if options.repeats else row.repeats
    duel = Duel(row, data, repeats=repeats, with_ours=options.ours, budget=options.budget)
    duel.run(_say)
    found = [result.as_dict() for result in [*duel.peers, *duel.ours]]
    for record in found:
        flops, moved = row.work(data, record["iterations"]) if row.work else (0.0, 0.0)
        record |= {"flops": flops, "bytes": moved}
    return {"results": found}


def measure_memory(row: Row, options: argparse.Namespace) -> dict:
    """Peak resident memory of the fit beyond what is resident once data and libraries are loaded."""
    _warm(row, options.data, [options.contender])
    data = row.load(options.data, options.size)
    before = _forget_peak()
    _one(row, options.contender, data, options.threads, options.target)
    return {"peak_mb": max(0.0, (_peak() - before) / 1e6)}


def _forget_peak() -> float:
    """Reset the high-water mark; bytes resident now (or the old peak, where there is no such reset)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except OSError:
        return _peak()


def _peak() -> float:
    try:
        return _status("VmHWM")
    except OSError:
        scale = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def _status(key: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return 1024.0 * int(line.split()[1])
    raise OSError(f"no {key} in /proc/self/status")


def measure_first(row: Row, options: argparse.Namespace) -> dict:
    data = row.load(options.data, "tiny")
    import sklearn.base  # noqa: F401  (scikit-learn's own import is not ours to answer for)

    started = time.perf_counter()
    run_ours(row, data, 2, None)
    return {"seconds": time.perf_counter() - started}


MODES = {"time": measure_time, "memory": measure_memory, "first": measure_first}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=MODES)
    parser.add_argument("--row", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--size", default="full")
    parser.add_argument("--contender", default=OURS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--target", type=float)
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--budget", type=float, default=60.0)
    parser.add_argument("--no-ours", dest="ours", action="store_false")
    options = parser.parse_args()
    try:
        answer = MODES[options.mode](all_rows()[options.row], options)
    except Missing as reason:
        answer = {"missing": str(reason)}
    options.out.write_text(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
