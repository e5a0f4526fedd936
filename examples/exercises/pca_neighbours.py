"""Exercise 8: principal components before nearest neighbours, and what that assumes of the target.

    python examples/exercises/pca_neighbours.py --out PICTURES
    python examples/exercises/pca_neighbours.py FOLDER          # with train-images-idx3-ubyte.gz, Fashion-MNIST say

PCA does not look at the labels. What do we assume of the target when we keep the first axes for a nearest neighbour?
That it changes along directions in which the rows spread most, and not along those that are dropped: what varies little
is taken for noise. And, since neighbours are near by distance on what is kept, that it changes smoothly there. Units
matter, too, because they decide what varies most.

The table has pictures of digits, and two tables that are drawn, where the class is known to be told by one direction
among thirty. Where that is the widest one, two axes say all, and any number of axes does as well as all columns: what
PCA drops there is only noise. Where it is the narrowest one, the axes that are kept are all noise and the answers are a
coin's; all thirty columns are hardly better (55 %), because distances are made by wide columns. There it helps to bring
all axes to one scale by whitening (77 %), which harms the first table just as much (77 % in place of 100 %): it is
another assumption, that all axes matter alike, and not a better one. Only the labels can tell which holds. For digits
the first does: ten axes do nearly as well as the 64 pixels, twenty as well.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from telling import Found, pictures, shares, tell

import unweave

AXES, TRIALS, COLUMNS = (2, 5, 10, 20), 3, 30


def drawn(n: int, column: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose spread falls from column to column, and a class that one of the columns tells."""
    rng = np.random.default_rng(0)
    spread = 0.95 ** np.arange(COLUMNS)
    spread[0] = 1.5
    Z = rng.normal(size=(n, COLUMNS))
    Z[:, column] = np.sign(rng.normal(size=n)) * rng.uniform(0.4, 1.6, n)  # two sides, with a gap between
    turn = np.linalg.qr(rng.normal(size=(COLUMNS, COLUMNS)))[0]
    return (spread * Z) @ turn, (Z[:, column] > 0).astype(int)


def measure(size: int = 1500, folder: Path | None = None) -> Found:
    """Accuracy of the nearest of `size` rows, halved at random, by table and by what is kept of it."""
    data = pictures(folder)
    tables = {
        data.name: (data.X[:size], data.y[:size]),
        "the widest direction tells": drawn(size, 0),
        "the narrowest tells": drawn(size, COLUMNS - 1),
    }
    rows = []
    for name, (X, y) in tables.items():
        most = min(len(X) // 2 - 1, X.shape[1])
        whole = min(most, np.linalg.matrix_rank(X - X.mean(axis=0)), COLUMNS)
        ways = {"all columns": None, **{f"{k} axes": unweave.PCA(k) for k in AXES if k <= most}}
        ways |= {f"{whole} axes, whitened": unweave.PCA(int(whole), whiten=True)}
        for way, pca in ways.items():
            model = KNeighborsClassifier(1) if pca is None else make_pipeline(pca, KNeighborsClassifier(1))
            halves = StratifiedShuffleSplit(TRIALS, test_size=0.5, random_state=0).split(X, y)
            right = [model.fit(X[a], y[a]).score(X[b], y[b]) for a, b in halves]
            rows.append({"table": name, "neighbours by": way, "right": shares(right)})
    return Found(f"nearest neighbour among {size // 2:,} rows, {TRIALS} trials", rows, tables)


def draw(found: Found):
    """Accuracy by the number of axes, and the two drawn tables on two axes each."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
    for name in found.drawn:
        own = {row["neighbours by"]: float(row["right"].split()[0]) for row in found.rows if row["table"] == name}
        counts = [int(way.split()[0]) for way in own if way.endswith(" axes")]
        (line,) = axes[0].plot(counts, [own[f"{k} axes"] for k in counts], "o-", label=name)
        axes[0].axhline(own["all columns"], color=line.get_color(), linestyle="--", linewidth=0.8)
    axes[0].set(xlabel="axes kept; dashed: all columns", ylabel="right, %", xticks=counts)
    axes[0].legend(fontsize=8, loc="center right", bbox_to_anchor=(1, 0.62))
    for axis, (name, (X, y)) in zip(axes[1:], list(found.drawn.items())[1:]):
        codes = unweave.PCA(2).fit_transform(X)
        axis.scatter(*codes.T, c=y, cmap="coolwarm", s=6)
        axis.set(title=name, xlabel="first axis", ylabel="second axis")
    return figure


def main(arguments: list[str] | None = None) -> Path:
    """Say the table and draw the picture; where it is."""
    return tell("pca_neighbours", __doc__, measure, draw, 1500, arguments, means="rows", takes_folder=True)


if __name__ == "__main__":
    main()
