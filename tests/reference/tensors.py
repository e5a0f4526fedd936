"""Slow, obvious twins of the products of tensors with factors."""

from __future__ import annotations

import itertools

import numpy as np


def product(X: np.ndarray, factors: list[np.ndarray], mode: int) -> np.ndarray:
    """A[i, r] = Σ x · Π of the other factors, entry by entry."""
    out = np.zeros((X.shape[mode], factors[0].shape[1]))
    for place in itertools.product(*map(range, X.shape)):
        row = float(X[place]) * np.ones(out.shape[1])
        for d, i in enumerate(place):
            if d != mode:
                row = row * factors[d][i]
        out[place[mode]] += row
    return out


def model(factors: list[np.ndarray]) -> np.ndarray:
    """Σ_r u_r∘v_r∘… as a dense array."""
    out = np.zeros([len(F) for F in factors])
    for r in range(factors[0].shape[1]):
        term = np.array(1.0)
        for F in factors:
            term = np.multiply.outer(term, F[:, r])
        out += term
    return out
