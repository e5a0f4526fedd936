"""Exercise 4: what the representer theorem costs: weights that are sums of rows are hardly ever sparse.

    python examples/exercises/representer.py --out PICTURES

Two rows, (1, −1) of the class + and (−1, 1) of −; the truth looks at the first column alone. Can a kernel machine
learn a weight vector of which only the first number is not zero? No. Its weights are sums of rows,
w = α₁(1, −1) + α₂(−1, 1) = (α₁ − α₂)(1, −1), so that w₂ = −w₁ whatever is learned: w₂ = 0 takes α₁ = α₂, and then w₁ is
zero as well. That is no fault of a solver: a penalty on ‖w‖ has its optimum there, and minimising over w itself leads
to the same point, to rounding (the column "apart"). An ℓ1 penalty is no function of ‖w‖, so the theorem says nothing
of it, and lasso may end with (w₁, 0). From these two rows nobody can know whether it is the first column or the
second: both say the same. The lasso takes the first because it looks there first.

With more rows their sums can come near to a sparse vector, but few of the weights are exactly zero. In the second part
of the table one of fifty columns tells the class: the kernel machine gives nearly all of the others some weight, the
lasso few, and it predicts new rows better, because here the truth is sparse.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.linear_model import Lasso
from sklearn.svm import SVC
from telling import Found, tell

from unweave.predict import KernelLogistic, Linear
from unweave.solve.optimise import minimise

PAIR, SIGNS = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([1.0, -1.0])
COLUMNS, NEW, SMALL = 50, 2000, 1e-6


def of_rows(X: np.ndarray, y: np.ndarray, ridge: float) -> np.ndarray:
    """The weights Σ α_i x_i that kernel logistic regression leaves: one α for each row."""
    model = KernelLogistic(Linear(), ridge=ridge, fit_intercept=False, tol=1e-12).fit(X, y)
    return X.T @ model.dual_coef_[:, 0]


def directly(X: np.ndarray, y: np.ndarray, ridge: float) -> np.ndarray:
    """The same problem, Σ log(1 + exp(−y·⟨w, x⟩)) + ½ ridge·‖w‖², minimised over the weights of the columns."""

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = y * (X @ w)
        pull = -y / (1 + np.exp(margin))
        return float(np.logaddexp(0, -margin).sum() + 0.5 * ridge * (w @ w)), X.T @ pull + ridge * w

    return minimise(loss, np.zeros(X.shape[1]), max_iter=1000, tol=1e-10).x


def measure(size: int = 60) -> Found:
    """The weights of three methods from two rows, and from `size` rows of fifty columns."""
    rng = np.random.default_rng(0)
    many = rng.normal(size=(size + NEW, COLUMNS))
    truth = np.where(many[:, 0] + 0.3 * rng.normal(size=len(many)) > 0, 1.0, -1.0)
    rows, kept = [], {}
    for name, X, y, new, wanted in (
        ("2 × 2", PAIR, SIGNS, None, None),
        (f"{size} × {COLUMNS}", many[:size], truth[:size], many[size:], truth[size:]),
    ):
        vectors = SVC(kernel=Linear()).fit(X, y)
        learned = {
            "kernel logistic": of_rows(X, y, 1.0),
            "support vectors": X[vectors.support_].T @ vectors.dual_coef_[0],
            "lasso": Lasso(0.1, fit_intercept=False).fit(X, y).coef_,
        }
        apart = float(np.abs(learned["kernel logistic"] - directly(X, y, 1.0)).max())
        for method, w in learned.items():
            rows.append({
                "table": name, "method": method, "w₁": round(float(w[0]), 3), "w₂": round(float(w[1]), 3),
                "zeros": int((np.abs(w) < SMALL * np.abs(w).max()).sum()),
                "right": "" if new is None else f"{100 * np.mean(np.sign(new @ w) == wanted):.1f} %",
                "apart": f"{apart:.0e}" if method == "kernel logistic" else "",
            })  # fmt: skip
        kept[name] = learned
    return Found("what is learned where only the first column counts", rows, kept)


def draw(found: Found):
    """The two rows, all sums of them and what was learned; and the sizes of fifty weights."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    small, large = found.drawn.values()
    left.axline((0, 0), slope=-1, color="0.8", linewidth=5, label="all sums of rows")
    left.scatter(*PAIR.T, c=["tab:red", "tab:blue"], s=70, zorder=3)
    left.annotate("+", PAIR[0] + 0.08), left.annotate("−", PAIR[1] + 0.08)
    for (name, w), colour in zip(small.items(), ("tab:green", "tab:olive", "tab:purple")):
        left.annotate("", w, (0, 0), arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 2})
        left.plot([], [], color=colour, label=name)
    left.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), xlabel="first column", ylabel="second column", aspect="equal")
    left.legend(fontsize=8)
    for name, marker in (("kernel logistic", "o"), ("lasso", "x")):
        w = np.abs(large[name])
        right.plot(w / w.max(), marker, label=name)
    right.set(xlabel="column", ylabel="|weight|, as a share of the largest")
    right.legend(fontsize=8)
    return figure


def main(arguments: list[str] | None = None) -> Path:
    """Say the table and draw the picture; where it is."""
    return tell("representer", __doc__, measure, draw, 60, arguments, means="rows of the second table")


if __name__ == "__main__":
    main()
