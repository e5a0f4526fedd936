"""Hold out pairs of a table and count how many a model finds again: what recommenders choose their ridge by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.arguments import generator
from unweave.data.hold_out import part
from unweave.judge.ranking import hits_of
from unweave.linalg.scores import top_columns

LISTED = 10
SHARE = 0.1  # of the pairs is held out
_LEAST = 100  # pairs held out below which nothing can be told from them
_USERS = 2000  # that are asked about
_SCORES = 6  # scores a judgement may compute for each pair of the table


@dataclass(frozen=True)
class HeldOut:
    """A table less a tenth of its pairs, and what is asked about: these pairs, for some users and items.

    All items and all users who lost a pair and have one left, where that is no more work than fitting them; otherwise
    fewer users at random, and the items that most users have.
    """

    train: sp.csr_array
    users: NDArray
    items: NDArray
    seen: sp.csr_array
    lost: sp.csr_array

    @classmethod
    def of(cls, X: sp.csr_array, rng: np.random.Generator, least: int = 1 << 20) -> HeldOut | None:
        """None where there are too few pairs to tell anything; `least` scores may be computed in any case."""
        out = rng.random(X.nnz) < SHARE
        train, lost = part(X, ~out), part(X, out)
        asked = np.flatnonzero((np.diff(lost.indptr) > 0) & (np.diff(train.indptr) > 0))
        scores = max(_SCORES * X.nnz, least)
        few = int(np.clip(scores // X.shape[1], least >> 10, _USERS))
        if len(asked) > few:
            asked = np.sort(rng.choice(asked, few, replace=False))
        width = max(scores // max(len(asked), 1), 10 * LISTED)
        items = np.argsort(-np.bincount(train.indices, minlength=X.shape[1]), kind="stable")[:width]
        return cls._about(train, lost, asked, np.sort(items))

    @classmethod
    def _about(cls, train: sp.csr_array, lost: sp.csr_array, users: NDArray, items: NDArray) -> HeldOut | None:
        lost = lost[users][:, items]
        some = np.diff(lost.indptr) > 0
        users = users[some]
        found = cls(train, users, items, train[users][:, items], lost[some])
        return found if found.lost.nnz >= _LEAST else None

    def among(self, most: int) -> HeldOut | None:
        """The same question among the `most` items that most users have."""
        counts = np.bincount(self.train.indices, minlength=self.train.shape[1])[self.items]
        items = np.sort(np.argsort(-counts, kind="stable")[:most])
        lost = self.lost[:, items]
        some = np.diff(lost.indptr) > 0
        found = HeldOut(self.train, self.users[some], self.items[items], self.seen[some][:, items], lost[some])
        return found if found.lost.nnz >= _LEAST else None

    def gains(self, codes, components) -> NDArray:
        """NDCG@10 of each user's list, from codes (of these users) and components (of these items)."""
        return self.gains_at(codes, components, LISTED)[0]

    def gains_at(self, codes, components, *lengths: int) -> list[NDArray]:
        """The same for lists of several lengths."""
        lists, _ = top_columns(codes, components, max(lengths), seen=self.seen)
        return [hits_of(lists[:, :length], self.lost, length).gain() for length in lengths]


def worse(gains: NDArray, best: NDArray) -> bool:
    """Whether gains of the same users are below the best by more than chance (two standard errors)."""
    fall = best - gains
    return float(fall.mean()) > 2 * float(fall.std()) / max(len(fall), 1) ** 0.5


def peak(gains: dict[float, float]) -> float:
    """Where gains are largest: the top of a parabola in log λ through the best strength and its two neighbours.

    >>> peak({1.0: 0.2, 2.0: 0.3, 4.0: 0.2})
    2.0
    """
    tried = np.array(sorted(gains))
    values = np.array([gains[one] for one in tried.tolist()])
    best = int(values.argmax())
    if best in (0, len(tried) - 1):
        return float(tried[best])
    x, y = np.log(tried[best - 1 : best + 2] / tried[best]), values[best - 1 : best + 2] - values[best]
    low, high = y[0] / x[0], y[2] / x[2]  # slopes on either side of the top
    bend = (high - low) / (x[2] - x[0])
    return float(tried[best] * np.exp(-(low - bend * x[0]) / (2 * bend))) if bend < 0 else float(tried[best])


def held_out_generator(random_state) -> np.random.Generator:
    """What draws the pairs held out: from a seed where one is given; a generator is not drawn from."""
    seeded = random_state is None or isinstance(random_state, int | np.integer)
    return generator(random_state if seeded else 0)
