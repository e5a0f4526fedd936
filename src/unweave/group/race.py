"""Which of several starts goes on: short runs, then longer ones of those that lead."""

from __future__ import annotations

from unweave.solve.iterate import Loop, State, Step, iterate

_FIRST = 10  # steps of the first lap; each next lap is twice as long, for the better half


def race(step: Step, starts: list[State]) -> State:
    """The state of the start that leads after all laps: objectives are compared where as many steps were done.

    Few steps tell a bad start from a good one, but not two good ones: EM that leaves a saddle is overtaken for a while.

    >>> def halve(state):  # two paths down, of which the slower one begins lower
    ...     x = state["x"] * state["pace"]
    ...     return {**state, "x": x}, x
    >>> race(halve, [{"x": 1.0, "pace": 0.99}, {"x": 8.0, "pace": 0.5}, {"x": 9.0, "pace": 0.9}])["pace"]
    0.5
    """
    lap = _FIRST
    while len(starts) > 1:
        loop = Loop(max_iter=lap, tol=0.0, ending="a trial")
        run = [iterate(step, state, loop) for state in starts]
        order = sorted(range(len(run)), key=lambda i: float(run[i][1].objective[-1]))
        starts = [run[i][0] for i in sorted(order[: len(run) // 2])]
        lap *= 2
    return starts[0]
