"""Judge a model beside the baselines, on the same test part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from unweave.data.arguments import whole
from unweave.data.hold_out import KnownEntries
from unweave.judge.answers import Answers
from unweave.judge.baselines import Baseline, Biases, Mean, MeanImputedSVD, Popularity
from unweave.judge.errors import differences
from unweave.judge.matching import ids_of, matched
from unweave.judge.ranking import auc_of_users, count_hits, relevant_items
from unweave.judge.split import strangers
from unweave.solve.progress import warn_user

KINDS = ("ratings", "ranking")
_MOST = 20_000  # users whose whole order is looked at for the AUC
_LESS_IS_BETTER = ("RMSE", "MAE")


@dataclass(frozen=True)
class Verdict:
    """Hold what :func:`judge` found: a line for the model and one for each baseline. ``print`` it, or ``as_dict()``.

    Parameters
    ----------
    kind : "ratings" or "ranking"
    scores : dict of dicts
        ``scores[name][measure]``; the model comes first.
    test : dict
        Size of the test part: entries, users, items.
    notes : list of str
        What to know when reading the numbers.
    """

    kind: str
    scores: dict[str, dict[str, float]]
    test: dict[str, int]
    notes: list[str] = field(default_factory=list)

    @property
    def model(self) -> str:
        """Name of the model that was judged."""
        return next(iter(self.scores))

    def best(self, measure: str) -> str:
        """Name the best by a measure; the model only if it beats every baseline.

        >>> Verdict("ratings", {"PCA": {"RMSE": 0.9}, "Mean": {"RMSE": 1.1}}, {}).best("RMSE")
        'PCA'
        """
        sign = 1 if measure in _LESS_IS_BETTER else -1
        if measure not in self.scores[self.model]:
            raise ValueError(f"measure={measure!r} is not known; use one of {', '.join(self.scores[self.model])}")
        names = [*list(self.scores)[1:], self.model]  # of equals the baseline
        return min(names, key=lambda name: sign * self.scores[name][measure])

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, texts and numbers, ready for JSON."""
        scores = {name: dict(values) for name, values in self.scores.items()}
        return {"kind": self.kind, "scores": scores, "test": dict(self.test), "notes": list(self.notes)}

    def __str__(self) -> str:
        measures = list(self.scores[self.model])
        width = max(len(name) for name in self.scores)
        widths = [max(len(measure), 8) for measure in measures]
        head = " " * width + "".join(f"  {measure:>{w}}" for measure, w in zip(measures, widths, strict=True))
        lines = [
            f"{name:<{width}}" + "".join(f"  {values[m]:>{w}.4f}" for m, w in zip(measures, widths, strict=True))
            for name, values in self.scores.items()
        ]
        size = ", ".join(f"{count:,} {what}" for what, count in self.test.items())
        return "\n".join([head, *lines, f"test: {size}", *self.notes])


def judge(
    model, train, test, *, n: int = 10, kind: str = "ratings", at_least: float | None = None, given=None
) -> Verdict:
    """Judge a fitted model on ratings it has not seen, beside baselines fitted on the same training part.

    Parameters
    ----------
    model : estimator fitted on `train`
        With ``predict(users, items, rows=True)`` and ``recommend``, or any factorisation, which then predicts by
        ``inverse_transform(transform(train))``.
    train, test : tables of one shape, or ratings with ids
        From :func:`split_ratings`, or from two frames (:func:`unweave.ratings`), which are matched by id. Ratings of
        users and items that train does not know are left out, and the notes say how many. Sparse means unobserved.
    n : int, default=10
        Length of the lists, for "ranking".
    kind : {"ratings", "ranking"}
        "ratings" asks how well numbers are predicted (RMSE, MAE). "ranking" asks how well what comes next is placed at
        the top (precision, recall, MAP and NDCG at n, AUC, coverage); the entries of `test` are relevant.
    at_least : float, optional
        For "ranking": only test ratings of at least so much are relevant.
    given : table, optional
        For users that are not in `train` (:func:`split_users`): what is known of them.

    Returns
    -------
    Verdict

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.judge import MeanImputedSVD, judge, split_ratings
    >>> X = np.add.outer(np.arange(6.0), np.arange(5.0) % 2)
    >>> train, test = split_ratings(X, test=0.2)
    >>> verdict = judge(MeanImputedSVD(2).fit(train), train, test)
    >>> list(verdict.scores), verdict.test
    (['model (MeanImputedSVD)', 'Mean', 'Biases', 'MeanImputedSVD'], {'entries': 6, 'users': 4, 'items': 4})
    """
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is not known; use 'ratings' or 'ranking'")
    test, given, said = _in_places(train, test, given)
    notes = [*said, *_notes(model, train, test, given)]
    if at_least is not None and kind == "ranking":
        test = relevant_items(test, at_least)
        notes.append(f"relevant are test ratings of at least {at_least:g}")
    asked = KnownEntries(test, "test")
    if not len(asked):
        raise ValueError("test has no entry to judge by" + ("; lower at_least" if at_least is not None else ""))
    measure = _ranking(test, asked, whole(n, "n", 1), notes) if kind == "ranking" else _errors(test)
    baselines = _baselines(train, kind, notes)
    names = [type(baseline).__name__ for baseline in baselines]
    mine = type(model).__name__
    scores = {f"model ({mine})" if mine in names else mine: measure(model, _given(model, train, given))}
    scores |= {name: measure(baseline.fit(train), given) for name, baseline in zip(names, baselines, strict=True)}
    users, items = int(np.count_nonzero(asked.counts)), len(np.unique(asked.columns))
    return Verdict(kind, scores, {"entries": len(asked), "users": users, "items": items}, notes)


