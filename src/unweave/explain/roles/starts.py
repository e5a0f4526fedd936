"""Begin with roles: rounded singular vectors, Hamming k-means, the association matrix, formal concepts, or seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.explain.roles.improve import alternate, grown
from unweave.explain.roles.sides import Sides
from unweave.linalg.bits import Words, distinct, ones_in_rows, pack_bits, transpose, unpack
from unweave.linalg.roles import best_concept, gains_of_roles
from unweave.solve.svd import truncated_svd

Solution = tuple[Words, Words]  # who has each role, and what it holds
THRESHOLDS = (0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of the association matrix and of rounding that are tried
MOST_COLUMNS = 4096  # kinds of columns whose rows of the association matrix are candidates, at most,
_LOOK = 1 << 34  # and words that choosing k of these looks at, for all thresholds: some ten seconds
_TURNS = 50


def nobody(sides: Sides) -> Solution:
    """No role at all."""
    return np.zeros((0, sides.columns.ones.shape[1]), np.uint64), np.zeros((0, sides.rows.ones.shape[1]), np.uint64)


def seeded(sides: Sides, k: int, rng) -> Solution:
    """Roles one by one, each grown from the permissions of users with much left to explain."""
    return grown(sides, *nobody(sides), k, rng)


def association(sides: Sides, k: int, rng=None) -> Solution:
    """ASSO: candidates are the rows of P(j' | j) above a threshold, taken greedily; the best of several thresholds.

    Miettinen et al. (2008), The discrete basis problem. Of equal columns one stands for all.
    """
    shares = _shares(sides, max(2 * k, _affordable(sides, k)))
    return _cheapest(sides, (greedily(sides, pack_bits(shares >= limit), k) for limit in THRESHOLDS))


def _affordable(sides: Sides, k: int) -> int:
    """How many candidates may be looked at while k of them are chosen."""
    return min(MOST_COLUMNS, _LOOK // (len(THRESHOLDS) * k * sides.rows.ones.size))


def _shares(sides: Sides, most: int) -> NDArray[np.float64]:
    """P(j' | j): of those who hold j, what share holds j'; a row for each kind of column, those most held if many."""
    n = sides.shape[0]
    kinds = sides.columns.ones
    if len(kinds) > most:
        kinds = kinds[np.sort(np.argsort(-ones_in_rows(kinds), kind="stable")[:most])]
    some, every = (sp.csr_array(unpack(words, n)).astype(np.float64) for words in (kinds, sides.columns.ones))
    both = (some @ every.T).toarray()[:, sides.columns.kinds]
    return both / np.maximum(ones_in_rows(kinds), 1)[:, None]


def greedily(sides: Sides, candidates: Words, k: int) -> Solution:
    """Of some candidates the one that gains most, again and again."""
    candidates = candidates[distinct(candidates)[0]]
    users, roles = nobody(sides)
    side, prices = sides.rows, sides.prices
    gains = gains_of_roles(side, candidates, prices)
    while len(roles) < k:
        best = int(gains.argmax())
        if gains[best] <= 0:
            break
        role = candidates[best]
        good = np.bitwise_count(side.ones & role).sum(axis=1, dtype=np.int64)
        bad = np.bitwise_count(side.zeros & role).sum(axis=1, dtype=np.int64)
        pays = (prices.missed * good > prices.extra * bad) & (bad <= prices.most_extra)
        users, roles = np.vstack([users, pack_bits(pays[side.kinds][None])]), np.vstack([roles, role])
        gains -= gains_of_roles(side.some(pays), candidates, prices)  # of the others nothing changes
        side = side.less(np.where(pays[:, None], role, np.uint64(0)))
        gains += gains_of_roles(side.some(pays), candidates, prices)
    return users, roles


def formal_concepts(sides: Sides, k: int, rng=None) -> Solution:
    """GreConD: formal concepts one by one, each grown greedily to cover most of what is left; nothing extra is granted.

    Belohlavek and Vychodil (2010), Discovery of optimal factors in binary data.
    """
    side = sides.rows
    columns = transpose(side.ones, sides.shape[1])
    columns = columns[distinct(columns)[0]]
    columns = columns[ones_in_rows(columns) > 0]
    users, roles = nobody(sides)
    free = side.ones.copy()
    while len(roles) < k and len(columns):
        items, gain = best_concept(side.ones, free, side.copies, columns)
        if gain <= 0:
            break
        holds = ((side.ones & items) == items).all(axis=1)
        users, roles = np.vstack([users, pack_bits(holds[side.kinds][None])]), np.vstack([roles, items])
        free[holds] &= ~items
    return users, roles


def rounded_svd(sides: Sides, k: int, rng=None) -> Solution:
    """The first k right singular vectors, turned so that their largest entry is positive, above a share of it.

    The share is the one of several that costs least; users get roles at least cost.
    """
    X = sp.csr_array(unpack(sides.rows.ones, sides.shape[1])[sides.rows.kinds]).astype(np.float64)
    k = min(k, *sides.shape)
    vectors = truncated_svd(X, k).Vt
    vectors = vectors * np.sign(vectors[np.arange(k), np.abs(vectors).argmax(axis=1)])[:, None]
    top = np.maximum(vectors.max(axis=1, keepdims=True), np.finfo(float).tiny)
    return _cheapest(sides, (_with_users(sides, pack_bits(vectors >= share * top)) for share in THRESHOLDS))


def hamming_kmeans(sides: Sides, k: int, rng) -> Solution:
    """k-means under the Hamming distance: users are as many groups, and a role holds the median of its group.

    A median ties where half of the group holds a permission: then it is held, which costs as much with fewer denials.
    """
    side, m = sides.rows, sides.shape[1]
    ones, zeros = unpack(side.ones, m).astype(np.float64), unpack(side.zeros, m).astype(np.float64)
    k = min(k, len(ones))
    share = side.copies / side.copies.sum()
    roles = ones[rng.choice(len(ones), k, replace=False, p=share)]
    labels = np.full(len(ones), -1)
    for _ in range(_TURNS):
        missed, extra = ones.sum(axis=1)[:, None] - ones @ roles.T, zeros @ roles.T
        nearest = (sides.prices.missed * missed + sides.prices.extra * extra).argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
        own = sp.csr_array((side.copies.astype(float), (labels, np.arange(len(labels)))), shape=(k, len(labels)))
        held, lacked = sides.prices.missed * (own @ ones), sides.prices.extra * (own @ zeros)
        roles = np.where(held + lacked > 0, held >= lacked, roles).astype(np.float64)
    return _with_users(sides, pack_bits(roles))


def _with_users(sides: Sides, roles: Words) -> Solution:
    roles = roles[distinct(roles)[0]]
    return sides.users_of(roles), roles


def _cheapest(sides: Sides, found) -> Solution:
    """The first of those that cost least."""
    return min(found, key=lambda solution: sides.cost(*solution))


def best_start(sides: Sides, k: int, rng) -> Solution:
    """The best of association (where it takes seconds), concepts and seeds, each settled."""
    careful = replace(sides.prices, exact=True)
    found = [formal_concepts(sides, k), grown(sides, *nobody(sides), k, rng, careful), seeded(sides, k, rng)]
    if _affordable(sides, k) >= 2 * k:
        found = [association(sides, k), *found]
    return _cheapest(sides, (alternate(sides, *solution)[:2] for solution in found))


STARTS: dict[str, Callable[[Sides, int, np.random.Generator], Solution]] = {
    "auto": best_start,
    "rounded_svd": rounded_svd,
    "hamming_kmeans": hamming_kmeans,
    "association": association,
    "formal_concepts": formal_concepts,
}
