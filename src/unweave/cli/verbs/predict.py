"""Run ``unweave predict``: learn to tell one column from the others, say how well that works, and apply it."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.cli.interrupt import EXIT
from unweave.cli.options import Settings
from unweave.cli.output import predictions_frame, write_frame, write_text
from unweave.cli.place import folder_for
from unweave.cli.say import Speaker, as_typed
from unweave.cli.work import Job, command_line, fit, read_line, read_quietly, read_table
from unweave.data.named import NamedTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unweave.report.answer import Answer

_FEW = 10  # different whole numbers up to which they are taken for classes, if each comes this often:
_EACH = 5
_CURVE_ROWS = 2000  # of a longer table the learning curve looks at so many


def run(settings: Settings) -> int:
    folder = folder_for(settings)
    speaker = Speaker(settings)
    new = None if settings.new is None else read_quietly(replace(settings, file=settings.new, files=[settings.new]))
    job, y = _job(settings, speaker)
    job.folder = folder
    seconds, interrupted = fit(job)
    model = job.model
    for note in model.notes_:
        speaker.note(note)
    found = _answer(job)
    speaker.answer(asdict(found))
    speaker.line(f"{type(model).__name__}, {seconds:.2f} s: {as_typed(model.history_.stopped)}")
    files = _write(job, y, found, new, hurry=interrupted)
    speaker.line(f"{folder}/ has {', '.join(files)}")
    speaker.line(f"open {folder / 'report.html'} in a browser")
    if interrupted:
        speaker.note("interrupted: this is the best of what had been tried")
    speaker.result({
        "verb": "predict", "file": str(settings.file), "target": settings.target, "rows": job.table.shape[0],
        "model": type(model).__name__, "task": _task_of(model), "chosen": model.chosen_, "error": model.error_,
        "baseline_error": model.baseline_error_, "importance": dict(model.importance()), "seconds": round(seconds, 4),
        "stopped": model.history_.stopped, "out": str(folder), "files": files, "headline": found.headline,
        "answer": found.data,
    })  # fmt: skip
    return EXIT if interrupted else 0


def _job(settings: Settings, speaker: Speaker) -> tuple[Job, NDArray]:
    """Read the table, split off the target, and set up the model that suits it."""
    import unweave
    from unweave.predict.learned.target import parted

    whole = read_table(settings, speaker)
    if whole.sparse and whole.kind in ("ratings", "pairs"):
        raise ValueError(
            f"{settings.file} holds {whole.kind}: a table with a row for each case is needed to predict from"
        )
    table, y = parted(whole, settings.target)
    if settings.columns:
        _need(settings.columns, table)
        left = [name for name in table.columns or [] if name not in settings.columns]
        settings = replace(settings, ignore=[*settings.ignore, *left])
    task, why = _task(settings, y)
    if task == "numbers":
        y = _numbers(y, settings.target)
    else:
        y = _names(y)
    speaker.note(f"{settings.target!r} is predicted as {'a class' if task == 'classes' else 'a number'}: {why}")
    kind = "RepresentationClassifier" if task == "classes" else "RepresentationRegressor"
    given = {name: value for name, value in (("ignore", settings.ignore), ("kinds", settings.kinds)) if value}
    model = getattr(unweave, kind)(**given, random_state=settings.seed)
    words = "".join(f"{name}={value!r}, " for name, value in given.items())
    lines = [read_line(settings), f"model = unweave.{kind}({words}random_state={settings.seed})",
             f"model.fit(table, {settings.target!r})", "print(model.verdict())"]  # fmt: skip
    return Job(settings, speaker, table, table, None, model, lines, fit_with={"y": y}), y


def _need(asked: list[str], table: NamedTable) -> None:
    from unweave.data.choosing import check_names

    check_names(table, asked, None)


def _task(settings: Settings, y: NDArray) -> tuple[str, str]:
    """Tell classes from numbers, and say why."""
    if settings.task != "auto":
        return settings.task, "as you said"
    known = (
        y[~np.isnan(y)] if y.dtype.kind == "f" else np.array([v for v in y.tolist() if v is not None], dtype=y.dtype)
    )
    if y.dtype.kind == "b" or (y.dtype.kind == "O" and all(isinstance(v, bool) for v in known)):
        return "classes", "it is true or false"
    if y.dtype.kind == "O":
        amounts = _amounts(y)
        return ("numbers", "numbers written as text") if amounts is not None else ("classes", "it holds words")
    different = len(np.unique(known))
    if (known != np.round(known)).any():
        return "numbers", "it has fractions"
    if different <= 2 or (different <= _FEW and len(known) >= _EACH * different):
        return "classes", f"it holds {different} different whole numbers (--task numbers takes them as amounts)"
    return "numbers", f"it holds {different:,} different whole numbers (--task classes takes them as names)"


def _amounts(y: NDArray) -> Any:
    import polars

    from unweave.data.amounts import read_amounts

    return read_amounts(polars.Series([None if v is None else str(v) for v in y.tolist()], dtype=polars.String))


def _numbers(y: NDArray, target: str) -> NDArray:
    if y.dtype.kind != "O":
        return y.astype(np.float64)
    amounts = _amounts(y)
    if amounts is None:
        raise ValueError(f"the target {target!r} holds words, which are no numbers: --task classes")
    return amounts.values


def _names(y: NDArray) -> NDArray:
    """Whole numbers that name classes as a file has them, without a point: a column of numbers is read as float."""
    known = y[~np.isnan(y)] if y.dtype.kind == "f" else y[:0]
    if not len(known) or (known != np.round(known)).any():
        return y
    return np.array([None if np.isnan(value) else int(value) for value in y.tolist()], dtype=object)


# -- what was found ----------------------------------------------------------------------------------------------------


def _task_of(model: Any) -> str:
    return "classes" if hasattr(model, "classes_") else "numbers"


def _answer(job: Job) -> Answer:
    """Say how good the model is, and what it relies on."""
    from unweave.predict.learned.facts import headline, sentences
    from unweave.report.answer import Answer
    from unweave.report.numbers import readable

    model, target = job.model, job.settings.target
    percent = _task_of(model) == "classes"
    rows = [[name, f"{100 * rise:.1f} points" if percent else readable(rise)]
            for name, rise in model.importance(8) if rise > 0]  # fmt: skip
    data = {"error": model.error_, "baseline_error": model.baseline_error_, "chosen": model.chosen_,
            "tried": model.tried_}  # fmt: skip
    header = ["column", "the error rises by, if it is shuffled"]
    return Answer(headline(model, target), header, rows, sentences(model, target), "", data)


def _write(job: Job, y: NDArray, found: Answer, new: NamedTable | None, *, hurry: bool) -> list[str]:
    """Write model, page and predictions; the names of the files."""
    from unweave import persist, report
    from unweave.predict.learned.facts import prediction_facts

    settings, model = job.settings, job.model
    curve = None if hurry else _curve(job, y)
    if curve is not None:
        job.speaker.line(f"{curve.advice}")
    facts = prediction_facts(
        model, source=job.table.source or str(settings.file), target=settings.target,
        notes=job.speaker.notes, code="\n".join(["import unweave", "", *job.lines]), curve=curve,
    )  # fmt: skip
    extra = {"facts": facts, "verb": "predict", "target": settings.target, "lines": settings.lines,
             "answer": asdict(found), "asked": command_line(settings), "shown": _shown(model)}  # fmt: skip
    job.folder.mkdir(parents=True, exist_ok=True)
    persist.save(model, job.folder / "model.unweave", extra=extra)
    write_text(job.folder / "report.html", report.render(facts))
    write_frame(job.folder / "predictions.csv", _held_out(job, y))
    files = ["model.unweave", "report.html", "predictions.csv"]
    if new is not None:
        with job.speaker.hearing():
            write_frame(job.folder / "new-predictions.csv", predictions_frame(model, new))
        files.append("new-predictions.csv")
    return files


def _curve(job: Job, y: NDArray) -> Any:
    """Make the learning curve of what was chosen, on some of the rows of a long table."""
    from unweave.predict.evaluation.learning_curve import learning_curve
    from unweave.predict.learned.columns import rows_of

    rows = np.sort(job.model.held_out_.rows)
    step = max(1, len(rows) // _CURVE_ROWS)
    rows = rows[::step]
    values = y[rows]
    if values.dtype.kind == "O":
        values = values.astype(str)
    try:
        return learning_curve(job.model.again(), rows_of(job.table, rows), values, n_repeats=2, random_state=0)
    except ValueError:  # too few rows of a class
        return None


def _held_out(job: Job, y: NDArray) -> Any:
    """Make a frame of what was predicted for rows that were held out, and for rows whose target is unknown."""
    import polars

    from unweave.predict.learned.columns import rows_of

    model, held = job.model, job.model.held_out_
    names = job.table.rows or [str(i + 1) for i in range(job.table.shape[0])]
    order = np.argsort(held.rows, kind="stable")
    truth = model.classes_[held.truth[order]] if hasattr(model, "classes_") else held.truth[order]
    said, sure = _called(model, held.answers[order])
    frame = polars.DataFrame({
        "row": [names[i] for i in held.rows[order]], "true": truth.tolist(), "predicted": said.tolist(), **sure,
    })  # fmt: skip
    unknown = np.flatnonzero([v is None or v != v for v in y.tolist()])
    if not len(unknown):
        return frame
    more = predictions_frame(model, rows_of(job.table, unknown))
    more = more.with_columns(polars.Series("row", [names[i] for i in unknown]))
    nothing = polars.lit(None).cast(frame.schema["true"])
    return polars.concat([frame, more.with_columns(true=nothing).select(frame.columns)])


def _called(model: Any, answers: NDArray) -> tuple[NDArray, dict[str, NDArray]]:
    if hasattr(model, "classes_"):
        return model.classes_[answers.argmax(axis=1)], {"share": answers.max(axis=1)}
    return answers[:, 0], {}


def _shown(model: Any) -> dict[str, Any]:
    """Collect what `unweave show` says besides the answer."""
    from unweave.cli.output import finite

    most = model.importance(40)
    return {
        "model": type(model).__name__, "components": len(model.tried_), "columns": int(model.n_features_in_),
        "title": f"{type(model).__name__}, {model.chosen_}", "noun": "column", "first": 1,
        "objective": float(model.objective_), "plan": model.plan_.as_dict(), "plan_words": str(model.plan_),
        "certificate": {"kind": model.certificate_.kind, "gap": finite(model.certificate_.gap)},
        "largest": [[[name, f"{rise:.3g}"] for name, rise in most]],
    }  # fmt: skip
