"""Read sequences as users pass them: rows stacked with their lengths, or a list of tables."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.table import check_table, is_blocks, refuse_blocks

_MOST_SYMBOLS = 50_000_000  # entries of the table of probabilities


def read_sequences(model, X, lengths, *, reset: bool) -> tuple[NDArray, NDArray]:
    """Read the rows of all sequences, NaN where nothing was observed, and the length of every sequence."""
    if model.missing not in (None, "nan"):
        raise ValueError(
            f"missing={model.missing!r} is not known here; use None, or 'nan' for steps or entries not seen"
        )
    if hasattr(X, "fetch"):
        refuse_blocks(model, X)  # cut anywhere, its blocks are no sequences
    if _is_list(X, model.emission):
        if lengths is not None:
            raise ValueError("lengths are those of the tables where X is a list of sequences; leave lengths out")
        X, lengths = _stacked(X)
    if sp.issparse(X):  # only to refuse it: no recursion here reads sparse rows
        raise TypeError("sparse X is not supported by HiddenMarkov: pass X.toarray()")
    table = check_table(model, X, model.missing, reset=reset)
    values = np.asarray(table.values)
    if table.seen is not None:
        values = np.where(table.seen, values, np.asarray(np.nan, values.dtype))
    return values, _checked_lengths(lengths, len(values))


def refuse_lengths_as_y(X, y) -> None:
    """Refuse lengths in the place of `y`, which is ignored: they would be lost without a word."""
    rows = X.shape[0] if hasattr(X, "shape") else len(X) if hasattr(X, "__len__") else None
    if y is None or np.ndim(y) != 1 or rows is None or len(y) == rows:
        return
    raise ValueError("y has another length than X: the lengths of sequences are passed by name, fit(X, lengths=…)")


def _is_list(X, emission: str) -> bool:
    """Whether X is a list of sequences and not one table."""
    if is_blocks(X):
        return True
    if not isinstance(X, list | tuple) or not len(X):
        return False
    depths = {_depth(part) for part in X}
    if depths == {1} and emission == "discrete":
        # A table of symbols has one column, so rows of one entry are a table and longer ones sequences.
        return any(isinstance(part, np.ndarray) or len(part) != 1 for part in X)
    if depths == {1} and len({len(part) for part in X}) > 1:
        raise ValueError(
            "X is a list of rows of unequal lengths: pass a list of tables with a row per step and a column "
            "per measurement, [[[x] for x in sequence] for sequence in X] if there is one"
        )
    return depths == {2}


def _depth(part) -> int:
    """Count how deeply a part of a list is nested: 0 for a number, 1 for a list of numbers, and so on."""
    if isinstance(part, list | tuple):
        return 1 + max(map(_depth, part[:1]), default=0)
    return np.ndim(part)


def _stacked(sequences) -> tuple[NDArray, NDArray]:
    """Stack the tables of a list below each other, and count the rows of each."""
    parts = [_array(part, i) for i, part in enumerate(sequences)]
    parts = [part[:, None] if part.ndim == 1 else part for part in parts]
    for i, part in enumerate(parts):
        if part.ndim != 2:
            raise ValueError(f"sequence {i} of X has {part.ndim} dimensions: each must be a table with a row per step")
        if not len(part):
            raise ValueError(f"sequence {i} of X has no steps: leave it out")
        if part.shape[1] != parts[0].shape[1]:
            raise ValueError(f"sequence {i} of X has {part.shape[1]} columns, but sequence 0 has {parts[0].shape[1]}")
    return np.concatenate(parts), np.array([len(part) for part in parts])


def _array(sequence, i: int) -> NDArray:
    """Turn sequence `i` into an array, or say why that cannot be done."""
    try:
        return np.asarray(sequence)
    except ValueError:
        raise ValueError(f"sequence {i} of X is not a table: its rows have unequal lengths") from None


def _checked_lengths(lengths, n: int) -> NDArray:
    """Check the lengths of sequences of `n` rows in all."""
    if lengths is None:
        return np.array([n], dtype=np.int64)
    given = np.asarray(lengths)
    if given.ndim != 1 or given.dtype.kind not in "iu" or not len(given):
        raise ValueError(f"lengths must be a list of whole numbers, one per sequence, got {lengths!r}")
    if (given < 1).any():
        raise ValueError(f"lengths must be at least 1, but sequence {int((given < 1).argmax())} has none: leave it out")
    if int(given.sum()) != n:
        raise ValueError(f"lengths add up to {int(given.sum())}, but X has {n} rows: they must be equal")
    return given.astype(np.int64)


def check_symbols(X: NDArray, n_states: int, n_symbols: int | None) -> int:
    """Find the number of symbols if it is None; raise unless X is one column of symbols 0 … n_symbols − 1."""
    if X.shape[1] != 1:
        raise ValueError(f"emission='discrete' takes one column of symbols, but X has {X.shape[1]} columns")
    seen = X[~np.isnan(X)]
    if (seen < 0).any() or (seen != np.floor(seen)).any():
        raise ValueError("emission='discrete' takes whole numbers from 0 as symbols: number the symbols of X so")
    most = int(seen.max(initial=0))
    if n_symbols is not None and most >= n_symbols:
        raise ValueError(f"X holds the symbol {most}, but the model was fitted to symbols below {n_symbols}")
    if n_symbols is None and (most + 1) * n_states > _MOST_SYMBOLS:
        raise ValueError(f"X holds symbols as large as {most}: number those that occur from 0 on without gaps")
    return most + 1 if n_symbols is None else n_symbols


def check_rows(X: NDArray, covariance_type: str) -> None:
    """Raise if a full covariance would meet a step of which only a part was seen."""
    if covariance_type != "full" or X.shape[1] == 1:
        return
    holes = np.isnan(X).sum(axis=1)
    if ((holes > 0) & (holes < X.shape[1])).any():
        raise ValueError(
            "X has steps of which only a part is missing: use covariance_type='diag', or make them all NaN"
        )
