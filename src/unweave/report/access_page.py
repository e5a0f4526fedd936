"""Draw the page of an access table: before and after, the roles, exceptions, and what would change for whom."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.report.access import Access, bits_of, changes, role_rows
from unweave.report.answers.roles import explained, headline
from unweave.report.markup import Markup, join, label, tag
from unweave.report.markup import lines as lines_of
from unweave.report.numbers import counted, percent
from unweave.report.page import document
from unweave.report.panels import note, section
from unweave.report.png import encode
from unweave.report.words import whole

_SIDE = 640  # pixels of a picture at most
_ROLES, _PERMISSIONS, _USERS, _NAMES = 200, 12, 30, 6
# Nothing, granted by a role, not explained, would be added: Okabe and Ito's blue, vermillion and green.
_COLOURS = np.array([[255, 255, 255], [0, 114, 178], [213, 94, 0], [0, 158, 115]], dtype=np.float64)


def access_facts(
    access: Access, *, source: str = "", model: str = "", lines: Sequence[str] = (), code: str = ""
) -> dict[str, Any]:
    """Collect what the page shows, as short texts, numbers and two pictures; `lines` are said beside what is known of
    any roles, and `code` is the Python that gives the same."""
    change, rows = changes(access), role_rows(access)
    users, permissions = _sorted(access)
    n, m = access.has.shape
    return {
        "source": source, "model": model, "headline": headline(access), "lines": [*explained(access), *lines],
        "code": code, "users": n, "permissions": m,
        "grants": int(access.has.nnz), "extra": int(access.extra.nnz), "added": int(access.added.nnz),
        "assigned": int(access.assignments.nnz), "contents": int(access.roles.nnz), "roles": len(rows),
        "shown": [{**row, "lists": row["lists"][:_PERMISSIONS]} for row in rows[:_ROLES]],
        "changed": len(change),
        "changes": [
            {**one, "loses": one["loses"][:_NAMES], "gains": one["gains"][:_NAMES],
             "n_loses": len(one["loses"]), "n_gains": len(one["gains"])}
            for one in change[:_USERS]
        ],
        "before": _picture(access, np.arange(n), np.arange(m), plain=True),
        "after": _picture(access, users, permissions, plain=False),
    }  # fmt: skip


def _sorted(access: Access) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Order users by their roles, and permissions by the first role that has them."""
    k = len(access.order)
    place = np.empty(k, dtype=np.intp)
    place[access.order] = np.arange(k)
    Z = access.assignments[:, access.order]
    first = np.full(Z.shape[0], k, dtype=np.intp)
    some = np.diff(Z.indptr) > 0
    Z.sort_indices()
    first[some] = Z.indices[Z.indptr[:-1][some]]
    last = np.full(Z.shape[0], k, dtype=np.intp)
    last[some] = Z.indices[Z.indptr[1:][some] - 1]
    users = np.lexsort((np.arange(len(first)), -np.diff(access.has.indptr), last, first))
    at = sp.coo_array(access.roles)
    of_permission = np.full(access.roles.shape[1], k, dtype=np.intp)
    np.minimum.at(of_permission, at.col, place[at.row])
    often = np.asarray(access.has.sum(axis=0)).ravel()
    return users, np.lexsort((-often, of_permission))


def _picture(access: Access, users: NDArray, permissions: NDArray, *, plain: bool) -> dict[str, Any]:
    """Draw the table in this order: every pixel the mean colour of its cells."""
    n, m = access.has.shape
    height, width = min(n, _SIDE), min(m, _SIDE)
    row, column = np.empty(n, np.intp), np.empty(m, np.intp)
    row[users] = np.arange(n) * height // n
    column[permissions] = np.arange(m) * width // m
    cells = np.outer(np.bincount(row, minlength=height), np.bincount(column, minlength=width)).astype(np.float64)
    kinds = [access.has] if plain else [bits_of(access.has.multiply(access.granted)), access.extra, access.added]
    rest, picture = cells.copy(), np.zeros((height, width, 3))
    for kind, colour in zip(kinds, _COLOURS[1:]):
        at = sp.coo_array(kind)
        kept = at.data != 0
        count = np.bincount(row[at.row[kept]] * width + column[at.col[kept]], minlength=height * width)
        count = count.reshape(height, width)
        rest -= count
        picture += count[:, :, None] * colour
    picture += rest[:, :, None] * _COLOURS[0]
    pixels = np.rint(picture / cells[:, :, None]).astype(np.uint8)
    return {"size": [height, width], "png": base64.b64encode(encode(pixels)).decode("ascii")}


def render_access(facts: Mapping[str, Any]) -> str:
    """Draw one self-contained HTML page from :func:`access_facts`."""
    source = f" · {facts['source']}" if facts["source"] else ""
    strip = [
        ("roles", whole(facts["roles"])), ("users", whole(facts["users"])),
        ("permissions", whole(facts["permissions"])), ("grants", whole(facts["grants"])),
        ("grants no role explains", whole(facts["extra"])), ("grants roles would add", whole(facts["added"])),
    ]  # fmt: skip
    header = tag(
        "header",
        tag("p", f"Roles by {facts['model']}{source}", class_="kicker"),
        tag("h1", facts["headline"]),
        *(tag("p", line, class_="lede") for line in facts["lines"]),
        tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in strip), class_="strip"),
    )
    body = [header, _pictures(facts), _roles(facts), _exceptions(facts), _change(facts), _code(facts)]
    return document(facts["headline"], [part for part in body if part is not None], "", _STYLE)


