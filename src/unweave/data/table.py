"""Checks whatever a user passes as data and makes a table of it, or an error that names the remedy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.not_numbers import name_the_first, refuse_columns, what_takes_words
from unweave.data.storage import n_stored, stack_rows, stored
from unweave.data.tiny_values import refuse_vanished, squares_vanish
from unweave.parallel import run

MISSING = (None, "nan", "zeros", "auto")


@dataclass(frozen=True)
class Table:
    """Holds a checked table.

    `values` is a C-contiguous array or a canonical CSR array, float32 or float64; unobserved entries hold 0. `seen`
    is None (everything observed), a Boolean array, or "stored" (the stored entries of a sparse table).
    """

    values: NDArray | sp.csr_array
    seen: NDArray | str | None

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape


def check_missing(missing) -> None:
    """Raise unless `missing` is a known word or a Boolean mask."""
    if isinstance(missing, str) or missing is None:
        if missing in MISSING:
            return
        raise ValueError(f"missing={missing!r} is not known; use None, 'nan', 'zeros', 'auto' or a Boolean mask")
    if np.ndim(missing) == 0:
        raise ValueError(f"missing={missing!r} is not known; NaN is missing with missing='nan', zeros with 'zeros'")
    if np.asarray(missing).dtype != bool or np.ndim(missing) != 2:
        raise ValueError("missing as an array must be a two-dimensional Boolean mask, True where an entry is missing")


def check_table(estimator, X, missing, *, reset: bool) -> Table:
    """Validate `X` as scikit-learn does (names and number of columns included) and tell observed from missing."""
    check_missing(missing)
    if isinstance(X, NamedTable):
        return _named_table(estimator, X, missing, reset=reset)
    if isinstance(X, Iterator):
        raise TypeError(
            f"X is a {type(X).__name__}, which can be read only once: give the blocks as a list, list(X), or feed each "
            "to partial_fit where the model has it"
        )
    refuse_blocks(estimator, X, new=not reset)
    table = _told_apart(_validated(estimator, X, missing, reset=reset), missing, _can_miss(estimator))
    if not _observed(table):
        why = "nothing is stored in it" if sp.issparse(table.values) else "every value is missing"
        raise ValueError(f"X has no observed entry: {why}")
    return table


def _validated(estimator, X, missing, *, reset: bool):
    """Return X as an array or a CSR matrix of numbers, after comparing its names and columns with those of the fit."""
    from sklearn.utils.validation import check_array, validate_data

    refuse_columns(estimator, X)
    how = {"accept_sparse": "csr", "dtype": (np.float64, np.float32), "order": "C", "ensure_all_finite": False}
    try:
        return validate_data(estimator, X, reset=reset, estimator=type(estimator).__name__, **how)
    except ValueError:
        name_the_first(X, "X", what_takes_words(estimator))
        if not reset:  # numbers that are none are told before columns that are too few, as scikit-learn does
            _told_apart(check_array(X, estimator=type(estimator).__name__, **how), missing, _can_miss(estimator))
        raise


def _observed(table: Table) -> bool:
    """Tell whether a table has an entry that counts."""
    if table.seen is None:
        return True
    return bool(np.any(table.seen)) if isinstance(table.seen, np.ndarray) else bool(sp.csr_array(table.values).nnz)


def _n_seen(table: Table) -> int:
    """How many entries count."""
    if table.seen is None:
        return table.shape[0] * table.shape[1]
    return int(np.count_nonzero(table.seen)) if isinstance(table.seen, np.ndarray) else n_stored(table.values)


def _can_miss(estimator) -> bool:
    """Tell whether a model has a parameter `missing`; some hold it fixed."""
    return "missing" in getattr(estimator, "get_params", dict)()


def _told_apart(X, missing, can_miss: bool) -> Table:
    """Tell observed entries from missing ones; `can_miss` says whether the model has a `missing` to advise."""
    return _sparse_table(X, missing, can_miss) if sp.issparse(X) else _dense_table(X, missing, can_miss)


def _named_table(estimator, table: NamedTable, missing, *, reset: bool) -> Table:
    """Check a table that was read from a file: it brings its own names, and knows what an unknown entry looks like."""
    table.need_two_sides()
    missing = table.missing if missing is None else missing
    if not table.numeric or table.columns is None:
        return check_table(estimator, table.X, missing, reset=reset)
    with _names_apart(estimator, table.columns, reset=reset):
        return check_table(estimator, table.X, missing, reset=reset)


@contextmanager
def _names_apart(estimator, columns: Sequence[str] | None, *, reset: bool) -> Iterator[None]:
    """Compare the names of a table's columns, which come apart from it, with those of the fit, and keep them.

    scikit-learn would complain of a plain array that has none.
    """
    if columns is None:
        yield
        return
    known = getattr(estimator, "feature_names_in_", None)
    if not reset and known is not None and list(known) != list(columns):
        lost = [name for name in known if name not in set(columns)][:3]
        why = f"it lacks {', '.join(map(repr, lost))}" if lost else "they are others or in another order"
        raise ValueError(f"X does not have the columns that the model was fitted to ({why}); give the same columns")
    vars(estimator).pop("feature_names_in_", None)
    try:
        yield
    finally:
        if reset or known is not None:
            estimator.feature_names_in_ = np.asarray(columns, dtype=object)


def _dense_table(X: NDArray, missing, can_miss: bool) -> Table:
    if np.iscomplexobj(X):
        raise ValueError("Complex data not supported: X has an imaginary part; split it into two tables")
    hole: NDArray | None
    if isinstance(missing, str) and missing == "zeros":
        need_finite(X, DENSE if can_miss else WITHOUT, allow_nan=True)
        hole = np.isnan(X) | (X == 0)
    elif missing is None:
        need_finite(X, DENSE if can_miss else WITHOUT, allow_nan=False)
        return Table(X, None)
    else:
        need_finite(X, DENSE if can_miss else WITHOUT, allow_nan=True)
        hole = np.isnan(X)
        if not isinstance(missing, str) and np.shape(missing) == X.shape:
            hole |= np.asarray(missing)
    if not hole.any():
        return Table(X, None)
    return Table(np.where(hole, 0, X).astype(X.dtype, copy=False), ~hole)


def _sparse_table(X, missing, can_miss: bool) -> Table:
    X = sp.csr_array(X)
    try:
        X.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"X is a damaged sparse matrix ({error}); build it anew from its entries") from error
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    holes = isinstance(missing, str) and missing in ("zeros", "auto")
    need_finite(X.data, STORED if can_miss else WITHOUT, allow_nan=holes)
    if not holes:
        if missing is not None and not isinstance(missing, str):
            raise ValueError("missing as a mask needs a dense X; for sparse tables use missing='zeros'")
        return Table(X, None)
    hole = np.isnan(X.data)
    if hole.any():
        coo = X.tocoo()
        X = sp.csr_array((coo.data[~hole], (coo.row[~hole], coo.col[~hole])), shape=X.shape)
    return Table(X, "stored")


# -- blocks ------------------------------------------------------------------------------------------------------------


def is_blocks(X) -> bool:
    """Tell whether X is a sequence of row blocks: not an array or frame itself, its first element a 2-D table.

    One that reads blocks where they are needed says so by its method `fetch`; none is read to find out.
    """
    if hasattr(X, "fetch"):
        return True
    if sp.issparse(X) or hasattr(X, "__array__") or hasattr(X, "columns") or isinstance(X, str | bytes | dict):
        return False
    if not isinstance(X, Sequence) and not (hasattr(X, "__len__") and hasattr(X, "__getitem__")):
        return False
    if not len(X):
        return False
    return getattr(X[0], "ndim", 0) == 2


def refuse_blocks(estimator, X, asked: str = "", *, new: bool = False) -> None:
    """Raise if X comes in row blocks, with the ways out that the model has.

    `asked` is what makes it need one table; `new` says that the rows are not for a fit.
    """
    lazy = hasattr(X, "__dask_graph__")
    if not lazy and not is_blocks(X):
        return
    from sklearn.base import BaseEstimator

    name = "this" if type(estimator) is BaseEstimator else type(estimator).__name__
    streams, thins = hasattr(estimator, "partial_fit"), "coreset" in getattr(estimator, "get_params", dict)()
    ways = [(new, "ask about one block after the other"), (streams and not new, "feed them to partial_fit one by one")]
    more = "".join(f", or {way}" for open_, way in [*ways, (thins and not new, "say coreset=m")] if open_)
    if lazy:
        raise ValueError(f"{name}{asked} needs X as one table in memory, not as blocks of Dask: give X.compute(){more}")
    raise ValueError(
        f"{name}{asked} needs X as one table in memory, not as a sequence of blocks: stack them (numpy.vstack, or "
        f"scipy.sparse.vstack){more}"
    )


def joined_blocks(U):
    """Codes that come in blocks as one table; anything else as it is."""
    return stack_rows([U[i] for i in range(len(U))]) if is_blocks(U) else U


def refuse_sparse(X) -> None:
    """Raise if X is a sparse table of ratings, whose completed form has a method of its own."""
    if sp.issparse(X.X if isinstance(X, NamedTable) else X):
        raise ValueError(
            "predict takes pairs of users and items, not a sparse table: complete(X) gives the completed table of a "
            "sparse one, which is dense"
        )


class Totals(NamedTuple):
    """What blocks say together: the least entry (0 if none is negative), and how many are seen and stored."""

    least: float
    n_seen: int
    n_stored: int


@dataclass(frozen=True)
class BlockTables:
    """What was found out about a table in blocks, and how one of them is made a table.

    `places` are those with rows; `looked_at` says that every block has been checked once.
    """

    source: Sequence
    missing: object
    sizes: list[int]
    complete: bool
    dtype: np.dtype
    n_columns: int
    can_miss: bool = True
    places: Sequence[int] | None = None
    looked_at: bool = False
    totals: Totals | None = None

    def made(self, block, i: int) -> Table:
        """A block as it was read, the i-th of the source, as a table.

        An array that was looked at before and has no holes is taken as it is. One that is read from a file when it is
        touched is checked once more: that is what reads it, ahead of the work.
        """
        if self.looked_at and self.complete and _is_ready(block, self.n_columns, self.dtype):
            return Table(block, None)
        return _block_table(block, self.missing, self.n_columns, self.dtype, i, self.can_miss)

    def load(self, i: int) -> Table:
        i = i if self.places is None else self.places[i]
        return self.made(self.source[i], i)

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self.sizes), self.n_columns


class BlockLook(NamedTuple):
    """How blocks are looked at for the first time; what is found is lists, which add up in the order of the blocks."""

    missing: object
    n_columns: int
    can_miss: bool

    def table(self, block, i: int) -> Table:
        """Check a block on its own, in the type that it has."""
        return _block_table(block, self.missing, self.n_columns, _float_of(block), i, self.can_miss)

    def __call__(self, block, i: int) -> dict[str, list]:
        """Check a block, and say what the whole table must know of it."""
        return self.found(self.table(block, i))

    def found(self, table: Table) -> dict[str, list]:
        """What the whole table must know of a block that was checked."""
        return {
            "sizes": [table.shape[0]], "dtypes": [table.values.dtype.str], "complete": [table.seen is None],
            "observed": [bool(table.shape[0]) and _observed(table)], "vanish": [squares_vanish(table.values)],
            "least": [float(stored(table.values).min(initial=0.0))], "seen": [_n_seen(table)],
            "stored": [n_stored(table.values)],
        }  # fmt: skip


def first_look(estimator, X, missing, *, reset: bool) -> BlockLook:
    """Check the first block that has rows as scikit-learn does, and return how to look at all of them."""
    check_missing(missing)
    if missing is not None and not isinstance(missing, str):
        raise ValueError(
            "missing as a mask needs X as one table in memory, not as a sequence of blocks: mark missing entries with "
            "NaN instead (missing='nan')"
        )
    first = filled_block(X)
    # Frames bring their names themselves; of other blocks the sequence may know them.
    names = None if hasattr(first, "columns") else getattr(X, "feature_names", None)
    with _names_apart(estimator, names, reset=reset):
        n_columns = _validated(estimator, first, missing, reset=reset).shape[1]
    return BlockLook(missing, n_columns, _can_miss(estimator))


def seen_blocks(X, look: BlockLook, found: dict[str, list]) -> BlockTables:
    """What a look at every block has found, as one."""
    if not any(found["observed"]):
        raise ValueError("X has no observed entry: every value of every block is missing")
    places = [i for i, size in enumerate(found["sizes"]) if size]
    dtype = np.result_type(*found["dtypes"])
    refuse_vanished(found["vanish"], dtype)
    complete = all(found["complete"])
    sizes = [found["sizes"][i] for i in places]
    totals = Totals(min(found["least"]), sum(found["seen"]), sum(found["stored"]))
    return BlockTables(X, look.missing, sizes, complete, dtype, look.n_columns, look.can_miss, places, True, totals)


def named_block(X):
    """Return the first block that has rows, with the names of its columns where the sequence knows them."""
    block, names = filled_block(X), getattr(X, "feature_names", None)
    return block if names is None or hasattr(block, "columns") else NamedTable(block, columns=list(names))


def filled_block(X):
    """Return the first block that has rows, else the last."""
    block = X[0]
    for i in range(1, len(X)):
        if getattr(block, "shape", (1,))[0]:
            break
        block = X[i]
    return block


def block_type(X) -> np.dtype:
    """Return the type in which the first block is computed."""
    return _float_of(X[0])


def _float_of(block) -> np.dtype:
    """Return the type in which the numbers of a block (an array or a frame) are computed."""
    dtypes = getattr(block, "dtypes", [getattr(block, "dtype", np.float64)])
    return np.dtype(np.float32 if all(dtype == np.float32 for dtype in dtypes) else np.float64)


def _is_ready(block, n_columns: int, dtype) -> bool:
    """Tell whether a block is an array in memory as it is computed with."""
    if type(block) is not np.ndarray or block.dtype != dtype:
        return False
    return block.ndim == 2 and block.shape[1] == n_columns and block.flags.carray


def _block_table(block, missing, n_columns: int, dtype, i: int, can_miss: bool) -> Table:
    from sklearn.utils import check_array

    block = check_array(
        block, accept_sparse="csr", dtype=dtype, order="C", ensure_all_finite=False, ensure_min_samples=0
    )
    if block.shape[1] != n_columns:
        raise ValueError(f"block {i} of X has {block.shape[1]} columns, but block 0 has {n_columns}")
    if not block.shape[0]:
        return Table(block if not sp.issparse(block) else sp.csr_array(block), None)
    return _told_apart(block, missing, can_miss)


# -- entries that are no numbers, or too large ones --------------------------------------------------------------------


class Remedy(NamedTuple):
    """Says what to do about entries that are no numbers; it depends on how X is stored."""

    nan: str
    infinite: str


DENSE = Remedy(
    "pass missing='nan' to treat NaN as not observed, or fill these entries first",
    "replace it, or mark it as missing (NaN with missing='nan')",
)
STORED = Remedy(
    "a sparse X whose zeros are data cannot have holes; pass missing='zeros' if only stored entries are observed, "
    "X.toarray() with missing='nan', or fill these entries first",
    "replace it, or leave it out and pass missing='zeros' if only stored entries are observed",
)
WITHOUT = Remedy(
    "fill these entries first (unweave.TableImputer), or leave such rows out", "replace it by a finite number"
)


def need_finite(X: NDArray, remedy: Remedy, *, allow_nan: bool) -> None:
    """Raise on infinity, on NaN unless it is allowed, and on numbers whose squares would overflow.

    The sum of squares tells: one pass at the speed of memory, and only when it is not finite, or nearly not, is there
    anything to look for.
    """

    def squares(start: int, stop: int) -> float:
        part = X[start:stop].reshape(-1)
        with np.errstate(all="ignore"):
            return float(np.dot(part, part))

    most = float(np.finfo(X.dtype).max)
    if sum(run(squares, len(X), max(1, (1 << 21) * len(X) // max(1, X.size)))) < 1e-4 * most:
        return
    if np.isinf(X).any():
        raise ValueError(f"Input X contains infinity (inf): {remedy.infinite}")
    if not allow_nan and np.isnan(X).any():
        raise ValueError(f"Input X contains NaN: {remedy.nan}")
    largest = float(np.fmax.reduce(np.abs(X), axis=None, initial=0))
    if largest > 0.01 * np.sqrt(most / max(1, X.size)):
        raise ValueError(f"X holds numbers as large as {largest:.1e}, whose squares overflow {X.dtype}: rescale X")
