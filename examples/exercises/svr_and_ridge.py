"""Exercise 3: support vector regression against kernel ridge regression, in training and in answering.

    python examples/exercises/svr_and_ridge.py --out PICTURES

Both add up Gaussian bumps at the training rows. Ridge regression asks for squares: one linear system, solved at once
in about n³/3 steps, and every row has a weight. Support vector regression forgives errors below ε: a problem for an
iterative method, at whose end only rows at or beyond ε from the curve have a weight.

Which trains faster? On small tables ridge, in closed form (0.06 against 0.3 ms at 62 rows); on large ones support
vectors, whose work grows with the rows that matter (14 against 111 ms at 2,000), while n³ catches up. Both are given
the table of kernels, and making that is not counted. Which answers faster? Support vectors: an answer takes one kernel
for each row with a weight. How many these are is decided by ε against the noise, not by the number of rows: with ε
below the noise most rows lie outside and are support vectors.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.svm import SVR
from telling import Found, clock, tell

from unweave.predict import Gaussian

C, EPSILON, NOISE, ASKED = 1.0, 0.3, 0.2, 2000
KERNEL, RIDGE = Gaussian(0.7), 0.5


def curve(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A noisy sine, with every fifth value thrown off further."""
    rng = np.random.default_rng(seed)
    X = np.sort(rng.uniform(0, 5, (n, 1)), axis=0)
    y = np.sin(2 * X[:, 0]) + NOISE * rng.normal(size=n)
    y[::5] += 0.8 * (rng.random(len(y[::5])) - 0.5)
    return X, y


def ridge(K: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Rows with a weight (all of them), the weights, and a constant: the mean."""
    from scipy.linalg import solve

    level = float(y.mean())
    return np.arange(len(y)), solve(K + RIDGE * np.eye(len(y)), y - level, assume_a="pos"), level


def vectors(K: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """The same by support vectors."""
    model = SVR(kernel="precomputed", C=C, epsilon=EPSILON).fit(K, y)
    return model.support_, model.dual_coef_[0], float(model.intercept_[0])


def measure(size: int = 2000) -> Found:
    """CPU seconds of both for a part of the rows, half of them and all."""
    rows, answers = [], {}
    grid = np.linspace(0, 5, ASKED)[:, None]
    for n in sorted({max(2, size // part) for part in (32, 8, 2, 1)}):
        X, y = curve(n)
        K = KERNEL(X)
        for name, fit in (("ridge", ridge), ("support vectors", vectors)):
            (kept, weights, level), training = clock(fit, K, y)
            said, answering = clock(lambda k, w, b: KERNEL(grid, X[k]) @ w + b, kept, weights, level)  # noqa: B023
            error = np.sqrt(np.mean((said - np.sin(2 * grid[:, 0])) ** 2))
            rows.append({
                "rows": n, "method": name, "fit, ms": round(1e3 * training, 2), "weights": len(kept),
                "answers, ms": round(1e3 * answering, 2), "error": float(error),
            })  # fmt: skip
            if not answers or len(answers) < 3:
                answers |= {"data": (X, y), name: (said, kept)}
    return Found(f"a noisy sine, ε = {EPSILON}, noise {NOISE}, {ASKED} answers", rows, (grid, answers))


def draw(found: Found):
    """The two curves through the smallest table with its support vectors, and training and answering by rows."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    grid, answers = found.drawn
    X, y = answers["data"]
    left.plot(X, y, ".", color="0.7", markersize=4)
    said, kept = answers["support vectors"]
    left.plot(
        X[kept], y[kept], "o", fillstyle="none", color="tab:red", markersize=5, label=f"{len(kept)} support vectors"
    )
    left.plot(grid, answers["ridge"][0], color="tab:blue", label="ridge")
    left.plot(grid, said, color="tab:red", label="support vectors")
    left.fill_between(grid[:, 0], said - EPSILON, said + EPSILON, color="tab:red", alpha=0.12, label="± ε")
    left.legend(fontsize=8)
    for name, colour in (("ridge", "tab:blue"), ("support vectors", "tab:red")):
        own = [row for row in found.rows if row["method"] == name]
        n = [row["rows"] for row in own]
        right.loglog(n, [row["fit, ms"] for row in own], "o-", color=colour, label=f"{name}: training")
        right.loglog(n, [row["answers, ms"] for row in own], "o--", color=colour, label=f"{name}: answering")
    right.set(xlabel="rows", ylabel="CPU time, ms")
    right.legend(fontsize=8)
    return figure


def main(arguments: list[str] | None = None) -> Path:
    """Say the table and draw the picture; where it is."""
    return tell("svr_and_ridge", __doc__, measure, draw, 2000, arguments, means="rows of the largest table")


if __name__ == "__main__":
    main()
