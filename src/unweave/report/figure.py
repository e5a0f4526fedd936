"""Draw the factors of a model as a matplotlib figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.report.factors import factor_facts
from unweave.report.facts import check_described
from unweave.report.labels import shortened
from unweave.report.numbers import percent
from unweave.report.png import MISSING, levels_of
from unweave.report.table_facts import group_facts, scatter_facts, spectrum_facts
from unweave.report.tensors import of_tensor, plot_tensor
from unweave.report.view import look
from unweave.report.words import called, first_number, noun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_BELOW = "#D55E00"


def plot(model: Any, data: Any = None) -> Figure:
    """Draw the factors: pictures, bars or topics; for groups a scatter; for axes of variance the scree too.

    Parameters
    ----------
    model : fitted estimator
    data : optional
        The table it was fitted on; scatters need it, and it tells pictures and words from other columns.

    The figure is one of pyplot's, so ``plt.show()`` shows it and ``figure.savefig(path)`` saves it.
    """
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("drawing needs matplotlib, which is not installed: pip install 'unweave[plot]'") from error
    check_described(model, "plot")
    if of_tensor(model):
        return plot_tensor(model, pyplot)
    view = look(model, data)
    facts: dict[str, Any] = {"called": called(model), "factors": factor_facts(model, view)}
    top = _Top(model, view)
    parts = facts["factors"]["parts"]
    wide = 5 if facts["factors"]["drawn"] == "images" else 3
    rows = math.ceil(len(parts) / wide)
    unit = 1.5 if facts["factors"]["drawn"] == "images" else 2.1
    heights = ([3.2] if top.drawn else []) + [unit * rows]
    figure = pyplot.figure(figsize=(9, sum(heights) + 0.3), layout="constrained")
    boxes = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    if top.drawn:
        top.draw(boxes[0])
    axes = boxes[-1].subplots(rows, wide, squeeze=False)
    for axis in axes.flat[len(parts) :]:
        axis.set_axis_off()
    for i, (axis, part) in enumerate(zip(axes.flat, parts)):
        share = "" if part["share"] is None else f" ({percent(part['share'])})"
        axis.set_title(f"{noun(facts)} {i + first_number(facts)}{share}", fontsize=9)
        _picture(axis, part["picture"]) if "picture" in part else _bars(axis, part["top"])
    return figure


class _Top:
    """Draw what stands above the factors: the scatter of rows and the scree, if there are any."""

    def __init__(self, model: Any, view: Any):
        self.scatter, self.groups = scatter_facts(model, view), group_facts(model, view)
        self.spectrum = spectrum_facts(model, view) if hasattr(model, "singular_values_") else None
        self.chosen = hasattr(model, "choice_")  # by other means than the bend of the curve
        self.drawn = [one for one in (self.scatter, self.groups, self.spectrum) if one]

    def draw(self, box: Any) -> None:
        axes = list(np.atleast_1d(box.subplots(1, len(self.drawn))))
        if self.scatter:
            _scatter(axes.pop(0), self.scatter)
        if self.groups:
            axis, sizes = axes.pop(0), self.groups["sizes"]
            axis.bar(range(1, len(sizes) + 1), sizes, color=[_COLOURS[i % 7] for i in range(len(sizes))])
            axis.set(xlabel="group", ylabel="rows")
            axis.xaxis.get_major_locator().set_params(integer=True)
        if self.spectrum:
            axis, shares = axes.pop(0), 100 * np.array(self.spectrum["shares"])
            axis.bar(range(1, len(shares) + 1), shares, color=_COLOURS[0])
            axis.set(xlabel="component", ylabel=f"% {self.spectrum['of']}")
            axis.xaxis.get_major_locator().set_params(integer=True)
            if self.spectrum["knee"] and not self.chosen:
                axis.axvline(self.spectrum["knee"] + 0.5, color=_BELOW, linestyle="--", linewidth=1)


def _scatter(axis: Any, found: dict) -> None:
    x, y = np.array(found["x"]), np.array(found["y"])
    group = np.zeros(len(x), dtype=int) if found["group"] is None else np.array(found["group"])
    for g in np.unique(group):
        own = group == g
        axis.scatter(x[own], y[own], s=10, color=_COLOURS[g % 7], marker=_MARKERS[(g + g // 7) % 7], linewidths=0)
    for number, (cx, cy) in enumerate(found.get("centres", []), 1):
        box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.8, "linewidth": 0}
        axis.text(cx, cy, str(number), ha="center", va="center", fontsize=8, weight="bold", bbox=box)
    axis.set(xlabel=found["axes"][0], ylabel=found["axes"][1])


def _picture(axis: Any, picture: dict) -> None:
    levels = levels_of(picture)
    signed = picture["low"] < 0
    shown = levels if levels.ndim == 3 else np.ma.masked_equal(levels, MISSING)
    axis.imshow(shown, cmap="RdBu" if signed else "Blues", vmin=0, vmax=254)
    axis.set(xticks=[], yticks=[])


def _bars(axis: Any, top: list) -> None:
    cut = shortened((name for name, _ in top), 18)
    names = [cut[name].replace("$", r"\$") for name, _ in top]
    weights = [weight for _, weight in top]
    axis.barh(range(len(top)), weights, color=[_COLOURS[0] if weight >= 0 else _BELOW for weight in weights])
    axis.set_yticks(range(len(top)), names, fontsize=7)
    axis.tick_params(axis="x", labelsize=7)
    axis.locator_params(axis="x", nbins=4)
    axis.invert_yaxis()
    axis.axvline(0, color="#888888", linewidth=0.6)
