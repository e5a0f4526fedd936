"""Explain a table of zeros and ones by a given number of roles, with as few errors as possible."""

from __future__ import annotations

import numpy as np

from unweave.data.arguments import number
from unweave.explain.roles.access import as_table
from unweave.explain.roles.base import RoleModel
from unweave.explain.roles.improve import Improve
from unweave.explain.roles.sides import Prices, Sides
from unweave.explain.roles.starts import STARTS
from unweave.factorization.run import Run, fitting
from unweave.linalg.bits import unpack
from unweave.linalg.roles import codes_of_rows
from unweave.solve.plan import Plan


class BooleanFactorization(RoleModel):
    """X ≈ U ⊗ Z with U and Z of zeros and ones: each row is the OR of the roles it has.

    (skeleton: the docstring is written with the rest)
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

    def fit(self, X, y=None):
        """Find the roles of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of zeros and ones
        y : ignored
        """
        with fitting(self):
            access = self._read(X, reset=True)
            run = Run(self, access.ones, access.holes)
            k = self._number()
            sides = Sides(access, self._prices())
            users, roles = self._start()(sides, k, run.rng)
            plan = Plan(f"{access.shape[0]}×{access.shape[1]} table of zeros and ones", "local search", "", "", "")
            state = run.through(Improve(sides, users, roles, k), plan)
            self._publish(access, state["roles"])
            run.close(state["cost"])
        return self

    def _start(self):
        if not isinstance(self.method, str) or self.method not in STARTS:
            raise ValueError(f"method={self.method!r} is not known; use one of {', '.join(STARTS)}")
        return STARTS[self.method]

    def _prices(self) -> Prices:
        return Prices(number(self.missed, "missed"), number(self.extra, "extra"), bool(self.exact))

    def _publish(self, access, roles) -> None:
        n, m = access.shape
        self.roles_ = as_table(unpack(roles, m), len(roles), m)
        self.assignments_ = self._codes(access)

    def _codes(self, access):
        prices = self._prices()
        codes = codes_of_rows(
            access.granted, access.denied, self._role_words(), (prices.missed, prices.extra), exact=prices.exact
        )
        return as_table(codes, *codes.shape)
