"""Tell and draw what CP found: each component as one curve (or a few columns) along every side of the tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.report.answers import MOST, Found, left_out
from unweave.report.markup import Markup, plain, tag
from unweave.report.numbers import counted, percent, readable
from unweave.report.panels import note, section
from unweave.report.svg import Frame, nice_ticks, whole_ticks
from unweave.report.words import noun, whole

_POINTS = 300  # of a curve that are drawn
_COLUMNS = 24  # places along a side up to which they are drawn as columns, not as a curve
_DRAWN = 12  # components


def of_tensor(model: Any) -> bool:
    """Tell whether a model describes a tensor: a factor for each of its sides."""
    return hasattr(model, "factors_")


def tensor_answer(model: Any) -> Found:
    """Tell how large each component is, and where along every side it is strongest."""
    weights = np.asarray(model.weights_, dtype=np.float64)
    shares = weights**2 / max(float((weights**2).sum()), np.finfo(np.float64).tiny)
    peaks = [np.abs(np.asarray(F)).argmax(axis=0) for F in model.factors_]
    parts: list[dict[str, Any]] = [
        {
            "component": r + 1,
            "weight": float(weights[r]),
            "strength": float(shares[r]),
            "peaks": [int(p[r]) for p in peaks],
        }
        for r in range(len(weights))
    ]
    header = ["component", "weight", "share of the squared weights", "largest at (place along each side, from 0)"]
    rows = [
        [str(one["component"]), readable(one["weight"]), percent(one["strength"]), ", ".join(map(str, one["peaks"]))]
        for one in parts[:MOST]
    ]
    share = float(model.explained_share_)
    by = "×".join(map(str, model.shape_))
    headline = f"{counted(len(weights), 'component')} that keep {percent(max(0.0, share))} of a tensor of {by}"
    return Found(headline, header, rows, left_out(len(weights), "components"), {"components": parts, "kept": share})


def tensor_facts(model: Any) -> dict:
    """Collect the factor of every side, thinned to what can be drawn."""
    k = len(model.weights_)
    drawn = min(k, _DRAWN)
    return {
        "shape": [int(side) for side in model.shape_],
        "count": k,
        "weights": [float(w) for w in model.weights_[:drawn]],
        "explained": float(model.explained_share_),
        "curves": [_thinned(np.asarray(F)[:, :drawn]) for F in model.factors_],
    }


def _thinned(F: NDArray) -> dict:
    at = np.unique(np.linspace(0, len(F) - 1, min(len(F), _POINTS)).round().astype(int))
    return {"at": at.tolist(), "values": [[float(f"{v:.5g}") for v in column] for column in F[at].T]}


def sides(facts: dict) -> Markup | None:
    """Draw every component as a row of small charts, one for each side."""
    found = facts.get("sides")
    if not found:
        return None
    shape, shown = found["shape"], len(found["weights"])
    words = (
        "Each component is the product of one curve for each side of the tensor. Curves have length one; the weight "
        "says how much of the component there is."
    )
    if found["count"] > shown:
        words += f" The first {shown} of {whole(found['count'])}; the rest are in the model."
    cards = []
    for r, weight in enumerate(found["weights"]):
        head = tag("h3", f"{noun(facts).capitalize()} {r + 1}", tag("small", f"weight {readable(weight)}"))
        charts = [_profile(curves, r, d, int(shape[d])) for d, curves in enumerate(found["curves"])]
        cards.append(
            tag("div", head, tag("div", *charts, class_=f"pair{' three' if len(charts) > 2 else ''}"), class_="card")
        )
    return section(f"The {noun(facts, 2)}", note(words), tag("div", *cards, class_="stack"))


def _profile(curves: dict, r: int, side: int, length: int) -> Markup:
    xs, ys = [float(x) for x in curves["at"]], [float(y) for y in curves["values"][r]]
    every = [float(y) for values in curves["values"] for y in values]
    low, high = min(0.0, *every), max(0.0, *every)
    margin = 0.06 * ((high - low) or 1.0)
    as_columns = length <= _COLUMNS
    edge = 0.6 if as_columns else 0.0
    frame = Frame((xs[0] - edge, xs[-1] + edge), (low - (margin if low < 0 else 0), high + margin), height=210)
    ticks = (
        [x for x in whole_ticks(xs[0], xs[-1]) if xs[0] <= x <= xs[-1]] if as_columns else nice_ticks(*frame.x_range)
    )
    frame.axes(f"place along side {side + 1}", "", ticks)
    zero = frame.y(0.0)
    if as_columns:
        wide = 0.72 * (frame.x(1.0) - frame.x(0.0))
        for x, y in zip(xs, ys):
            top = frame.y(y)
            frame.draw("rect", x=frame.x(x) - wide / 2, y=min(top, zero), width=wide, height=max(0.5, abs(top - zero)),
                       class_="column")  # fmt: skip
    else:
        frame.line(xs, ys)
    return frame.svg(plain(f"component {r + 1} along side {side + 1}"))


def plot_tensor(model: Any, pyplot: Any) -> Any:
    """Draw the factors with matplotlib, a column of charts for each side."""
    found = tensor_facts(model)
    shown, order = len(found["weights"]), len(found["curves"])
    figure, axes = pyplot.subplots(
        shown, order, figsize=(3.2 * order, 1.6 * shown + 0.6), layout="constrained", squeeze=False
    )
    for r, weight in enumerate(found["weights"]):
        axes[r, 0].set_ylabel(f"component {r + 1}\n({readable(weight)})", fontsize=9)
        for d, curves in enumerate(found["curves"]):
            draw = axes[r, d].bar if found["shape"][d] <= _COLUMNS else axes[r, d].plot
            draw(curves["at"], curves["values"][r], color="#0072B2")
            axes[r, d].tick_params(labelsize=8)
            if r == shown - 1:
                axes[r, d].set_xlabel(f"place along side {d + 1}", fontsize=9)
    return figure
