"""Python lines that make the same model again."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from unweave.report.markup import plain
from unweave.report.view import View

_NEVER = ("callback", "verbose")


def shown(value: Any) -> str:
    """A parameter in words: its repr, cut; an array by its shape."""
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if callable(value) and hasattr(value, "__name__"):
        return plain(value.__name__)
    try:
        return plain(" ".join(repr(value).split()), 160)
    except Exception:  # a repr of somebody else's object
        return type(value).__name__


def lines_for(model: Any, view: View | None) -> str:
    """Import, read, fit, report: with the parameters that differ from their defaults.

    >>> import unweave
    >>> print(lines_for(unweave.NMF(3, random_state=0), None))
    import unweave
    <BLANKLINE>
    X = ...  # the table, one row a sample
    model = unweave.NMF(n_components=3, random_state=0).fit(X)
    model.report("report.html", X)
    """
    defaults = {name: p.default for name, p in inspect.signature(type(model).__init__).parameters.items()}
    said, after = [], []
    for name, value in model.get_params(deep=False).items():
        value = value.item() if isinstance(value, np.generic) else value
        if name in _NEVER or shown(value) == shown(defaults.get(name)):
            continue
        if _has_literal(value):
            said.append(f"{name}={value!r}")
        else:
            after.append(f"# {name} was {shown(value)}")
    source = view.source if view is not None else ""
    table = f"X = unweave.read({source!r})" if source else "X = ...  # the table, one row a sample"
    call = f"model = unweave.{type(model).__name__}({', '.join(said)}).fit(X)"
    lines = ["import unweave", "", table, call, *after, 'model.report("report.html", X)']
    return "\n".join(plain(line, 1000) for line in lines)


def _has_literal(value: Any) -> bool:
    """Whether repr is Python that means the same."""
    if isinstance(value, list | tuple):
        return len(value) <= 100 and all(map(_has_literal, value))
    if isinstance(value, dict):
        return len(value) <= 100 and all(_has_literal(k) and _has_literal(v) for k, v in value.items())
    return value is None or type(value) in (bool, int, float, str)
