"""Find the nearest of many vectors by cosine, one point or many at a time, exactly or (by choice) nearly."""

from __future__ import annotations

from importlib import import_module, util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.linalg.nearest import Index, unit_rows
from unweave.linalg.scores import top_columns

KINDS = ("bytes", "hnswlib", "faiss")
# Products in float32 differ by less than this from those in float64 that decide: 2·10⁻⁶ is what 300 columns were seen
# to lose at most, random and real; the bound of a sum of d products of lengths one is d·6·10⁻⁸ (10⁻⁵ for d = 170).
_SLACK = 1e-5
_BLOCK = 1 << 16  # rows multiplied by one point at a time
# A copy in bytes pays from this many rows on, and once so many points were asked: making it costs as many scans.
_ROWS, _ASKED = 20_000, 16


class Nearest:
    """Rows scaled to length one, once, and what finds those nearest to a point.

    Candidates come from products in float32 (of all rows, or of those that the scan in bytes leaves), as many as are
    needed that no other row can be among the best; their products in float64 then decide, of equals the lower row wins.
    So the answer is the same whatever the way, to the bit.

    >>> near = Nearest(np.eye(3))
    >>> near.top(np.array([0.0, 2.0, 1.0]), 2)
    (array([1, 2]), array([0.89442719, 0.4472136 ]))
    """

    def __init__(self, array: NDArray):
        self.units = unit_rows(array)
        self._asked, self._told = 0, False
        self._way: Any = None

    def use(self, kind: str | None) -> None:
        """Make an index now: "bytes" (exact), "hnswlib" or "faiss" (near misses are possible), None for none ever."""
        self._told = True
        if kind is None:
            self._way = None
        elif kind == "bytes":
            self._way = _Bytes(self.units)
        elif kind in KINDS:
            self._way = _Graph(self.units, kind)
        else:
            raise ValueError(f"kind={kind!r} is not known; use one of {', '.join(map(repr, KINDS))} or None")

    def top(self, point: NDArray, n: int) -> tuple[NDArray, NDArray]:
        """The `n` rows with the largest cosines with a point, best first, and these cosines."""
        n = min(n, len(self.units))
        unit = unit_point(point)
        self._asked += 1
        if not self._told and self._asked > _ASKED and len(self.units) >= _ROWS:
            self.use("bytes")
        size = min(n + 8, len(self.units))
        while True:
            places, rough = self._candidates(unit, size)
            found, scores = self._settled(places, unit, n)
            certain = size >= len(self.units) or len(rough) < size or rough.min() < scores[-1] - _SLACK
            if certain or not getattr(self._way, "exact", True):
                return found, scores
            size = min(8 * size, len(self.units))

    def top_of_each(self, points: NDArray, n: int) -> tuple[NDArray, NDArray]:
        """The same for each row of `points`, all multiplied in blocks on the pool, in float32."""
        return top_columns(unit_rows(points), self.units.T, min(n, len(self.units)))

    def cosines(self, point: NDArray) -> NDArray[np.float32]:
        """The cosine of every row with a point."""
        unit = unit_point(point).astype(np.float32)
        scores = np.empty(len(self.units), np.float32)

        def fill(start: int, stop: int) -> None:
            np.matmul(self.units[start:stop], unit, out=scores[start:stop])

        with parallel.single_blas():
            parallel.run(fill, len(self.units), _BLOCK)
        return scores

    def _candidates(self, unit: NDArray, size: int) -> tuple[NDArray, NDArray]:
        if self._way is not None:
            return self._way.nearest(unit.astype(np.float32), size)
        return largest(self.cosines(unit), size)

    def _settled(self, places: NDArray, unit: NDArray, n: int) -> tuple[NDArray, NDArray]:
        """The best of the candidates by their products in float64, added in one order whatever else is asked."""
        places = np.sort(places)
        scores = np.einsum("ij,j->i", self.units[places].astype(np.float64), unit)
        best = np.argsort(-scores, kind="stable")[:n]
        return places[best], scores[best]


def unit_point(point: NDArray) -> NDArray[np.float64]:
    """A point scaled to length one; one of zeros stays."""
    point = np.asarray(point, dtype=np.float64)
    point = point / (float(np.abs(point).max()) or 1.0)  # first, because squares may overflow or vanish
    return point / (float(np.sqrt(point @ point)) or 1.0)


def largest(scores: NDArray, n: int) -> tuple[NDArray, NDArray]:
    """Places and values of the n largest, in no order.

    >>> largest(np.array([1.0, 3.0, 2.0]), 1)
    (array([1]), array([3.]))
    """
    if n >= len(scores):
        return np.arange(len(scores)), scores
    places = np.argpartition(scores, len(scores) - n)[len(scores) - n :]
    return places, scores[places]


class _Bytes:
    """A copy of the rows in bytes, turned so that the first columns tell most.

    Lengths and products do not change when all rows are turned alike, but the bound of what the columns beyond the
    first 64 may add is then as small as it can be. Turning rounds: `_SLACK` covers that too.
    """

    exact = True

    def __init__(self, units: NDArray):
        gram = np.zeros((units.shape[1],) * 2)
        for start in range(0, len(units), _BLOCK):
            block = units[start : start + _BLOCK]
            gram += block.T @ block
        self._turn = np.ascontiguousarray(np.linalg.eigh(gram)[1][:, ::-1], dtype=np.float32)
        self._index = Index(np.vstack([units[start : start + _BLOCK] @ self._turn
                                       for start in range(0, len(units), _BLOCK)]))  # fmt: skip

    def nearest(self, unit: NDArray, size: int) -> tuple[NDArray, NDArray]:
        return self._index.nearest(unit @ self._turn, size)


class _Graph:
    """An index of another library, which looks at few rows: almost always the nearest, but nobody promises."""

    exact = False

    def __init__(self, units: NDArray, kind: str):
        if util.find_spec(kind) is None:
            package = {"faiss": "faiss-cpu"}.get(kind, kind)
            raise ImportError(f"index {kind!r} needs a package that is not installed: pip install {package}")
        library = import_module(kind)
        self._kind, width = kind, units.shape[1]
        # 32 links a row and 200 looked at while it is made: what both libraries advise where recall matters.
        if kind == "faiss":
            self._index = library.IndexHNSWFlat(width, 32, library.METRIC_INNER_PRODUCT)
            self._index.hnsw.efConstruction = 200
            self._index.add(units)
        else:
            self._index = library.Index(space="ip", dim=width)
            self._index.init_index(max_elements=len(units), M=32, ef_construction=200, random_seed=0)
            self._index.add_items(units, num_threads=1)

    def nearest(self, unit: NDArray, size: int) -> tuple[NDArray, NDArray]:
        looked_at = max(4 * size, 128)
        if self._kind == "faiss":
            self._index.hnsw.efSearch = looked_at
            scores, places = self._index.search(unit[None], size)
            kept = places[0] >= 0
            return places[0][kept], scores[0][kept]
        self._index.set_ef(looked_at)
        places, distances = self._index.knn_query(unit[None], k=size, num_threads=1)
        return places[0].astype(np.int64), 1 - distances[0]
