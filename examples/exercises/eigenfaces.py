"""Exercise 7: eigenfaces: recognise a face by its nearest neighbour among codes of 20, 40 or 80 numbers.

    python examples/exercises/eigenfaces.py --out PICTURES       # scikit-learn's digits stand in for faces
    python examples/exercises/eigenfaces.py FOLDER               # a folder with olivetti_64x64.npz

Pictures are described by PCA of the training pictures, and a new one gets the name of the training picture whose code
is nearest. Whitening divides every code by the spread of its axis, σ_i/√m for m pictures (PCA has m − 1 for m), so that
all axes count alike: faint ones that tell people apart, and faint ones that are noise.

What do the number of codes and whitening do? On the Olivetti faces (400 pictures of 40, five random halves) 20 codes
lose a little against all 4,096 pixels (87.6 % against 89.2 %), 40 and 80 hardly anything (88.6 and 88.9 %). Whitening
helps at 20 codes (89.5 %): the widest axes are light and pose, which say little of who it is, and now they count no
more than the others. At 40 it helps no longer (87.0 %, which five halves can hardly tell from 88.6 %), and at 80 it
harms (83.6 %): the last axes are mostly noise, which it makes as loud as the first. Digits, of which fewer axes tell
anything, lose by whitening from 20 codes on.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from telling import Found, Pictures, pictures, shares, tell

import unweave

FILE, COUNTS, TRIALS = "olivetti_64x64.npz", (20, 40, 80), 5


def load(folder: Path | None) -> Pictures:
    """Faces of a folder, or digits."""
    if folder is None:
        return pictures(None)
    found = sorted(folder.rglob(FILE))
    if not found:
        raise SystemExit(f"{folder} holds no {FILE}; without a folder digits stand in for faces")
    with np.load(found[0]) as file:
        images, people = file["images"], file["subject"]
    return Pictures(images.reshape(len(images), -1) / 255.0, people, images.shape[1:], "Olivetti faces")


def codes(train: np.ndarray, test: np.ndarray, k: int, whiten: bool) -> tuple[np.ndarray, np.ndarray]:
    """Codes of both halves by the eigenfaces of the first."""
    pca = unweave.PCA(k, whiten=whiten, random_state=0).fit(train)
    return pca.transform(train), pca.transform(test)


def measure(size: int = 1797, folder: Path | None = None) -> Found:
    """Accuracy of the nearest neighbour in halves of `size` pictures, by what it is sought in."""
    X, y, shape, name = load(folder)
    keep = np.sort(np.random.default_rng(0).permutation(len(X))[:size]) if size < len(X) else np.arange(len(X))
    X, y = X[keep], y[keep]
    most = min(X.shape[1], len(X) // 2)
    counts = [k for k in COUNTS if k <= most] or [most]
    halves = list(StratifiedShuffleSplit(TRIALS, test_size=0.5, random_state=0).split(X, y))

    def right(k: int | None, whiten: bool) -> str:
        found = []
        for a, b in halves:
            known, new = (X[a], X[b]) if k is None else codes(X[a], X[b], k, whiten)
            found.append(KNeighborsClassifier(1).fit(known, y[a]).score(new, y[b]))
        return shares(found)

    rows = [{"sought in": f"all {X.shape[1]} pixels", "plain": right(None, False), "whitened": ""}]
    rows += [{"sought in": f"{k} eigenfaces", "plain": right(k, False), "whitened": right(k, True)} for k in counts]
    title = f"{name}: {len(X)} pictures of {len(np.unique(y))}, nearest neighbour in halves, {TRIALS} trials"
    return Found(title, rows, (X, shape, counts))


def draw(found: Found):
    """Above the first eigenfaces, below one picture rebuilt from more and more of them."""
    from matplotlib import pyplot

    X, size, counts = found.drawn
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
    return figure


def main(arguments: list[str] | None = None) -> Path:
    """Say the table and draw the picture; where it is."""
    return tell("eigenfaces", __doc__, measure, draw, 1797, arguments, means="pictures", takes_folder=True)


if __name__ == "__main__":
    main()
