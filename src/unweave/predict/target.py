"""Read what a predictor is to predict: classes as numbers from zero on, or amounts; errors name the remedy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

TASKS = ("auto", "classes", "numbers")


class Target(NamedTuple):
    """What `fit` is to learn: the class of each row (whole numbers) with the classes, or amounts with no classes."""

    values: NDArray
    classes: NDArray | None


def read_target(estimator, y, n_rows: int, task: str, *, several: bool = True) -> Target:
    """Check a target of `n_rows` values, and tell classes from amounts.

    Parameters
    ----------
    estimator : the predictor, for the name in the errors
    y : array (n,), or (n, t) for several amounts
    n_rows : int
    task : {"auto", "classes", "numbers"}
        "auto" takes whole numbers and words as classes.
    several : bool
        Whether one class alone is refused.

    Examples
    --------
    >>> target = read_target(None, ["no", "yes", "no"], 3, "auto")
    >>> target.values.tolist(), target.classes.tolist()
    ([0, 1, 0], ['no', 'yes'])
    """
    from sklearn.utils import check_array
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import column_or_1d

    name = type(estimator).__name__
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None: fit(X, y)")
    if not isinstance(task, str) or task not in TASKS:
        raise ValueError(f"task must be 'auto', 'classes' or 'numbers', got {task!r}")
    y = check_array(y, ensure_2d=False, dtype=None, ensure_all_finite=False, input_name="y")
    if len(y) != n_rows:
        raise ValueError(f"y must hold one value per row: X has {n_rows} rows, y has {len(y)}")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity: leave out the rows without a target")
    if y.dtype.kind == "O" and any(value is None or value != value for value in y.ravel()):
        raise ValueError("y contains NaN or None: leave out the rows without a target")
    if task == "auto":
        task = "classes" if type_of_target(y, input_name="y") in ("binary", "multiclass") else "numbers"
    if task == "numbers":
        try:
            values = y.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError("y holds words: they are classes; give task='classes' or 'auto'") from None
        return Target(values, None)
    y = column_or_1d(y, warn=True)
    kind = type_of_target(y, input_name="y")
    if kind.startswith("continuous"):
        raise ValueError(
            f"Unknown label type: {kind}. y holds amounts, and {name} learns classes here: cut them into ranges first, "
            "or use a model for amounts, such as RBFNetwork(task='numbers')"
        )
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if several and len(classes) < 2:
        raise ValueError(f"y holds one class only ({classes.tolist()[0]!r}): {name} needs rows of at least two")
    return Target(codes.astype(np.int64), classes)
