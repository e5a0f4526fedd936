"""Look at roles as an access table: what they grant, what they leave unexplained, what they would add, and names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.report.numbers import counted
from unweave.report.view import View

# A role is named after an attribute if their F is so large, so many of its users have it, and so many more than of all.
_FITS, _PURE, _TELLS = 0.6, 0.75, 0.25
_LONG = 40  # letters of a permission in a name
_COMMON = 3  # letters that permissions must share at least to name a role


@dataclass(frozen=True)
class Access:
    """Hold who has what, and the roles that explain it.

    Attributes
    ----------
    has : csr_array of bool (n, m)
        What users have; what is not known counts as what the roles say.
    assignments, roles : csr_array of bool (n, k) and (k, m)
    users, permissions : list of str
    attributes : dict of str to list
        By its name, an attribute of every user ("" where it is not known).
    """

    has: sp.csr_array
    assignments: sp.csr_array
    roles: sp.csr_array
    users: list[str]
    permissions: list[str]
    attributes: Mapping[str, Sequence[str]]

    @cached_property
    def granted(self) -> sp.csr_array:
        """What the roles of users grant."""
        return bits_of(self.assignments.astype(np.int32) @ self.roles.astype(np.int32))

    @cached_property
    def extra(self) -> sp.csr_array:
        """What users have and no role of theirs grants."""
        return bits_of(self.has > self.granted)

    @cached_property
    def added(self) -> sp.csr_array:
        """What roles would add."""
        return bits_of(self.granted > self.has)

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """How many users have each role."""
        return np.asarray(self.assignments.sum(axis=0)).ravel().astype(np.intp)

    @cached_property
    def widths(self) -> NDArray[np.intp]:
        """How many permissions each role has."""
        return np.asarray(self.roles.sum(axis=1)).ravel().astype(np.intp)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Roles as they are listed: those that most users have first."""
        return np.lexsort((np.arange(len(self.sizes)), -self.widths, -self.sizes))

    @cached_property
    def names(self) -> list[str]:
        """Suggest a name for every role."""
        return suggested_names(self)

    @cached_property
    def counts(self) -> dict[str, Counter[str]]:
        """How many users have each value of each attribute."""
        return {name: Counter(values) for name, values in self.attributes.items()}

    def members(self, role: int) -> NDArray[np.intp]:
        """Return the users of a role."""
        return np.flatnonzero(self._columns[:, [role]].toarray().ravel())

    @cached_property
    def _columns(self) -> sp.csc_array:
        return sp.csc_array(self.assignments)

    def permissions_of(self, role: int) -> NDArray[np.intp]:
        """Return the permissions of a role, those that fewest other roles have first."""
        own = self.roles.indices[self.roles.indptr[role] : self.roles.indptr[role + 1]]
        often = np.bincount(self.roles.indices, minlength=self.roles.shape[1])
        return own[np.lexsort((own, often[own]))]


def look_at_access(
    model: Any, table: NamedTable | View | None, attributes: Mapping[str, Sequence[str]] | None = None
) -> Access:
    """See a model of roles and the table it was fitted to as access; without one users have what roles grant."""
    roles, assignments = bits_of(model.roles_), bits_of(model.assignments_)
    n, m = assignments.shape[0], roles.shape[1]
    if table is None or table.X is None or np.shape(table.X) != (n, m):
        table = NamedTable(bits_of(assignments.astype(np.int32) @ roles.astype(np.int32)))
    found = sp.coo_array(table.X)  # what is not known is stored, as NaN: there users have what roles grant
    holes = np.isnan(found.data)
    if holes.any():
        granted = bits_of(assignments.astype(np.int32) @ roles.astype(np.int32))
        found.data[holes] = granted[found.row[holes], found.col[holes]]
    has = bits_of(found)
    users = list(table.rows) if table.rows is not None else [str(i + 1) for i in range(n)]
    permissions = list(table.columns) if table.columns is not None else [f"column {j + 1}" for j in range(m)]
    return Access(has, assignments, roles, users, permissions, dict(attributes or {}))


def bits_of(X: Any) -> sp.csr_array:
    """Make a sparse table of truth values, columns in order."""
    found = sp.csr_array(X)
    found = sp.csr_array((found.data != 0, found.indices, found.indptr), shape=found.shape)
    found.eliminate_zeros()
    found.sort_indices()
    return found


