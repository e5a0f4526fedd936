"""Levels of a discrete column: learned from data, mapped to 0..L-1 and back."""

from __future__ import annotations

import numpy as np

from unweave.losses.base import Loss, Pieces, as_floats


class Levelled(Loss):
    """A loss of data with a few distinct values. `prepare` learns them over the whole table; `encode` maps them to
    0..L-1 in increasing order and refuses others.

    Attributes
    ----------
    levels_ : the distinct values, increasing
    """

    _fewest = 1

    def _told(self, values: np.ndarray, zeros: int) -> tuple[np.ndarray, int]:
        return np.unique(values), min(zeros, 1)

    def _learn(self, pieces: Pieces) -> None:
        found = [np.unique(np.append(values, np.zeros(min(zeros, 1), values.dtype))) for values, zeros in pieces]
        levels = np.unique(np.concatenate(found))
        if levels.size < self._fewest:
            raise ValueError(
                f"loss={self.name!r} needs data of at least {self._fewest} distinct values; found {levels.size}: "
                "leave the column out or choose another loss"
            )
        self.levels_ = levels

    def encode(self, X: np.ndarray) -> np.ndarray:
        X = as_floats(X)
        levels, seen = self._learned("levels_"), self._observed(X)
        # 0.1 in float32 and in float64 are the same level: compare in the coarser of the two.
        coarse = min(X.dtype, levels.dtype, key=lambda dtype: dtype.itemsize)
        levels, seen = levels.astype(coarse), seen.astype(coarse)
        codes = np.minimum(np.searchsorted(levels, seen), levels.size - 1)
        strange = seen[levels[codes] != seen]
        if strange.size:
            shown = ", ".join(f"{level:g}" for level in levels[:10]) + (", ..." if levels.size > 10 else "")
            raise ValueError(
                f"loss={self.name!r} learned the levels {shown}; found {float(strange[0])}: "
                "recode it, write NaN for it, or fit again with data that contain it"
            )
        out = np.full(X.shape, np.nan, dtype=X.dtype)
        out[~np.isnan(X)] = codes
        return out

    def _split(self, p: np.ndarray) -> np.ndarray:
        """(..., m*width) -> (..., m, width)."""
        return p.reshape(*p.shape[:-1], p.shape[-1] // self.width, self.width)
