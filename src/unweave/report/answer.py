"""Answer in a headline, a small table and a few sentences what a fitted model has found.

The terminal, the page and the notebook card all show this one answer, so they say the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from unweave.report.access import look_at_access
from unweave.report.answers import Found
from unweave.report.answers.components import axes_answer, basis_answer, parts_answer, topics_answer
from unweave.report.answers.filled import completed_answer, imputed_answer
from unweave.report.answers.groups import group_answer
from unweave.report.answers.recommended import recommended_answer
from unweave.report.answers.roles import roles_answer
from unweave.report.answers.vectors import vectors_answer
from unweave.report.numbers import percent, readable
from unweave.report.tensors import of_tensor, tensor_answer
from unweave.report.view import View, look
from unweave.report.words import taken_instead

_SAYS_LITTLE = 0.5  # a bound that leaves room for so much improvement tells nobody anything


@dataclass(frozen=True)
class Answer:
    """Hold what a model has found, ready to be read.

    Attributes
    ----------
    headline : str
        One line: "178 rows in 3 groups: 62, 65 and 51".
    header : list of str
        Names of the columns of the table.
    rows : list of list of str
        The lines of the table, cells as people write them.
    lines : list of str
        Further plain sentences.
    certificate : str
        How much better an answer could be, or "" where that says nothing to a person.
    data : dict
        The same as plain numbers, for programs.
    """

    headline: str
    header: list[str]
    rows: list[list[str]]
    lines: list[str]
    certificate: str = ""
    data: dict[str, Any] = field(default_factory=dict)


def answer(model: Any, table: Any = None, recipe: Any = None) -> Answer:
    """Say what a fitted model has found in the table it was fitted to.

    Parameters
    ----------
    model : fitted estimator, or Vectors
    table : array, sparse matrix, data frame or NamedTable, optional
        What the model was fitted to (as :func:`unweave.prepare` made it); without it the answer tells less.
    recipe : Recipe, optional
        What `prepare` did, so that values are in the units of the file.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> X = np.array([[1.0, 5.0], [1.1, 5.2], [9.0, 5.1], [9.2, 5.3]])
    >>> told = answer(unweave.KMeans(2, random_state=0).fit(X), X)
    >>> told.headline
    '4 rows in 2 groups: 2 and 2'
    """
    found = _found(model, look(model, table), recipe)
    chosen = chosen_words(getattr(model, "choice_", None))
    data = {**found.data, **({"chosen": _choice_data(model.choice_)} if chosen else {})}
    lines = [*found.lines, *chosen]
    return Answer(found.headline, found.header, found.rows, lines, certificate_words(model), data)


def _found(model: Any, view: View | None, recipe: Any) -> Found:
    """Ask for the answer that suits what the model has, the most telling attribute first."""
    if of_tensor(model):
        return tensor_answer(model)
    if hasattr(model, "vectors_") or hasattr(model, "most_similar"):
        return vectors_answer(model)
    if hasattr(model, "imputations"):
        return imputed_answer(model)
    if hasattr(model, "recommend"):
        sparse = view is not None and view.sparse
        named = getattr(model, "user_ids_", None) is not None and (view is None or view.unstored)
        if sparse or named or not _has_holes(view):
            return recommended_answer(model, view)
        return completed_answer(model, view, recipe)
    if hasattr(model, "roles_") and hasattr(model, "assignments_"):
        return roles_answer(look_at_access(model, view))
    if hasattr(model, "topics_"):
        return topics_answer(model, view)
    if getattr(model, "labels_", None) is not None:
        return group_answer(model, view, recipe)
    if hasattr(model, "explained_variance_ratio_"):
        return axes_answer(model, view)
    if hasattr(model, "energy_ratio_"):
        return basis_answer(model, view)
    return parts_answer(model, view)


def _has_holes(view: View | None) -> bool:
    return view is not None and view.X is not None and not view.complete


def certificate_words(model: Any) -> str:
    """Say how much better an answer of this size could be; "" where that is unknown or says next to nothing.

    >>> from types import SimpleNamespace as Of
    >>> from unweave.solve.certificate import Certificate
    >>> certificate_words(Of(certificate_=Certificate("eckart-young", 96.0, 0.04, True, 100.0))).replace("\\xa0", " ")
    'At most 4 % better is possible.'
    """
    found = getattr(model, "certificate_", None)
    if found is not None and found.kind == "roles":
        least = round(found.lower_bound)
        return "No fewer roles can do it." if least >= found.objective else f"At least {least:,} roles are needed."
    if found is None or found.kind not in ("eckart-young", "duality"):
        return ""
    if not (math.isfinite(found.lower_bound) and found.objective > 0):
        return ""
    better = max(0.0, 1 - found.lower_bound / found.objective)
    if better < 1e-6:
        return "No better answer of this size exists."
    if better >= _SAYS_LITTLE:
        return ""
    return f"At most {'' if found.exact else 'about '}{percent(better)} better is possible."


# By the criterion of a choice: what was best at the number chosen.
_BEST = {
    "groups": "the groups stand apart most clearly there",
    "silhouette": "the groups stand apart most clearly there",
    "separation": "the groups stand apart most clearly there",
    "held-out": "hidden entries were predicted best there",
    "bi-cross-validation": "hidden blocks of the table were predicted best there",
    "cross-validation": "hidden rows were predicted best there",
    "completion": "hidden words were predicted best there",
    "stability": "the same groups were found again most surely there",
    "core consistency": "more components would describe the same things twice (core consistency)",
    "held-out entries": "hidden entries were predicted best there",
    "elbow": "the error bends there",
    "knee": "the error bends there",
    "bic": "more would fit the noise (BIC)",
    "aic": "more would fit the noise (AIC)",
    "icl": "more would fit the noise (ICL)",
}


def chosen_words(choice: Any) -> list[str]:
    """Say in a sentence which number was chosen, and why; empty where it was given."""
    if choice is None or not choice.scores:
        return []
    least, most = min(choice.scores), max(choice.scores)
    span = f"{readable(least)} was tried" if least == most else f"{readable(least)} to {readable(most)} were tried"
    top = (max if choice.larger_is_better else min)(choice.scores, key=lambda k: choice.scores[k])
    if choice.scores[top] == choice.scores.get(choice.best):
        why = _BEST.get(choice.by, f"{choice.title} was best there")
    else:
        why = taken_instead(choice.by)
    return [f"The number {readable(choice.best)} was chosen because {why}; {span}."]


def _choice_data(choice: Any) -> dict[str, Any]:
    return {"best": int(choice.best), "by": choice.by, "scores": {str(k): float(v) for k, v in choice.scores.items()}}
