"""How strong an ℓ1 penalty is that nobody named: in the units of the table, so that supports do not depend on them."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import number
from unweave.objectives import Objective

_SHARE = 1.2  # of the root mean square of an entry: 1.2/√m for rows of length one, as Mairal et al. (2010) take


def strength_of(asked, objective: Objective, atoms: NDArray | None = None) -> float:
    """The strength asked for; "auto" is 1.2 × the root mean square of the entries seen (× that length of the atoms).

    A row of that length has a product of this size with an atom that it has nothing in common with, so most of these
    stay out; c·X has c times the strength, hence c times the codes.
    """
    if not isinstance(asked, str):
        return number(asked, "strength")
    if asked != "auto":
        raise ValueError(f"strength={asked!r} is not known; use 'auto' or a number of at least 0")
    size = float(np.sqrt(objective.squares() / max(1, objective.n_observed)))
    if atoms is not None:
        lengths = np.linalg.norm(atoms.astype(np.float64), axis=1)
        size *= float(np.sqrt(np.mean(np.square(lengths[lengths > 0])))) if lengths.any() else 1.0
    return _SHARE * size if size > 0 else 1.0


def warn_if_nothing_is_left(used: bool, strength: float, objective: Objective, what: str, gone: str = "code") -> None:
    """Say so where no row uses any atom, though the table has something to code."""
    if not used and objective.squares() > 0:
        warnings.warn(
            f"every {gone} is zero: strength={strength:.3g} is more than any product {what}; choose "
            "a smaller strength, or 'auto'",
            UserWarning,
            stacklevel=4,
        )
