"""Which of several starts goes on: short runs, then longer ones of those that lead."""

from __future__ import annotations

from collections.abc import Callable

from unweave.solve.iterate import Loop, State, Step, iterate

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
        order = sorted(range(len(run)), key=lambda i: float(run[i][1].objective[-1]))
        starts = [run[i][0] for i in sorted(order[: len(run) // 2])]
        lap *= 2
    return starts[0]
