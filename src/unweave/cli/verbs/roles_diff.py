"""Run ``unweave roles --diff``: what changed from one mining of roles to the next, for roles and for users."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from unweave.cli.options import Settings
from unweave.cli.output import open_model, write_frame
from unweave.cli.place import file_for
from unweave.cli.say import Speaker
from unweave.report.numbers import counted

_SHOWN = 20
_ALIKE = 0.5  # of the permissions of either role that must be in both for them to be one role that changed
_NAMES = 3


@dataclass(frozen=True)
class Mined:
    """Hold one result: the permissions of every role, and the roles of every user."""

    roles: list[frozenset[str]]
    users: dict[str, frozenset[int]]
    names: list[str]

    def held(self, user: str) -> frozenset[str]:
        """Return what the roles of a user grant."""
        return frozenset().union(*(self.roles[i] for i in self.users.get(user, ())))


def compare(settings: Settings, speaker: Speaker) -> int:
    """Compare two results, the old one and the new one."""
    if len(settings.files) != 2:
        raise ValueError(
            f"--diff compares two results, the old one and the new one: give two folders, got {len(settings.files)}"
        )
    old, new = (_opened(path) for path in settings.files)
    target = None if settings.out is None else file_for(settings.out, settings.out, settings.force)
    pairs = matched(old.roles, new.roles)
    rows = [*_role_lines(old, new, pairs)]
    people = _people(old, new)
    same = sum(old.roles[i] == new.roles[j] for i, j in pairs)
    gone, came = len(old.roles) - len(pairs), len(new.roles) - len(pairs)
    headline = f"{same} roles are as before, {len(pairs) - same} changed, {came} are new and {gone} are gone"
    speaker.line(headline)
    speaker.table(
        "", ["what", "role", "more", "less"], [[row["what"], row["name"], *_both(row)] for row in rows[:_SHOWN]]
    )
    if len(rows) > _SHOWN:
        speaker.line(f"… and {len(rows) - _SHOWN:,} more roles")
    speaker.line(f"{counted(len(people), 'user')} would have other permissions than before")
    speaker.table("", ["user", "gains", "loses"], [[row["name"], *_both(row)] for row in people[:_SHOWN]])
    if len(people) > _SHOWN:
        speaker.line(f"… and {len(people) - _SHOWN:,} more users" + ("" if target else "; --out changes.csv lists all"))
    if target is not None:
        write_frame(target, _frame([*rows, *people]))
        speaker.line(f"{target} lists every change")
    speaker.result({"verb": "roles", "old": str(settings.files[0]), "new": str(settings.files[1]), "headline": headline,
                    "roles": rows, "users": people, "out": None if target is None else str(target)})  # fmt: skip
    return 0


def _opened(path: Path) -> Mined:
    """Open the folder of a result, or the model in it."""
    file = path / "model.unweave" if path.is_dir() else path
    if not file.is_file():
        raise ValueError(f"{path} has no model.unweave: give the folder that `unweave roles` has left")
    model, _, extra = open_model(file)
    if not hasattr(model, "roles_") or "users" not in extra:
        raise ValueError(f"{file} is no result of `unweave roles`: it is a {type(model).__name__}")
    R, Z = sp.csr_array(model.roles_), sp.csr_array(model.assignments_)
    columns = [str(name) for name in getattr(model, "feature_names_in_", range(1, R.shape[1] + 1))]
    roles = [frozenset(columns[j] for j in _row(R, i)) for i in range(R.shape[0])]
    users = {str(user): frozenset(_row(Z, i).tolist()) for i, user in enumerate(extra["users"])}
    return Mined(roles, users, [str(name) for name in extra.get("names") or range(1, len(roles) + 1)])


def _row(X: sp.csr_array, i: int) -> np.ndarray:
    part = slice(X.indptr[i], X.indptr[i + 1])
    return X.indices[part][X.data[part] != 0]


def matched(old: list[frozenset[str]], new: list[frozenset[str]]) -> list[tuple[int, int]]:
    """Match roles that are the same or have at least half of their permissions in common, one to one.

    >>> matched([frozenset("ab"), frozenset("xy")], [frozenset("uv"), frozenset("abc")])
    [(0, 1)]
    """
    from scipy.optimize import linear_sum_assignment

    names = {name: j for j, name in enumerate(sorted(frozenset().union(*old, *new)))}
    A, B = (_table(roles, names) for roles in (old, new))
    both = (A @ B.T).toarray()
    either = np.array([len(role) for role in old])[:, None] + np.array([len(role) for role in new]) - both
    alike = np.where(either > 0, both / np.maximum(either, 1), 1.0)
    i, j = linear_sum_assignment(-alike)
    return [(int(a), int(b)) for a, b in zip(i, j, strict=True) if alike[a, b] >= _ALIKE]


def _table(roles: list[frozenset[str]], names: dict[str, int]) -> sp.csr_array:
    at = [(i, names[name]) for i, role in enumerate(roles) for name in sorted(role)]
    rows, columns = np.array(at, dtype=np.intp).reshape(-1, 2).T
    return sp.csr_array((np.ones(len(at)), (rows, columns)), shape=(len(roles), max(1, len(names))))


def _role_lines(old: Mined, new: Mined, pairs: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """List the roles that changed, came or went."""
    changed = [
        {"what": "role changed", "name": new.names[j], "gains": sorted(new.roles[j] - old.roles[i]),
         "loses": sorted(old.roles[i] - new.roles[j])}
        for i, j in pairs if old.roles[i] != new.roles[j]
    ]  # fmt: skip
    came, went = set(range(len(new.roles))) - {j for _, j in pairs}, set(range(len(old.roles))) - {i for i, _ in pairs}
    fresh = [
        {"what": "role is new", "name": new.names[j], "gains": sorted(new.roles[j]), "loses": []} for j in sorted(came)
    ]
    gone = [
        {"what": "role is gone", "name": old.names[i], "gains": [], "loses": sorted(old.roles[i])} for i in sorted(went)
    ]
    return [*changed, *fresh, *gone]


def _people(old: Mined, new: Mined) -> list[dict[str, Any]]:
    """List the users whose roles grant something else than before, those with most changes first."""
    found = []
    for user in dict.fromkeys([*old.users, *new.users]):
        before, after = old.held(user), new.held(user)
        if before != after:
            what = (
                "user is new" if user not in old.users else "user is gone" if user not in new.users else "user changed"
            )
            found.append({"what": what, "name": user, "gains": sorted(after - before), "loses": sorted(before - after)})
    return sorted(found, key=lambda one: -len(one["gains"]) - len(one["loses"]))


def _both(row: dict[str, Any]) -> list[str]:
    return [_few(row["gains"]), _few(row["loses"])]


def _few(names: list[str]) -> str:
    return ", ".join(names[:_NAMES]) + (f", … {len(names) - _NAMES:,} more" if len(names) > _NAMES else "")


def _frame(rows: list[dict[str, Any]]):
    import polars

    columns = {"what": [row["what"] for row in rows], "name": [row["name"] for row in rows]}
    columns |= {side: [", ".join(row[side]) for row in rows] for side in ("gains", "loses")}
    return polars.DataFrame(columns, schema=dict.fromkeys(columns, polars.String))
