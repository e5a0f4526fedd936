"""``n_clusters="auto"``: the number of groups left to the data."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from unweave.data.arguments import whole
from unweave.select.choose import auto_count
from unweave.select.trial import count_name


class Counting:
    """Models whose number of clusters or components may be ``"auto"``."""

    def _number(self) -> int:
        """The number asked for, or the one that was chosen."""
        name = count_name(self)
        asked = getattr(self, name)
        if not _is_auto(asked):
            if isinstance(asked, str):
                raise ValueError(f"{name} must be a whole number or 'auto', got {asked!r}")
            return whole(asked, name, 1)
        if not hasattr(self, "choice_"):
            raise ValueError(f"{name}='auto' looks at the whole table in fit: give partial_fit a number")
        return self.choice_.best


def chooses(fit: Callable) -> Callable:
    """A `fit` that finds the number first where it is ``"auto"``, keeps it as ``choice_`` and says it in ``plan_``.

    It tries 1 to 20 and more on 5000 rows at most (:func:`unweave.select.auto_count`); weights of rows are not asked.
    """

    @wraps(fit)
    def chosen(self, X, *args, **more):
        name = count_name(self)
        if not _is_auto(getattr(self, name)):
            return fit(self, X, *args, **more)
        self.choice_ = auto_count(self, X, name)
        fit(self, X, *args, **more)
        self.plan_.reasons.append(self.choice_.reason)
        return self

    return chosen


def _is_auto(value) -> bool:
    return isinstance(value, str) and value == "auto"
