"""Run ``unweave complete``: fill holes in tables, and predict ratings nobody gave."""

from __future__ import annotations

import numpy as np

from unweave.cli.options import Settings
from unweave.cli.output import filled_frame, lists_frame, named_frame
from unweave.cli.say import Speaker
from unweave.cli.titles import titled
from unweave.cli.work import Job, asked_count, carry_out, named, read_line, read_table, usual_count
from unweave.cli.work import ready as make_ready
from unweave.data.named import NamedTable
from unweave.data.roles import column_roles

PREDICTED = 10  # items of each user in predictions.csv


def run(settings: Settings) -> int:
    return carry_out(job, settings)


def job(settings: Settings, speaker: Speaker) -> Job:
    """Complete numbers by matrix completion, and tables that hold text too by :class:`unweave.TableImputer`."""
    table = read_table(settings, speaker)
    files = named(settings)
    if table.kind == "pairs":
        raise ValueError(
            f"{settings.file} lists who took what, without ratings, so there is nothing to fill in: for what they may "
            f"like next use `unweave recommend {files}`"
        )
    if not table.numeric:
        return _mixed(settings, speaker, table)
    if table.sparse:
        if table.missing is None:
            table = table.with_(missing="zeros")
            speaker.note("what the file does not store is taken as unknown")
        return ratings(settings, speaker, table)
    if table.missing is None:
        raise ValueError(f"{settings.file} has no missing entry: there is nothing to complete; for fewer columns use "
                         f"`unweave compress {files}`")  # fmt: skip
    return _numbers(settings, speaker, table)


def ratings(settings: Settings, speaker: Speaker, table: NamedTable, name: str = "predictions.csv") -> Job:
    """Complete ratings by matrix completion, with their times where there are any; the best of each user are listed."""
    from unweave import MatrixCompletion

    table, named_items = with_titles(settings, table)
    ready, recipe, prepared = make_ready(settings, speaker, table)
    k, closing = usual_count(settings, ready, min(ready.shape), "components")
    model = MatrixCompletion(k, random_state=settings.seed, missing=ready.missing)
    timed = ready.times is not None
    if timed:
        speaker.note("the times of the ratings are used: what people like may drift")
    lines = [
        read_line(settings),
        *named_items,
        prepared,
        f"model = unweave.MatrixCompletion({k!r}, random_state={settings.seed}, missing={ready.missing!r})",
        f"model.fit(ready{', timestamps=ready.times' if timed else ''})",
        f"items, predicted = model.recommend(model.user_ids_, {PREDICTED})",
    ]
    job = Job(
        settings, speaker, table, ready, recipe, model, lines, fit_with={"timestamps": ready.times} if timed else {}
    )
    job.closing += closing
    job.later = lambda job: {name: lists_frame(job.model, PREDICTED, "predicted")}
    return job


def with_titles(settings: Settings, table: NamedTable) -> tuple[NamedTable, list[str]]:
    """Name items by their titles, where --titles gives them, and write the Python that does so."""
    if settings.titles is None:
        return table, []
    lines = ["from unweave.cli.titles import titled", f"table = titled(table, {str(settings.titles)!r})"]
    return titled(table, settings.titles), lines


def _numbers(settings: Settings, speaker: Speaker, table: NamedTable) -> Job:
    from unweave import MatrixCompletion

    ready, recipe, prepared = make_ready(settings, speaker, table)
    if recipe.parts is not None:  # some numbers stand for levels or dates
        return _mixed(settings, speaker, table.with_(X=table.frame().fill_nan(None)))
    k = asked_count(settings, ready, min(ready.shape))
    model = MatrixCompletion(k, random_state=settings.seed, missing=ready.missing)
    lines = [
        read_line(settings),
        prepared,
        f"model = unweave.MatrixCompletion({k!r}, random_state={settings.seed}, missing={ready.missing!r}).fit(ready)",
        "predicted = recipe.restore(model.inverse_transform(model.transform(ready)))",
    ]
    return Job(settings, speaker, table, ready, recipe, model, lines, later=_filled_numbers)


def _filled_numbers(job: Job) -> dict:
    """Give the table as read, its holes filled by predictions in its own units."""
    assert job.recipe is not None
    full, keep = job.table.X.copy(), job.recipe.keep
    predicted = job.recipe.restore(job.model.inverse_transform(job.model.transform(job.ready)))
    full[:, keep] = np.where(np.isnan(full[:, keep]), predicted, full[:, keep])
    return {"completed.csv": named_frame(job.table.with_(X=full).frame(), job.table)}


def _mixed(settings: Settings, speaker: Speaker, table: NamedTable) -> Job:
    from unweave import TableImputer

    names = _modelled(settings, speaker, table)
    if not names:
        raise ValueError(f"{settings.file} has no column that can be filled: each is an id, free text or the like; say "
                         "what one is by --as NAME=KIND")  # fmt: skip
    part = table if names == list(table.X.columns) else table.with_(X=table.X.select(names), columns=names)
    if not any(part.X[name].null_count() for name in names):
        raise ValueError(f"{settings.file} has no missing entry: there is nothing to complete; if it lists who took "
                         f"what, use `unweave recommend {named(settings)}`")  # fmt: skip
    k = asked_count(settings, part, min(part.shape))
    model = TableImputer(k, random_state=settings.seed)
    lines = [
        read_line(settings),
        *([] if part is table else [f"table = table.with_(X=table.X.select({names!r}), columns={names!r})"]),
        f"model = unweave.TableImputer({k!r}, random_state={settings.seed}).fit(table)",
        "completed = model.transform(table)",
        "how_sure = model.uncertainty(table)",
    ]
    return Job(settings, speaker, table, part, None, model, lines, later=_filled_columns)


_KEPT_ASIDE = ("id", "order", "prose", "empty", "date")  # kinds of columns that are neither filled nor tell anything


def _modelled(settings: Settings, speaker: Speaker, table: NamedTable) -> list[str]:
    """Name the columns to fill: those asked for, else all but names, free text and the like, which is said."""
    names = list(table.X.columns)
    unknown = [name for name in [*settings.columns, *settings.ignore, *settings.kinds] if name not in names]
    if unknown:
        raise ValueError(f"{settings.file} has no column {unknown[0]!r}; it has {', '.join(map(repr, names[:10]))}")
    if settings.columns:
        return [name for name in settings.columns if name not in settings.ignore]
    aside = {role.name: role.why for role in column_roles(table, settings.kinds or None) if role.kind in _KEPT_ASIDE}
    for name, why in aside.items():
        if name not in settings.ignore:
            speaker.note(f"{name!r} stays as it is: {why}")
    return [name for name in names if name not in settings.ignore and name not in aside]


def _filled_columns(job: Job) -> dict:
    """Give the table as read with its holes filled, and how sure each fill is."""
    unsure = named_frame(job.model.uncertainty(job.ready).fill_nan(None), job.table)
    return {"completed.csv": filled_frame(job.model, job.table), "uncertainty.csv": unsure}
