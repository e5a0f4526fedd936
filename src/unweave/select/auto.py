"""``n_clusters="auto"`` and ``n_components="auto"``: the number left to the data, for every model alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from unweave.data.arguments import whole
from unweave.data.atomic import need_place
from unweave.select.auto_search import auto_count
from unweave.select.chosen import Choice
from unweave.select.trial import count_name, searched


class Counting:
    """Models whose number of clusters, components, states or topics may be ``"auto"``."""

    choice_: Choice
    plan_: Any

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

    def _choose_number(self, X, *args: Any, **more: Any) -> Choice:
        """The search; `args` and `more` are what `fit` was given beside the table."""
        return auto_count(*searched(self, X))


def chooses(fit: Callable) -> Callable:
    """A `fit` that finds the number first where it is ``"auto"``, keeps it as ``choice_`` and says it in ``plan_``.

    The search is :func:`unweave.select.auto_count`; weights of rows are not asked.
    """

    @wraps(fit)
    def chosen(self, X, *args, **more):
        name = count_name(self)
        vars(self).pop("choice_", None)
        if not _is_auto(getattr(self, name)):
            return fit(self, X, *args, **more)
        need_place(getattr(self, "checkpoint", None), "the checkpoint")  # before the search, which may take long
        choice = self._choose_number(X, *args, **more)
        choice.name = name
        self.choice_ = choice
        found = fit(self, X, *args, **more)
        self.plan_.reasons.extend([choice.reason, choice.note] if choice.note else [choice.reason])
        return found

    return chosen


def _is_auto(value) -> bool:
    return isinstance(value, str) and value == "auto"
