"""Exercise 6: learn PARITY with the few hidden units that are known to be enough.

    python examples/exercises/parity.py --out PICTURES

PARITY says whether an odd number of d inputs is one. d + 1 threshold units represent it: `parity_network` writes them
down, and is right on every input. Can a network of 11 units be trained to it from 1,000 rows of 10 bits? What to
expect: hardly. The network can say it, but the way there is not downhill: PARITY goes with no input alone, nor with any
few of them, so that at small weights the gradient points nowhere, and runs end in valleys that are not the lowest.

What is seen: no run of any optimiser ends where the written network is, on all rows. With bits written as 0 and 1
L-BFGS, which follows the curvature of the loss of all rows, is right on 73 % of new rows (means of ten runs), and steps
of SGD and Adam learn some rows by heart and are *worse* than a coin on others: rows that differ in one bit have
opposite answers, so whatever is smooth is wrong nearby. Written as −1 and 1, so that tanh has its bend in the middle,
the same networks get to 82 to 85 % by all three, and single runs to 96 %. Forty-four units learn (nearly) all training
rows by every optimiser, though not all new ones: size helps to *find* a network, not to represent one. Short steps
(0.001 for Adam, as many programs have them) stay at a coin in a hundred epochs.

Beware of the test: 1,000 rows drawn from only 1,024 different ones are mostly known from training, so that learning by
heart alone scores about 80 %. "new" are those that training has not seen.

The optimisers are those of :mod:`unweave.solve.optimise`, so no torch is needed; `MLP` runs on the same ones.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from telling import Found, tell

from unweave.predict import parity_network
from unweave.solve.optimise import SGD, Adam, minimise

BITS, ROWS, RUNS = 10, 1000, 10
SETTINGS = (("0, 1", 11), ("−1, 1", 11), ("−1, 1", 44))  # how bits are written, and hidden units
# L-BFGS takes steps of all rows; the others epochs of mini-batches of 50 rows.
SOLVERS = {"l-bfgs": ("l-bfgs", 400), "sgd": (SGD(step=0.5), 100), "adam": (Adam(step=0.01), 100)}


def network(X: np.ndarray, y: np.ndarray, units: int):
    """The logistic loss of f(x) = b + v·tanh(W·x + a) with signs y, as a function of all weights in one array."""
    d = X.shape[1]

    def parts(w):
        return w[: units * d].reshape(units, d), w[units * d : -units - 1], w[-units - 1 : -1], w[-1]

    def scores(w, X):
        W, a, v, b = parts(w)
        hidden = np.tanh(X @ W.T + a)
        return hidden, hidden @ v + b

    def loss(w, rows=None):
        Z, signs = (X, y) if rows is None else (X[rows], y[rows])
        hidden, f = scores(w, Z)
        margin = signs * f
        slope = -signs * np.exp(-np.logaddexp(0, margin)) / len(Z)
        back = np.outer(slope, parts(w)[2]) * (1 - hidden**2)
        gradient = np.concatenate([(back.T @ Z).ravel(), back.sum(axis=0), hidden.T @ slope, [slope.sum()]])
        return float(np.logaddexp(0, -margin).mean()), gradient

    return loss, lambda w, X: np.sign(scores(w, X)[1])


def train(seed: int, solver, epochs: int, written: str, units: int) -> tuple[float, float, float]:
    """The share of right answers after one run: on training rows, test rows, and test rows that are new."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2, size=(2 * ROWS, BITS))
    X, y = bits.astype(float), 2.0 * (bits.sum(axis=1) % 2) - 1
    if written == "−1, 1":
        X = 2 * X - 1
    loss, answer = network(X[:ROWS], y[:ROWS], units)
    start = rng.normal(size=units * (BITS + 2) + 1) / np.sqrt(BITS)
    rows = {} if solver == "l-bfgs" else {"n_rows": ROWS, "batch_size": 50}
    w = minimise(loss, start, solver=solver, max_iter=epochs, random_state=seed, **rows).x
    right = answer(w, X) == y
    known = {row.tobytes() for row in bits[:ROWS]}
    new = np.array([row.tobytes() not in known for row in bits[ROWS:]])
    return float(right[:ROWS].mean()), float(right[ROWS:].mean()), float(right[ROWS:][new].mean())


def measure(size: int = RUNS) -> Found:
    """Accuracy of `size` runs by units and optimiser, and of the network that is written down."""
    every = np.array(np.meshgrid(*[[0, 1]] * BITS)).reshape(BITS, -1).T
    built = float((parity_network(BITS).predict(every) == every.sum(axis=1) % 2).mean())
    rows = [_row("0, 1", BITS + 1, "written down", np.full((1, 3), built))]
    runs = {}
    for written, units in SETTINGS:
        for name, (solver, epochs) in SOLVERS.items():
            found = np.array([train(seed, solver, epochs, written, units) for seed in range(size)])
            rows.append(_row(written, units, name, found))
            runs[written, units, name] = found
    return Found(f"PARITY of {BITS} bits from {ROWS:,} rows, {size} runs; chance is 50 %", rows, runs)


def _row(written: str, units: int, how: str, found: np.ndarray) -> dict:
    percent = 100 * found
    return {
        "bits": written, "units": units, "how": how, "training": f"{percent[:, 0].mean():.1f} %",
        "test": f"{percent[:, 1].mean():.1f} %", "new": f"{percent[:, 2].mean():.1f} %",
        "best, new": f"{percent[:, 2].max():.1f} %",
    }  # fmt: skip


def draw(found: Found):
    """Every run's accuracy on new rows."""
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(7, 3.8), layout="constrained")
    for i, ((_, _, name), runs) in enumerate(found.drawn.items()):
        across = i + np.linspace(-0.2, 0.2, len(runs))
        axis.plot(across, 100 * runs[:, 2], "o", color=f"C{list(SOLVERS).index(name)}", alpha=0.8)
    axis.axhline(100, color="black", linewidth=1, label="written down, 11 units")
    axis.axhline(50, color="black", linewidth=1, linestyle="--", label="a coin")
    axis.set_xticks(
        range(len(found.drawn)),
        [f"{name}\n{written}\n{units} units" for written, units, name in found.drawn],
        fontsize=8,
    )
    axis.set(ylabel="right on new rows, %")
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def main(arguments: list[str] | None = None) -> Path:
    """Say the table and draw the picture; where it is."""
    return tell("parity", __doc__, measure, draw, RUNS, arguments, means="runs of each")


if __name__ == "__main__":
    main()
