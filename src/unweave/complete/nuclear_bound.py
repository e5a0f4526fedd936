"""How large a sparse matrix can be: an upper bound of its largest singular value, proven where that is affordable."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from unweave.complete.sparse_plus_low_rank import LowRank, Pattern
from unweave.linalg.operators import small_gram
from unweave.linalg.sparse import SparseProduct
from unweave.solve.certificate import Certificate, bounded, dual_scale
from unweave.solve.svd import truncated_svd

MOST_PROVEN = 4096  # shorter side of the largest table whose bound is proven: a Gram of 128 MB
_BLOCKS = 60  # of the Krylov method at most
_MARGINS = (1e-7, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 1e-2)


def norm_bound(product: SparseProduct, prove: bool) -> tuple[float, bool]:
    """(ρ, proven): ‖R‖₂ ≤ ρ.

    The block Krylov method comes from below. ρ lies a little above what it found, and is proven when the Cholesky
    factorisation of ρ²I − RᵀR exists. Without proof ρ is an estimate.

    >>> import numpy as np, scipy.sparse as sp
    >>> rho, proven = norm_bound(SparseProduct(sp.csr_array(np.diag([3.0, 1.0]))), True)
    >>> round(rho, 6), proven
    (3.0, True)
    """
    # Singular values of a residual crowd below τ: a loose tolerance would stop among them.
    found = float(truncated_svd(product, 1, method="krylov", codes=False, tol=1e-8, max_iter=_BLOCKS).s[0])
    if not prove or not found > 0:
        return found * (1 + 1e-6), False
    G, _ = small_gram(product, None)
    for margin in _MARGINS:
        rho = found * (1 + margin)
        if _is_below(G, rho):
            return rho, True
    return float(np.sqrt(np.linalg.norm(G, 1))), True  # the largest row sum bounds every eigenvalue


def _is_below(G: np.ndarray, rho: float) -> bool:
    """Whether ρ²I − G is positive definite."""
    shifted = -G
    shifted[np.diag_indices(len(G))] += rho**2
    return not linalg.lapack.dpotrf(shifted, lower=1, overwrite_a=1)[1]


def proof_is_cheap(entries: Pattern, rank: int, n_iter: int) -> bool:
    """Whether the proof costs at most a tenth of the fit, counted in operations so that the answer never varies."""
    short = min(entries.shape)
    if short > MOST_PROVEN:
        return False
    proof = short**3 + float(entries.nnz) ** 2 / max(entries.shape)
    fit = n_iter * entries.nnz * (2.0 * rank * rank + 100.0)
    return proof <= max(0.1 * fit, 2e8)


def duality_gap(entries: Pattern, M: LowRank, tau: float, value: float, prove: bool) -> Certificate:
    """The gap of ½ Σ_observed (x − m)² + τ‖M‖₊: its dual is max ⟨Y, X⟩ − ½‖Y‖² over Y on the entries with ‖Y‖₂ ≤ τ.

    Y is the residual, scaled down by a bound of its norm. The certificate is exact where that bound is proven.
    """
    r = (entries.values - entries.at_entries(M)).astype(np.float64)
    x = entries.values.astype(np.float64)
    square, inner = float(r @ r), float(r @ x)
    norm, proven = norm_bound(SparseProduct(entries.matrix(r)), prove)
    c = dual_scale(inner, square, tau, norm)
    return bounded("duality", c * inner - 0.5 * c * c * square, value, 0.5 * float(x @ x), proven)
