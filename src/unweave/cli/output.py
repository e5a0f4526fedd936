"""Write the folder that a job leaves (the model, the report, and tables as CSV), and open saved models again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from itertools import chain, count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unweave.cli.interrupt import end_by_exception
from unweave.data.atomic import not_written, replace_file
from unweave.data.named import NamedTable
from unweave.data.recipe import Recipe
from unweave.data.storage import as_dense

if TYPE_CHECKING:
    from unweave.cli.work import Job
    from unweave.report.answer import Answer

_MOST_USERS, _USERS = 100_000, 4096  # listed in all, and at a time
_TAKEN = {"component", "group", "topic", "role"}  # names of the first column of components.csv


def write_files(job: Job, found: Answer, *, hurry: bool = False) -> tuple[list[str], bool]:
    """Write everything and return the names of the files; each is written whole or not at all.

    In a `hurry` the page is made without the table, which it would take long to look at; so it is when Ctrl-C comes
    while the page is made, and the second answer then is False.
    """
    from unweave import persist, report

    folder, whole = job.folder, True
    _make(folder)
    more: dict[str, Any] = {"code": "\n".join(["import unweave", "", *job.lines]), "asked": _asked(job)}
    more |= {"recipe": job.recipe, "found": None if job.found is None else found}
    # How well holes are filled is asked where there are holes; it takes a second fit.
    more["leave_out"] = [*job.leave_out, *([] if job.ready.missing else ["held_out"])]
    more["signals"] = None if job.signals is None or hurry else job.signals(job)
    try:
        facts = report.gather(job.model, None if hurry else job.ready, **more)
    except KeyboardInterrupt:
        facts, whole = report.gather(job.model, None, **more), False
    extra: dict[str, Any] = {"facts": facts, "verb": job.settings.verb, "lines": job.settings.lines}
    extra |= {"answer": asdict(found), "shown": shown(job.model), **job.kept}
    if job.recipe is not None:
        extra["recipe"] = asdict(job.recipe)
    persist.save(job.model, folder / "model.unweave", extra=extra)
    rows, frames = frames_of_rows(job)
    write_frames(folder / rows, frames)
    tables = {"components.csv": components_frame(job)} if hasattr(job.model, "components_") else {}
    tables |= job.later(job) if job.later is not None else {}
    for name, frame in tables.items():
        write_frame(folder / name, frame)
    write_text(folder / "report.html", report.render(facts))
    others = job.beside(job) if job.beside is not None else {}
    for name, content in others.items():
        write_bytes(folder / name, content)
    return ["model.unweave", "report.html", rows, *tables, *others], whole


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(error, "make the folder", folder) from error


KEPT = 40  # columns of each component that are kept for `unweave show`, so that it need not load the model


def shown(model: Any, most: int = KEPT) -> dict[str, Any]:
    """Collect what `unweave show` says besides the answer: of each component the largest columns and their weights."""
    from unweave.report.numbers import readable

    if hasattr(model, "vectors_"):
        return shown_vectors(model)
    Z, names = weights_of(model)
    noun, first = numbered_as(model)
    best = np.argsort(-np.abs(Z), axis=1, kind="stable")[:, :most]
    return {
        "model": type(model).__name__, "components": len(Z), "columns": Z.shape[1], "noun": noun, "first": first,
        "objective": float(model.objective_), "plan": model.plan_.as_dict(), "plan_words": str(model.plan_),
        "certificate": {"kind": model.certificate_.kind, "gap": finite(model.certificate_.gap)},
        "largest": [[[names[j], readable(z[j])] for j in at] for z, at in zip(Z, best, strict=True)],
    }  # fmt: skip


def shown_vectors(model: Any) -> dict[str, Any]:
    """Collect what `unweave show` says of vectors of words, with or without the model that learned them."""
    vectors, plan = getattr(model, "vectors_", model), getattr(model, "plan_", None)
    objective = getattr(model, "objective_", None)
    return {
        "model": type(model).__name__, "components": vectors.n_components, "columns": len(vectors), "noun": "word",
        "first": 1, "objective": finite(objective), "plan": None if plan is None else plan.as_dict(),
        "plan_words": "" if plan is None else str(plan), "certificate": None, "largest": [],
        "title": type(model).__name__,
    }  # fmt: skip


def weights_of(model: Any) -> tuple[NDArray[np.float64], list[str]]:
    """Return what components are made of, a row for each, and the names of the columns: of a tensor all its sides."""
    if hasattr(model, "factors_"):
        places = [f"side {d + 1}, place {i}" for d, F in enumerate(model.factors_) for i in range(len(F))]
        return np.vstack([np.asarray(F, dtype=np.float64) for F in model.factors_]).T, places
    Z = np.asarray(model.components_, dtype=np.float64)
    return Z, names_of(model, Z.shape[1])


def finite(value: Any) -> float | None:
    """Make a number fit for JSON, which knows no infinity."""
    return float(value) if value is not None and np.isfinite(value) else None


def _asked(job: Job) -> str:
    from unweave.cli.work import command_line

    return command_line(job.settings)


def frames_of_rows(job: Job) -> tuple[str, Iterator[Any]]:
    """Make what is written of every row: the name of the file, and frames that follow each other in it."""
    if hasattr(job.model, "labels_"):
        return "groups.csv", (groups_frame(job.model, X, names) for X, names in stretches(job.ready, job.recipe))
    kept = getattr(job.model, "codes_", None) if job.ready.whole is None else None
    kept = None if job.recode else kept
    return "codes.csv", (
        codes_frame(job.model, job.model.transform(X) if kept is None else kept, names)
        for X, names in stretches(job.ready, job.recipe)
    )


def stretches(ready: NamedTable, recipe: Recipe | None) -> Iterator[tuple[NamedTable, list[str]]]:
    """Yield the rows of a prepared table with their names: at once, or block by block where they do not fit."""
    if ready.whole is None:
        yield ready, ready.rows or [str(i + 1) for i in range(ready.shape[0])]
        return
    names = chain.from_iterable(ready.whole.names()) if ready.rows is not None else map(str, count(1))
    for X in ready.whole.prepared(recipe):
        few = list(islice(names, X.shape[0]))
        yield NamedTable(X, few, ready.columns, ready.missing), few


def codes_frame(model, codes, names: list[str]):
    """Make a frame with one line per row: its name, then its code."""
    import polars

    U = as_dense(codes)
    noun, first = numbered_as(model)
    return polars.DataFrame({"row": names, **{f"{noun} {j + first}": U[:, j] for j in range(U.shape[1])}})


def numbered_as(model) -> tuple[str, int]:
    """Say what a component is called and the number of the first.

    Topics as in ``describe()`` and on the map, from 0.
    """
    if hasattr(model, "topics_"):
        return "topic", 0
    if hasattr(model, "roles_"):
        return "role", 1
    return ("group" if hasattr(model, "labels_") else "component"), 1


def groups_frame(model, X, names: list[str]):
    """Make a frame with one line per row: its name, its group (from 1), and the distance to its centre."""
    import polars

    labels = np.asarray(model.predict(X))
    distances = np.asarray(model.transform(X))[np.arange(len(labels)), labels]
    return polars.DataFrame({"row": names, "group": labels + 1, "distance": distances})


def predicts(model) -> bool:
    """Tell whether a model predicts a target."""
    from sklearn.base import is_classifier, is_regressor

    return is_classifier(model) or is_regressor(model)


_MOST_CLASSES = 10  # classes whose shares are listed


def predictions_frame(model, table: NamedTable):
    """Make a frame with one line per row: its name, what is predicted, and the share of each class if they are few."""
    import polars

    columns: dict[str, Any] = {"row": table.rows or [str(i + 1) for i in range(table.shape[0])]}
    if not hasattr(model, "predict_proba"):
        return polars.DataFrame({**columns, "predicted": np.asarray(model.predict(table))})
    shares, classes = np.asarray(model.predict_proba(table)), model.classes_
    columns["predicted"] = classes[shares.argmax(axis=1)].tolist()
    columns["share"] = shares.max(axis=1)
    if 2 < len(classes) <= _MOST_CLASSES:
        names = unique([f"share of {name}" for name in classes], set(columns))
        columns |= {name: shares[:, j] for j, name in enumerate(names)}
    return polars.DataFrame(columns)


def filled_frame(model, table: NamedTable):
    """Fill the holes of a table, in the columns that the model knows; others stay as they are."""
    whole = table.frame()
    names = [str(name) for name in getattr(model, "feature_names_in_", whole.columns)]
    if names == whole.columns:
        return named_frame(model.transform(table), table)
    lost = [name for name in names if name not in whole.columns]
    if lost:
        raise ValueError(f"{table.source or 'the table'} lacks columns that the model was fitted to: {lost[0]!r}")
    filled = model.transform(table.with_(X=whole.select(names), columns=names))
    return named_frame(whole.with_columns(filled), table)


def named_frame(frame, table: NamedTable):
    """Put the names of the rows of a table before a frame, where there are any."""
    import polars

    frame = whole_numbers(frame)
    if table.rows is None:
        return frame
    taken = set(frame.columns)
    return frame.insert_column(0, polars.Series(unique(["row"], taken)[0], table.rows))


def whole_numbers(frame):
    """Write columns of whole numbers as such: 3, not 3.0."""
    import polars

    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    whole = [name for name in floats if _are_whole(frame[name])]
    return frame.with_columns(polars.col(whole).cast(polars.Int64)) if whole else frame


def _are_whole(series) -> bool:
    """Tell whether a column of floats holds whole numbers alone, that an integer can stand for exactly."""
    known = series.drop_nulls()
    if not len(known) or not bool(known.is_finite().all()):
        return False
    return bool((known.round() == known).all()) and float(known.abs().max()) < 1 << 53


def components_frame(job: Job):
    """Make a frame with one line per component, centres of groups in the units of the file."""
    import polars

    Z = np.asarray(job.model.components_, dtype=np.float64)
    if hasattr(job.model, "labels_") and job.recipe is not None:
        Z = job.recipe.restore(Z)
    columns = unique(names_of(job.model, Z.shape[1]), _TAKEN)
    noun, first = numbered_as(job.model)
    return polars.DataFrame({noun: np.arange(first, first + len(Z)), **{c: Z[:, j] for j, c in enumerate(columns)}})


def unique(names: list[str], taken: set[str]) -> list[str]:
    """Number names that are already taken; others stay as they are."""
    seen, out = set(taken), []
    for name in names:
        new, i = name, 2
        while new in seen:
            new, i = f"{name} ({i})", i + 1
        seen.add(new)
        out.append(new)
    return out


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, atomically; Ctrl-C meanwhile leaves nothing half written."""
    end_by_exception()
    replace_file(path, lambda temporary: Path(temporary).write_bytes(content))


