"""Look at a table and at a fitted model as a report does: rows by number, unknown entries as NaN, names if any."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.storage import as_dense, is_array, squared
from unweave.data.table import is_blocks
from unweave.scale.door import as_blocks

POOL = 1500  # rows of a large table that its pictures share


@dataclass(frozen=True)
class View:
    """Hold a table to look at. `X` is None when some columns are not numbers.

    `unstored` says that what a sparse table does not store is unknown; `part` that these are only some rows of
    more; `mask` is True where entries are unknown beyond the NaN in X. `labels`, `times` and `excerpts` (how
    documents begin) are one for each row.
    """

    X: Any
    n_rows: int
    n_columns: int
    rows: list[str] | None = None
    columns: list[str] | None = None
    kind: str = "table"
    image: tuple[int, ...] | None = None
    labels: NDArray | None = None
    source: str = ""
    notes: tuple[str, ...] = ()
    unstored: bool = False
    part: bool = False
    mask: NDArray | None = None
    times: NDArray | None = None
    excerpts: list[str] | None = None
    label_name: str = "label"
    time_name: str = "time"
    of_rows: int | None = None  # how many there are in all, where these are some of them and it is known

    @property
    def sparse(self) -> bool:
        return not is_array(self.X)

    @property
    def complete(self) -> bool:
        """Tell whether every entry is known."""
        if self.X is None or self.unstored or self.mask is not None:
            return False
        return self.sparse or not bool(np.isnan(self.X).any())

    def sample(self, most: int, seed: int = 0) -> NDArray[np.intp]:
        """Draw at most `most` rows by number, at random and in order.

        Always the same ones, and a small sample is part of a larger one up to `POOL`: a row that is marked in one
        picture is then found in the others.
        """
        if most >= self.n_rows:
            return np.arange(self.n_rows)
        drawn = np.random.default_rng(seed).choice(self.n_rows, min(self.n_rows, max(most, POOL)), replace=False)
        return np.sort(drawn[:most])

    def fullest_columns(self, most: int) -> NDArray[np.intp]:
        """Find the columns of a sparse table that store most, at most `most` of them, in order."""
        counts = np.bincount(self.X.indices, minlength=self.n_columns)
        return np.sort(np.argsort(-counts, kind="stable")[:most])

    def take(self, rows: NDArray) -> Any:
        """Return some rows as they are stored, to hand to a model."""
        return self.X[rows]

    def dense(self, rows: NDArray, columns: NDArray | None = None) -> NDArray[np.float64]:
        """Return some rows as an array, NaN where unknown."""
        part = self.X[rows] if columns is None else self.X[rows][:, columns]
        if self.mask is not None:
            hole = self.mask[rows] if columns is None else self.mask[rows][:, columns]
            return np.where(hole, np.nan, part).astype(np.float64)
        if not self.sparse:
            return np.asarray(part, dtype=np.float64)
        if not self.unstored:
            return part.toarray().astype(np.float64)
        out = np.full(part.shape, np.nan)
        coo = part.tocoo()
        out[coo.row, coo.col] = coo.data
        return out


def look(model: Any, data: Any) -> View | None:
    """See `data` (an array, sparse matrix, data frame, NamedTable or row blocks) as `model` understands it."""
    if data is None or hasattr(model, "factors_"):  # a tensor has no rows and columns to look at
        return None
    named: dict[str, Any] = {}
    missing = getattr(model, "missing", None)
    if isinstance(data, NamedTable):
        named = {"rows": data.rows, "kind": data.kind, "image": data.image, "source": data.source}
        named |= {"columns": data.columns, "labels": data.labels, "notes": tuple(data.notes)}
        if data.whole is not None:
            named |= {"part": True, "of_rows": data.whole.n_rows}
        named |= _beside(data)
        missing = data.missing if missing is None else missing
        data = data.X
    elif is_blocks(data := as_blocks(data)):
        named, data = {"part": len(data) > 1, "columns": getattr(data, "feature_names", None)}, data[0]
    if hasattr(data, "columns"):
        named.setdefault("columns", None)
        named["columns"] = named["columns"] or [str(name) for name in data.columns]
    return _with_holes(_numbers(data), np.shape(data), None if ranks(model) else missing, named)


def _beside(table: NamedTable) -> dict[str, Any]:
    """Return what came with the rows of a table: times, how documents begin, and what labels and times are called."""
    found: dict[str, Any] = {"excerpts": table.excerpts}
    if table.times is not None and len(table.times) == table.shape[0] and table.missing != "zeros":
        found["times"] = table.times  # those of ratings are times of entries
    return found | {"label_name": table.label_name or "label", "time_name": table.time_name or "time"}


def _numbers(data: Any) -> Any:
    """Return numbers as a float array or CSR table; None when there are other things in it."""
    if not is_array(data):
        return sp.csr_array(data)
    try:
        values = np.asarray(data)
        return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    except (TypeError, ValueError):
        return None


def _with_holes(X: Any, shape: tuple[int, ...], missing: Any, named: dict) -> View:
    n, m = shape
    if X is None:
        return View(None, n, m, **named)
    mask = None
    if isinstance(missing, str):
        sparse = not is_array(X)
        if missing == "zeros" and not sparse:
            X, sparse = sp.csr_array(np.where(np.isnan(X), 0, X)), True
        unstored = sparse and missing in ("zeros", "auto")
    else:
        unstored = False
        if missing is not None and np.shape(missing) == (n, m):
            mask = np.asarray(missing, dtype=bool)
    return View(X, n, m, unstored=unstored, mask=mask, **named)


def moments(values: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Compute mean and standard deviation of the known entries of each column, and how many there are.

    0 where none is.
    """
    seen = ~np.isnan(values)
    counts = np.maximum(seen.sum(axis=0), 1)
    mean = np.where(seen, values, 0).sum(axis=0) / counts
    spread = np.sqrt((np.where(seen, values - mean, 0) ** 2).sum(axis=0) / counts)
    return mean, spread, seen.sum(axis=0)


