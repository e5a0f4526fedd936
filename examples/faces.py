"""Faces three ways: parts (NMF), prototypes (vector quantisation) and eigenfaces (PCA), side by side in one picture.

    python examples/faces.py                        # scikit-learn's digits; the picture goes to faces.png
    python examples/faces.py DATA                   # a folder with olivetti_64x64.npz or cbcl_19x19.npz
    python examples/faces.py DATA --out FILE.png --components 49

The same table, the same number of components, three constraints. NMF may only add, so its components are parts (a pair
of eyes, a mouth); k-means gives every picture one component, so these are whole faces; PCA may add and take away, so
its components are ghosts of both signs. At the bottom one picture is rebuilt in each of the three ways.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np

import unweave

FILES = ("olivetti_64x64.npz", "cbcl_19x19.npz")


def load(folder: Path | None) -> tuple[np.ndarray, tuple[int, int], str]:
    """Pictures as rows of numbers from 0 to 1, their size, and their name."""
    if folder is None:
        from sklearn.datasets import load_digits

        return load_digits().data / 16, (8, 8), "digits"
    found = [path for name in FILES for path in sorted(folder.rglob(name))]
    if not found:
        raise SystemExit(f"{folder} holds neither {' nor '.join(FILES)}; without a folder digits are drawn")
    with np.load(found[0]) as file:
        images = file["images"]
    size = images.shape[1], images.shape[2]
    return images.reshape(len(images), -1) / 255.0, size, found[0].stem


def fit(X: np.ndarray, k: int) -> dict[str, unweave.Factorization]:
    """The three models, fitted to the same table."""
    models = {
        "NMF: parts, only added": unweave.NMF(k, max_iter=500),
        "k-means: one prototype each": unweave.KMeans(k),
        "PCA: eigenfaces, of both signs": unweave.PCA(k),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a picture does not need the last digits
        return {title: model.fit(X) for title, model in models.items()}


def rebuilt(model, X: np.ndarray, row: int) -> np.ndarray:
    """One picture as the model sees it."""
    codes = model.codes_[[row]] if hasattr(model, "labels_") else model.transform(X[[row]])
    return model.inverse_transform(codes)[0]


def sheet(components: np.ndarray, size: tuple[int, int], across: int) -> np.ndarray:
    """Components as small pictures on one sheet, with a thin gap of NaN between them."""
    down = -(-len(components) // across)
    height, width = size[0] + 1, size[1] + 1
    page = np.full((down * height - 1, across * width - 1), np.nan)
    for i, component in enumerate(components):
        top, left = (i // across) * height, (i % across) * width
        page[top : top + size[0], left : left + size[1]] = component.reshape(size)
    return page


def scaled(model, signed: bool) -> np.ndarray:
    """Components each at its own full contrast."""
    Z = model.components_
    most = np.abs(Z).max(axis=1, keepdims=True) if signed else Z.max(axis=1, keepdims=True)
    return Z / np.where(most > 0, most, 1)


def draw(models, X: np.ndarray, size: tuple[int, int], row: int, path: Path) -> None:
    """The picture: components above, one row of the table rebuilt below."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    across = int(np.ceil(np.sqrt(len(next(iter(models.values())).components_))))
    figure, axes = plt.subplots(
        2, 4, figsize=(15, 6.6), gridspec_kw={"height_ratios": [3, 1], "width_ratios": [1, 3, 3, 3]}
    )
    axes[0, 0].axis("off")
    axes[1, 0].imshow(X[row].reshape(size), cmap="gray", vmin=0, vmax=1)
    axes[1, 0].set_title("a picture")
    for column, (title, model) in enumerate(models.items(), start=1):
        signed = model.components_.min() < -1e-9
        colours = {"cmap": "RdBu", "vmin": -1, "vmax": 1} if signed else {"cmap": "gray_r", "vmin": 0, "vmax": 1}
        if hasattr(model, "labels_"):
            colours["cmap"] = "gray"
        axes[0, column].imshow(sheet(scaled(model, signed), size, across), **colours)
        axes[0, column].set_facecolor("#9fb4cc")  # shows through the gaps
        axes[0, column].set_title(title)
        axes[1, column].imshow(rebuilt(model, X, row).reshape(size), cmap="gray", vmin=0, vmax=1)
        axes[1, column].set_title(f"rebuilt; error over all {error(model, X):.3f}")
    for axis in axes.ravel():
        axis.set_xticks([])
        axis.set_yticks([])
        for side in axis.spines.values():
            side.set_visible(False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def error(model, X: np.ndarray) -> float:
    """Root-mean-square error of an entry."""
    return float(np.sqrt(2 * model.objective_ / X.size))


def main(arguments: list[str] | None = None) -> Path:
    parser = argparse.ArgumentParser(description="Faces three ways: NMF, vector quantisation, PCA.")
    parser.add_argument("folder", nargs="?", type=Path, help="holds olivetti_64x64.npz or cbcl_19x19.npz")
    parser.add_argument("--out", type=Path, default=Path("faces.png"))
    parser.add_argument("--components", type=int, default=None, help="49 for faces, 25 for digits if not given")
    parser.add_argument("--row", type=int, default=0, help="which picture is rebuilt")
    given = parser.parse_args(arguments)
    X, size, name = load(given.folder)
    if not 0 <= given.row < len(X):
        parser.error(f"--row must lie between 0 and {len(X) - 1}")
    k = given.components or (25 if name == "digits" else 49)
    models = fit(X, k)
    draw(models, X, size, given.row, given.out)
    print(f"{name}: {X.shape[0]} pictures of {size[0]}×{size[1]}, {k} components")
    for title, model in models.items():
        share = float((np.abs(scaled(model, True)) < 0.05).mean())
        print(f"  {title}: error {error(model, X):.4f}, {100 * share:.0f} % of the components near zero")
    print(f"The picture: {given.out.resolve()}")
    return given.out


if __name__ == "__main__":
    main()
