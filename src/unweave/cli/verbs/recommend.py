"""Run ``unweave recommend``: list the best new items for users, from a file of who took what or from a saved model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unweave.cli.options import Settings
from unweave.cli.output import is_model, lists_frame, open_model
from unweave.cli.say import Speaker
from unweave.cli.verbs import complete
from unweave.cli.work import Job, carry_out, named, read_line, read_quietly, say_table
from unweave.data.named import NamedTable
from unweave.report.numbers import readable

LISTED = 10  # items of each user in recommendations.csv
_EXAMPLES = 3


def run(settings: Settings) -> int:
    if is_model(settings.file):
        return _of_model(settings, Speaker(settings))
    return carry_out(job, settings)


def job(settings: Settings, speaker: Speaker) -> Job:
    """Set up a model that recommends, and what is to be said of the users asked for."""
    made = _fitted_to(settings, speaker)
    if settings.users:
        _need_known(made.table, settings)
        made.also = lambda job: {"recommended": _listed(job.model, settings, speaker)}
    return made


def _need_known(table: NamedTable, settings: Settings) -> None:
    """Raise before a fit for a user who is not in the file."""
    known = set(table.rows or [])
    strange = [user for user in settings.users if user not in known]
    if known and strange and settings.unknown == "error":
        raise ValueError(f"{settings.file} has no user {strange[0]!r}; --unknown popular lists what everybody likes")


def _fitted_to(settings: Settings, speaker: Speaker) -> Job:
    """Fit ImplicitALS to who took what and how often, and a matrix completion to ratings."""
    from unweave import ImplicitALS

    settings, table = _read(settings, speaker)
    often = table.sparse and _count_uses(table)
    if table.missing == "zeros" and not often:
        return complete.ratings(settings, speaker, table, "recommendations.csv")
    _need_pairs(table, settings)
    if table.times is not None:
        speaker.note("the times are not used: what was taken counts alike, whenever it was")
    table, named_items = complete.with_titles(settings, table)
    if often:
        speaker.note("the values say how often something was used, not how it was liked: n times count log(1 + n)")
        table = table.with_(X=table.X.log1p(), missing=None)
    more: dict[str, Any] = {} if settings.k in ("", "auto") else {"n_components": int(settings.k)}
    model = ImplicitALS(random_state=settings.seed, **more)
    given = "".join(f"{name}={value!r}, " for name, value in more.items())
    lines = [
        read_line(settings),
        *named_items,
        *(["table = table.with_(X=table.X.log1p(), missing=None)"] if often else []),
        f"model = unweave.ImplicitALS({given}random_state={settings.seed}).fit(table)",
        f"items, scores = model.recommend(model.user_ids_, {LISTED})",
    ]
    made = Job(settings, speaker, table, table, None, model, lines)
    made.later = lambda job: {"recommendations.csv": lists_frame(job.model, LISTED, "score")}
    return made


_FAR = 10  # times the median: no scale of ratings reaches so far, and counts of plays or purchases do


def _count_uses(table: NamedTable) -> bool:
    """Tell whether values say how often something was used: whole numbers from 1, some far above the usual."""
    values = table.X.data
    if table.missing != "zeros" or not values.size or values.min() < 1 or (np.round(values) != values).any():
        return False
    return bool(values.max() > _FAR * np.median(values))


def _read(settings: Settings, speaker: Speaker) -> tuple[Settings, NamedTable]:
    """Read a file; two columns of texts are taken as users and items, because that is what the verb is about."""
    table = read_quietly(settings)
    if settings.format == "auto" and not table.numeric and table.shape[1] == 2:
        settings = replace(settings, format="pairs")
        table = read_quietly(settings)
    say_table(table, settings, speaker)
    return settings, table


def _need_pairs(table: NamedTable, settings: Settings) -> None:
    """Raise for a table that does not say who took what, with the verb that suits it."""
    if table.kind == "pairs" or (table.sparse and table.kind != "text" and table.X.nnz and table.X.data.min() >= 0):
        return
    raise ValueError(
        f"{settings.file} does not say who took or rated what: `recommend` wants lines of user,item or "
        f"user,item,rating; see `unweave describe {named(settings)}`"
    )


def _of_model(settings: Settings, speaker: Speaker) -> int:
    model, _, _ = open_model(settings.file)
    if not hasattr(model, "recommend"):
        raise ValueError(
            f"{settings.file} is a {type(model).__name__}, which does not recommend; use a model of "
            "`unweave recommend` or `unweave complete`"
        )
    lists = _listed(model, settings, speaker)
    speaker.result({"verb": "recommend", "model": str(settings.file), "recommended": lists})
    return 0


def _listed(model: Any, settings: Settings, speaker: Speaker) -> list[dict[str, Any]]:
    """Draw the best items of the users asked for, or of the first few, and give them as JSON."""
    users = settings.users or _first(model)
    items, scores = model.recommend(_ids(users, model.user_ids_), settings.n, unknown=settings.unknown)
    lists = [_pairs(*pair) for pair in zip(items, scores, strict=True)]
    rows = [
        [user if place == 0 else "", str(place + 1), str(item), readable(score)]
        for user, best in zip(users, lists, strict=True)
        for place, (item, score) in enumerate(best)
    ]
    speaker.table("", ["user", "", "item", "score"], rows)
    for user, best in zip(users, lists, strict=True):
        if len(best) < settings.n:
            speaker.note(f"user {user} has {len(best)} items that are not rated yet")
    return [
        {"user": user, "items": [item for item, _ in best], "scores": [score for _, score in best]}
        for user, best in zip(users, lists, strict=True)
    ]


def _first(model: Any) -> list[str]:
    """Name the first users of a model, as examples."""
    known = range(model.seen_.shape[0]) if model.user_ids_ is None else model.user_ids_.tolist()
    return [str(user) for user in known[:_EXAMPLES]]


def _ids(texts: list[str], ids: np.ndarray | None) -> list[Any]:
    """Look ids up as the model knows them, or read positions; one that is not known stays, for the model to name."""
    if ids is None:
        wrong = next((text for text in texts if not text.isdecimal()), None)
        if wrong is not None:
            raise ValueError(f"the model knows users by position alone: give whole numbers from 0, not {wrong!r}")
        return [int(text) for text in texts]
    known = {str(name): name for name in ids.tolist()}
    return [known.get(text, text) for text in texts]


def _pairs(items: np.ndarray, scores: np.ndarray) -> list[tuple[Any, float]]:
    """Return items and scores of one user, without the marks of a short list."""
    pairs = zip(items.tolist(), scores.tolist(), strict=True)
    return [(item, score) for item, score in pairs if np.isfinite(score)]
