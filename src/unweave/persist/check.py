"""Checks that a model from a file is one that its own code can work with.

Compiled kernels trust the shapes and types they are given, so what reaches them is checked here, however it got into
the file. What is wrong beyond that ends in an ordinary Python error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from unweave.data.storage import stored
from unweave.losses.base import Loss
from unweave.penalties.base import Penalty
from unweave.persist.registry import find_part
from unweave.solve.problem import Problem
from unweave.updates import Update


def check_loaded(model: Any, looked_at: bool) -> None:
    """Raise ValueError unless the parts of a fitted model fit together; `looked_at` means its arrays may be read."""
    check_is_fitted(model)
    own = getattr(model, "_check_loaded", None)
    if own is not None:
        own(looked_at)
        return
    if hasattr(model, "roles_"):
        _check_roles(model, looked_at)
        return
    _check_parts(model._learned, model._sentence, model._left)
    problem, n = model._sentence, model.n_features_in_
    _need(type(n) is int and n > 0, "n_features_in_ is not a number of columns")
    names = getattr(model, "feature_names_in_", None)
    _need(names is None or np.shape(names) == (n,), "there must be one name per column")
    columns = model._learned.loss.prediction_columns(n)
    Z = model._full_components
    _factor(Z, (problem.width, columns), "the components", looked_at)
    visible = problem.width if problem.biases else problem.n_components
    for name in ("components_", "cluster_centers_"):
        if name == "components_" or hasattr(model, name):
            _factor(getattr(model, name), (visible, columns), name, looked_at)
            _need(getattr(model, name).dtype == Z.dtype, f"{name} is of another type than the components")
    for name in ("offset_", "item_bias_"):
        _need(np.shape(getattr(model, name, Z[0])) == (columns,), f"{name} does not fit the columns")
    _check_codes(model, visible)
    _check_stream(getattr(model, "_stream", None), problem.width, columns)


def _check_roles(model: Any, looked_at: bool) -> None:
    m, k = model.n_features_in_, np.shape(model.roles_)[0]
    _need(type(m) is int and m > 0, "n_features_in_ is not a number of columns")
    n = np.shape(model.assignments_)[0]
    for name, shape in (("roles_", (k, m)), ("assignments_", (n, k))):
        table = getattr(model, name)
        _need(np.shape(table) == shape, f"{name} is not a table of the shape {shape}")
        if sp.issparse(table):
            table.check_format(full_check=True)
        values = stored(table)
        _need(values.dtype.kind in "iu", f"{name} does not hold whole numbers")
        _need(not looked_at or bool(np.isin(values, (0, 1)).all()), f"{name} holds more than zeros and ones")


def _check_parts(learned: Any, problem: Any, left: Any) -> None:
    _need(isinstance(learned, find_part("Learned")) and isinstance(learned.loss, Loss), "what was learned is missing")
    _need(isinstance(learned.levels, dict), "the levels of columns are not a table")
    _need(isinstance(problem, Problem) and isinstance(left, Update), "the problem or its solver is missing")
    _need(isinstance(problem.loss, Loss), "the problem has no loss")
    _need(type(problem.offset) is bool and type(problem.biases) is bool, "offset and biases must be true or false")
    fewest = 0 if problem.biases else 1  # biases alone are a model too
    enough = type(problem.n_components) is int and problem.n_components >= fewest
    _need(enough, "n_components is not a number of components")
    for part in (problem.codes, problem.components):
        _need(isinstance(part, Penalty), "the problem has no constraint on one side")
        part.validate()
    for loss in (problem.loss, learned.loss):
        loss.validate()


def _check_codes(model: Any, k: int) -> None:
    codes, labels = getattr(model, "codes_", None), getattr(model, "labels_", None)
    if codes is not None:
        sound = sp.issparse(codes) or isinstance(codes, np.ndarray)
        _need(sound and codes.ndim == 2 and codes.shape[1] == k, "codes_ does not fit the components")
    if labels is not None:
        sound = isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype.kind == "i"
        _need(sound and (not labels.size or (labels.min() >= 0 and labels.max() < k)), "labels_ names no components")


def _check_stream(stream: Any, width: int, columns: int) -> None:
    """Check the summaries of `partial_fit`, which go on into kernels."""
    if stream is None:
        return
    _need(isinstance(stream, find_part("Stream")), "the running summaries are not ours")
    for name, shape in (("cross", (columns, width)), ("gram", (width, width))):
        if getattr(stream, name) is not None:
            _factor(getattr(stream, name), shape, f"the summary {name}", False)
    right = getattr(stream, "_right_update", None)
    _need(right is None or isinstance(right, Update), "the solver of the running fit is missing")


def _factor(array: Any, shape: tuple[int, int], what: str, looked_at: bool) -> None:
    sound = isinstance(array, np.ndarray) and array.dtype in (np.float32, np.float64)
    _need(sound, f"{what} must be an array of numbers")
    _need(array.shape == shape, f"{what} should have the shape {shape}, not {array.shape}")
    _need(not looked_at or bool(np.isfinite(array).all()), f"{what} must be finite")


def _need(sound: bool, otherwise: str) -> None:
    if not sound:
        raise ValueError(otherwise)
