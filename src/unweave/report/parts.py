"""Components, codes and their names, read off a fitted model by its attributes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.report.view import View


def described(model: Any) -> bool:
    """Whether a model has something that can be drawn as components."""
    return hasattr(model, "components_") or hasattr(model, "mixing_")


def in_columns(model: Any) -> bool:
    """Whether components are rows like those of the table; those of a kernel weigh the rows it was fitted to."""
    return hasattr(model, "components_")


def components_of(model: Any) -> NDArray:
    """Z without the rows that carry biases; under a kernel W, where a component is Σ_i w_i φ(x_i)."""
    Z = np.asarray(model.components_ if in_columns(model) else model.mixing_)
    return Z[: int(getattr(model, "n_components_", len(Z)))]


def column_names(model: Any, view: View | None) -> list[str]:
    """A name for every column of the components, as given; a column that is predicted by several has one for each."""
    width = components_of(model).shape[1]
    if not in_columns(model):
        rows = None if view is None else view.rows
        return list(rows) if rows is not None and len(rows) == width else [f"row {i + 1}" for i in range(width)]
    names = getattr(model, "feature_names_in_", None)
    if names is None and view is not None:
        names = view.columns
    if names is None:
        return [f"x{j}" for j in range(width)]
    if len(names) == width:
        return [str(name) for name in names]
    return _spread(model, names, width)


def has_names(model: Any, view: View | None) -> bool:
    """Whether columns are called something."""
    return getattr(model, "feature_names_in_", None) is not None or (view is not None and view.columns is not None)


def _spread(model: Any, names: Any, width: int) -> list[str]:
    learned = getattr(model, "_learned", None)
    widths = getattr(getattr(learned, "loss", None), "widths_", None)
    if learned is None or widths is None or len(widths) != len(names) or int(np.sum(widths)) != width:
        return [f"x{j}" for j in range(width)]
    out: list[str] = []
    for j, (name, wide) in enumerate(zip(names, widths)):
        levels = learned.levels.get(j, [])
        ends = [f" = {level}" for level in levels] if len(levels) == wide else [f" ({i + 1})" for i in range(wide)]
        out += [str(name)] if wide == 1 else [f"{name}{end}" for end in ends]
    return out


def codes_of(model: Any, view: View, rows: NDArray) -> NDArray:
    """Codes of some rows of the table: those kept by the fit, or the left half-step.

    A model that predicts groups has one-hot codes here, whatever its `transform` is.
    """
    kept = getattr(model, "codes_", None)
    if kept is not None and kept.shape[0] == view.n_rows and not view.part:
        codes = kept[rows]
        return codes.toarray() if sp.issparse(codes) else np.asarray(codes)
    if view.X is None:
        raise ValueError("the model keeps no codes, and some columns are not numbers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names: rows are handed over without theirs
        if hasattr(model, "predict"):
            return np.eye(len(components_of(model)))[np.asarray(model.predict(view.take(rows)), dtype=np.intp)]
        return np.asarray(model.transform(view.take(rows)))


def predicted(model: Any, codes: NDArray) -> NDArray[np.float64]:
    """What the model says the rows with these codes look like, in data units."""
    return np.asarray(model.inverse_transform(codes), dtype=np.float64)


def strengths(model: Any) -> NDArray | None:
    """How much each component carries: the share of the words, the variance, the rows, or of Σ ‖u_k‖·‖z_k‖."""
    k = len(components_of(model))
    for name in ("topic_shares_", "explained_variance_ratio_"):
        ratio = getattr(model, name, None)
        if ratio is not None and len(ratio) == k:
            return np.asarray(ratio, dtype=np.float64)
    codes = getattr(model, "codes_", None)
    if codes is None or codes.shape[1] < k or not in_columns(model):
        return None
    if _share_rows(codes):
        sizes = np.asarray(codes.sum(axis=0), dtype=np.float64).ravel()[:k]
    else:
        sizes = np.linalg.norm(codes[:, :k], axis=0) * np.linalg.norm(components_of(model), axis=1)
    return sizes / sizes.sum() if sizes.sum() > 0 else None


def strength_words(model: Any) -> str:
    """What :func:`strengths` are shares of."""
    if getattr(model, "topic_shares_", None) is not None:
        return "of all words"
    if getattr(model, "explained_variance_ratio_", None) is not None:
        return "of the variance"
    return "of the rows" if _share_rows(getattr(model, "codes_", None)) else "of the total strength"


def _share_rows(codes: Any) -> bool:
    """Whether codes deal every row out among the components: labels, or numbers that are not negative and sum to 1."""
    if codes is None or sp.issparse(codes):
        return codes is not None
    return bool(codes.size and codes.min() >= 0 and np.allclose(codes.sum(axis=1), 1, atol=1e-3))
