"""Row blocks of Dask arrays and data frames: every chunk or partition is one, computed where it is needed.

A block carries the part of the graph that makes it, and no more: it is computed by whoever visits it, in this process
or on a worker, and never passes through the process that fits.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from unweave.scale.arrays import float_type, picked_columns
from unweave.scale.block_source import BlockSource

try:
    import cloudpickle
    import dask
    from dask._task_spec import DataNode, convert_legacy_graph
    from dask.core import flatten
    from dask.local import get_sync
except ImportError as error:
    raise ImportError(
        f"Dask collections need Dask, of which a part is missing ({error.name}): pip install unweave[scale]"
    ) from error


class DaskBlocks(BlockSource):
    """The chunks of a Dask array, or the partitions of a Dask data frame, as row blocks.

    What needs all rows to make one block (a mean that is taken off) is computed again for each: ``X.persist()`` it.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
    rows : int, optional
        Rows of a block; the chunks as they are unless told. Partitions of a data frame stay as they are.
    columns : list, optional
        Those to read, all unless told: numbers for an array, names for a frame.
    dtype : optional
    """

    def __init__(self, X: Any, rows: int | None = None, columns: Any = None, dtype: Any = None):
        if getattr(X, "ndim", None) != 2 or not hasattr(X, "shape"):
            raise ValueError(
                f"X is a Dask {type(X).__name__}, not a table: give a Dask array or data frame of two dimensions"
            )
        frame = hasattr(X, "columns")
        X = _frame(X, rows, columns) if frame else _array(X, rows, columns)
        if dtype is not None:
            X = X.astype(float_type(None, dtype))
        # What was persisted lies on the workers of a cluster, and optimising forgets it.
        self._lying = {key: node for key, node in dict(X.__dask_graph__()).items() if hasattr(node, "result")}
        # dask.optimize of a data frame may return another one's partitions; its own method does not.
        X = X.optimize() if hasattr(X, "optimize") else dask.optimize(X)[0]
        self._graph = convert_legacy_graph(dict(X.__dask_graph__()))
        self._keys = list(flatten([X.__dask_keys__()]))
        sizes: list[int | None] = [None] * len(self._keys)
        if not frame:
            sizes = [int(n) if n == n else None for n in X.chunks[0]]
        names = [str(name) for name in X.columns] if frame else None
        super().__init__(names, int(X.shape[1]), sizes, f"a Dask {'data frame' if frame else 'array'}")

    def fetch(self, i):
        graph, lying = self._part(i)
        read = partial(_computed, cloudpickle.dumps((graph, lying, self._keys[i]), protocol=4))
        return OnWorkers(read, [self._lying[key] for key in lying]) if lying else read

    def __getitem__(self, i):
        if not isinstance(i, int) or not -len(self) <= i < len(self):
            return super().__getitem__(i)  # which says what is wrong
        i %= len(self)
        graph, lying = self._part(i)
        return _compute(graph, {key: self._lying[key].result() for key in lying}, self._keys[i])

    def _part(self, i: int) -> tuple[dict, list]:
        """What of the graph makes block i, and what it needs that lies on workers."""
        part: dict = {}
        lying, left = [], [self._keys[i]]
        while left:
            key = left.pop()
            if key in self._lying:
                lying.append(key)
            elif key not in part:
                part[key] = self._graph[key]
                left += part[key].dependencies
        return part, lying


def _array(X: Any, rows: int | None, columns: Any) -> Any:
    picked = picked_columns(columns, X.shape[1])
    X = X if picked is None else X[:, picked]
    if X.numblocks[1] > 1 or rows is not None:
        X = X.rechunk({0: rows or X.chunks[0], 1: -1})
    return X


def _frame(X: Any, rows: int | None, columns: Any) -> Any:
    if rows is not None:
        raise ValueError("rows: the blocks of a Dask data frame are its partitions; X.repartition(...) makes others")
    if columns is None:
        return X
    lost = [name for name in columns if name not in list(X.columns)]
    if lost:
        raise ValueError(f"columns: X has no {lost[0]!r}; its columns are {', '.join(map(repr, list(X.columns)[:8]))}")
    return X[list(columns)]


class OnWorkers(NamedTuple):
    """Read a block from what lies on the workers of a cluster: ``read(values)``, the values of `needs`."""

    read: Callable[[list], Any]
    needs: list

    def __call__(self) -> Any:
        return self.read([future.result() for future in self.needs])


def _computed(packed: bytes, values: Sequence = ()) -> Any:
    """Compute a block from the part of the graph that makes it, wherever this is called."""
    graph, lying, key = pickle.loads(packed)
    return _compute(graph, dict(zip(lying, values, strict=True)), key)


def _compute(graph: dict, found: dict, key: Any) -> Any:
    return get_sync({**graph, **{name: DataNode(name, value) for name, value in found.items()}}, key)
