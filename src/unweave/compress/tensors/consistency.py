"""How many components? Core consistency: does a core that may mix all components stay a diagonal of ones?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unweave.linalg.tensors import DenseProducts, ListedProducts, Products, SmallProducts
from unweave.objectives.tensors import Holes, Whole
from unweave.select.choose import Choice

# The largest number whose consistency is at least this is taken; after two in a row below, no more are tried. Set on
# planted tensors (benchmarks/tune/core_consistency.py), reported on others and on measured fluorescence.
LEAST, _FAILED, _MOST = 80.0, 2, 20


def core_consistency(products: Products, factors: Sequence[NDArray]) -> float:
    """100·(1 − ‖G − I‖²/k), G the core that fits the tensor best between these factors, I ones on its diagonal.

    G = X ×₁ F₁⁺ ×₂ F₂⁺ …. Where the components are all that there is, G is I and this 100; where there are too many, some
    share what they describe, G fills up, and this falls towards zero and below.

    Reference: Bro and Kiers (2003), A new efficient method for determining the number of components in PARAFAC models.
    """
    k = factors[0].shape[1]
    inverses = [np.linalg.pinv(F.astype(np.float64)) for F in factors]
    core = _core(products, inverses)
    core[(np.arange(k),) * len(factors)] -= 1
    return float(100 * (1 - np.square(core).sum() / k))


def _core(products: Products, inverses: list[NDArray]) -> NDArray:
    if isinstance(products, SmallProducts):
        inside = [P @ basis for P, basis in zip(inverses, products.bases, strict=True)]
        return _core(products.core, inside)
    if isinstance(products, DenseProducts):
        core = products.X
        for P in inverses:  # the first side goes to the end each time, so that all come round
            core = np.moveaxis((P @ core.reshape(core.shape[0], -1)).reshape(len(P), *core.shape[1:]), 0, -1)
        return np.ascontiguousarray(core, dtype=np.float64)
    assert isinstance(products, ListedProducts)
    return _listed_core(products, inverses)


def _listed_core(products: ListedProducts, inverses: list[NDArray]) -> NDArray:
    """The core of a list of coordinates: one side after the other becomes components, places that meet are added."""
    coords, k = products.coords, len(inverses[0])
    values = products.values.astype(np.float64)[:, None]
    for side, P in enumerate(inverses):
        rest = coords[:, 1:]
        if rest.shape[1]:
            rest, inverse = np.unique(rest, axis=0, return_inverse=True)
        else:
            inverse = np.zeros(len(coords), np.intp)
        inverse = inverse.reshape(-1)
        order = np.argsort(inverse, kind="stable")
        starts = np.searchsorted(inverse[order], np.arange(max(1, len(rest) if side < len(inverses) - 1 else 1)))
        new = np.zeros((len(starts), values.shape[1], k))
        for r in range(k):
            terms = values[order] * P[r, coords[order, 0]][:, None]
            new[:, :, r] = np.add.reduceat(terms, starts, axis=0) if len(terms) else 0
        values, coords = new.reshape(len(starts), -1), rest
    return values.reshape((k,) * len(inverses))


def choose_by_consistency(fit, objective: Whole, most: int) -> Choice:
    """Try 1, 2, … components; ``fit(k)`` gives (products, factors) of a fit. The largest consistent number is taken."""
    scores: dict[int, float] = {}
    failed = 0
    for k in range(1, min(most, _MOST) + 1):
        products, factors = fit(k)
        scores[k] = core_consistency(products, factors)
        failed = failed + 1 if scores[k] < LEAST else 0
        if failed >= _FAILED:
            break
    good = [k for k, score in scores.items() if score >= LEAST]
    note = "" if not isinstance(objective, Holes) else "entries that are missing were filled by each fit"
    return Choice(max(good, default=1), scores, {}, "core consistency", "core consistency in % (80 or more is good)",
                  "n_components", True, note=note)  # fmt: skip
