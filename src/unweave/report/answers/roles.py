"""Answer which roles there are, who has them, and what they leave unexplained."""

from __future__ import annotations

from unweave.report.access import Access, changes, role_rows
from unweave.report.answers import MOST, Found, left_out
from unweave.report.numbers import counted, percent

_NAMED = 4  # permissions of a role in the table


def roles_answer(access: Access) -> Found:
    """Tell the roles, those that most users have first, and how much of the table they explain."""
    roles = role_rows(access)
    rows = [
        [str(one["role"]), one["name"], f"{one['users']:,}", f"{one['permissions']:,}", _few(one["lists"])]
        for one in roles[:MOST]
    ]
    data = {
        "roles": roles, "users": access.has.shape[0], "permissions": access.has.shape[1],
        "grants": int(access.has.nnz), "unexplained": int(access.extra.nnz), "added": int(access.added.nnz),
        "user_roles": int(access.assignments.nnz), "role_permissions": int(access.roles.nnz),
    }  # fmt: skip
    lines = [*left_out(len(roles), "roles"), *explained(access)]
    header = ["role", "suggested name", "users", "permissions", "which"]
    return Found(headline(access), header, rows, lines, data)


def headline(access: Access) -> str:
    """Say what was found in one line."""
    (n, m), k = access.has.shape, access.roles.shape[0]
    return f"{counted(k, 'role')} for {counted(n, 'user')} and {counted(m, 'permission')}"


def explained(access: Access) -> list[str]:
    """Say in sentences how much the roles explain, and how much shorter they are."""
    grants, extra, added = access.has.nnz, access.extra.nnz, access.added.nnz
    lines = [
        f"{counted(access.assignments.nnz, 'assignment')} of roles and {counted(access.roles.nnz, 'permission')} in "
        f"roles stand for {counted(grants, 'grant')}."
    ]
    if not extra and not added:
        lines.append("Every grant is explained, and nobody would get anything new.")
    else:
        lines.append(
            f"{counted(extra, 'grant')} ({percent(extra / max(grants, 1))}) {'is' if extra == 1 else 'are'} explained "
            f"by no role, and roles would add {added:,}: {counted(len(changes(access)), 'user')} would notice."
        )
    lonely = int((access.sizes == 1).sum())
    if lonely:
        lines.append(f"{counted(lonely, 'role has', 'roles have')} a single user: look at {_it(lonely)} first.")
    return lines


def _it(count: int) -> str:
    return "it" if count == 1 else "them"


def _few(names: list[str]) -> str:
    more = f", … {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
