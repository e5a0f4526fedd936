"""A model as a small card in a notebook."""

from __future__ import annotations

import inspect
from typing import Any

from unweave.report.code import shown
from unweave.report.markup import Markup, plain, tag
from unweave.report.words import amount, whole

# Styles are written on the elements and lean on the notebook's own colours, so that light and dark themes both work.
_BOX = "border:1px solid rgba(128,128,128,.45);border-radius:8px;padding:10px 14px;max-width:640px;line-height:1.45"
_SOFT = "opacity:.75"
_CELL = "text-align:left;padding:1px 14px 1px 0;vertical-align:top;border:0;background:none"
_SPARK = 120, 28


def card(model: Any) -> str:
    """HTML of a model, fitted or not: what was asked, and once fitted what came out.

    Examples
    --------
    >>> import unweave
    >>> "not fitted" in card(unweave.NMF(3))
    True
    """
    fitted = hasattr(model, "components_")
    title = tag("b", type(model).__name__)
    state = _state(model) if fitted else "not fitted"
    head = tag("div", title, " ", tag("span", state, style=_SOFT))
    body = [_settings(model), _spark(model) if fitted else None, _words(model) if fitted else None]
    return str(tag("div", head, *body, style=_BOX, class_="unweave-card"))


def _state(model: Any) -> str:
    k, m = model.components_.shape
    k = int(getattr(model, "n_components_", k))
    codes = getattr(model, "codes_", None)
    n = codes.shape[0] if codes is not None else getattr(model, "n_samples_", None)
    size = f"{whole(n)} × {whole(m)}" if n is not None else f"{whole(m)} columns"
    done = getattr(model, "n_iter_", None)
    steps = "" if done is None else f", {whole(done)} iteration{'' if done == 1 else 's'}"
    return f"fitted: {whole(k)} component{'' if k == 1 else 's'} of a table of {size}{steps}"


def _settings(model: Any) -> Markup | None:
    defaults = {name: p.default for name, p in inspect.signature(type(model).__init__).parameters.items()}
    given = model.get_params(deep=False).items()
    said = [f"{name}={shown(value)}" for name, value in given if shown(value) != shown(defaults.get(name))]
    words = plain(", ".join(said), 400) or "all parameters at their defaults"
    return tag("div", tag("code", words, style="background:none"))


def _words(model: Any) -> Markup | None:
    plan, history = getattr(model, "plan_", None), getattr(model, "history_", None)
    rows = [
        ("method", getattr(plan, "solver", None)),
        ("objective", None if not hasattr(model, "objective_") else amount(model.objective_)),
        ("ended because", getattr(history, "stopped", None)),
        ("how good", None if not hasattr(model, "certificate_") else str(model.certificate_)),
    ]
    cells = [
        tag("tr", tag("th", name, style=f"{_CELL};{_SOFT};font-weight:400"), tag("td", plain(value, 300), style=_CELL))
        for name, value in rows
        if value
    ]
    return tag("table", tag("tbody", *cells), style="border-collapse:collapse;margin:6px 0 0") if cells else None


def _spark(model: Any) -> Markup | None:
    """The objective's fall as a line as high as a word."""
    history = getattr(model, "history_", None)
    if history is None or len(history) < 3:
        return None
    values = [float(v) for v in history.objective][:: max(1, len(history) // 100)]
    low, high = min(values), max(values)
    if not high - low > 0:
        return None
    width, height = _SPARK
    step = width / (len(values) - 1)
    points = " ".join(
        f"{i * step:.1f},{1 + (height - 2) * (high - v) / (high - low):.1f}" for i, v in enumerate(values)
    )
    line = tag("polyline", points=points, fill="none", stroke="currentColor", stroke_width="1.5")
    label = f"objective from {amount(values[0])} to {amount(values[-1])}"
    drawn = tag("svg", line, viewBox=f"0 0 {width} {height}", width=width, height=height, role="img", aria_label=label)
    return tag("div", drawn, " ", tag("small", label, style=_SOFT), style="margin-top:4px")