def described(model: Any) -> bool:
    """Tell whether a model has something that can be drawn as components."""
    return any(hasattr(model, name) for name in ("components_", "row_weights_", "factors_"))


def in_columns(model: Any) -> bool:
    """Tell whether components are rows like those of the table; those of a kernel weigh the rows it was fitted to."""
    return hasattr(model, "components_")


def ranks(model: Any) -> bool:
    """Tell whether a model learned from what was met and what was not, so that what is not stored is a zero."""
    return hasattr(model, "_interactions")


def components_of(model: Any) -> NDArray:
    """Return Z without the rows that carry biases; under a kernel W, where a component is Σ_i w_i φ(x_i).

    Where components unmix rows instead of adding up to them, Z is the mixing.
    """
    if hasattr(model, "_patterns"):
        return np.asarray(model._patterns)
    Z = np.asarray(model.components_ if in_columns(model) else model.row_weights_)
    return Z[: int(getattr(model, "n_components_", len(Z)))]


def column_names(model: Any, view: View | None) -> list[str]:
    """Name every column of the components, as given.

    A column that is predicted by several has one for each.
    """
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
    return _one_name_per_output(model, names, width)


def has_names(model: Any, view: View | None) -> bool:
    """Tell whether columns have names."""
    return getattr(model, "feature_names_in_", None) is not None or (view is not None and view.columns is not None)


def _one_name_per_output(model: Any, names: Any, width: int) -> list[str]:
    columns = getattr(getattr(getattr(model, "_fitted", None), "layout", None), "columns", None)
    if columns is not None:  # a model that fills tables of mixed columns, which answers for each level
        answers = [[f"{c.name} = {level}" for level in c.levels] or [str(c.name)] for c in columns]
        flat = [name for own in answers for name in own]
        return flat if len(flat) == width else [f"x{j}" for j in range(width)]
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
    """Return codes of some rows of the table: those kept by the fit, or the left half-step.

    A model that predicts groups has one-hot codes here, whatever its `transform` is.
    """
    kept = getattr(model, "codes_", None)
    if kept is not None and kept.shape[0] == view.n_rows and not view.part:
        codes = kept[rows]
        return as_dense(codes)
    if view.X is None:
        raise ValueError("the model keeps no codes, and some columns are not numbers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names: rows are handed over without theirs
        if hasattr(model, "predict") and not hasattr(model, "recommend"):  # which predicts ratings of pairs
            return np.eye(len(components_of(model)))[np.asarray(model.predict(view.take(rows)), dtype=np.intp)]
        return as_dense(model.transform(view.take(rows)))


def predicted(model: Any, codes: NDArray) -> NDArray[np.float64]:
    """Predict what rows with these codes look like, in data units."""
    return np.asarray(model.inverse_transform(codes), dtype=np.float64)


def strengths(model: Any) -> NDArray | None:
    """Tell how much each component carries: the share of the words, the variance, the rows, or of Σ ‖u_k‖·‖z_k‖."""
    k = len(components_of(model))
    for name in ("topic_shares_", "explained_variance_ratio_", "energy_ratio_"):
        ratio = getattr(model, name, None)
        if ratio is not None and len(ratio) == k:
            return np.asarray(ratio, dtype=np.float64)
    codes = getattr(model, "codes_", None)
    if codes is None or codes.shape[1] < k or not in_columns(model):
        return None
    if _share_rows(codes):
        sizes = np.asarray(codes.sum(axis=0), dtype=np.float64).ravel()[:k]
    else:
        lengths = np.sqrt(np.asarray(squared(codes[:, :k]).sum(axis=0), dtype=np.float64).ravel())
        sizes = lengths * np.linalg.norm(components_of(model), axis=1)
    return sizes / sizes.sum() if sizes.sum() > 0 else None


def strength_words(model: Any) -> str:
    """Say what :func:`strengths` are shares of."""
    if getattr(model, "topic_shares_", None) is not None:
        return "of all words"
    if getattr(model, "explained_variance_ratio_", None) is not None:
        return "of the variance"
    if getattr(model, "energy_ratio_", None) is not None:
        return "of the energy"
    return "of the rows" if _share_rows(getattr(model, "codes_", None)) else "of the total strength"


def are_labels(codes: Any) -> bool:
    """Tell whether codes are one-hot, which models publish as a sparse table."""
    return codes is not None and not is_array(codes) and codes.nnz == codes.shape[0]


def _share_rows(codes: Any) -> bool:
    """Tell whether codes deal every row out among the components.

    Labels, or numbers that are not negative and sum to 1.
    """
    if codes is None or are_labels(codes):
        return codes is not None
    return bool(codes.size and codes.min() >= 0 and np.allclose(codes.sum(axis=1), 1, atol=1e-3))