def _pictures(facts: Mapping[str, Any]) -> Markup:
    signs = [("one", "granted by a role"), ("two", "no role explains it"), ("three", "a role would add it")]
    legend = tag("p", *(join([tag("span", class_=f"sign {sign}"), f"{text} "]) for sign, text in signs), class_="note")
    both = tag("div", _figure(facts["before"], "Before: as in the file"),
               _figure(facts["after"], "After: users and permissions sorted by role"), class_="pair")  # fmt: skip
    return section("The table, before and after", note("Users are rows, permissions are columns."), both, legend)


def _figure(picture: Mapping[str, Any], words: str) -> Markup:
    source = f"data:image/png;base64,{picture['png']}"
    image = tag("img", src=source, alt=words, class_="map")
    return tag("figure", image, tag("figcaption", words))


def _roles(facts: Mapping[str, Any]) -> Markup:
    head: tuple[str, ...] = ("role", "suggested name", "users", "permissions", "which", "overlaps most with")
    has_attributes = any(row["attributes"] for row in facts["shown"])
    if has_attributes:
        head = (*head[:4], "users are", *head[4:])
    most = max((row["users"] for row in facts["shown"]), default=1) or 1
    lines = []
    for row in facts["shown"]:
        cells = [tag("td", tag("b", str(row["role"]))), tag("td", label(row["name"])),
                 tag("td", whole(row["users"]), class_="share", style=f"--w:{100 * row['users'] / most:.1f}%"),
                 tag("td", whole(row["permissions"]))]  # fmt: skip
        if has_attributes:
            cells.append(tag("td", join([_attribute(one) for one in row["attributes"][:2]], ", ")))
        cells += [
            tag("td", _list(row["lists"], row["permissions"]), class_="names-of"),
            tag("td", _overlap(row["overlaps"])),
        ]
        lines.append(tag("tr", *cells))
    more = facts["roles"] - len(facts["shown"])
    words = (
        f"The first {len(facts['shown'])}; roles.csv has {more:,} more." if more else "roles.csv has all permissions."
    )
    return section("The roles", note(words), _table(head, lines))


def _attribute(one: Mapping[str, Any]) -> Markup:
    return join([tag("bdi", one["value"]), f" ({percent(one['share'])})"])


def _list(names: list[str], count: int) -> Markup:
    more = f" … {count - len(names):,} more" if count > len(names) else ""
    return join([join([tag("bdi", name) for name in names], " · "), more])


def _overlap(found: Mapping[str, Any] | None) -> Markup | str:
    if found is None:
        return "–"
    return join([label(found["role"]), f"{counted(found['permissions'], 'permission')}, "
                 f"{counted(found['users'], 'user')} with both"])  # fmt: skip


def _table(head: tuple[str, ...], lines: list[Markup]) -> Markup:
    first = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head)))
    return tag("div", tag("table", first, tag("tbody", *lines), class_="list"), class_="scroll wide")


def _exceptions(facts: Mapping[str, Any]) -> Markup | None:
    if not facts["changes"]:
        return None
    most = max(one["n_loses"] + one["n_gains"] for one in facts["changes"])
    bars = []
    for one in facts["changes"][:12]:
        count = one["n_loses"] + one["n_gains"]
        bar = tag("span", tag("span", class_="bar", style=f"--w:{100 * count / most:.1f}%"), class_="track")
        bars.append(tag("li", label(one["user"]), bar, tag("span", whole(count), class_="value")))
    words = "Grants that no role explains and grants that roles would add, together; exceptions.csv lists each."
    return section("Users with most exceptions", note(words), tag("ul", *bars, class_="bars wide"))


def _change(facts: Mapping[str, Any]) -> Markup:
    title = "What would change for whom"
    if not facts["changes"]:
        return section(title, note("Nothing: with these roles everybody has exactly what they have now."))
    lines = [
        tag("tr", tag("td", label(one["user"])), tag("td", ", ".join(map(str, one["roles"])) or "none"),
            tag("td", _list(one["loses"], one["n_loses"])), tag("td", _list(one["gains"], one["n_gains"])))
        for one in facts["changes"]
    ]  # fmt: skip
    more = facts["changed"] - len(lines)
    words = (
        f"If everybody had exactly their roles: {counted(facts['changed'], 'user')} would notice, "
        f"{counted(facts['extra'], 'grant')} would be lost and {whole(facts['added'])} added."
    )
    words += f" The first {len(lines)} are shown; changes.csv has all." if more else ""
    return section(title, note(words), _table(("user", "gets roles", "would lose", "would gain"), lines))


def _code(facts: Mapping[str, Any]) -> Markup | None:
    return section("The same in Python", tag("pre", tag("code", lines_of(facts["code"])))) if facts["code"] else None


_STYLE = Markup(
    """
.sign{display:inline-block;width:22px;height:10px;border-radius:2px;margin:0 6px 0 14px}.sign:first-child{margin-left:0}
.sign.one{background:#0072b2}.sign.two{background:#d55e00}.sign.three{background:#009e73}
.list th,.list td{overflow-wrap:normal;word-break:normal}.list td:last-child,.list .names-of{overflow-wrap:anywhere}
.list thead th{width:auto;white-space:nowrap}.list .name{min-width:6rem}
.list .names-of{min-width:11rem}.list td:last-child{min-width:8rem}
@media (prefers-color-scheme:dark){.sign{filter:invert(1) hue-rotate(180deg)}}
"""
)
