"""Run ``unweave roles``: mine roles out of who may do what, list exceptions, and draw what would change for whom."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from unweave.cli.options import Settings
from unweave.cli.output import write_text
from unweave.cli.say import Speaker
from unweave.cli.titles import read_columns
from unweave.cli.work import Job, asked_count, carry_out, read_line, read_quietly, say_table
from unweave.data.named import NamedTable

if TYPE_CHECKING:
    from unweave.report.access import Access
    from unweave.report.answer import Answer

PAGE = "roles.html"
_QUIET = 5e-4  # share of noise below which nothing is said of it
# First lines of files that people export: what the two columns are called, where the reader does not know it.
_HEADERS = frozenset(
    """account accounts application authorisation authorization cn dn email employee entitlement entitlements group
    groupname identity login member permission person principal privilege resource right role sam samaccountname
    subject uid user userid user_id username name object action scope""".split()  # noqa: SIM905
)


def run(settings: Settings) -> int:
    if settings.diff:
        from unweave.cli.verbs.roles_diff import compare

        return compare(settings, Speaker(settings))
    return carry_out(job, settings)


def job(settings: Settings, speaker: Speaker) -> Job:
    """Read who may do what, and set up the model that was asked for."""
    settings, table, lines = _read(settings, speaker)
    users, added = _attributes(settings, table, speaker)
    model, made = _model(settings, table)
    lines += [f"model = {made}.fit(table)", "print(model.assignments_, model.roles_)"]
    found = Job(settings, speaker, table, table, None, model, [*lines, *added])
    found.kept = {"users": table.rows or [str(i + 1) for i in range(table.shape[0])]}
    looked: list[Access] = []

    def access(job: Job) -> Access:
        """Look at the fitted model, once."""
        if not looked:
            from unweave.report.access import look_at_access

            looked.append(look_at_access(job.model, table, users))
        return looked[0]

    found.found = lambda job: _answer(job, access(job), found.kept)
    found.later = lambda job: _tables(job, access(job))
    return found


# -- reading -----------------------------------------------------------------------------------------------------------


def _read(settings: Settings, speaker: Speaker) -> tuple[Settings, NamedTable, list[str]]:
    """Read pairs or a table of 0 and 1; the lines of Python that read it the same way."""
    table, lines = read_quietly(settings), []
    if settings.format == "auto" and table.kind not in ("pairs", "ratings") and _are_pairs(table):
        settings = replace(settings, format="pairs")
        table = read_quietly(settings)
    say_table(table, settings, speaker)
    lines.append(read_line(settings))
    if table.kind == "pairs" and _has_header(table):
        rows, columns = table.rows or [], table.columns or []
        speaker.note(f"the first line, {rows[0]!r} and {columns[0]!r}, names the columns")
        table = table.with_(X=table.X[1:, 1:], rows=rows[1:], columns=columns[1:])
        lines.append("table = table.with_(X=table.X[1:, 1:], rows=table.rows[1:], columns=table.columns[1:])")
    _need_ones(table, settings)
    if table.missing is not None:
        table = table.with_(missing=None)
        lines.append("table = table.with_(missing=None)")
    _say_empty(table, speaker)
    return settings, table, lines


def _are_pairs(table: NamedTable) -> bool:
    """Tell whether a table has two columns that are no table of 0 and 1: users and permissions, line by line."""
    if table.shape[1] != 2 or table.rows is not None:
        return table.shape[1] == 1 and table.rows is not None and not table.numeric
    return not table.numeric or not bool(np.isin(np.asarray(table.X), (0, 1)).all())


def _has_header(table: NamedTable) -> bool:
    """Tell whether the first pair is the names of two columns: words for them, which occur nowhere else."""
    if table.rows is None or table.columns is None or min(table.shape) < 2:
        return False
    words = {name.strip().lower().replace(" ", "").replace("-", "") for name in (table.rows[0], table.columns[0])}
    return bool(words & _HEADERS) and table.X[[0], :].nnz == 1 and table.X[:, [0]].nnz == 1 and table.X[0, 0] != 0


def _need_ones(table: NamedTable, settings: Settings) -> None:
    """Raise for a table of anything but 0 and 1, with the first cell that is something else."""
    if not table.numeric:
        raise ValueError(
            f"{settings.file} is neither lines of user,permission nor a table of 0 and 1: columns of texts, such as "
            f"{table.frame().columns[0]!r}, say who or what it is about; keep two of them, or --format pairs"
        )
    if table.kind in ("text", "images"):
        raise ValueError(f"{settings.file} is {table.kind}: roles need lines of user,permission, or a table of 0 and 1")
    X = sp.coo_array(np.nan_to_num(table.X, nan=2.0) if not table.sparse else table.X)
    wrong = np.flatnonzero((X.data != 0) & (X.data != 1))
    if len(wrong):
        i, j, value = int(X.row[wrong[0]]), int(X.col[wrong[0]]), float(X.data[wrong[0]])
        row = repr(table.rows[i]) if table.rows else str(i + 1)
        column = repr(table.columns[j]) if table.columns else str(j + 1)
        held = "nothing" if value == 2.0 and not table.sparse and np.isnan(table.X[i, j]) else f"{value:g}"
        raise ValueError(
            f"{settings.file} is no table of 0 and 1: row {row}, column {column} holds {held}; lines of "
            "user,permission are read by --format pairs"
        )


def _say_empty(table: NamedTable, speaker: Speaker) -> None:
    """Say how many users have nothing, and how many permissions nobody has."""
    X = sp.csr_array(table.X)
    X.eliminate_zeros()
    idle, unused = int((np.diff(X.indptr) == 0).sum()), int((np.bincount(X.indices, minlength=X.shape[1]) == 0).sum())
    if idle:
        speaker.note(f"{idle:,} user{'s have' if idle > 1 else ' has'} no permission, and will have no role")
    if unused:
        speaker.note(f"{unused:,} permission{'s are' if unused > 1 else ' is'} held by nobody")


def _attributes(settings: Settings, table: NamedTable, speaker: Speaker) -> tuple[dict[str, list[str]], list[str]]:
    """Read what is known of users; users of the file that the table does not have are left aside."""
    if settings.attributes is None:
        return {}, []
    frame = read_columns(settings.attributes, "users and their attributes")
    key, *names = frame.columns
    known = {str(line[0]): line for line in frame.iter_rows() if line[0] is not None}
    users = table.rows or [str(i + 1) for i in range(table.shape[0])]
    lost = sum(user not in known for user in users)
    if lost == len(users):
        raise ValueError(
            f"{settings.attributes} knows none of the users, such as {users[0]!r}; ids are in its first column, {key!r}"
        )
    if lost:
        speaker.note(f"{lost:,} of {len(users):,} users are not in {settings.attributes}")
    found = {name: [str(known[user][i] or "") if user in known else "" for user in users]
             for i, name in enumerate(names, 1)}  # fmt: skip
    return found, [f"# names of roles: attributes {', '.join(map(repr, names))} of {str(settings.attributes)!r}"]


# -- the model ---------------------------------------------------------------------------------------------------------


def _model(settings: Settings, table: NamedTable) -> tuple[Any, str]:
    """Make the model that was asked for, and the Python that makes it."""
    import unweave

    given: dict[str, Any] = {}
    for name in ("max_roles", "max_roles_per_user", "max_permissions_per_role"):
        if getattr(settings, name) is not None:
            given[name] = getattr(settings, name)
    if settings.separated is not None:
        given["separated"] = _pairs_apart(settings.separated, table)
    if settings.noise:
        kind, first = "MultiAssignmentClustering", [asked_count(settings, table, max(table.shape))]
    elif settings.k == "auto":
        raise ValueError("--roles auto needs a model of noise: add --noise, or give a number, or leave --roles away")
    elif settings.k:
        kind, first = "BooleanFactorization", [asked_count(settings, table, max(table.shape))]
    else:
        kind, first = "RoleMiner", []
    made = getattr(unweave, kind)
    known = made().get_params(deep=False)
    for name in given:
        if name not in known:
            raise ValueError(
                f"--{name.replace('_', '-')} does not go with "
                + ("--noise" if settings.noise else "--roles")
                + ": it is for exact roles; leave one of the two away"
            )
    words = [*map(repr, first), *(f"{name}={value!r}" for name, value in given.items())]
    words.append(f"random_state={settings.seed}")
    return made(*first, **given, random_state=settings.seed), f"unweave.{kind}({', '.join(words)})"


def _pairs_apart(path: Path, table: NamedTable) -> list[tuple[Any, Any]]:
    """Read pairs of permissions that must not be in one role; names that the table does not have are errors."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        lines = [[cell.strip() for cell in line] for line in csv.reader(file) if any(cell.strip() for cell in line)]
    if not lines:
        raise ValueError(f"{path} has no pairs: write two permissions in a line, a comma between")
    known = set(table.columns or [str(j + 1) for j in range(table.shape[1])])
    if len(lines[0]) == 2 and not known & set(lines[0]):
        lines = lines[1:]  # names of the columns
    for number, line in enumerate(lines, 1):
        strange = next((name for name in line if name not in known), None)
        if len(line) != 2 or line[0] == line[1]:
            raise ValueError(f"{path}: pair {number} must be two different permissions, got {line}")
        if strange is not None:
            raise ValueError(f"{path}: pair {number} names {strange!r}, which is no permission in the table")
    return [(first, second) for first, second in lines]


