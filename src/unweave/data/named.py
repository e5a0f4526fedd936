"""Holds a table from outside, with the names of its rows and columns and what was decided when it was read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

KINDS = ("table", "ratings", "pairs", "counts", "text", "images", "tensor")


@dataclass(frozen=True)
class NamedTable:
    """A table with names, as :func:`unweave.read` returns it; every estimator's ``fit`` and ``transform`` take it.

    Parameters
    ----------
    X : array, CSR array or data frame
        Numbers (float32 or float64, NaN where missing), or a polars frame when some columns are not numbers.
    rows, columns : list of str, optional
        Names; None when the file has none.
    missing : None, "nan" or "zeros"
        What an unknown entry looks like, for the parameter `missing` of estimators: nothing is missing, NaN is, or
        everything that a sparse table does not store.
    kind : str
        "table", "ratings" (user, item, value), "pairs" (a 0/1 relation), "counts" (of words), "text", "images",
        "tensor" (X has three or more sides: an array or a :class:`unweave.SparseTensor`, for :class:`unweave.CP`).
    labels : array, optional
        One value per row that came with the data and is not part of it (the target in libsvm files).
    times : array, optional
        Of the stored entries of X, in their order, when ratings came with times; of the rows of texts, as dates.
    image : (height, width) or (height, width, channels), optional
        Shape of the picture that each row is.
    channels : int
        Of a single picture in colour: how many numbers, side by side, make a pixel (red, green and blue).
    rate : float, optional
        Samples in a second, where the rows are moments of a sound.
    notes : list of str
        Decisions made while reading, in words.
    source : str
        Where it came from.
    named_by : str
        The column of the file that became `rows`.
    label_name, time_name : str
        The columns of the file that became `labels` and `times`, where texts have them beside.
    excerpts : list of str, optional
        The beginning of each document, for quoting, where the rows are texts out of a column.
    whole : optional
        What has all rows, where these are only some of them because the file is larger than memory.

    Examples
    --------
    >>> import numpy as np
    >>> NamedTable(np.eye(2), columns=["a", "b"])
    NamedTable(2×2 table, columns 'a', 'b')
    """

    X: Any
    rows: list[str] | None = None
    columns: list[str] | None = None
    missing: str | None = None
    kind: str = "table"
    labels: NDArray | None = None
    times: NDArray | None = None
    image: tuple[int, ...] | None = None
    notes: list[str] = field(default_factory=list)
    source: str = ""
    named_by: str = ""
    label_name: str = ""
    time_name: str = ""
    excerpts: list[str] | None = None
    whole: Any = None
    rate: float | None = None
    channels: int = 1

    def __post_init__(self):
        if self.kind == "tensor":
            return
        n, m = self.X.shape
        if self.rows is not None and len(self.rows) != n:
            raise ValueError(f"rows has {len(self.rows)} names, but X has {n} rows")
        if self.columns is not None and len(self.columns) != m:
            raise ValueError(f"columns has {len(self.columns)} names, but X has {m} columns")
        if self.kind not in KINDS:
            raise ValueError(f"kind={self.kind!r} is not known; use one of {', '.join(KINDS)}")

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.X.shape)

    @property
    def picture(self) -> NDArray:
        """Return a single picture as pixels: (height, width), or (height, width, channels) where it has colours.

        >>> NamedTable(np.arange(12.0).reshape(2, 6), kind="images", channels=3).picture.shape
        (2, 2, 3)
        """
        return self.X if self.channels == 1 else self.X.reshape(len(self.X), -1, self.channels)

    @property
    def sparse(self) -> bool:
        return sp.issparse(self.X)

    @property
    def numeric(self) -> bool:
        """Tell whether X holds numbers alone, so that estimators can take it."""
        return self.sparse or self.kind == "tensor" or isinstance(self.X, np.ndarray)

    @property
    def prose(self) -> str | None:
        """Return the name of the column of free text, the longest if there are several; None if there is none."""
        from unweave.data.roles import prose_of

        return prose_of(self)

    def texts(self, column: str | None = None, **options) -> NamedTable:
        """Count the words of a column of texts: a table of documents × words, as :func:`unweave.read` makes of texts.

        Labels and dates that stand beside the texts are kept in `labels` and `times`.

        Parameters
        ----------
        column : str, optional
            The column; by default the one of free text.
        **options
            `stop_words`, `min_documents` and `max_words`, as of :func:`unweave.read`.
        """
        from unweave.data.readers.text_columns import count_column

        return count_column(self, column, options)

    def frame(self):
        """Return the table as a polars frame."""
        import polars

        self.need_two_sides()
        if not self.numeric:
            return self.X
        if self.sparse:
            raise ValueError("a sparse table is not made into a data frame: take X, or X.toarray() if it is small")
        return polars.DataFrame(self.X, schema=self.columns or [f"column {j + 1}" for j in range(self.shape[1])])

    def need_two_sides(self) -> None:
        """Raise ValueError if this is a tensor, which nothing that works on rows and columns can take."""
        if self.kind == "tensor":
            by = "×".join(map(str, self.shape))
            raise ValueError(
                f"{self.source or 'X'} is a tensor of {by}, not a table of rows and columns: fit unweave.CP to it, or "
                "on the shell run 'unweave compress'"
            )

    def with_(self, **changes) -> NamedTable:
        """Return a copy with some fields replaced."""
        return replace(self, **changes)

    def __repr__(self) -> str:
        if self.kind == "tensor":
            return f"NamedTable({'×'.join(map(str, self.shape))} tensor)"
        n, m = self.shape
        shown = ", ".join(map(repr, (self.columns or [])[:3])) + (", …" if len(self.columns or []) > 3 else "")
        return f"NamedTable({n}×{m} {self.kind}{', columns ' + shown if shown else ''})"
