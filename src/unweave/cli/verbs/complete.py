"""``unweave complete``: ratings nobody gave, and holes in tables."""

from __future__ import annotations

import numpy as np

from unweave.cli.choose import wanted
from unweave.cli.say import Speaker
from unweave.cli.work import Job, finish, read_line, read_table
from unweave.cli.work import ready as make_ready
from unweave.data.named import NamedTable


def run(settings) -> int:
    speaker = Speaker(settings)
    return finish(job(settings, speaker))


def job(settings, speaker: Speaker) -> Job:
    """Matrix completion of numbers; one loss a column where a table holds text too."""
    table = read_table(settings, speaker)
    if not table.numeric:
        return _mixed(settings, speaker, table)
    if table.sparse and table.missing is None:
        table = table.with_(missing="zeros")
        speaker.note("what the file does not store is taken as unknown")
    if table.missing is None:
        raise ValueError(f"{settings.file} has no missing entry: there is nothing to complete; use `unweave compress`")
    return _numbers(settings, speaker, table)


def _numbers(settings, speaker: Speaker, table: NamedTable) -> Job:
    from unweave import MatrixCompletion

    ready, recipe, prepared = make_ready(settings, speaker, table)
    most = min(ready.shape)
    k = wanted(settings.k, ready, lambda t: _rank(t, most), most, speaker.note)
    model = MatrixCompletion(k, random_state=settings.seed, missing=ready.missing)
    lines = [
        read_line(settings),
        prepared,
        f"model = unweave.MatrixCompletion({k}, random_state={settings.seed}, missing={ready.missing!r}).fit(ready)",
        "predicted = recipe.restore(model.inverse_transform(model.transform(ready)))",
    ]
    job = Job(settings, speaker, table, ready, recipe, model, k, lines)
    if not table.sparse:
        job.later = filled_frame
    return job


def _rank(table: NamedTable, most: int) -> tuple[int, str]:
    """A small rank for small tables: the ridge is chosen on held-out entries and guards against too large a one."""
    k = int(np.clip(np.sqrt(min(table.shape)) / 2, 1, 20))
    return min(k, most), "half the root of the shorter side; the ridge, chosen on held-out entries, does the rest"


def _mixed(settings, speaker: Speaker, table: NamedTable) -> Job:
    from unweave import Factorization
    from unweave.penalties import Ridge

    frame = table.X
    if not any(frame[name].null_count() for name in frame.columns):
        raise ValueError(f"{settings.file} has no missing entry: there is nothing to complete")
    loss = {c: _loss_of(frame[c]) for c in frame.columns}
    for name in sorted(set(loss.values())):
        speaker.note(f"{name} loss: {', '.join(c for c in frame.columns if loss[c] == name)}")
    k = wanted(settings.k, table, lambda t: _rank(t, min(t.shape)), min(table.shape), speaker.note)
    model = Factorization(
        k, loss=loss, codes=Ridge(0.1), components=Ridge(0.1), missing="nan", random_state=settings.seed, max_iter=500
    )
    lines = [
        read_line(settings),
        "from unweave.penalties import Ridge",
        f"model = unweave.Factorization({k}, loss={loss!r},",
        f"    codes=Ridge(0.1), components=Ridge(0.1), missing='nan', random_state={settings.seed}, max_iter=500)",
        "predicted = model.fit(table).inverse_transform(model.codes_)",
    ]
    job = Job(settings, speaker, table, table, None, model, k, lines)
    job.later = filled_frame
    return job


def _loss_of(column) -> str:
    if not column.dtype.is_numeric():
        return "categorical"
    known = column.drop_nulls().drop_nans() if column.dtype.is_float() else column.drop_nulls()
    return "logistic" if set(known.unique().to_list()) <= {0, 1} else "squared"


def filled_frame(job: Job) -> dict:
    """The table as read, its holes filled by predictions in its own units."""
    import polars

    table, names = job.table, job.table.columns or [f"column {j + 1}" for j in range(job.table.shape[1])]
    rows = {"row": table.rows} if table.rows is not None else {}
    predicted = job.model.inverse_transform(job.model.transform(job.ready))
    if not table.numeric:
        columns = {c: _fill(table.X[c], predicted[c]) for c in table.X.columns}
        return {"completed.csv": polars.DataFrame({**rows, **columns})}
    assert job.recipe is not None
    full, keep = table.X.copy(), job.recipe.keep
    full[:, keep] = np.where(np.isnan(full[:, keep]), job.recipe.restore(predicted), full[:, keep])
    return {"completed.csv": polars.DataFrame({**rows, **{c: full[:, j] for j, c in enumerate(names)}})}


def _fill(column, predicted):
    """A column with its nulls replaced; probabilities of a 0/1 column become 0 or 1."""
    import polars

    guess = polars.Series(column.name, list(predicted))
    if column.dtype.is_numeric():
        whole = column.dtype.is_integer() or _loss_of(column) == "logistic"
        guess = guess.cast(polars.Float64).round(0) if whole else guess
        column = column.fill_nan(None) if column.dtype.is_float() else column
    return column.cast(guess.dtype).fill_null(guess).cast(column.dtype)