def write_text(path: Path, text: str) -> None:
    """Write a text file, atomically."""
    write_bytes(path, text.encode("utf-8"))


def write_frame(path: Path, frame) -> None:
    """Write a polars frame as CSV, atomically; no text in it is a formula."""
    write_frames(path, [frame])


def write_frames(path: Path, frames: Iterable[Any]) -> int:
    """Write polars frames below each other as one CSV file, atomically; how many rows there are."""
    end_by_exception()
    written = 0

    def write(temporary: str | Path) -> None:
        nonlocal written
        with open(temporary, "wb") as file:
            for i, frame in enumerate(frames):
                without_formulas(frame).write_csv(file, include_header=i == 0)
                written += frame.height

    replace_file(path, write)
    return written


def without_formulas(frame):
    """Apply :func:`no_formula` to every text of a frame, names of columns included."""
    import polars

    names = polars.DataFrame({"name": frame.columns}).select(no_formula(polars.col("name")))["name"].to_list()
    safe = frame.with_columns(no_formula(polars.col(polars.String)))
    safe.columns = unique(names, set())
    return safe


def no_formula(text):
    """Put an apostrophe before texts that a spreadsheet would run (=, +, -, @, tab or line break first).

    Numbers stay numbers, also those that are names (-1.5). Reading the file does not take the apostrophe away; the
    model file has every name as it was.

    >>> import polars
    >>> frame = polars.DataFrame({"id": ["=1+1", "-1.5", "-x", "-", "a=b"]})
    >>> frame.select(no_formula(polars.col("id")))["id"].to_list()
    ["'=1+1", '-1.5', "'-x", '-', 'a=b']
    """
    import polars

    risky = text.str.contains(r"(?s)^[=+\-@\t\r\n].") & ~text.str.contains(r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
    return polars.when(risky).then("'" + text).otherwise(text).name.keep()


def lists_frame(model: Any, n: int, what: str):
    """Make a frame of the best new items of every user (of the first 100,000): user, place, item and `what`."""
    import polars

    from unweave.report.answers.recommended import best_items

    users = np.arange(min(model.seen_.shape[0], _MOST_USERS))
    columns: dict[str, list] = {"user": [], "place": [], "item": [], what: []}
    for start in range(0, len(users), _USERS):
        for one in best_items(model, users[start : start + _USERS], n):
            columns["user"] += [one["user"]] * len(one["items"])
            columns["place"] += range(1, len(one["items"]) + 1)
            columns["item"] += one["items"]
            columns[what] += one["scores"]
    schema = {"user": polars.String, "place": polars.Int64, "item": polars.String, what: polars.Float64}
    return polars.DataFrame(columns, schema=schema)


def is_model(path: Path) -> bool:
    """Tell whether a file is a saved model, by its first bytes: the length of a header, and the header itself."""
    if path.suffix == ".unweave" or not path.is_file():
        return path.suffix == ".unweave"
    with open(path, "rb") as file:
        head = file.read(10)
    return head[8:10] == b'{"' and int.from_bytes(head[:8], "little") < 1 << 30


def is_vectors(path: Path) -> bool:
    """Tell whether a file holds vectors of words, as `unweave embed` leaves them, and no model."""
    from unweave.data.container import Contents, DamagedFileError

    try:
        return Contents(path).note.get("kind") == "vectors"
    except (OSError, DamagedFileError):
        return False


def open_model(path: Path) -> tuple[Any, Recipe | None, dict]:
    """Open a file that a job or ``model.save`` has written: (model, recipe, what else was saved)."""
    from unweave import persist

    model, extra = persist.load(path), persist.read_extra(path)
    return model, recipe_of(extra.get("recipe")), extra


def recipe_of(saved: dict | None) -> Recipe | None:
    """Make a recipe of what was saved of it."""
    if saved is None:
        return None
    values: dict[str, Any] = {f.name: saved.get(f.name) for f in fields(Recipe)}
    for name in ("shift", "scale"):
        values[name] = None if values[name] is None else np.asarray(values[name], dtype=np.float64)
    return Recipe(**values)


def names_of(model, n: int) -> list[str]:
    """Name the `n` columns of a model's components; a column of levels has one for each of them."""
    from unweave.report.view import column_names, has_names

    return column_names(model, None) if has_names(model, None) else [f"column {j + 1}" for j in range(n)]