def attribute_fits(access: Access, role: int) -> list[tuple[str, str, float, float, float]]:
    """Compare a role with every value of every attribute: name, value, share of the role's users who have it, share of
    those with the value who are in the role, and F; the best first, one for each attribute."""
    inside = access.members(role)
    found = []
    for name, values in access.attributes.items():
        among = Counter(values[i] for i in inside if values[i])
        if not among:
            continue
        value = max(among, key=lambda v: (2 * among[v] / (len(inside) + _count(access, name, v)), v))
        share, of_all = among[value] / len(inside), among[value] / _count(access, name, value)
        found.append((name, value, share, of_all, 2 * share * of_all / (share + of_all)))
    return sorted(found, key=lambda one: -one[4])


def _count(access: Access, name: str, value: str) -> int:
    return access.counts[name][value]


def suggested_names(access: Access) -> list[str]:
    """Name roles after the attributes that their users share, else after what their permissions have in common."""
    k = access.roles.shape[0]
    by_users = [" ".join(value for _, value, *_ in _telling(access, role)[:2]) for role in range(k)]
    often = Counter(by_users)
    found = []
    for role, name in enumerate(by_users):
        what = _by_permissions(access, role)
        found.append(name if name and often[name] == 1 else f"{name}: {what}" if name else what)
    seen: Counter[str] = Counter()
    for i, name in enumerate(found):
        seen[name] += 1
        found[i] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return found


def _telling(access: Access, role: int) -> list[tuple[str, str, float, float, float]]:
    """Return the attributes that tell the users of a role from others: most have it, and it is no matter of course."""
    n = len(access.users)
    return [
        one for one in attribute_fits(access, role)
        if one[4] >= _FITS and one[2] >= _PURE and one[2] - _count(access, *one[:2]) / n >= _TELLS
    ]  # fmt: skip


def _by_permissions(access: Access, role: int) -> str:
    own = [access.permissions[j] for j in access.permissions_of(role)]
    if not own:
        return "no permissions"
    if len(own) == 1:
        return _short(own[0])
    common = _common_start(own)
    if common:
        return f"{common}… ({counted(len(own), 'permission')})"
    return f"{_short(own[0])} and {counted(len(own) - 1, 'more', 'more')}"


def _short(name: str) -> str:
    return name if len(name) <= _LONG else name[: _LONG - 1] + "…"


def _common_start(names: list[str]) -> str:
    """Return what all names begin with, up to the end of a word; "" where that is too little.

    >>> _common_start(["sap_fi_read", "sap_fi_post"]), _common_start(["read", "write"])
    ('sap_fi', '')
    """
    low, high = min(names), max(names)
    n = next((i for i, (a, b) in enumerate(zip(low, high)) if a != b), len(low))
    start = low[:n]
    at_word = re.match(r"(.*[^\W_])(?=[\W_])", start) if n < len(low) and low[n - 1 : n].isalnum() else None
    start = at_word.group(1) if at_word else "" if n < len(low) and low[n - 1 : n].isalnum() else start.rstrip("_-.: /")
    return start if len(start) >= _COMMON else ""


def overlaps(access: Access) -> list[tuple[int, int, int]]:
    """For every role the one it shares most permissions with, of several the one that most of its users have too:
    (other, shared permissions, shared users); −1 where it shares none."""
    R, Z = access.roles.astype(np.int32), access.assignments.astype(np.int32)
    shared = sp.csr_array(R @ R.T)
    shared.setdiag(0)
    together = sp.csr_array(Z.T @ Z)
    found = []
    for role in range(R.shape[0]):
        row, both = (table[[role], :].toarray().ravel() for table in (shared, together))
        other = int(np.lexsort((np.arange(len(row), 0, -1), both, row))[-1])
        found.append((other, int(row[other]), int(both[other])) if row[other] else (-1, 0, 0))
    return found


# -- tables ------------------------------------------------------------------------------------------------------------