# -- what was found ----------------------------------------------------------------------------------------------------


def _answer(job: Job, access: Access, kept: dict[str, Any]) -> Answer:
    """Say what was found, with names by attributes, which are kept for `--diff`."""
    from unweave.report.answer import Answer, certificate_words, chosen_words
    from unweave.report.answers.roles import roles_answer

    found, kept["names"] = roles_answer(access), access.names
    lines = [*found.lines, *chosen_words(getattr(job.model, "choice_", None)), *_of_noise(job.model)]
    return Answer(found.headline, found.header, found.rows, lines, certificate_words(job.model), found.data)


def _of_noise(model: Any) -> list[str]:
    """Say how much of the table is taken for noise."""
    if getattr(model, "noise_", 0.0) < _QUIET:
        return []
    return [f"About {model.noise_:.1%} of the cells are noise, {model.noise_ones_:.0%} of which grants something."]


def _tables(job: Job, access: Access) -> dict[str, Any]:
    """Make the tables of roles, of who has them, of exceptions and of changes; the page is written beside them."""
    from unweave.report.access import assignments_frame, changes_frame, exceptions_frame, roles_frame
    from unweave.report.access_page import access_facts, render_access
    from unweave.report.answer import certificate_words

    said = [line for line in [*_of_noise(job.model), certificate_words(job.model)] if line]
    code = "\n".join(["import unweave", "", *job.lines])
    facts = access_facts(
        access, source=job.table.source or str(job.settings.file), model=type(job.model).__name__, lines=said, code=code
    )
    write_text(job.folder / PAGE, render_access(facts))
    job.extra["page"] = str(job.folder / PAGE)
    job.closing.append(f"open {job.folder / PAGE} in a browser")
    return {
        "roles.csv": roles_frame(access),
        "assignments.csv": assignments_frame(access),
        "exceptions.csv": exceptions_frame(access, _surprise(job.model, job.table)),
        "changes.csv": changes_frame(access),
    }


def _surprise(model: Any, table: NamedTable) -> dict[tuple[int, int], float] | None:
    """Return how surprising every exception is, where the model can say."""
    if not hasattr(model, "exceptions"):
        return None
    place = {name: j for j, name in enumerate(table.columns or [])}
    listed = model.exceptions(table.with_(rows=None))
    return {(one.user, place.get(one.permission, one.permission)): one.surprise for one in listed}
