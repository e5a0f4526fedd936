"""Facts about entries the model has not seen: hidden, predicted by a second fit, compared with means."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.report.parts import components_of, predicted
from unweave.report.view import View, moments

_SHARE = 0.1
_SECONDS = 2.0  # a guard for slow machines; work is counted, so that the same table gives the same score
_ITERATIONS = 40
_WORK = 1_200_000  # known entries × components that one fit may look at in an iteration
_LEAST = 60  # known entries below which a tenth says nothing
_COLUMNS = 400
_PACE = {"squared": 1.0, "kl": 0.8}  # how fast an iteration is, against the squared loss
_NOT_IN_DATA_UNITS = ("hinge", "ordinal", "categorical", "columns", "weighted")


def held_out_facts(model: Any, view: View | None) -> dict:
    """Errors of model and baselines on hidden entries, or the reason why there are none."""
    reason = _why_not(model, view)
    if reason:
        return {"skipped": reason}
    assert view is not None
    loss = _loss_name(model)
    rows, columns = _part(view, len(components_of(model)), _WORK * _PACE.get(loss, 0.05))
    table = view.dense(rows, columns)
    hidden = _hide(table)
    if hidden.sum() < _LEAST * _SHARE:
        return {"skipped": f"Too few known entries ({int((~np.isnan(table)).sum())}) to hide some of them."}
    seen = np.where(hidden, np.nan, table)
    try:
        guess = _refit(model, view, seen)
    except Exception as error:  # whatever a model refuses, a report is still worth having
        return {"skipped": f"The model could not be fitted again with a tenth of the entries hidden: {error}"}
    return _compared(model, view, table, seen, hidden, guess)


def _why_not(model: Any, view: View | None) -> str:
    if view is None:
        return "The data were not at hand, so nothing could be held out."
    if view.X is None:
        return "The columns are of different kinds, which have no error in common."
    if "missing" not in model.get_params(deep=False) or not hasattr(model, "inverse_transform"):
        return "The model does not predict single entries, so there is nothing to compare."
    loss = _loss_name(model)
    if loss in _NOT_IN_DATA_UNITS:
        return f"Predictions under the {loss} loss are not numbers of the table's own units."
    m = min(view.n_columns, _COLUMNS if view.sparse and not view.unstored else view.n_columns)
    if len(components_of(model)) >= min(m, view.n_rows):
        return "There are as many components as columns or rows: they can repeat the table, not predict it."
    if view.n_columns > 200_000:
        return "The table has too many columns to fit again for a report."
    return ""


def _loss_name(model: Any) -> str:
    loss = getattr(getattr(model, "_learned", None), "loss", None) or getattr(model, "loss", "squared")
    return str(getattr(loss, "name", loss if isinstance(loss, str) else "columns"))


def _part(view: View, k: int, work: float) -> tuple[NDArray, NDArray]:
    """Rows and columns to fit on: all, or as many as fit the time; of a wide sparse table the fullest columns."""
    columns = np.arange(view.n_columns)
    if view.sparse and not view.unstored and view.n_columns > _COLUMNS:
        counts = np.bincount(view.X.indices, minlength=view.n_columns)
        columns = np.sort(np.argsort(-counts, kind="stable")[:_COLUMNS])
    known = view.X.nnz / max(1, view.n_rows) if view.unstored else len(columns)
    most = int(min(work / max(1.0, known * (k + 2)), 20_000_000 / len(columns)))
    return view.sample(max(most, min(50, 5 * k), k + 2), seed=1), columns


def _hide(table: NDArray) -> NDArray:
    """A tenth of the known entries, but never the last known one of a row or column."""
    known = ~np.isnan(table)
    hidden = known & (np.random.default_rng(2).random(table.shape) < _SHARE)
    left = known & ~hidden
    hidden[:, left.sum(axis=0) == 0] = False
    hidden[left.sum(axis=1) == 0] = False
    return hidden


def _refit(model: Any, view: View, seen: NDArray) -> NDArray:
    from sklearn.base import clone

    changes: dict[str, Any] = {"callback": _Clock(), "checkpoint": None, "verbose": False, "missing": "nan"}
    known = model.get_params(deep=False)
    changes["max_iter"] = min(_ITERATIONS, int(known.get("max_iter") or _ITERATIONS))  # None: as the solver likes
    if "n_components" in known:
        changes["n_components"] = len(components_of(model))
    X: Any = seen
    if view.unstored:
        changes["missing"] = "zeros" if known.get("missing") != "auto" else "auto"
        at = np.nonzero(~np.isnan(seen))
        X = sp.csr_array((seen[at], at), shape=seen.shape)
    second = clone(model).set_params(**{key: value for key, value in changes.items() if key in known})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        second.fit(X)
        codes = second.codes_ if getattr(second, "codes_", None) is not None else second.transform(X)
        return predicted(second, codes)


class _Clock:
    """A callback that ends a fit when its time is over."""

    def __init__(self) -> None:
        self.began = time.perf_counter()

    def __call__(self, progress: Any) -> bool:
        return time.perf_counter() - self.began > _SECONDS


def _compared(model: Any, view: View, table: NDArray, seen: NDArray, hidden: NDArray, guess: NDArray) -> dict[str, Any]:
    truth = table[hidden]
    everything = float(seen[~np.isnan(seen)].mean())
    mean, _, counts = moments(seen)
    mean = np.where(counts > 0, mean, everything)
    unit, measure = _MEASURES.get(_loss_name(model), _MEASURES["squared"])
    guesses = [("this model", guess)]
    guesses += [("mean of the column", np.broadcast_to(mean, table.shape))]
    guesses += [("one mean for all", np.full(table.shape, everything))]

    return {
        "scores": [[name, measure(truth, values[hidden], everything)] for name, values in guesses],
        "unit": unit,
        "how": _how(view, table, int(hidden.sum())),
    }


def _root_mean_square(truth: NDArray, guess: NDArray, scale: float) -> float:
    return float(np.sqrt(np.square(guess - truth).mean()))


def _mean_absolute(truth: NDArray, guess: NDArray, scale: float) -> float:
    return float(np.abs(guess - truth).mean())


def _mean_divergence(truth: NDArray, guess: NDArray, scale: float) -> float:
    """KL divergence of an entry; no guess counts as less than a hundredth of the mean, where it would cost infinity."""
    guess = np.maximum(guess, 0.01 * scale)
    ratio = np.where(truth > 0, truth, 1.0) / np.where(truth > 0, guess, 1.0)
    return float((truth * np.log(ratio) - truth + guess).mean())


_MEASURES = {
    "squared": ("Root mean square error", _root_mean_square),
    "logistic": ("Root mean square of 0 or 1 less its probability", _root_mean_square),
    "absolute": ("Mean absolute error", _mean_absolute),
    "huber": ("Mean absolute error", _mean_absolute),
    "kl": ("Mean KL divergence", _mean_divergence),
}


def _how(view: View, table: NDArray, hidden: int) -> str:
    n, m = table.shape
    part = "" if (n, m) == (view.n_rows, view.n_columns) else f" of a part of the table ({n:,} rows × {m:,} columns)"
    return (
        f"A tenth of the known entries{part}, {hidden:,} drawn at random, were hidden; the same model was fitted to "
        f"the rest, in at most {_ITERATIONS} iterations, and predicted them. Less is better."
    )
