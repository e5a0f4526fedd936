"""Entries that are no numbers, or too large ones: an error that names a remedy the model at hand can follow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.parallel import run


class Remedy(NamedTuple):
    """What to do about entries that are no numbers, where X is stored in one way or another."""

    nan: str
    infinite: str


DENSE = Remedy(
    "pass missing='nan' to treat NaN as not observed, or fill these entries first",
    "replace it, or mark it as missing (NaN with missing='nan')",
)
STORED = Remedy(
    "a sparse X whose zeros are data cannot have holes; pass missing='zeros' if only stored entries are observed, "
    "X.toarray() with missing='nan', or fill these entries first",
    "replace it, or leave it out and pass missing='zeros' if only stored entries are observed",
)
WITHOUT = Remedy(
    "fill these entries first (unweave.TableImputer), or leave such rows out", "replace it by a finite number"
)


def need_finite(X: NDArray, remedy: Remedy, *, allow_nan: bool) -> None:
    """Raise on infinity, on NaN unless it is allowed, and on numbers whose squares would overflow.

    The sum of squares tells: one pass at the speed of memory, and only when it is not finite, or nearly not, is there
    anything to look for.
    """

    def squares(start: int, stop: int) -> float:
        part = X[start:stop].reshape(-1)
        with np.errstate(all="ignore"):
            return float(np.dot(part, part))

    most = float(np.finfo(X.dtype).max)
    if sum(run(squares, len(X), max(1, (1 << 21) * len(X) // max(1, X.size)))) < 1e-4 * most:
        return
    if np.isinf(X).any():
        raise ValueError(f"Input X contains infinity (inf): {remedy.infinite}")
    if not allow_nan and np.isnan(X).any():
        raise ValueError(f"Input X contains NaN: {remedy.nan}")
    largest = float(np.fmax.reduce(np.abs(X), axis=None, initial=0))
    if largest > 0.01 * np.sqrt(most / max(1, X.size)):
        raise ValueError(f"X holds numbers as large as {largest:.1e}, whose squares overflow {X.dtype}: rescale X")
