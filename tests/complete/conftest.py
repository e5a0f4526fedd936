"""A small table of ratings with odd ids, and models of it."""

from __future__ import annotations

import numpy as np
import pytest

from unweave import MatrixCompletion
from unweave.complete.ratings import ratings

USERS, ITEMS = 40, 25


def triples(rng, n=300, user=lambda i: ("user", i), item=lambda j: f"item {j}"):
    pairs = rng.choice(USERS * ITEMS, n, replace=False)
    taste, kind = rng.standard_normal((USERS, 2)), rng.standard_normal((2, ITEMS))
    stars = np.clip(np.rint(3 + (taste @ kind).ravel()[pairs]), 1, 5)
    return {"u": [user(p // ITEMS) for p in pairs], "i": [item(p % ITEMS) for p in pairs], "v": stars}


@pytest.fixture(scope="module")
def table():
    return ratings(triples(np.random.default_rng(0)), user="u", item="i", value="v")


@pytest.fixture(scope="module")
def model(table):
    return MatrixCompletion(3, ridge=2.0, tol=1e-9, max_iter=500).fit(table)


@pytest.fixture(scope="module")
def plain(table):
    """The same table without ids."""
    return MatrixCompletion(3, ridge=2.0, tol=1e-9, max_iter=500).fit(table.X)