Measure = Callable[[Any, Any], dict[str, float]]


def _in_places(train, test, given) -> tuple[Any, Any, list[str]]:
    """Put the ids of test and given in the places that they have in train, and say what was left out.

    With `given` the users are not those of train, and only the items are matched.
    """
    users = ids_of(train, "user") if given is None else ids_of(test, "user")
    found = matched(test, None if given is not None else users, ids_of(train, "item"))
    if given is not None:
        given = matched(given, users, ids_of(train, "item")).table
    said = found.said("train")
    return found.table, given, [said] if said else []


def _errors(test) -> Measure:
    def measure(model, given) -> dict[str, float]:
        rest = differences(model, test, given)
        return {"RMSE": float(np.sqrt(np.square(rest).mean())), "MAE": float(np.abs(rest).mean())}

    return measure


def _ranking(test, asked: KnownEntries, n: int, notes: list[str]) -> Measure:
    users, relevant = np.flatnonzero(asked.counts), asked.csr()
    some = users
    if len(users) > _MOST:
        some = users[np.linspace(0, len(users) - 1, _MOST).astype(np.int64)]
        notes.append(f"AUC over {_MOST:,} of the users, evenly spaced")

    def measure(model, given) -> dict[str, float]:
        lists = Answers(model, test, given).lists(users, n)
        hits = count_hits(lists, relevant, users)
        return {
            f"precision@{n}": float(hits.precision().mean()),
            f"recall@{n}": float(hits.recall().mean()),
            f"MAP@{n}": float(hits.average_precision().mean()),
            f"NDCG@{n}": float(hits.gain().mean()),
            "AUC": float(auc_of_users(model, test, some, given).mean()),
            "coverage": len(np.unique(lists[lists >= 0])) / relevant.shape[1],
        }

    return measure


def _baselines(train, kind: str, notes: list[str]) -> list[Baseline]:
    if kind == "ratings":
        return [Mean(), Biases(), MeanImputedSVD()]
    values = KnownEntries(train, "train").values
    if len(values) and (values == values[0]).all():
        notes.append("all entries of train are equal, so only popularity can rank by them")
        return [Popularity()]
    return [Popularity(), Biases(), MeanImputedSVD()]


def _given(model, train, given):
    """Say what the model is told of the users: what was asked for; nothing if it knows them; else the training part."""
    knows = isinstance(model, Baseline) or hasattr(model, "recommend")
    return given if given is not None or knows else train


def _notes(model, train, test, given) -> list[str]:
    users, items = strangers(train, test)
    notes = [f"{users} users and {items} items of the test part do not occur in train"]
    asked = _pattern(KnownEntries(test, "test").csr())
    known = getattr(model, "seen_", None) if given is None else None
    for what, table in (("train", KnownEntries(train, "train").csr()), ("the fit of the model", known)):
        if table is not None and table.shape == asked.shape and (both := _pattern(table).multiply(asked).nnz):
            notes.append(f"{both} entries of the test part were in {what} too: the scores flatter the model")
            warn_user(notes[-1])
            break
    return notes


def _pattern(X: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((np.ones(X.nnz, np.bool_), X.indices, X.indptr), shape=X.shape)
