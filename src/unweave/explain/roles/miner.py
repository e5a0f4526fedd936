"""Find the fewest roles that explain exactly who holds what."""

from __future__ import annotations

import numpy as np

from unweave.explain.roles.access import Access, as_table
from unweave.explain.roles.base import RoleModel
from unweave.explain.roles.core import Core, merge, reduce
from unweave.explain.roles.cover import scheme_for
from unweave.explain.roles.tidy import assigned, edges, tidied
from unweave.factorization.run import Run, fitting
from unweave.linalg.bits import Words, unpack
from unweave.linalg.roles import near_cells
from unweave.solve.certificate import Certificate
from unweave.solve.plan import Plan
from unweave.solve.scheme import Scheme


class RoleMiner(RoleModel):
    """X = U ⊗ Z with the fewest roles: who has which role, such that roles grant exactly what is held.

    (skeleton: the docstring is written with the rest)
    """

    def __init__(
        self,
        *,
        binarize=None,
        max_iter=50,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.binarize = binarize
        self.max_iter = max_iter
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X, y=None):
        """Mine the roles of X.

        Parameters
        ----------
        X : array, sparse matrix or data frame of zeros and ones, users by permissions
        y : ignored
        """
        with fitting(self):
            access = self._read(X, reset=True)
            run = Run(self, access.ones)
            core = reduce(merge(access))
            plan = Plan(f"{access.shape[0]}×{access.shape[1]} access table", "reduction", "", "", "none needed")
            groups, least = np.zeros((0, 0), np.uint8), 0
            scheme: Scheme = scheme_for(near_cells(core.merged.rows, core.cells)) if len(core.cells) else Nothing()
            state = run.through(scheme, plan)
            groups, least = state["groups"], state["least"]
            roles = core.merged.spread(core.roles(groups))
            roles = tidied(*self._rows(access, core), roles, np.bincount(core.merged.user_kinds))
            self._publish(access, core, roles)
            self._close(run, core.n_forced + least)
        return self

    def _rows(self, access: Access, core: Core) -> tuple[Words, Words]:
        return access.granted[core.merged.users], access.denied[core.merged.users]

    def _publish(self, access, core, roles) -> None:
        codes = assigned(*self._rows(access, core), roles)
        self.roles_ = as_table(unpack(roles, access.shape[1]), len(roles), access.shape[1])
        self.assignments_ = as_table(codes[core.merged.user_kinds], access.shape[0], len(roles))
        self.n_edges_ = edges(roles, codes, np.bincount(core.merged.user_kinds))

    def _close(self, run, least) -> None:
        k = int(self.roles_.shape[0])
        run.close(float(k), Certificate("roles", float(least), (k - least) / max(1, least), True, float(k)))

    def _codes(self, access):
        return assigned(access.granted, access.denied, self._role_words()).astype(np.int32)


class Nothing(Scheme):
    """Nothing is left to do after the reduction."""

    ending = "the reduction left nothing to decide"

    def adapt(self, loop):
        return loop.once()

    def begin(self, rng=None):
        return {"groups": np.zeros((0, 0), np.uint8), "least": 0}

    def step(self, state):
        return state, 0.0
