"""Exercise 2: a polynomial as a list of monomials, or as a kernel: which is cheaper to ask?

    python examples/exercises/monomials.py --out PICTURES

A polynomial of degree k in d columns can be kept as a weight for each monomial (I), or as a weight for each of the m
training rows, f(x) = Σ α_i (1 + ⟨x_i, x⟩)^k (II). Both say the same, to rounding; the last column of the table is how
far they are apart, and its steps are multiplications for one answer.

Which is better? (I) for k = 1, where there are d + 1 monomials to add up and (II) has m products of d numbers. (II) for
large k: there are (d + k)! / (d! k!) different monomials, exponentially many in k while k is below d, and
(II) still takes m products of d numbers, and log k products more to raise each to its power. So where they cross
depends on m: with many rows and few columns monomials win for longer. What is kept in memory grows the same way.

Ordered monomials, as the product (1 + Σ x_j x'_j)^k has them before like ones are put together, are more: of degree 3
in two columns 2³ = 8, of which 4 differ. Each of the different ones has in ψ the root of how often it occurs, so that
⟨ψ(x), ψ(x')⟩ = (1 + ⟨x, x'⟩)^k.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from telling import Found, clock, tell

import unweave
from unweave.predict import Polynomial

COLUMNS, DEGREES, ASKED, RIDGE = 10, (1, 2, 3, 4, 5, 6), 200, 1e-2


def monomials(d: int, k: int) -> list[tuple[int, ...]]:
    """Every monomial of degree up to k in d columns, as the columns that it multiplies: column 0 is the one of ones."""
    return list(combinations_with_replacement(range(d + 1), k))


def features(X: np.ndarray, k: int) -> np.ndarray:
    """ψ(x) of each row: all monomials, weighed so that inner products are (1 + ⟨x, x'⟩)^k."""
    ones = np.hstack([np.ones((len(X), 1)), X])
    found = monomials(X.shape[1], k)
    often = [math.factorial(k) / math.prod(math.factorial(n) for n in Counter(one).values()) for one in found]
    return np.column_stack([ones[:, list(one)].prod(axis=1) for one in found]) * np.sqrt(often)


def measure(size: int = 600) -> Found:
    """Multiplications and time of both for `size` training rows, by degree."""
    data = load_digits()
    X = unweave.PCA(COLUMNS).fit_transform(data.data / 16)[: size + ASKED] / 3
    train, new, target = X[:size], X[size:], (data.target[:size] % 2) - 0.5  # is it odd?
    rows = []
    for k in DEGREES:
        kernel = Polynomial(k)
        alpha = np.linalg.solve(kernel(train) + RIDGE * np.eye(len(train)), target)
        w = features(train, k).T @ alpha
        (one, first), (two, second) = clock(lambda: features(new, k) @ w), clock(lambda: kernel(new, train) @ alpha)  # noqa: B023
        rows.append({
            "degree": k, "ordered": (COLUMNS + 1) ** k, "different": math.comb(COLUMNS + k, k),
            "steps, I": k * math.comb(COLUMNS + k, k),
            "steps, II": len(train) * (COLUMNS + 1 + math.ceil(math.log2(k))),
            "ms, I": round(1e3 * first, 1), "ms, II": round(1e3 * second, 1), "apart": f"{np.abs(one - two).max():.0e}",
        })  # fmt: skip
    return Found(f"{len(new)} answers of a polynomial of {COLUMNS} columns, {len(train)} training rows", rows)


def draw(found: Found):
    """Multiplications by degree, both ways."""
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(6, 3.8), layout="constrained")
    degrees = [row["degree"] for row in found.rows]
    axis.semilogy(degrees, [row["steps, I"] for row in found.rows], "o-", label="I: monomials")
    axis.semilogy(degrees, [row["steps, II"] for row in found.rows], "o-", label="II: kernel")
    axis.set(xlabel="degree", ylabel="multiplications for an answer", xticks=degrees)
    axis.legend()
    return figure


def main(arguments: list[str] | None = None) -> Path:
    """Say the table and draw the picture; where it is."""
    return tell("monomials", __doc__, measure, draw, 600, arguments, means="training rows")


if __name__ == "__main__":
    main()
