"""How many components? As many as a core that may mix them leaves alone, or as predict hidden entries best."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from unweave.data.tensor import Tensor
from unweave.linalg.tensors import DenseProducts, ListedProducts, Products, SmallProducts
from unweave.objectives.tensors import open_tensor
from unweave.select.choose import Choice

# The largest number whose consistency is at least this is taken (Bro and Kiers call 90 good and 50 bad; nothing was
# tuned here); after two in a row below, no more are tried.
LEAST, _FAILED, _MOST, _HIDDEN = 80.0, 2, 20, 0.1


def core_consistency(products: Products, factors: Sequence[NDArray]) -> float:
    """100·(1 − ‖G − I‖²/k), G the core that fits the tensor best between these factors, I ones on its diagonal.

    G = X ×₁ F₁⁺ ×₂ F₂⁺ …. Where the components are all that there is, G is I and this 100; where there are too many,
    some share what they describe, G fills up, and this falls towards zero and below.

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


def choose_number(tensor: Tensor, rounds: Callable, most: int, rng: np.random.Generator) -> Choice:
    """The number of components: by core consistency, or where entries are missing by the error at hidden ones.

    ``rounds(objective, k)`` gives the factors of a short fit. A core would say nothing of holes that the fit itself has
    filled.
    """
    by = _by_consistency if tensor.seen is None else _by_hidden_entries
    return by(tensor, rounds, min(most, _MOST), rng)


def _by_consistency(tensor: Tensor, rounds: Callable, most: int, rng) -> Choice:
    """The largest number whose consistency is good; the search ends after two in a row that are not."""
    objective, scores, failed = open_tensor(tensor), dict[int, float](), 0
    for k in range(1, most + 1):
        scores[k] = core_consistency(objective.products, rounds(objective, k))
        failed = failed + 1 if scores[k] < LEAST else 0
        if failed >= _FAILED:
            break
    good = [k for k, score in scores.items() if score >= LEAST]
    return Choice(max(good, default=1), scores, {}, "core consistency", f"core consistency in % ({LEAST:g} is good)",
                  "n_components", True)  # fmt: skip


def _by_hidden_entries(tensor: Tensor, rounds: Callable, most: int, rng) -> Choice:
    """The number with the least squared error at a tenth of the entries; ends after two in a row that are worse."""
    coords, values = tensor.observed()
    hidden = rng.permutation(len(values)) < max(1, int(_HIDDEN * len(values)))
    if hidden.all():
        raise ValueError("n_components='auto' hides some of the observed entries: there is only one, so give a number")
    objective, scores = open_tensor(tensor.hiding(hidden)), dict[int, float]()
    at, wanted = coords[hidden], values[hidden].astype(np.float64)
    for k in range(1, most + 1):
        scores[k] = float(np.mean(np.square(model_at(rounds(objective, k), at) - wanted)))
        if k - min(scores, key=lambda one: scores[one]) >= _FAILED:
            break
    return Choice(min(scores, key=lambda one: scores[one]), scores, {}, "held-out entries",
                  "mean squared error at hidden entries", "n_components", False)  # fmt: skip


def model_at(factors: Sequence[NDArray], coords: NDArray) -> NDArray:
    """The sum of the components at single entries."""
    product = factors[0][coords[:, 0]]
    for d in range(1, len(factors)):
        product = product * factors[d][coords[:, d]]
    return product.sum(axis=1)
