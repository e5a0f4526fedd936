"""What the eight exercises share: the command line, the table in the terminal, and the picture in a folder."""

from __future__ import annotations

import argparse
import gzip
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Found(NamedTuple):
    """What an exercise measured: a title, the rows of its table, and whatever its picture needs beside."""

    title: str
    rows: list[dict[str, Any]]
    drawn: Any = None


class Pictures(NamedTuple):
    """Pictures as rows of pixels from 0 to 1, the class of each, the size of one, and a name for all."""

    X: np.ndarray
    y: np.ndarray
    size: tuple[int, int]
    name: str


def tell(
    stem: str, doc: str, measure: Callable[..., Found], draw: Callable[[Found], Figure], size: int,
    arguments: list[str] | None = None, *, means: str, takes_folder: bool = False,
) -> Path:  # fmt: skip
    """Run an exercise as a program: read the arguments, print the table, save the picture; where that is."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    if takes_folder:
        parser.add_argument("folder", nargs="?", type=Path, help="with larger data; digits of scikit-learn without")
    parser.add_argument("--size", type=int, default=size, help=f"{means}, {size} unless given")
    parser.add_argument("--out", type=Path, default=Path(), help="folder for the picture")
    asked = parser.parse_args(arguments)
    if asked.size < 2:
        parser.error(f"--size is too small: {means}, at least 2")
    found = measure(asked.size, asked.folder) if takes_folder else measure(asked.size)
    show(found)
    asked.out.mkdir(parents=True, exist_ok=True)
    path = asked.out / f"{stem}.png"
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure = draw(found)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    print(f"the picture is {path}")
    return path


def show(found: Found) -> None:
    """Print the table; numbers keep to the right."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=found.title, title_justify="left")
    for name, value in found.rows[0].items():
        table.add_column(name, justify="left" if isinstance(value, str) else "right")
    for row in found.rows:
        table.add_row(*(_words(value) for value in row.values()))
    Console().print(table)


def pictures(folder: Path | None) -> Pictures:
    """Digits of scikit-learn, or the training pictures of a folder in the format of MNIST."""
    if folder is None:
        digits = load_digits()
        return Pictures(digits.data / 16, digits.target, (8, 8), "digits")
    images, labels = (sorted(folder.rglob(f"train-{what}-ubyte.gz")) for what in ("images-idx3", "labels-idx1"))
    if not images or not labels:
        raise SystemExit(f"{folder} holds no train-images-idx3-ubyte.gz with labels; without a folder digits are taken")
    with gzip.open(images[0]) as file:
        head = np.frombuffer(file.read(16), ">i4")
        X = np.frombuffer(file.read(), np.uint8).reshape(head[1], head[2] * head[3]) / 255
    with gzip.open(labels[0]) as file:
        y = np.frombuffer(file.read(), np.uint8, offset=8).astype(int)
    return Pictures(X, y, (int(head[2]), int(head[3])), folder.name)


def clock(task: Callable, *given: Any) -> tuple[Any, float]:
    """What a task gives, and the CPU seconds of the quickest of three times, on one thread."""
    seconds = []
    with threadpool_limits(1):
        for _ in range(3):
            began = time.process_time()
            found = task(*given)
            seconds.append(time.process_time() - began)
    return found, min(seconds)


def shares(values: list[float]) -> str:
    """Mean and spread of shares, in percent."""
    return f"{100 * np.mean(values):.1f} ± {100 * np.std(values):.1f} %"


def _words(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
