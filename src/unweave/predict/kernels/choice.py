"""Which kernel a user means: by name, as an object, or as a function of two tables."""

from __future__ import annotations

from typing import Any

from unweave.predict.kernels.algebra import Function
from unweave.predict.kernels.base import Kernel
from unweave.predict.kernels.strings import Spectrum, Substrings, WeightedDegree
from unweave.predict.kernels.subsequences import Subsequences
from unweave.predict.kernels.trees import Trees
from unweave.predict.kernels.vectors import Gaussian, Linear, Polynomial

NAMES: dict[str, type[Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "gaussian": Gaussian,
    "rbf": Gaussian,
    "substrings": Substrings,
    "spectrum": Spectrum,
    "weighted-degree": WeightedDegree,
    "subsequences": Subsequences,
    "trees": Trees,
}
_SCALED = (Gaussian,)


def as_kernel(kernel: Any, variance: float | None = None, columns: int = 1) -> Kernel:
    """The kernel that is meant; a Gaussian by name gets γ = 1 / (columns · variance), as scikit-learn's "scale".

    >>> as_kernel("gaussian", variance=2.0, columns=5), as_kernel("spectrum")
    (Gaussian(gamma=0.1), Spectrum())
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in NAMES:
        kind = NAMES[kernel]
        if kind in _SCALED and variance is not None:
            return Gaussian(gamma=1.0 / (columns * variance) if variance > 0 else 1.0)
        return kind()
    if callable(kernel) and not isinstance(kernel, type):
        return Function(kernel)
    raise ValueError(
        f"kernel={kernel!r} is not known; use one of {', '.join(NAMES)}, a kernel of unweave.predict such as "
        "Gaussian(), or a function of two tables"
    )
