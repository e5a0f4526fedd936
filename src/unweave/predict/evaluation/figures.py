"""Draw evaluations as matplotlib figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREY = "#0072B2", "#D55E00", "#8a93a0"
_MOST = 30  # classes whose counts are written into the cells


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("drawing needs matplotlib, which is not installed: pip install 'unweave[plot]'") from error
    return pyplot


def _axis(size: tuple[float, float]) -> tuple[Figure, Any]:
    figure, axis = _pyplot().subplots(figsize=size, layout="constrained")
    axis.spines[["top", "right"]].set_visible(False)
    return figure, axis


def plot_confusion(found: Any) -> Figure:
    """Draw counts, darker the larger their share of the true class."""
    k = len(found.classes)
    side = float(np.clip(1.6 + 0.55 * k, 3.4, 12))
    figure, axis = _axis((side + 0.6, side))
    shares = found.matrix / np.maximum(found.matrix.sum(axis=1, keepdims=True), 1)
    axis.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    names = [str(name)[:18].replace("$", r"\$") for name in found.classes]
    axis.set_xticks(range(k), names, rotation=45 if k > 4 else 0, ha="right" if k > 4 else "center")
    axis.set_yticks(range(k), names)
    for i in range(k if k <= _MOST else 0):
        for j in range(k):
            if found.matrix[i, j]:
                colour = "white" if shares[i, j] > 0.6 else "#1b2330"
                axis.text(j, i, f"{found.matrix[i, j]:,}", ha="center", va="center", fontsize=8, color=colour)
    low, high = found.accuracy_interval
    title = f"accuracy {found.accuracy:.3f} ({low:.3f} to {high:.3f})"
    axis.set(xlabel="predicted", ylabel="true", title=title)
    return figure


def plot_calibration(found: Any) -> Figure:
    """Draw what came true against what was said, with intervals, and the line where both agree."""
    figure, axis = _axis((4.8, 4.4))
    axis.plot([0, 1], [0, 1], color=_GREY, linestyle="--", linewidth=1)
    bars = np.maximum(0, [found.came_true - found.low, found.high - found.came_true])
    axis.errorbar(found.said, found.came_true, bars, fmt="-o", color=_BLUE, markersize=5, linewidth=1.2)
    axis.set(xlabel="share that was said", ylabel="share that came true", xlim=(0, 1), ylim=(0, 1))
    axis.set_title(f"off by {found.error:.3f} on average")
    return figure


def plot_bias_variance(found: Any) -> Figure:
    """Draw the parts of the error as bars."""
    figure, axis = _axis((5.6, 2.8))
    if found.unbiased_variance is None:
        parts = [("bias²" if found.noise is not None else "bias² and noise", found.bias), ("variance", found.variance)]
        parts += [("noise", found.noise)] if found.noise is not None else []
    else:
        parts = [("bias", found.bias), ("variance\nthat harms", found.unbiased_variance),
                 ("variance\nthat helps", -found.biased_variance)]  # fmt: skip
    names, values = [*(name for name, _ in parts), "error"], [*(value for _, value in parts), found.error]
    axis.barh(names, values, color=[_BLUE] * len(parts) + [_ORANGE])
    axis.axvline(0, color=_GREY, linewidth=0.6)
    axis.invert_yaxis()
    axis.set_xlabel("squared error" if found.unbiased_variance is None else "share wrong")
    return figure


def plot_learning_curve(found: Any) -> Figure:
    """Draw the error on rows held out and on those of the fit."""
    figure, axis = _axis((6.0, 3.8))
    axis.errorbar(found.sizes, found.held_out, found.spread, fmt="-o", color=_BLUE, markersize=4, label="rows held out")
    axis.plot(found.sizes, found.fitted, "-s", color=_ORANGE, markersize=4, label="rows of the fit")
    axis.set_xscale("log")
    axis.set_xticks(found.sizes, [f"{size:,}" for size in found.sizes])
    axis.minorticks_off()
    axis.set(xlabel="rows in the fit", ylabel=found.what, ylim=(0, None))
    axis.legend(frameon=False)
    return figure


def plot_held_out(model: Any) -> Figure:
    """Draw what a fitted model says of rows held out: counts of classes, or predictions against the truth."""
    held = model.held_out_
    if hasattr(model, "classes_"):
        from unweave.predict.evaluation.confusion import confusion

        said = model.classes_[held.answers.argmax(axis=1)]
        return plot_confusion(confusion(model.classes_[held.truth], said, labels=model.classes_))
    figure, axis = _axis((4.8, 4.6))
    said = held.answers[:, 0]
    ends = [min(held.truth.min(), said.min()), max(held.truth.max(), said.max())]
    axis.plot(ends, ends, color=_GREY, linestyle="--", linewidth=1)
    axis.scatter(said, held.truth, s=9, color=_BLUE, alpha=0.6, linewidths=0)
    axis.set(
        xlabel="predicted", ylabel="true", title=f"off by {model.error_:.4g}, the mean by {model.baseline_error_:.4g}"
    )
    return figure
