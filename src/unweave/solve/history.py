"""What happened in a fit: objective, change and seconds of each iteration, and why it ended."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass
class History:
    """Keep the record of a fit, one entry per iteration; ``as_dict()`` is JSON-ready."""

    stopped: str = ""
    _objective: list[float] = field(default_factory=list)
    _change: list[float] = field(default_factory=list)
    _seconds: list[float] = field(default_factory=list)

    def add(self, objective: float, change: float, seconds: float) -> None:
        self._objective.append(float(objective))
        self._change.append(float(change))
        self._seconds.append(float(seconds))

    def __len__(self) -> int:
        return len(self._objective)

    @property
    def objective(self) -> NDArray[np.float64]:
        """Objective after each iteration."""
        return np.array(self._objective)

    @property
    def change(self) -> NDArray[np.float64]:
        """Relative fall of the objective in each iteration; 1 for the first."""
        return np.array(self._change)

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Seconds from the start of the fit to the end of each iteration."""
        return np.array(self._seconds)

    def as_dict(self) -> dict:
        return {
            "objective": list(self._objective),
            "change": list(self._change),
            "seconds": list(self._seconds),
            "stopped": self.stopped,
        }

    @classmethod
    def from_dict(cls, record: dict) -> History:
        return cls(
            stopped=str(record.get("stopped", "")),
            _objective=[float(v) for v in record["objective"]],
            _change=[float(v) for v in record["change"]],
            _seconds=[float(v) for v in record["seconds"]],
        )

    def __repr__(self) -> str:
        if not len(self):
            return "History(no iteration)"
        plural = "" if len(self) == 1 else "s"
        return f"History({len(self)} iteration{plural}, objective {self._objective[-1]:.6g}, stopped: {self.stopped})"
