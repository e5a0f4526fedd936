"""Tell the user how a running fit goes: callbacks, a progress bar, and warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass

from unweave.solve.history import History


@dataclass(frozen=True)
class Progress:
    """What a callback is told after each iteration.

    `objective` is the full objective of the state that is kept if the fit ends here, `change` its relative fall since
    the iteration before (1 for the first), `seconds` the time since the fit began.
    """

    iteration: int
    objective: float
    change: float
    seconds: float
    max_iter: int


class Bar:
    """Iterations done, the objective, its change, and at most how much time is left; rich draws it, on stderr.

    Of a table in blocks it also shows the pass under way and how many of its blocks are done.
    """

    def __init__(self, title: str, max_iter: int):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(), console=Console(stderr=True),
        )  # fmt: skip
        self._task = self._progress.add_task(title, total=max_iter, note="")
        self._note = ""
        self._progress.start()

    def show(self, history: History) -> None:
        self._note = f"objective {history.objective[-1]:.6g} (change {history.change[-1]:.1e})"
        self._progress.update(self._task, completed=len(history), note=self._note)

    def show_block(self, number: int, done: int, blocks: int) -> None:
        """Show how far a pass over a table in blocks is."""
        told = f"pass {number}, block {done}/{blocks}"
        self._progress.update(self._task, note=f"{self._note}, {told}" if self._note else told)

    def close(self) -> None:
        self._progress.stop()


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """``warnings.warn`` with the stack level of the first caller outside this package (and outside scikit-learn)."""
    level, frame = 1, sys._getframe(0)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(("unweave.", "sklearn.utils")):
            break
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)
