"""Save, report, draw and show a fitted model, and leave its number of components to the data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import whole
from unweave.factorization.keywords import check_keywords
from unweave.select.auto import auto_count, is_auto
from unweave.select.choose import Choice
from unweave.select.trial import count_name, searched


class Model:
    """What every estimator of the library can do besides its job.

    A fitted one is saved to a file and shown as a page, a picture or a card in a notebook. Where it has a number of
    clusters, components, states or topics, that may be ``"auto"``: its `fit` is wrapped by
    :func:`unweave.select.auto.chooses`, and `_number` is what came of it.
    """

    choice_: Choice
    plan_: Any

    def __new__(cls, *args: Any, **keywords: Any):
        # Before __init__, which every class writes out for scikit-learn: the one place that all of them pass.
        check_keywords(cls, keywords)
        return super().__new__(cls)

    def save(self, path: str | os.PathLike) -> Path:
        """Write the fitted model to one file, atomically; :func:`unweave.load` reads it back.

        The file (usually ``*.unweave``) holds arrays and JSON, no pickle. A loaded model gives the same bits.
        """
        from unweave.persist import save

        check_is_fitted(self)
        return save(self, path)

    def report(self, path: str | os.PathLike, X=None, *, recipe=None) -> Path:
        """Write one self-contained HTML page about the fitted model.

        With the table it was fitted to (`X`, or what :func:`unweave.read` gave) the page also shows the table before
        and after, the groups on two principal axes, and a held-out score beside simple baselines. With the `recipe`
        that :func:`unweave.prepare` gave, centres are in the units of the file.
        """
        from unweave.report import write

        check_is_fitted(self)
        return write(self, path, None if X is None else self._shown(X), recipe=recipe)

    def plot(self, X=None):
        """A matplotlib figure of the components, drawn as what they are."""
        from unweave.report import plot

        check_is_fitted(self)
        return plot(self, None if X is None else self._shown(X))

    def _shown(self, X):
        """X as the table that is shown; models that take texts make it of them."""
        return X

    def _repr_html_(self) -> str:
        from unweave.report import card

        return card(self)

    def _repr_mimebundle_(self, **kwargs) -> dict:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _number(self) -> int:
        """Return the number asked for, or the one that was chosen."""
        name = count_name(self)
        asked = getattr(self, name)
        if not is_auto(asked):
            if isinstance(asked, str):
                raise ValueError(f"{name} must be a whole number or 'auto', got {asked!r}")
            return whole(asked, name, 1)
        if not hasattr(self, "choice_"):
            raise ValueError(f"{name}='auto' looks at the whole table in fit: give partial_fit a number")
        return self.choice_.best

    def _choose_number(self, X, *args: Any, **more: Any) -> Choice:
        """Search for the number; `args` and `more` are what `fit` was given beside the table."""
        return auto_count(*searched(self, X))
