"""What is said of sources once they are found: their order and signs, and which may be noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.compress.ica.contrasts import Contrast
from unweave.compress.ica.rows import Whitening
from unweave.solve.progress import warn_user
from unweave.solve.scheme import State

# √n·|E[G(y)] − c| over its spread that Gaussian rows do not reach when the least Gaussian of all directions is looked
# for: set on 1 to 40 columns of 2,000 and of 20,000 rows.
_CHANCE = 3.0, 1.3


class Sources(NamedTuple):
    """How rows are unmixed and mixed again, from the least Gaussian source on."""

    components: NDArray[np.float64]
    mixing: NDArray[np.float64]
    negentropy: NDArray[np.float64]
    gaussian: NDArray[np.bool_]
    scale: NDArray[np.float64]


def told(state: State, whitening: Whitening, contrast: Contrast, n: int) -> Sources:
    """Put sources in their order, give them their signs, and tell those that may be Gaussian.

    The order is by (E[G(y)] − c)², from the least Gaussian on; the largest loading of each source by absolute value is
    positive. Neither depends on where the fit began.
    """
    W = state["W"]
    components, mixing = W @ whitening.forth, whitening.back @ np.linalg.inv(W)
    away = np.abs(state["level"] - contrast.gaussian)
    order = np.argsort(-away, kind="stable")
    components, mixing, away = components[order], mixing[:, order], away[order]
    signs = np.sign(mixing[np.abs(mixing).argmax(axis=0), np.arange(len(W))])
    signs[signs == 0] = 1
    chance = contrast.spread * chance_of(len(W), n, contrast) / np.sqrt(n)
    return Sources(components * signs[:, None], mixing * signs, away**2, away <= chance, state["scale"][order])


def chance_of(k: int, n: int, contrast: Contrast) -> float:
    """Say how far from Gaussian, in standard errors, the best of all directions in k columns of n rows is by chance.

    >>> from unweave.compress.ica.contrasts import LogCosh
    >>> bool(chance_of(1, 1000, LogCosh()) < chance_of(20, 1000, LogCosh()))
    True
    """
    base, growth = _CHANCE
    return base + growth * np.sqrt(k - 1) + contrast.outliers * k**2 / np.sqrt(n)


def warn_of_noise(gaussian: NDArray[np.bool_]) -> None:
    """Say so where more than one source may be Gaussian: no rotation of such is better than any other."""
    many = int(np.count_nonzero(gaussian))
    if many > 1:
        warn_user(
            f"{many} of {len(gaussian)} sources are no less Gaussian than chance makes them, and Gaussian sources "
            "cannot be separated: these (gaussian_) are an arbitrary rotation of what is left; ask for n_components="
            f"{max(1, len(gaussian) - many + 1)}, give more rows, or try another contrast"
        )
