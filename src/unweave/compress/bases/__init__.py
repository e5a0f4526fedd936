"""Bases: signals and pictures in waves and wavelets that nobody has to send, and what other bases cost.

`transforms` changes rows to coefficients and back, `keeping` says which of them are kept, `model` is the estimator
(one pass over the rows, a closed form), and `compare` sets the bases beside PCA and a learned dictionary, with
everything counted that has to be sent.
"""

from unweave.compress.bases.compare import Comparison, compare_bases
from unweave.compress.bases.model import OrthonormalBasis

__all__ = ["Comparison", "OrthonormalBasis", "compare_bases"]
