"""Four jobs on scikit-learn's bundled digits, with pictures: explain, group, compress, complete.

    python examples/demo.py            # pictures go to demo-out/
    python examples/demo.py FOLDER     # or elsewhere

No network is needed. Every fit prints its plan (what was chosen and why) and its certificate (how good it is).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import unweave

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("The demo draws pictures and needs matplotlib: pip install matplotlib (or pip install -e '.[test]')")

# Two colours of Okabe and Ito, told apart by colour-blind readers and in print.
BLUE, ORANGE = "#0072B2", "#E69F00"
LARGEST = 16  # pixel values of the digits run from 0 to 16
HOLES = 0.4


def report(title: str, model) -> None:
    """Plan and certificate of a fit, as text."""
    print(f"\n== {title}")
    print(model.plan_)
    print(f"Ended: {model.history_.stopped} ({model.n_iter_} iterations)")
    print(f"Certificate: {model.certificate_}")


def draw(axis, pixels, *, largest=LARGEST, cmap="gray_r") -> None:
    """One 8×8 image without ticks, in a thin frame."""
    axis.imshow(np.reshape(pixels, (8, 8)), cmap=cmap, vmin=0, vmax=largest, interpolation="nearest")
    axis.set(xticks=[], yticks=[])
    for side in axis.spines.values():
        side.set(color="0.8", linewidth=0.8)


def save(figure, folder: Path, name: str) -> Path:
    path = folder / name
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"Picture: {path}")
    return path


def explain(X, y, folder: Path) -> Path:
    """Ten non-negative parts, and digits as sums of them."""
    model = unweave.NMF(10, max_iter=500, random_state=0).fit(X)
    report("Explain: ten parts (NMF)", model)
    examples = [int(np.flatnonzero(y == digit)[0]) for digit in range(10)]
    rebuilt = model.inverse_transform(model.codes_[examples])
    figure, axes = plt.subplots(3, 10, figsize=(9, 3.0), layout="constrained")
    for j, i in enumerate(examples):
        draw(axes[0, j], model.components_[j], largest=model.components_[j].max(), cmap="Blues")
        draw(axes[1, j], X[i])
        draw(axes[2, j], rebuilt[j])
    for axis, label in zip(axes[:, 0], ("ten\nparts", "digits", "digits as\nsums of parts")):
        axis.set_ylabel(label, rotation=0, ha="right", va="center", labelpad=8)
    figure.suptitle("Non-negative factors of 1797 digits: nothing cancels, so components are parts", fontsize=11)
    return save(figure, folder, "parts.png")


def group(X, y, folder: Path) -> Path:
    """Ten groups by k-means; the labels are only used to name them afterwards."""
    model = unweave.KMeans(10, random_state=0).fit(X)
    report("Group: ten groups (k-means)", model)
    figure, axes = plt.subplots(2, 5, figsize=(7.5, 4.4), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.07, hspace=0.04, w_pad=0.1)
    groups = []
    for centre, label in zip(model.cluster_centers_, range(10)):
        counts = np.bincount(y[model.labels_ == label], minlength=10)
        groups.append((int(counts.argmax()), -int(counts.max()), counts, centre))
    for axis, (digit, _, counts, centre) in zip(axes.flat, sorted(groups, key=lambda g: g[:2])):
        draw(axis, centre)
        axis.set_xlabel(f"{counts.sum()} digits\n{100 * counts.max() / counts.sum():.0f} % are {digit}", fontsize=9)
    figure.suptitle("Centres of ten groups, found without the labels", fontsize=11)
    return save(figure, folder, "groups.png")


def compress(X, y, folder: Path) -> Path:
    """Two numbers a digit; one panel for each digit, so that no colours need telling apart."""
    model = unweave.PCA(2).fit(X)
    report("Compress: 64 numbers to 2 (PCA)", model)
    codes = model.transform(X)
    shares = 100 * model.explained_variance_ratio_
    figure, axes = plt.subplots(2, 5, figsize=(9, 4.3), sharex=True, sharey=True, layout="constrained")
    for digit, axis in enumerate(axes.flat):
        axis.scatter(*codes.T, s=3, color="0.85", linewidths=0, rasterized=True)
        axis.scatter(*codes[y == digit].T, s=6, color=BLUE, linewidths=0, rasterized=True)
        axis.set_title(f"digit {digit}", fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
    figure.supxlabel(f"component 1 ({shares[0]:.0f} % of the variance)", fontsize=9)
    figure.supylabel(f"component 2 ({shares[1]:.0f} %)", fontsize=9)
    figure.suptitle("1797 digits as two numbers each: one digit in blue a panel, the others in grey", fontsize=11)
    return save(figure, folder, "scatter.png")


def complete(X, folder: Path) -> Path:
    """Four entries in ten are hidden and predicted from the rest."""
    hidden = np.random.default_rng(0).random(X.shape) < HOLES
    table = np.where(hidden, np.nan, X)
    model = unweave.MatrixCompletion(20, random_state=0).fit(table)
    report(f"Complete: {100 * HOLES:.0f} % of the entries hidden (MatrixCompletion)", model)
    filled = np.where(hidden, model.inverse_transform(model.codes_), X)
    means = np.broadcast_to(np.nanmean(table, axis=0), X.shape)
    error, plain = (np.sqrt(np.mean((guess - X)[hidden] ** 2)) for guess in (filled, means))
    print(f"Error on hidden entries (root mean square): {error:.2f}; column means give {plain:.2f}")
    colours = matplotlib.colormaps["gray_r"].with_extremes(bad=ORANGE)
    figure, axes = plt.subplots(3, 8, figsize=(8, 3.3), layout="constrained")
    for j in range(8):
        draw(axes[0, j], table[j], cmap=colours)
        draw(axes[1, j], filled[j])
        draw(axes[2, j], X[j])
    for axis, label in zip(axes[:, 0], ("given\n(orange: hidden)", "filled in", "truth")):
        axis.set_ylabel(label, rotation=0, ha="right", va="center", labelpad=8)
    figure.suptitle(
        f"A table with holes, filled in: error {error:.2f} on hidden pixels (column means: {plain:.2f})", fontsize=11
    )
    return save(figure, folder, "completion.png")


def main(arguments: list[str]) -> list[Path]:
    """Run the four jobs; the pictures' paths."""
    folder = Path(arguments[0] if arguments else "demo-out")
    folder.mkdir(parents=True, exist_ok=True)
    X, y = load_digits(return_X_y=True)
    return [explain(X, y, folder), group(X, y, folder), compress(X, y, folder), complete(X, folder)]


if __name__ == "__main__":
    main(sys.argv[1:])
