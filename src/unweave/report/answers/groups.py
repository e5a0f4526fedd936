"""Answer what groups there are: how large each is, and which columns set it apart from the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.report.answers import MOST, Found, in_file_units, left_out
from unweave.report.numbers import counted, listed, percent, readable
from unweave.report.view import View, column_names, components_of, in_columns
from unweave.report.words import called

_TOP = 3
_APART = 0.25  # standard deviations below which a difference from the others says nothing
_LISTED = 8  # groups whose sizes stand in the headline


def group_answer(model: Any, view: View | None, recipe: Any) -> Found:
    """Tell the sizes of the groups of a model with ``labels_``, and what sets each apart."""
    labels = np.asarray(model.labels_).astype(np.int64)
    sizes = np.bincount(labels[labels >= 0])
    apart = _apart(model, view, recipe, labels, sizes)
    noun = "document" if view is not None and view.kind == "text" else "row"
    data: list[dict[str, Any]] = [
        {"group": g + 1, "rows": int(size), "share": float(size / max(len(labels), 1)), "apart": apart[g]}
        for g, size in enumerate(sizes)
    ]
    rows = [
        [str(one["group"]), readable(one["rows"]), percent(one["share"]), _words(one["apart"])] for one in data[:MOST]
    ]
    outside = int((labels < 0).sum())
    what = called(model)
    lines = left_out(len(sizes), f"{what}s")
    lines += [f"{counted(outside, noun)} in no {what}"] if outside else []
    return Found(
        _headline(len(labels), noun, sizes, what),
        [what, f"{noun}s", "share", "what sets it apart: its mean or share (that of the others)"],
        rows,
        lines,
        {"groups": data, **({"outside": outside} if outside else {})},
    )


def _headline(n: int, noun: str, sizes: NDArray, what: str) -> str:
    start = f"{counted(n, noun)} in {counted(len(sizes), what)}"
    if len(sizes) == 1:
        return start
    if len(sizes) <= _LISTED:
        return f"{start}: {listed([readable(int(size)) for size in sizes])}"
    return f"{start} of {readable(int(sizes.min()))} to {readable(int(sizes.max()))}"


def _words(apart: list[dict]) -> str:
    if not apart:
        return "near the mean in every column"
    return ", ".join(f"{one['column']} {_value(one, 'mean')} ({_value(one, 'others')})" for one in apart)


def _value(one: dict, key: str) -> str:
    return percent(one[key]) if one["flag"] else readable(one[key])


def _apart(model: Any, view: View | None, recipe: Any, labels: NDArray, sizes: NDArray) -> list[list[dict]]:
    """Find for every group the columns whose mean differs most from that of the others, in standard deviations."""
    moments = _moments(view, labels, len(sizes)) if view is not None and view.X is not None else None
    if moments is None:
        if not in_columns(model) or len(components_of(model)) != len(sizes):
            return [[] for _ in sizes]
        means = np.asarray(components_of(model), dtype=np.float64)
        weights, spread = np.repeat(sizes[:, None].astype(np.float64), means.shape[1], axis=1), means.std(axis=0)
        if view is not None and view.X is not None and not view.sparse and view.n_columns == means.shape[1]:
            spread = np.nanstd(view.X, axis=0, dtype=np.float64)  # of some rows, where only some are here
        names = column_names(model, view)
    else:
        means, weights, spread = moments
        names = [f"column {j + 1}" for j in range(means.shape[1])] if view is None else _names(model, view)
    if len(sizes) < 2 or len(names) != means.shape[1]:
        return [[] for _ in sizes]
    total, all_weights = (means * weights).sum(axis=0), weights.sum(axis=0)
    others = (total - means * weights) / np.maximum(all_weights - weights, 1e-300)
    differs = np.where(spread > 0, (means - others) / np.where(spread > 0, spread, 1.0), 0.0)
    flags = zero_one_columns(view, recipe, means.shape[1])
    inside, outside = (tidy_shares(in_file_units(values, recipe), flags) for values in (means, others))
    return [
        [
            {
                "column": names[j], "mean": float(inside[g, j]), "others": float(outside[g, j]),
                "deviations": float(differs[g, j]), "flag": bool(flags[j]),
            }
            for j in _telling(differs[g], names, flags)
        ]
        for g in range(len(sizes))
    ]  # fmt: skip


def _telling(differs: NDArray, names: list[str], flags: NDArray) -> list[int]:
    """Choose the columns that tell most about a group; of a category one level, for the others follow from it."""
    chosen: list[int] = []
    said: set[str] = set()
    for j in np.argsort(-np.abs(differs), kind="stable"):
        if len(chosen) == _TOP or abs(differs[j]) < _APART:
            break
        category = names[j].rpartition("=")[0] if flags[j] else ""
        if not category or category not in said:
            chosen.append(int(j))
            said.add(category)
    return chosen


def tidy_shares(values: NDArray, flags: NDArray) -> NDArray:
    """Take what rounding has added off shares, so that nobody is next to nobody."""
    return np.where(flags, np.clip(np.round(values, 9), 0.0, 1.0), values)


def _names(model: Any, view: View) -> list[str]:
    if view.columns is not None and len(view.columns) == view.n_columns:
        return [str(name) for name in view.columns]
    if in_columns(model) and components_of(model).shape[1] == view.n_columns:
        return column_names(model, view)
    return [f"column {j + 1}" for j in range(view.n_columns)]


def _moments(view: View | None, labels: NDArray, k: int) -> tuple[NDArray, NDArray, NDArray] | None:
    """Compute the mean of the known entries of each column in each group, how many they are, and its spread."""
    if view is None or view.n_rows != len(labels) or view.part:
        return None
    rows = np.flatnonzero(labels >= 0)
    own = sp.csr_array((np.ones(len(rows)), (labels[rows], rows)), shape=(k, len(labels)))
    if view.sparse:
        known = _pattern(view) if view.unstored else None
        sums, squares = (own @ view.X).toarray(), np.asarray(view.X.multiply(view.X).sum(axis=0)).ravel()
        counts = np.repeat(np.asarray(own.sum(axis=1)).reshape(-1, 1), view.n_columns, axis=1)
        counts = counts if known is None else (own @ known).toarray()
    else:
        X = np.asarray(view.X, dtype=np.float64)
        seen = ~np.isnan(X) if view.mask is None else ~(np.isnan(X) | view.mask)
        filled = np.where(seen, X, 0.0)
        sums, counts, squares = own @ filled, own @ seen.astype(np.float64), np.square(filled[rows]).sum(axis=0)
    n = np.maximum(counts.sum(axis=0), 1)
    spread = np.sqrt(np.maximum(squares / n - np.square(sums.sum(axis=0) / n), 0.0))
    floor = 1e-9 * np.sqrt(squares / n)  # below this the difference of the two is rounding
    return sums / np.maximum(counts, 1), counts, np.where(spread > floor, spread, 0.0)


def _pattern(view: View) -> sp.csr_array:
    X = view.X
    return sp.csr_array((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape)


def zero_one_columns(view: View | None, recipe: Any, m: int) -> NDArray:
    """Tell which columns hold nothing but 0 and 1 in the file: their mean is a share."""
    if view is None or view.X is None or view.sparse or view.n_columns != m:
        return np.zeros(m, dtype=bool)
    low, high = np.fmin.reduce(view.X, axis=0), np.fmax.reduce(view.X, axis=0)
    ends = in_file_units(np.stack([low, high]), recipe)
    flags = np.zeros(m, dtype=bool)
    for j in np.flatnonzero(np.isclose(ends[0], 0, atol=1e-9) & np.isclose(ends[1], 1, atol=1e-9)):
        column = view.X[:, j]
        flags[j] = bool(((column == low[j]) | (column == high[j]) | np.isnan(column)).all())
    return flags
