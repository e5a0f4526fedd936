"""What roles may not do: too many permissions in one, too many for one user, permissions that must stay apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import whole
from unweave.explain.roles.access import Access, column_name
from unweave.linalg.bits import Words, n_words, ones_in_rows, pack_bits, unpack


@dataclass(frozen=True)
class Limits:
    """Limits on roles and users; 0 is no limit. `apart` marks the permissions each may not go with (no rows: none)."""

    apart: Words
    most_permissions: int = 0
    most_roles: int = 0

    @property
    def shape_roles(self) -> bool:
        """Whether there are roles that are not allowed."""
        return bool(len(self.apart) or self.most_permissions)

    def parts(self, items: NDArray[np.int64]) -> list[list[int]]:
        """Permissions in as few allowed roles as first fit finds: those with most enemies first."""
        enemies = unpack(self.apart[items], 64 * self.apart.shape[1])[:, items] if len(self.apart) else None
        order = range(len(items)) if enemies is None else np.argsort(-enemies.sum(axis=1, dtype=int), kind="stable")
        parts: list[list[int]] = []
        for i in order:
            for part in parts:
                full = self.most_permissions and len(part) >= self.most_permissions
                if not full and (enemies is None or not enemies[i, part].any()):
                    part.append(int(i))
                    break
            else:
                parts.append([int(i)])
        return [[int(items[i]) for i in part] for part in parts]


def no_limits(m: int) -> Limits:
    """Anything goes."""
    return Limits(np.zeros((0, n_words(m)), np.uint64))


def read_limits(model, m: int) -> Limits:
    """The limits that a model asks for, of a table with m permissions."""
    most = [0 if getattr(model, name) is None else whole(getattr(model, name), name, 1)
            for name in ("max_permissions_per_role", "max_roles_per_user")]  # fmt: skip
    pairs = _pairs(model, m)
    if not pairs:
        return Limits(no_limits(m).apart, *most)
    table = np.zeros((m, m), dtype=np.uint8) if m <= 1 << 14 else None
    if table is None:
        raise ValueError(f"separated takes tables with {1 << 14} permissions at most, X has {m}")
    for a, b in pairs:
        table[a, b] = table[b, a] = 1
    return Limits(pack_bits(table), *most)


def _pairs(model, m: int) -> list[tuple[int, int]]:
    """Pairs of column numbers, of numbers or names."""
    given = model.separated
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"separated must be a list of pairs of permissions, got {given!r}")
    names = getattr(model, "feature_names_in_", None)
    places = {} if names is None else {str(name): j for j, name in enumerate(names)}
    found = []
    for pair in given:
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(f"separated must hold pairs of permissions, got {pair!r}")
        a, b = (_place(one, places, m) for one in pair)
        if a == b:
            raise ValueError(f"separated: permission {column_name(model, a)} cannot be separated from itself")
        found.append((a, b))
    return found


def _place(one, places: dict[str, int], m: int) -> int:
    if isinstance(one, str):
        if one not in places:
            raise ValueError(f"separated names the permission {one!r}, which is no column of X")
        return places[one]
    j = whole(one, "separated", 0)
    if j >= m:
        raise ValueError(f"separated names the permission {j}, but X has {m} columns")
    return j


def refuse_contradictions(model, limits: Limits, access: Access) -> None:
    """Raise where a user cannot have what they hold within the limits, and name them."""
    if not limits.most_roles or not limits.shape_roles:
        return
    held = ones_in_rows(access.granted)
    room = limits.most_roles * limits.most_permissions
    if room and held.max(initial=0) > room:
        u = int(held.argmax())
        raise ValueError(
            f"the limits contradict each other: user {u} holds {held[u]} permissions, but max_roles_per_user="
            f"{limits.most_roles} roles of max_permissions_per_role={limits.most_permissions} hold {room} at most"
        )
    for u in range(len(held)):
        parts = limits.parts(access.ones.indices[access.ones.indptr[u] : access.ones.indptr[u + 1]])
        if len(parts) > limits.most_roles:
            some = ", ".join(column_name(model, part[0]) for part in parts[:5])
            raise ValueError(
                f"the limits contradict each other: user {u} holds permissions that need {len(parts)} roles (such as "
                f"{some}, each in one of its own), but max_roles_per_user={limits.most_roles}: raise it, or take some "
                "of these permissions from that user"
            )
