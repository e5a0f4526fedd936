"""Eigenfaces: recognise a face by its nearest neighbour among codes of 20, 40 or 80 numbers, whitened or not.

    python examples/eigenfaces.py                        # scikit-learn's digits stand in; the picture: eigenfaces.png
    python examples/eigenfaces.py DATA                   # a folder with olivetti_64x64.npz
    python examples/eigenfaces.py DATA --out FILE.png --components 20 40 80

Pictures are described by PCA of the training pictures, and a new one gets the name of the training picture whose code
is nearest. Whitening divides every code by the spread of its axis, σ_i/√m for m pictures (PCA has m − 1 for m), so that
all axes count alike: faint ones that tell people apart, and faint ones that are noise. The table shows what that does
to the accuracy, mean and spread over several random halves of the pictures of each person.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier

import unweave

FILE = "olivetti_64x64.npz"
TRIALS = 5


def load(folder: Path | None) -> tuple[np.ndarray, np.ndarray, tuple[int, int], str]:
    """Pictures as rows from 0 to 1, who is on each, their size, and their name."""
    if folder is None:
        digits = load_digits()
        return digits.data / 16, digits.target, (8, 8), "digits"
    found = sorted(folder.rglob(FILE))
    if not found:
        raise SystemExit(f"{folder} holds no {FILE}; without a folder digits stand in for faces")
    with np.load(found[0]) as file:
        images, people = file["images"], file["subject"]
    return images.reshape(len(images), -1) / 255.0, people, images.shape[1:], "Olivetti faces"


def codes(train: np.ndarray, test: np.ndarray, k: int, whiten: bool) -> tuple[np.ndarray, np.ndarray]:
    """Codes of both halves by the eigenfaces of the first."""
    pca = unweave.PCA(k, whiten=whiten, random_state=0).fit(train)
    return pca.transform(train), pca.transform(test)


def accuracy(train: np.ndarray, who: np.ndarray, test: np.ndarray, whose: np.ndarray) -> float:
    """The share of the test pictures whose nearest neighbour is of the same person."""
    return KNeighborsClassifier(1).fit(train, who).score(test, whose)


def table(X: np.ndarray, y: np.ndarray, counts: list[int]) -> dict[str, np.ndarray]:
    """The accuracy of every trial, by what the nearest neighbour is sought in."""
    rows: dict[str, list[float]] = {}
    halves = StratifiedShuffleSplit(TRIALS, test_size=0.5, random_state=0)
    for train, test in halves.split(X, y):
        rows.setdefault(f"all {X.shape[1]} pixels", []).append(accuracy(X[train], y[train], X[test], y[test]))
        for k in counts:
            for whiten in (False, True):
                known, new = codes(X[train], X[test], k, whiten)
                name = f"{k} eigenfaces{', whitened' if whiten else ''}"
                rows.setdefault(name, []).append(accuracy(known, y[train], new, y[test]))
    return {name: np.array(values) for name, values in rows.items()}


def draw(X: np.ndarray, size: tuple[int, int], counts: list[int], path: Path) -> None:
    """Above the first eigenfaces, below one picture rebuilt from more and more of them."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pca = unweave.PCA(max(counts), random_state=0).fit(X)
    across = 8
    figure, axes = pyplot.subplots(3, across, figsize=(1.25 * across, 4.4), layout="constrained")
    for axis, face in zip(axes[:2].flat, pca.components_):
        largest = np.abs(face).max()
        axis.imshow(face.reshape(size), cmap="RdBu_r", vmin=-largest, vmax=largest)
    code = pca.transform(X[:1])
    steps = [0, 5, 10, *counts][: across - 1]
    for axis, k in zip(axes[2], steps):
        kept = np.where(np.arange(code.shape[1]) < k, code, 0)
        axis.imshow(pca.inverse_transform(kept).reshape(size), cmap="gray", vmin=X.min(), vmax=X.max())
        axis.set_title(f"{k}", fontsize=9)
    axes[2, len(steps)].imshow(X[0].reshape(size), cmap="gray", vmin=X.min(), vmax=X.max())
    axes[2, len(steps)].set_title("itself", fontsize=9)
    for axis in axes.flat:
        axis.set_axis_off()
    figure.savefig(path, dpi=120)


def main(arguments: list[str] | None = None) -> Path:
    """Say the table and draw the picture; where it is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--out", type=Path, default=Path("eigenfaces.png"))
    parser.add_argument("--components", nargs="+", type=int, default=None, metavar="K")
    asked = parser.parse_args(arguments)
    X, y, size, name = load(asked.folder)
    most = min(X.shape[1], len(X) // 2)
    counts = asked.components or [k for k in (20, 40, 80) if k <= most]
    if not counts or max(counts) > most or min(counts) < 1:
        parser.error(f"--components must lie between 1 and {most} for {name}")
    print(f"{name}: {len(X)} pictures of {len(np.unique(y))}, nearest neighbour in halves, {TRIALS} trials")
    for what, values in table(X, y, counts).items():
        print(f"{what:<28}{100 * values.mean():6.1f} % ± {100 * values.std():.1f}")
    draw(X, size, counts, asked.out)
    print(f"the picture is {asked.out}")
    return asked.out


if __name__ == "__main__":
    main()
