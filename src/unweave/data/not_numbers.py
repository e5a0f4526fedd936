"""Says which entries of a table are no numbers, and what to do about them: NumPy's own messages name neither."""

from __future__ import annotations

from typing import Any

import numpy as np

_TEXT = ("str", "string", "utf8", "object")


def refuse_columns(estimator: Any, X: Any) -> None:
    """Name the columns of a data frame that are not numbers."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "dtypes"):
        return
    dtypes = list(X.dtypes)
    texts = [str(c) for c, d in zip(columns, dtypes, strict=True) if str(d).lower() in _TEXT or "cat" in str(d).lower()]
    if texts:
        raise ValueError(
            f"X has columns that are not numbers ({', '.join(texts[:5])}{', …' if len(texts) > 5 else ''}): could not "
            f"convert string to float; {what_takes_words(estimator)}"
        )


def name_the_first(X: Any, name: str, remedy: str) -> None:
    """Raise with the place of the first row of another length, or of the first word, of rows that NumPy refused."""
    if not isinstance(X, (list, tuple)) and not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS"):
        return
    if len(X) and all(isinstance(value, str) for value in X):
        raise ValueError(f"{name} is a list of words ({X[0]!r}, …): could not convert string to float; {remedy}")
    rows = [row for row in X if isinstance(row, (list, tuple, np.ndarray))]
    if len(rows) != len(X):
        return
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"{name} has rows of different lengths: row 0 has {len(rows[0])} values, row {i} has {len(row)}; give "
                "every row a value for each column (NaN where it is unknown, with missing='nan' where a model has it)"
            )
    for i, row in enumerate(rows):
        j = _first_word(row)
        if j is not None:
            told = f"{name} holds {row[j]!r} in row {i}, column {j}: could not convert string to float"
            raise ValueError(f"{told}; {remedy}")


def what_takes_words(estimator: Any) -> str:
    """What a user with columns of words can do instead of fitting this model to them."""
    from sklearn.utils import get_tags

    if get_tags(estimator).target_tags.required:
        return (
            "encode or drop them, or use unweave.RepresentationClassifier or RepresentationRegressor, which take words "
            "as they are"
        )
    if "loss" in estimator.get_params(deep=False):
        return "encode or drop them, or give each column its own loss (loss={'name': 'categorical', …})"
    return (
        "encode or drop them, or use unweave.Factorization with a loss for each column (loss={'name': 'categorical', "
        "…})"
    )


def _first_word(row: Any) -> int | None:
    for j, value in enumerate(row):
        if isinstance(value, (str, bytes)):
            try:
                float(value)
            except ValueError:
                return j
    return None
