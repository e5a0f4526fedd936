"""Decide which coefficients are kept: so many, a share of the energy, or those above a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import number, whole

_ROUNDING = 1e-12  # of the energy: what a share may lack because sums are rounded


@dataclass(frozen=True)
class Rule:
    """Which coefficients are kept; exactly one of the three is given, or none where all are."""

    count: int | None = None
    share: float | None = None
    threshold: float | None = None

    @classmethod
    def of(cls, keep: Any, threshold: Any, n_coefficients: int) -> Rule:
        """What `keep` and `threshold` of a model mean for rows of so many numbers.

        >>> Rule.of(5, None, 64), Rule.of(0.95, None, 64).share
        (Rule(count=5, share=None, threshold=None), 0.95)
        """
        if threshold is not None:
            if keep is not None:
                raise ValueError(
                    f"keep={keep!r} and threshold={threshold!r} say the same in two ways: give one of them"
                )
            return cls(threshold=number(threshold, "threshold"))
        if keep is None:
            return cls()
        if isinstance(keep, Real) and not isinstance(keep, bool | int | np.integer):
            if not 0 < float(keep) < 1:
                raise ValueError(
                    f"keep={keep!r} must be a whole number (how many), or lie between 0 and 1 (the share of the "
                    "energy); None keeps all, and threshold= keeps what is larger"
                )
            return cls(share=float(keep))
        count = whole(keep, "keep", 1)
        if count > n_coefficients:
            raise ValueError(
                f"keep={count} is more than the {n_coefficients} numbers of a row: at most {n_coefficients}"
            )
        return cls(count=count)

    def __str__(self) -> str:
        if self.threshold is not None:
            return f"all of at least {self.threshold:g}"
        if self.share is not None:
            return f"the fewest with {self.share:.4g} of the energy"
        return "all" if self.count is None else f"the {self.count} largest"

    def for_all(self, energies: NDArray[np.float64], n: float) -> NDArray[np.intp]:
        """The coefficients that are kept of every row, by the energy each has in rows of weight `n`, largest first."""
        order = np.argsort(-energies, kind="stable")
        if self.threshold is not None:
            sizes = np.sqrt(energies[order] / n) if n else energies[order]
            kept = order[sizes >= self.threshold]
            if not len(kept):
                raise ValueError(
                    f"threshold={self.threshold:g} leaves nothing: the largest coefficient is {sizes[0]:.4g} "
                    "(root mean square over the rows); give a smaller one"
                )
            return kept
        return order[: self._enough(energies[order][None, :])[0]]

    def of_each(self, C: NDArray) -> NDArray[np.bool_]:
        """Which coefficients (n, m) are kept where each row keeps its own."""
        sizes = np.abs(C)
        if self.threshold is not None:
            return sizes >= self.threshold
        order = np.argsort(-sizes, axis=1, kind="stable")
        counts = self._enough(np.square(np.take_along_axis(sizes, order, axis=1), dtype=np.float64))
        kept = np.zeros(C.shape, dtype=bool)
        np.put_along_axis(kept, order, np.arange(C.shape[1]) < counts[:, None], axis=1)
        return kept

    def _enough(self, energies: NDArray[np.float64]) -> NDArray[np.intp]:
        """How many are kept in each row of energies that fall from left to right; at least one."""
        n, m = energies.shape
        if self.share is None:
            return np.full(n, m if self.count is None else self.count, dtype=np.intp)
        sums = np.cumsum(energies, axis=1)
        reached = sums >= self.share * sums[:, -1:] * (1 - _ROUNDING)
        return np.argmax(reached, axis=1) + 1
