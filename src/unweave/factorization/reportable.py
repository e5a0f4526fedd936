"""Save, report, draw and show a fitted model: what every estimator can do besides predict."""

from __future__ import annotations

import os
from pathlib import Path

from sklearn.utils.validation import check_is_fitted


class Reportable:
    """Saves a fitted model to a file and shows it as a page, a picture or a card in a notebook."""

    def save(self, path: str | os.PathLike) -> Path:
        """Write the fitted model to one file, atomically; :func:`unweave.load` reads it back.

        The file (usually ``*.unweave``) holds arrays and JSON, no pickle. A loaded model gives the same bits.
        """
        from unweave.persist import save

        check_is_fitted(self)
        return save(self, path)

    def report(self, path: str | os.PathLike, X=None) -> Path:
        """Write one self-contained HTML page about the fitted model.

        With the table it was fitted to (`X`, or what :func:`unweave.read` gave) the page also shows the table before
        and after, the groups on two principal axes, and a held-out score beside simple baselines.
        """
        from unweave.report import write

        check_is_fitted(self)
        return write(self, path, None if X is None else self._shown(X))

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
