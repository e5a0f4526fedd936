"""Collect what a report says from a model and, if at hand, its table: small, plain and ready for JSON."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from unweave.report.choice_facts import choice_facts, label_facts, sequence_facts, time_facts
from unweave.report.factors import factor_facts
from unweave.report.held_out import held_out_facts, quality_facts
from unweave.report.markup import plain
from unweave.report.row_facts import row_facts
from unweave.report.table_facts import group_facts, matrix_facts, scatter_facts, spectrum_facts
from unweave.report.tensors import of_tensor, tensor_facts
from unweave.report.view import View, column_names, components_of, described, in_columns, look
from unweave.report.words import VERSION, called

_MOST_POINTS = 300
_NAMES = 200
_ANSWERS = 60  # lines of the table that comes first


def gather(
    model: Any,
    data: Any = None,
    *,
    code: str | None = None,
    asked: str | None = None,
    recipe: Any = None,
    leave_out: Collection[str] = (),
    found: Any = None,
    signals: dict | None = None,
) -> dict:
    """Collect everything :func:`unweave.report.render` needs, as dicts, lists, strings and numbers.

    Parameters
    ----------
    model : fitted estimator
    data : array, sparse matrix, data frame, NamedTable or row blocks, optional
        The table the model was fitted on. Without it the page has no scatter, no table before and after and no
        held-out score.
    code : str, optional
        Python lines that reproduce the model; by default written from the parameters.
    asked : str, optional
        What was asked, in the user's words (a command line, a question).
    recipe : Recipe, optional
        What :func:`unweave.prepare` did to the table before the fit: the page then gives centres in the units of the
        file, and says what was decided.
    leave_out : names of panels
        What not to make: ``["held_out"]`` spares the second fit that is judged on hidden entries.
    found : Answer, optional
        What is said to have been found, where whoever asks knows more of it than the model does.
    signals : dict, optional
        What can be seen of a picture or a sound: facts that `signal_panels` collects, by the name of their panel.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> facts = gather(unweave.PCA(2).fit(np.random.default_rng(0).random((20, 4))))
    >>> facts["model"], facts["components"], facts["shape"]
    ('PCA', 2, [20, 4])
    """
    check_described(model, "asking for a report")
    view = look(model, data)
    facts = _basics(model, view, asked, recipe)
    facts["code"] = plain_lines(code) if code is not None else lines_for(model, view, recipe)
    predicts = in_columns(model) and hasattr(model, "inverse_transform")
    if of_tensor(model):
        facts["source"] = plain(getattr(data, "source", ""))
        facts["reading"] = [plain(decision, 300) for decision in getattr(data, "notes", [])[:20]]
    for name, collect in (_OF_TENSORS if of_tensor(model) else _PANELS).items():
        if name in leave_out or (name in _OF_PREDICTIONS and not predicts):
            continue
        try:
            panel = collect(_Given(model, data, view, recipe, facts, found))
        except Exception as error:  # one panel that fails must not cost the page
            facts["notes"].append(plain(f"The panel '{name}' could not be made: {error}", 300))
            continue
        if panel is not None:
            facts[name] = panel
    facts |= signals or {}
    return _tidy(facts)


class _Given(NamedTuple):
    """Hold what a panel is made from."""

    model: Any
    data: Any
    view: View | None
    recipe: Any
    facts: dict
    found: Any = None


def check_described(model: Any, before: str) -> None:
    """Raise ValueError unless a model is fitted and has components."""
    if described(model):
        return
    name, learned = type(model).__name__, [key for key in vars(model) if key.endswith("_") and key[0] != "_"]
    if learned:
        raise ValueError(f"{name} has no components to draw; fit a model to what it gives, and ask that one")
    raise ValueError(f"{name} is not fitted: call fit before {before}")


def plain_lines(text: str) -> str:
    """Clean lines of code or text: each printable, at most 400 of them."""
    return "\n".join(plain(line, 500) for line in str(text).splitlines()[:400])


def _basics(model: Any, view: View | None, asked: str | None, recipe: Any) -> dict:
    names = [plain(name) for name in column_names(model, view)[:_NAMES]] if in_columns(model) else []
    certificate = getattr(model, "certificate_", None)
    return {
        "version": VERSION,
        "model": type(model).__name__,
        "asked": None if asked is None else plain(asked, 1000),
        "source": "" if view is None else plain(view.source),
        "reading": [plain(decision, 300) for decision in _decisions(view, recipe)[:20]],
        "kind": "table" if view is None else view.kind,
        "shape": _shape(model, view),
        "components": len(model.weights_) if of_tensor(model) else len(components_of(model)),
        "called": called(model),
        "parameters": _parameters(model),
        "columns": names,
        "objective": _number(getattr(model, "objective_", None)),
        "iterations": _number(getattr(model, "n_iter_", None)),
        "plan": _as_dict(getattr(model, "plan_", None)),
        "certificate": None if certificate is None else {**_as_dict(certificate), "words": plain(certificate, 500)},
        "history": _history(getattr(model, "history_", None)),
        "ridge_path": _ridge_path(model),
        "notes": _looked_at(view),
    }


def _looked_at(view: View | None) -> list[str]:
    """Say which rows the pictures are of, where they are not of all."""
    if view is None or not view.part:
        return []
    if view.of_rows is None:
        return ["Only the first block of the data was looked at."]
    return [f"Pictures and single rows are of {view.n_rows:,} of the {view.of_rows:,} rows, from all over the table."]


_PANELS: dict[str, Callable[[_Given], dict | None]] = {
    "answer": lambda given: _answer(given),
    "factors": lambda given: factor_facts(given.model, given.view, given.recipe),
    "quality": lambda given: quality_facts(given.model, given.view),
    "groups": lambda given: group_facts(given.model, given.view),
    "rows": lambda given: row_facts(given.model, given.view),
    "scatter": lambda given: scatter_facts(given.model, given.view),
    "choice": lambda given: choice_facts(given.model),
    "spectrum": lambda given: spectrum_facts(given.model, given.view),
    "sequence": lambda given: sequence_facts(given.model, given.view),
    "by_label": lambda given: label_facts(given.model, given.view),
    "over_time": lambda given: time_facts(given.model, given.view),
    "matrix": lambda given: matrix_facts(given.model, given.view, _not_pictures(given.facts), given.recipe),
    "held_out": lambda given: held_out_facts(given.model, given.view),
}

# of a model of a tensor, which has no rows and columns
_OF_TENSORS: dict[str, Callable[[_Given], dict | None]] = {
    "answer": lambda given: _answer(given),
    "sides": lambda given: tensor_facts(given.model),
    "choice": lambda given: choice_facts(given.model),
}

# what compares a table with its prediction, which trees, topics and models in the feature space of a kernel have not
_OF_PREDICTIONS = ("quality", "matrix", "held_out")


def _not_pictures(facts: dict) -> bool:
    return facts.get("factors", {}).get("drawn") != "images"


def _answer(given: _Given) -> dict:
    """Keep the answer that terminal, page and card share, as plain text."""
    from unweave.report.answer import answer

    found = answer(given.model, given.data, given.recipe) if given.found is None else given.found
    return {
        "headline": plain(found.headline, 300),
        "header": [plain(title, 100) for title in found.header],
        "rows": [[plain(cell, 300) for cell in row] for row in found.rows[:_ANSWERS]],
        "lines": [plain(line, 500) for line in found.lines[:20]],
        "certificate": plain(found.certificate, 300),
    }


def _decisions(view: View | None, recipe: Any) -> list[str]:
    """List what was decided while the table was read and prepared, each once."""
    read = [] if view is None else list(view.notes)
    return list(dict.fromkeys([*read, *(recipe.notes if recipe is not None else [])]))


def _shape(model: Any, view: View | None) -> list[int | None]:
    if of_tensor(model):
        return [int(side) for side in model.shape_]
    n = getattr(model, "n_samples_", None)
    codes = getattr(model, "codes_", None)
    if codes is not None:
        n = codes.shape[0]
    if n is None and view is not None:
        n = view.of_rows if view.part else view.n_rows
    m = getattr(model, "n_features_in_", None) or components_of(model).shape[1]
    return [None if n is None else int(n), int(m)]


def _parameters(model: Any) -> list[list]:
    """List (name, value, whether it was changed) of every parameter, changed ones first."""
    defaults = {name: p.default for name, p in inspect.signature(type(model).__init__).parameters.items()}
    out = []
    for name, value in model.get_params(deep=False).items():
        out.append([plain(name), shown(value), shown(value) != shown(defaults.get(name))])
    return sorted(out, key=lambda row: not row[2])


def _as_dict(thing: Any) -> dict:
    if thing is None:
        return {}
    record = thing.as_dict() if hasattr(thing, "as_dict") else {"words": str(thing)}
    return {plain(key): _plain_value(value) for key, value in record.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | float | np.number):
        return _number(value)
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in value[:50]]
    return plain(value, 1000)


def _number(value: Any) -> float | int | None:
    if value is None:
        return None
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, int) else float(value)


def _history(history: Any) -> dict | None:
    """Keep at most 300 iterations: close together at first, where most happens, then evenly spaced."""
    if history is None or not len(history):
        return None
    record = history.as_dict()
    n = len(record["objective"])
    keep = np.arange(n)
    if n > _MOST_POINTS:
        half = _MOST_POINTS // 2
        spread = np.concatenate([np.geomspace(1, n, half) - 1, np.linspace(0, n - 1, half)])
        keep = np.unique(spread.round().astype(np.intp))
    return {
        "iteration": [int(i) + 1 for i in keep],
        "objective": [float(record["objective"][i]) for i in keep],
        "seconds": [float(record["seconds"][i]) for i in keep],
        "stopped": plain(record["stopped"]),
    }


def _ridge_path(model: Any) -> list[list[float]] | None:
    path = getattr(model, "ridge_path_", None)
    if not path or getattr(model, "ridge_", None) is None:
        return None
    return sorted([float(strength), float(error)] for strength, error in path.items())


def _tidy(value: Any) -> Any:
    """Replace numbers that JSON does not know by None."""
    if isinstance(value, dict):
        return {str(key): _tidy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_tidy(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


_NEVER = ("callback", "verbose")


def shown(value: Any) -> str:
    """Write a parameter in words: its repr, cut; an array by its shape."""
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if callable(value) and hasattr(value, "__name__"):
        return plain(value.__name__)
    try:
        return plain(" ".join(repr(value).split()), 160)
    except Exception:  # a repr of somebody else's object
        return type(value).__name__


def lines_for(model: Any, view: View | None, recipe: Any = None) -> str:
    """Write lines that import, read, prepare, fit and report, with the parameters that differ from their defaults.

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
    table = [f"X = unweave.read({source!r})"] if source else ["X = ...  # the table, one row a sample"]
    table += ["X, recipe = unweave.prepare(X)"] if recipe is not None else []
    call = f"model = unweave.{type(model).__name__}({', '.join(said)}).fit(X)"
    lines = ["import unweave", "", *table, call, *after, 'model.report("report.html", X)']
    return "\n".join(plain(line, 1000) for line in lines)


def _has_literal(value: Any) -> bool:
    """Tell whether repr is Python that means the same."""
    if isinstance(value, list | tuple):
        return len(value) <= 100 and all(map(_has_literal, value))
    if isinstance(value, dict):
        return len(value) <= 100 and all(_has_literal(k) and _has_literal(v) for k, v in value.items())
    return value is None or type(value) in (bool, int, float, str)
