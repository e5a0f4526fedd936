"""Write down the tasks of one pass over the blocks, for Dask."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from dask._task_spec import Alias, List
from dask._task_spec import Task as Node
from distributed import Future

from unweave.scale.on_worker import summed
from unweave.scale.summing import tree


class Graph:
    """The tasks of one pass.

    Keys of one kind and pass make a group of their own: the scheduler deals a group out evenly, neighbours together. A
    group of all passes it would deal to one worker, as if it had grown so large.
    """

    def __init__(self) -> None:
        self.tasks: dict[tuple[str, int], Node] = {}
        self.name = uuid.uuid4().hex
        self._needs: list[Future] = []  # the scheduler forgets what nobody holds before the graph has reached it

    def node(self, kind: str, do: Callable, *args: Any) -> Alias:
        """Add a task."""
        key = (f"unweave-{kind}-{self.name}", len(self.tasks))
        self.tasks[key] = Node(key, do, *args)
        return Alias(key)

    def added(self, parts: list[Alias]) -> list[Alias]:
        """Add up summaries; the sums of neighbours, and the sum of all as the last."""
        sums: list[Alias] = []

        def join(few: list[Alias]) -> Alias:
            sums.append(self.node("sum", summed, List(*few)))
            return sums[-1]

        last = tree(parts, join)
        return sums or [last]

    def given(self, value: Any) -> Any:
        """A value, or what lies on workers already, as an argument of a task."""
        if not isinstance(value, Future):
            return value
        self._needs.append(value)
        return Alias(value.key)