def role_rows(access: Access) -> list[dict[str, Any]]:
    """List the roles, those that most users have first."""
    found, rows = overlaps(access), []
    for role in access.order:
        other, shared, both = found[role]
        fits = attribute_fits(access, int(role))
        rows.append({
            "role": int(role) + 1, "name": access.names[role], "users": int(access.sizes[role]),
            "permissions": int(access.widths[role]),
            "lists": [access.permissions[j] for j in access.permissions_of(int(role))],
            "attributes": [{"name": a, "value": v, "share": s, "of_all": o} for a, v, s, o, _ in fits],
            "overlaps": None if other < 0 else {"role": access.names[other], "permissions": shared, "users": both},
        })  # fmt: skip
    return rows


def numbers_of_roles(access: Access) -> NDArray[np.intp]:
    """Number roles as the model does, from 1."""
    return np.arange(1, len(access.sizes) + 1)


def roles_frame(access: Access):
    """Make a frame of the roles: a line for each permission of each role."""
    import polars

    lines = [(row, permission) for row in role_rows(access) for permission in row["lists"]]
    columns = {name: [row[name] for row, _ in lines] for name in ("role", "name", "users")}
    schema = {"role": polars.Int64, "name": polars.String, "users": polars.Int64, "permission": polars.String}
    return polars.DataFrame({**columns, "permission": [permission for _, permission in lines]}, schema=schema)


def assignments_frame(access: Access):
    """Make a frame of who gets which role: a line for each role of each user."""
    import polars

    at = sp.coo_array(access.assignments)
    number = numbers_of_roles(access)[at.col]
    order = np.lexsort((number, at.row))
    return polars.DataFrame(
        {
            "user": [access.users[i] for i in at.row[order]],
            "role": number[order].astype(np.int64),
            "name": [access.names[j] for j in at.col[order]],
        },
        schema={"user": polars.String, "role": polars.Int64, "name": polars.String},
    )


def exceptions_frame(access: Access, surprise: Mapping[tuple[int, int], float] | None = None):
    """Make a frame of the exceptions: what no role explains, and what a role would add; the rarest or most surprising
    first."""
    import polars

    rows, columns, kinds, among = [], [], [], []
    for kind, cells in (("no role explains it", access.extra), ("a role would add it", access.added)):
        at = sp.coo_array(cells)
        rows.append(at.row)
        columns.append(at.col)
        kinds += [kind] * at.nnz
        often = np.asarray(cells.sum(axis=0)).ravel()
        among.append(often[at.col])
    i, j, often = (np.concatenate(parts).astype(np.intp) for parts in (rows, columns, among))
    data: dict[str, Any] = {
        "user": [access.users[a] for a in i], "permission": [access.permissions[b] for b in j], "exception": kinds,
        "users_alike": often.astype(np.int64),
    }  # fmt: skip
    schema = {
        "user": polars.String,
        "permission": polars.String,
        "exception": polars.String,
        "users_alike": polars.Int64,
    }
    if surprise is not None:
        data["surprise"] = [round(surprise.get((int(a), int(b)), 0.0), 4) for a, b in zip(i, j, strict=True)]
        schema["surprise"] = polars.Float64
    frame = polars.DataFrame(data, schema=schema)
    by, down = ("surprise", True) if surprise is not None else ("users_alike", False)
    return frame.sort([by, "user", "permission"], descending=[down, False, False], maintain_order=True)


def changes(access: Access) -> list[dict[str, Any]]:
    """List what would change for whom if users had exactly their roles, those with most changes first."""
    lost, gained = np.diff(access.extra.indptr), np.diff(access.added.indptr)
    touched = np.flatnonzero(lost + gained)
    order = touched[np.lexsort((touched, -(lost + gained)[touched]))]
    names = numbers_of_roles(access)
    return [
        {
            "user": access.users[i], "roles": sorted(names[_row(access.assignments, i)].tolist()),
            "loses": [access.permissions[j] for j in _row(access.extra, i)],
            "gains": [access.permissions[j] for j in _row(access.added, i)],
        }
        for i in order
    ]  # fmt: skip


def _row(X: sp.csr_array, i: int) -> NDArray:
    return X.indices[X.indptr[i] : X.indptr[i + 1]]


def changes_frame(access: Access):
    """Make a frame of what would change: a line for each permission that a user would lose or gain."""
    import polars

    lines = [
        (one["user"], change, permission)
        for one in changes(access)
        for change in ("loses", "gains")
        for permission in one[change]
    ]
    names = ("user", "change", "permission")
    return polars.DataFrame(lines, schema=dict.fromkeys(names, polars.String), orient="row")
