"""Which of several starts goes on: short runs, then longer ones of those that lead."""

from __future__ import annotations

from collections.abc import Callable

from unweave.solve.iterate import Loop, State, Step, iterate

_TIE = 1e-9  # relative difference of two objectives that rounding may make
_FIRST = 20  # steps of the first lap; each next lap is twice as long, for the better half


def race(step: Step, starts: list[State], settled: Callable[[State], bool]) -> State:
    """The state of the start that leads after all laps; one that has settled waits for the others.

    Few steps tell a bad start from a good one, but not two good ones: EM that leaves a saddle is behind for a while.

    >>> def shrink(state):  # two paths down, of which the slower one begins lower
    ...     x = state["x"] * state["pace"]
    ...     return {**state, "x": x}, x
    >>> starts = [{"x": 1.0, "pace": 0.99}, {"x": 8.0, "pace": 0.5}, {"x": 9.0, "pace": 0.9}]
    >>> race(shrink, starts, lambda state: False)["pace"]
    0.5
    """
    lap = _FIRST
    while len(starts) > 1:
        loop = Loop(max_iter=lap, tol=None, ending="a trial")
        run = [iterate(step, state, loop, settled=settled) for state in starts]
        starts = [run[i][0] for i in leaders([float(history.objective[-1]) for _, history in run], len(run) // 2)]
        lap *= 2
    return starts[0]


def leaders(values: list[float], count: int) -> list[int]:
    """Places of the `count` lowest values, ascending; of values that differ by rounding alone the first.

    Starts that find the same answer end with the same value but for its last digits, which differ between processors.

    >>> leaders([3.0, 2.0 + 1e-13, 5.0, 2.0], 1)
    [1]
    """
    left = list(range(len(values)))
    found = []
    for _ in range(count):
        least = min(values[i] for i in left)
        first = next(i for i in left if values[i] <= least + _TIE * max(1.0, abs(least)))
        found.append(first)
        left.remove(first)
    return sorted(found)
