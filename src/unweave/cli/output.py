"""Write the folder that a job leaves (the model, the report, and tables as CSV), and open saved models again."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.data.atomic import replace_file
from unweave.data.named import NamedTable
from unweave.data.recipe import Recipe
from unweave.data.storage import as_dense

if TYPE_CHECKING:
    from unweave.cli.work import Job

_TAKEN = {"component", "group", "topic"}  # names of the first column of components.csv


def write_files(job: Job, folder: Path) -> list[str]:
    """Write everything and return the names of the files; each is written whole or not at all."""
    from unweave import persist, report

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise ValueError(f"--out {folder} is a file; give the name of a folder") from error
    facts = report.gather(job.model, job.ready, code="\n".join(["import unweave", "", *job.lines]), asked=_asked(job))
    extra: dict[str, Any] = {"facts": facts, "verb": job.settings.verb, "lines": job.settings.lines}
    if job.recipe is not None:
        extra["recipe"] = asdict(job.recipe)
    persist.save(job.model, folder / "model.unweave", extra=extra)
    write_text(folder / "report.html", report.render(facts))
    tables = tables_of(job)
    for name, frame in tables.items():
        write_frame(folder / name, frame)
    return ["model.unweave", "report.html", *tables]


def _asked(job: Job) -> str:
    from unweave.cli.work import command_line

    return command_line(job.settings)


def tables_of(job: Job) -> dict[str, Any]:
    """Make the frames to be written, by file name."""
    names = job.ready.rows or [str(i + 1) for i in range(job.ready.shape[0])]
    tables: dict[str, Any] = {}
    if hasattr(job.model, "labels_"):
        tables["groups.csv"] = groups_frame(job.model, job.ready, names)
    else:
        codes = job.model.codes_ if job.model.codes_ is not None else job.model.transform(job.ready)
        tables["codes.csv"] = codes_frame(job.model, codes, names)
    tables["components.csv"] = components_frame(job)
    return {**tables, **(job.later(job) if job.later is not None else {})}


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
    return ("group" if hasattr(model, "labels_") else "component"), 1


def groups_frame(model, X, names: list[str]):
    """Make a frame with one line per row: its name, its group (from 1), and the distance to its centre."""
    import polars

    labels = np.asarray(model.predict(X))
    distances = np.asarray(model.transform(X))[np.arange(len(labels)), labels]
    return polars.DataFrame({"row": names, "group": labels + 1, "distance": distances})


def filled_frame(model, table: NamedTable):
    """Fill the holes of a table by a model that gives back the kind of table it was handed."""
    return named_frame(model.transform(table), table)


def named_frame(frame, table: NamedTable):
    """Put the names of the rows of a table before a frame, where there are any."""
    import polars

    if table.rows is None:
        return frame
    taken = set(frame.columns)
    return frame.insert_column(0, polars.Series(unique(["row"], taken)[0], table.rows))


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


def write_text(path: Path, text: str) -> None:
    """Write a text file, atomically."""
    replace_file(path, lambda temporary: Path(temporary).write_text(text, encoding="utf-8"))


def write_frame(path: Path, frame) -> None:
    """Write a polars frame as CSV, atomically; no text in it is a formula."""
    replace_file(path, without_formulas(frame).write_csv)


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
