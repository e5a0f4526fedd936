"""Warnings that point at the user's line, however deep the fit was."""

from __future__ import annotations

import sys
import warnings


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """``warnings.warn`` with the stack level of the first caller outside this package (and outside scikit-learn)."""
    level, frame = 1, sys._getframe(0)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(("unweave.", "sklearn.utils")):
            break
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level)
