"""Kernels as objects: inner products of vectors, strings and trees, and what can be made of kernels.

`base` says what a kernel is and makes its tables; `vectors`, `strings`, `subsequences` and `trees` hold the kernels,
`algebra` what operators make of them, `choice` the names of kernels, `transformers` what puts them into pipelines.
"""

from __future__ import annotations

from unweave.registry import lazily

_HOMES = {
    **dict.fromkeys(("Kernel", "Semidefinite", "check_psd"), "base"),
    **dict.fromkeys(("Linear", "Polynomial", "Gaussian"), "vectors"),
    **dict.fromkeys(("Substrings", "Spectrum", "WeightedDegree"), "strings"),
    "Subsequences": "subsequences",
    "Trees": "trees",
    **dict.fromkeys(("Sum", "Product", "PolynomialOf", "Exponential", "Normalised", "Mapped", "Function"), "algebra"),
    "as_kernel": "choice",
    **dict.fromkeys(("KernelTable", "KernelFeatures"), "transformers"),
}

__all__ = list(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
