"""Explain a table of zeros and ones by a given number of roles, with as few errors as possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.data.arguments import generator, number
from unweave.explain.roles.access import Access, as_table
from unweave.explain.roles.base import RoleModel
from unweave.explain.roles.core import merge, reduce
from unweave.explain.roles.description import choose_by_length
from unweave.explain.roles.improve import Improve
from unweave.explain.roles.sides import Prices, Sides, some_users
from unweave.explain.roles.starts import STARTS
from unweave.factorization.run import Run, fitting
from unweave.linalg.bits import unpack
from unweave.linalg.roles import cheapest_codes
from unweave.select.auto import chooses
from unweave.solve.certificate import counted
from unweave.solve.plan import Plan

_PROOF = 1 << 28  # words that the proof of the lower bound may look at
_USUAL = 64  # roles for which users are drawn from a large table while their number is chosen


class BooleanFactorization(RoleModel):
    """X ≈ U ⊗ Z with U and Z of zeros and ones: each row is the OR of the roles it has.

    Minimises missed · |ones that no role covers| + extra · |zeros that a role covers| over U (n × k) and Z (k × m).
    After a start that `method` names, rows and columns switch roles on and off in turns, and roles are exchanged,
    merged and split one at a time for as long as that lowers the objective. Where so many roles of so large a table
    take long, they are sought among users drawn at random, and suited to all in the end. Use it for tables of grants,
    purchases, symptoms, presence and absence, whose causes add up by OR; :class:`RoleMiner` for the fewest roles
    without errors.

    Parameters
    ----------
    n_components : int or "auto", default=2
        k. Roles that explain nothing are left out, so there may be fewer. "auto" takes the number that describes the
        table in the fewest bits (roles, who has them, and errors), kept as ``choice_``.
    method : {"auto", "association", "formal_concepts", "rounded_svd", "hamming_kmeans"}, default="auto"
        Where to begin. "association": rows of P(j' | j) above a threshold, taken greedily (ASSO). "formal_concepts":
        maximal blocks of ones, taken greedily (GreConD). "rounded_svd": singular vectors turned so that their largest
        entry is positive, above a share of it. "hamming_kmeans": groups with their medians; a permission that exactly
        half of a group holds is held. Thresholds are those of several that cost least on X. "auto" begins at the
        best of the first two and roles grown from single users.
    missed, extra : float, default=1.0
        What a false denial (a one that is missed) and a false grant (a zero that is covered) cost.
    exact : bool, default=False
        Never cover a zero: no extra permission is ever granted, in `transform` neither.
    missing : None, "nan" or a Boolean mask, default=None
        Entries that are not known cost nothing either way.
    binarize : float, optional
        Count entries above it as ones. Left out, anything but zeros and ones is refused.
    max_iter : int, default=30
        Most sweeps over all roles; 0 of them is not possible, and few are as a rule needed.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    roles_ : array (k, m)
        Zeros and ones; also ``components_``.
    assignments_ : array (n, k)
        Who has which role, as `transform` finds it; also ``codes_``.
    n_missed_, n_extra_ : int
        Ones that no role covers, and zeros that one does.
    objective_ : float
        Their cost.
    certificate_ : Certificate
        Every change of one entry makes at most one of the cells vanish that need roles of their own, so where L roles
        are proven necessary for an exact cover, k of them cost at least (L − k) · min(missed, extra).
    n_iter_, history_, plan_

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import BooleanFactorization
    >>> X = np.array([[1, 1, 0, 0], [0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0]])
    >>> model = BooleanFactorization(2).fit(X)
    >>> model.objective_, bool((model.inverse_transform(model.assignments_) == X).all())
    (0.0, True)

    References
    ----------
    Miettinen, Mielikäinen, Gionis, Das and Mannila (2008), The discrete basis problem. Belohlavek and Vychodil (2010),
    Discovery of optimal factors in binary data via a novel method of matrix decomposition.
    """

    def __init__(
        self,
        n_components=2,
        *,
        method="auto",
        missed=1.0,
        extra=1.0,
        exact=False,
        missing=None,
        binarize=None,
        max_iter=30,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.method = method
        self.missed = missed
        self.extra = extra
        self.exact = exact
        self.missing = missing
        self.binarize = binarize
        self.max_iter = max_iter
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @chooses
    def fit(self, X, y=None):
        """Find the roles of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of zeros and ones
        y : ignored
        """
        with fitting(self):
            start, prices, k = self._start(), self._prices(), self._number()
            access = self._read(X, reset=True)
            run = Run(self, access.ones, access.holes)
            sides, some = Sides(access, prices), some_users(access, k, run.rng)
            few = sides if some is access else Sides(some, prices)
            users, roles = start(few, k, run.rng)
            scheme = Improve(few, users, roles, k, None if some is access else sides)
            state = run.through(scheme, self._plan(access, sides, some))
            self._publish(access, sides, state)
            least = self._needed(some) - k  # what some users need, all need
            run.close(state["cost"], counted("errors", least * min(prices.missed, prices.extra), state["cost"]))
        return self

    def _choose_number(self, X, *args: Any, **more: Any):
        access = some_users(self._read(X, reset=True), _USUAL, generator(self.random_state))
        return choose_by_length(access, Sides(access, self._prices()), self._start(), self.random_state)

    def _start(self):
        if not isinstance(self.method, str) or self.method not in STARTS:
            raise ValueError(f"method={self.method!r} is not known; use one of {', '.join(STARTS)}")
        return STARTS[self.method]

    def _prices(self) -> Prices:
        missed, extra = number(self.missed, "missed"), number(self.extra, "extra")
        if not missed:
            raise ValueError("missed must be above 0: else no role is worth anything")
        if not isinstance(self.exact, bool | np.bool_):
            raise TypeError(f"exact must be True or False, got {self.exact!r}")
        return Prices(missed, extra, bool(self.exact))

    def _plan(self, access: Access, sides: Sides, some: Access) -> Plan:
        n, m = access.shape
        reasons = [f"{len(sides.rows.copies)} kinds of rows and {len(sides.columns.copies)} kinds of columns differ"]
        if some is not access:
            reasons.append(f"roles are sought among {some.shape[0]} rows drawn from all, and suited to all at the end")
        return Plan(
            f"{n}×{m} table of zeros and ones ≈ OR of {self._number()} roles",
            "rows, columns and roles exchanged in turns", "best flips", "best flips", self.method.replace("_", " "),
            reasons,
        )  # fmt: skip

    def _publish(self, access: Access, sides: Sides, state: dict) -> None:
        (n, m), roles = access.shape, state["roles"]
        self.roles_ = as_table(unpack(roles, m), len(roles), m)
        codes = sides.codes(sides.rows, state["users"])[sides.rows.kinds]
        self.assignments_ = as_table(codes, n, len(roles))
        self.n_missed_, self.n_extra_ = sides.errors(state["users"], roles)

    def _needed(self, access: Access) -> int:
        """How many roles an exact cover needs at least; with holes nothing is proven."""
        if access.holes is not None:
            return 0
        core = reduce(merge(access), _PROOF)
        return core.n_forced + core.apart()

    def _codes(self, access: Access):
        prices = self._prices()
        codes = cheapest_codes(
            access.granted, access.denied, self._role_words(), (prices.missed, prices.extra), exact=prices.exact
        )
        return as_table(codes, *codes.shape)
