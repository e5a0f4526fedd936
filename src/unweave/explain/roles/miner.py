"""Find the fewest roles that explain exactly who holds what."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import whole
from unweave.explain.roles.access import Access, as_table
from unweave.explain.roles.base import RoleModel
from unweave.explain.roles.candidates import MINERS
from unweave.explain.roles.core import Core, closed, merge, plain_covers, reduce
from unweave.explain.roles.cover import MOST_CELLS, ExactCover, SearchedCover, Settled, first_cover, maximal_cliques
from unweave.explain.roles.edges import cover_by_candidates, fewest_edges
from unweave.explain.roles.grow import GrownCover
from unweave.explain.roles.improve import Improve
from unweave.explain.roles.limits import Limits, no_limits, read_limits, refuse_contradictions
from unweave.explain.roles.sides import Prices, Sides, some_users
from unweave.explain.roles.starts import formal_concepts, greedily
from unweave.explain.roles.tidy import assigned, edges, personal, tidied
from unweave.factorization.run import Run, fitting
from unweave.linalg.bits import Words, unpack
from unweave.linalg.roles import near_cells
from unweave.solve.certificate import counted
from unweave.solve.plan import Plan
from unweave.solve.scheme import Scheme


class RoleMiner(RoleModel):
    """X = U ⊗ Z with the fewest roles: every user holds exactly what their roles hold, nothing less and nothing more.

    Minimises k over U (n × k) and Z (k × m) of zeros and ones whose Boolean product, the OR of ANDs, is X. Users who
    hold the same are one, cells that are covered whenever another one is are forgotten, and roles that must be are
    taken until nothing changes (the *irreducible core* is left); that is covered by branch and bound on the linear
    programme over all its maximal roles where these can be listed, else by a search. Cells of which no two fit into
    one role prove how many are needed, so ``certificate_`` reads "34 roles; at least 34 are needed". Roles then lose
    what nobody needs from them, which makes few assignments. Use it to turn an export of who has which permission
    into roles; :class:`BooleanFactorization` for fewer roles with some errors.

    Parameters
    ----------
    objective : {"roles", "edges"}, default="roles"
        What is to be few: roles, or assignments of roles to users and of permissions to roles, |UA| + |PA|.
    candidates : {"auto", "fast", "complete"}, default="auto"
        "fast" and "complete" choose among what two users, or any users, have in common (FastMiner, CompleteMiner; at
        most 50 000 sets), so that every role is one that people share; "auto" is free to choose.
    max_roles : int, optional
        Most roles. Where an exact cover needs more, as much as so many roles can grant is granted, and never anything
        that is not held; ``objective_`` is then the number of grants that no role explains.
    max_roles_per_user, max_permissions_per_role : int, optional
        Limits for each user and each role.
    separated : list of pairs, optional
        Permissions (numbers or names of columns) that may never be in one role: separation of duty.
    binarize : float, optional
        Count entries above it as ones. Left out, anything but zeros and ones is refused.
    max_iter : int, default=50
        Most steps of a search, each of a fixed amount of work; branch and bound is one step.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    roles_ : array (k, m)
        What each role holds, zeros and ones; the role of most users first. Also ``components_``. Very large ones
        (beyond 2²⁷ entries) are sparse, as is ``assignments_`` then.
    assignments_ : array (n, k)
        Who has which role. Also ``codes_``.
    n_edges_ : int
        |UA| + |PA|.
    objective_ : float
        The number of roles (of assignments for "edges", of grants left over where `max_roles` binds).
    certificate_ : Certificate
        Its ``lower_bound`` holds for every answer, whatever the limits.
    n_iter_, history_, plan_

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import RoleMiner
    >>> X = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]])
    >>> model = RoleMiner().fit(X)
    >>> model.roles_
    array([[1, 1, 0, 0],
           [0, 0, 1, 1]], dtype=int32)
    >>> print(model.certificate_)
    2 roles; at least 2 are needed.
    >>> model.transform([[0, 0, 1, 1]])
    array([[0., 1.]])

    References
    ----------
    Ene, Horne, Milosavljevic, Rao, Schreiber and Tarjan (2008), Fast exact and heuristic methods for role minimization
    problems. Vaidya, Atluri and Warner (2006), RoleMiner. Gao, Weise and Li (2015), A weighting-based local search
    heuristic for the set covering problem.
    """

    def __init__(
        self,
        *,
        objective="roles",
        candidates="auto",
        max_roles=None,
        max_roles_per_user=None,
        max_permissions_per_role=None,
        separated=None,
        binarize=None,
        max_iter=50,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.objective = objective
        self.candidates = candidates
        self.max_roles = max_roles
        self.max_roles_per_user = max_roles_per_user
        self.max_permissions_per_role = max_permissions_per_role
        self.separated = separated
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
            self._check()
            access = self._read(X, reset=True)
            limits = read_limits(self, access.shape[1])
            refuse_contradictions(self, limits, access)
            run = Run(self, access.ones)
            core = reduce(merge(access))
            roles, least = self._mined(run, access, core, limits)
            most = self.max_roles
            if most is not None and len(roles) > most:
                self._best_of_few(run, access, core, limits, roles, max(least, 0))
            else:
                self._publish(access, core, roles, limits)
                self._close(run, access, least)
        return self

    def _check(self) -> None:
        if self.objective not in ("roles", "edges"):
            raise ValueError(f"objective={self.objective!r} is not known; use 'roles' or 'edges'")
        if self.candidates != "auto" and self.candidates not in MINERS:
            raise ValueError(f"candidates={self.candidates!r} is not known; use 'auto', {', '.join(map(repr, MINERS))}")
        if self.max_roles is not None:
            whole(self.max_roles, "max_roles", 1)

    def _mined(self, run: Run, access: Access, core: Core, limits: Limits) -> tuple[Words, int]:
        """Roles (bits over permissions) that cover the table, and how many are needed at least."""
        least = core.n_forced
        if limits.shape_roles:
            merged = merge(access, items_too=False)
            state = run.through(GrownCover(merged, merged.rows, limits), self._plan(access, core, "grown under limits"))
            roles = merged.spread(state["roles"])
            if limits.most_roles:
                roles = personal(*self._kinds(access, core), roles, limits)
            return roles, least + core.apart()
        scheme, how = self._scheme(core)
        state = run.through(scheme, self._plan(access, core, how))
        if "groups" in state:
            groups = state["groups"]
            own = groups.argmax(axis=1) if groups.size else np.zeros(0, np.int64)
            least += int(state["least"])
        else:
            own, least = core.first_role(state["roles"]), least + core.apart()
        roles = min(core.roles(own), *plain_covers(core.merged), key=len)
        if self.candidates != "auto":
            roles = cover_by_candidates(core.merged, MINERS[self.candidates])
        if self.objective == "edges":
            roles = fewest_edges(core.merged, roles)
        copies = np.bincount(core.merged.user_kinds)
        roles = core.merged.spread(closed(core.merged, roles) if self.objective == "roles" else roles)
        if self.candidates == "auto":
            roles = tidied(*self._kinds(access, core), roles, copies)
        if limits.most_roles:
            roles = personal(*self._kinds(access, core), roles, limits)
        return roles, least

    def _scheme(self, core: Core) -> tuple[Scheme, str]:
        """How the core is covered, and in words."""
        if not len(core.cells):
            return Settled(), "reduction alone"
        if len(core.cells) > MOST_CELLS:
            limits = no_limits(core.merged.shape[1])
            return GrownCover(core.merged, core.reduction.left, limits), "reduction, then roles grown greedily"
        near = near_cells(core.merged.rows, core.cells)
        cliques = maximal_cliques(near)
        if cliques is None:
            return SearchedCover(near, first_cover(core)), "reduction, then a weighted local search"
        return ExactCover(cliques, len(near)), "reduction, then branch and bound"

    def _plan(self, access: Access, core: Core, how: str) -> Plan:
        (n, m), (kinds, items) = access.shape, core.merged.shape
        ended = "" if core.whole else " (its budget of work came to an end)"
        return Plan(
            f"{n}×{m} table of grants, {access.ones.nnz} ones", how, "", "", "none needed",
            [
                f"{kinds} kinds of users and {items} kinds of permissions differ",
                f"the reduction takes {core.n_forced} roles that must be and leaves {len(core.cells)} cells{ended}",
            ],
        )  # fmt: skip

    def _kinds(self, access: Access, core: Core) -> tuple[Words, Words]:
        return access.granted[core.merged.users], access.denied[core.merged.users]

    def _publish(self, access: Access, core: Core, roles: Words, limits: Limits) -> None:
        (n, m), kinds = access.shape, core.merged.user_kinds
        copies = np.bincount(kinds)
        codes = assigned(*self._kinds(access, core), roles, limits.most_roles)
        order = np.argsort(-(codes.T.astype(np.int64) @ copies), kind="stable")
        roles, codes = (
            np.ascontiguousarray(roles[order]),
            assigned(*self._kinds(access, core), roles[order], limits.most_roles),
        )
        self.roles_ = as_table(unpack(roles, m), len(roles), m)
        self.assignments_ = as_table(codes[kinds], n, len(roles))
        self.n_edges_ = edges(roles, codes, copies)

    def _close(self, run: Run, access: Access, least: int) -> None:
        if self.objective == "edges":
            users, items = np.diff(access.ones.indptr) > 0, np.bincount(access.ones.indices, minlength=1) > 0
            run.close(float(self.n_edges_), counted("edges", int(users.sum() + items.sum()), self.n_edges_))
            return
        k = int(self.roles_.shape[0])
        run.close(float(k), counted("roles", least, k))

    def _best_of_few(self, run: Run, access: Access, core: Core, limits: Limits, roles: Words, least: int) -> None:
        """Publish the `max_roles` roles that grant most of what is held, and nothing else."""
        k, prices = self.max_roles, Prices(exact=True)
        sides, some = Sides(access, prices), some_users(access, k, run.rng)
        if limits.shape_roles or self.candidates != "auto":
            roles = greedily(sides, roles, k)[1]
        else:
            few, whole = (sides, None) if some is access else (Sides(some, prices), sides)
            state: Any = run.through(Improve(few, *formal_concepts(few, k), k, whole), self.plan_)
            roles = state["roles"]
        self.plan_.reasons.append(f"an exact cover needs more than max_roles={k}: grants are left over")
        self._publish(access, core, roles, limits)
        left = access.ones.nnz - int(np.count_nonzero(self.inverse_transform(self.assignments_)))
        run.close(float(left), counted("errors", least - k, left))

    def _codes(self, access: Access) -> NDArray:
        codes = assigned(access.granted, access.denied, self._role_words(), self.max_roles_per_user or 0)
        return as_table(codes, *codes.shape)
