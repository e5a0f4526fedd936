"""A progress bar for people: terminal or notebook, on request only."""

from __future__ import annotations

from unweave.solve.history import History


class Bar:
    """Iterations done, the objective, its change, and at most how much time is left; rich draws it, on stderr."""

    def __init__(self, title: str, max_iter: int):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(), console=Console(stderr=True),
        )  # fmt: skip
        self._task = self._progress.add_task(title, total=max_iter, note="")
        self._progress.start()

    def show(self, history: History) -> None:
        note = f"objective {history.objective[-1]:.6g} (change {history.change[-1]:.1e})"
        self._progress.update(self._task, completed=len(history), note=note)

    def close(self) -> None:
        self._progress.stop()
