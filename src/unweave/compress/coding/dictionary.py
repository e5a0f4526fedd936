"""Learn a dictionary of atoms of which every row uses few."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from unweave.compress.coding.ksvd import KSVD
from unweave.compress.coding.strength import strength_of, warn_if_nothing_is_left
from unweave.compress.coding.sums import BatchSums
from unweave.data.arguments import number, whole
from unweave.factorization.base import BaseFactorization
from unweave.objectives.opening import open_table
from unweave.penalties import L1, Both, L2Ball, Sparse
from unweave.solve import certificate as certify
from unweave.solve.alternate import sides
from unweave.solve.plan import Plan, check_init, describe, given_start, make_plan
from unweave.solve.problem import Problem
from unweave.solve.start import choose_start, make_start
from unweave.updates import ActiveSet

_WITNESSES = 2048  # rows whose codes the certificate looks at
SOLVERS = ("auto", "online", "batch", "ksvd")
_PASSES = 64  # batches of a pass, of tables that are long enough
_LEAST = 512  # rows of a batch


class DictionaryLearning(BaseFactorization):
    """X ≈ U·Z with sparse codes U and atoms Z of length at most one: min ½‖X − U·Z‖² + λ‖U‖₁.

    With `n_nonzero` instead: at most so many nonzeros in each row of U, and no λ. Use it for patches of images, short
    stretches of sound and other rows that are sums of few things out of many: there may be more atoms than columns.

    Parameters
    ----------
    n_components : int, default=2
        Number of atoms.
    strength : float or "auto", default="auto"
        λ. "auto" is 1.2 times the root mean square of an entry, so that c·X has the same atoms as X and c times the
        codes; kept as ``strength_``.
    n_nonzero : int, optional
        Most nonzeros of a code, instead of a strength.
    positive_code, positive_dict : bool, default=False
        Codes, or atoms, must not be negative.
    solver : {"auto", "online", "batch", "ksvd"}, default="auto"
        "online" improves the atoms after every batch of rows, "batch" after a pass; with `n_nonzero` "ksvd", which
        improves each atom together with its codes, or "batch". "auto" takes the first that can do it.
    batch_size : int or "auto", default="auto"
        Rows of a batch of "online"; "auto" makes 64 of the table, of 512 rows at least.
    missing : None, "nan", "zeros" or a Boolean mask, default=None
        As in :class:`unweave.Factorization`; the solver is then "batch".
    init : str or array, default="auto"
        "rows" (some rows of X, drawn by chance), "svd", "random", "k-means++", or atoms to begin with.
    max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`; an iteration is a pass over the table.

    Notes
    -----
    There is no `sample_weight`. With `n_nonzero` fit to rows times the root of their weights: that is the same problem,
    and the atoms are those of the weighted rows. With a strength λ would have to grow with the root of the weight of
    its row: repeat rows of a larger weight instead.

    Attributes
    ----------
    components_ : array (k, m)
        Atoms.
    codes_ : array (n, k)
    objective_, n_iter_, history_, plan_, certificate_, strength_

    Examples
    --------
    >>> import numpy as np, unweave
    >>> rng = np.random.default_rng(0)
    >>> atoms = np.eye(6)[:3] + np.eye(6)[3:]
    >>> X = rng.exponential(size=(200, 3)) * (rng.random((200, 3)) < 0.4) @ atoms
    >>> model = unweave.DictionaryLearning(3, strength=0.1, random_state=0).fit(X)
    >>> bool(np.abs(model.components_ @ atoms.T / np.sqrt(2)).max(axis=0).min() > 0.99)
    True

    References
    ----------
    Olshausen and Field (1997), Sparse coding with an overcomplete basis set. Mairal, Bach, Ponce and Sapiro (2010),
    Online learning for matrix factorization and sparse coding. Aharon, Elad and Bruckstein (2006), K-SVD.
    """

    # more atoms than columns leave nothing to rank, and with fewer the penalty makes any such bound a poor one
    _bounded_by_rank = False

    def __init__(
        self,
        n_components=2,
        *,
        strength="auto",
        n_nonzero=None,
        positive_code=False,
        positive_dict=False,
        solver="auto",
        batch_size="auto",
        missing=None,
        init="auto",
        max_iter=200,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.strength = strength
        self.n_nonzero = n_nonzero
        self.positive_code = positive_code
        self.positive_dict = positive_dict
        self.solver = solver
        self.batch_size = batch_size
        self.missing = missing
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _fit(self, X, weights=None):
        self.__dict__.pop("strength_", None)
        return super()._fit(X, weights)

    def _fit_objective(self, objective, learned, *given):
        self._know_strength(objective)
        return super()._fit_objective(objective, learned, *given)

    def _know_strength(self, objective) -> None:
        if self.n_nonzero is None:
            self.strength_ = strength_of(self.strength, objective)

    def _problem(self, loss, shape, mixed):
        ball, k = L2Ball(), whole(self.n_components, "n_components", 1)
        atoms = Both("nonnegative", ball) if self.positive_dict else ball
        if self.n_nonzero is not None:
            if self.positive_code:
                raise ValueError("positive_code=True needs a strength: leave n_nonzero out")
            return Problem(k, loss, Sparse(min(whole(self.n_nonzero, "n_nonzero", 1), k)), atoms)
        lasso = L1(self.strength_)
        return Problem(k, loss, Both("nonnegative", lasso) if self.positive_code else lasso, atoms)

    def _plan(self, objective, problem, rng):
        check_init(self.init)
        solver, why = self._solver(objective)
        if solver == "alternating":
            plan, scheme, first = make_plan(objective, problem, "auto", self.init, rng)
            plan.reasons.append(why)
            if self.n_nonzero is None and self.strength_:
                # exact codes, however few the atoms: rough ones take twice the iterations
                scheme.left = ActiveSet()
                plan.codes = scheme.left.title
            return plan, scheme, first
        if self.init is not None and not isinstance(self.init, str):
            name, Z = "given", given_start(objective, problem, self.init)[1]
        else:
            name = choose_start(objective, problem)[0] if self.init in (None, "auto") else self.init
            Z = make_start(objective, problem, name, rng)[1]
        described = describe(objective, problem)
        if solver == "ksvd":
            pursuit = KSVD(objective, problem, number(self.tol, "tol"))
            plan = Plan(described, "K-SVD", pursuit.left.title, "power steps, each with its codes", name, [why])
            return plan, pursuit, pursuit.start(Z)
        batch = objective.shape[0] if solver == "batch" else self._batch(objective.shape[0])
        sums = BatchSums(objective, problem, batch)
        words = f"batches of {batch} rows, on sums over all" if batch < objective.shape[0] else "passes over the table"
        plan = Plan(described, words, sums.left.title, "atoms one by one", name, [why])
        return plan, sums, sums.start(Z, rng)

    def _solver(self, objective) -> tuple[str, str]:
        """Which of the schemes, and why."""
        if self.solver not in SOLVERS:
            raise ValueError(f"solver={self.solver!r} is not known; use one of {', '.join(SOLVERS)}")
        plain = objective.complete and not objective.in_blocks
        if self.solver in ("online", "ksvd") and not plain:
            raise ValueError(
                f"solver={self.solver!r} needs X as one table in memory with every entry observed; use solver='batch'"
            )
        if self.n_nonzero is not None:
            if self.solver == "online":
                raise ValueError("solver='online' needs a strength; with n_nonzero use solver='ksvd' or 'batch'")
            if not plain or self.solver == "batch" or self.positive_dict:
                return "alternating", "greedy codes and atoms in turn"
            return "ksvd", "codes of few nonzeros: each atom is improved together with them"
        if self.solver == "ksvd":
            raise ValueError("solver='ksvd' needs n_nonzero, the most nonzeros of a code")
        if not plain or not self.strength_:
            return "alternating", "codes and atoms in turn"
        if self.solver == "batch":
            return "batch", "as asked"
        return "online", "the atoms follow every batch: on sums that fade at first, on sums over all rows in the end"

    def _batch(self, n: int) -> int:
        if self.batch_size == "auto":
            return max(_LEAST, -(-n // _PASSES))
        if not isinstance(self.batch_size, Integral):
            raise TypeError(f"batch_size must be a whole number or 'auto', got {self.batch_size!r}")
        return whole(self.batch_size, "batch_size", 1)

    def _finish(self, objective, problem, scheme, state):
        codes = super()._finish(objective, problem, scheme, state)
        if self.n_nonzero is None and codes is not None:
            warn_if_nothing_is_left(bool(codes.any()), self.strength_, objective, "of a row with an atom")
        return codes

    def _certificate(self, objective, problem, scheme, U, Z, rows):
        # codes of some rows stand for all, which follow from the atoms in the same way
        some = np.unique(np.linspace(0, len(U) - 1, _WITNESSES).astype(np.int64))
        fewer = objective.take(some) if len(some) < len(U) else None
        if fewer is None or objective.in_blocks:
            return certify.stationarity(objective, problem, U, Z, self.objective_, rows)
        codes, atoms = sides(problem)
        models = (fewer.rows_given(Z), U[some], codes), (objective.columns_given(U), np.ascontiguousarray(Z.T), atoms)
        parts = [certify.unrest_parts(model, F, half, []) for model, F, half in models]
        residual = max(certify.unrest(part, self.objective_) for part in parts)
        return certify.Certificate("kkt", 0.0, residual, True, float(self.objective_))

    def partial_fit(self, X, y=None):
        """Learn from one more block of rows: the sums UᵀU and UᵀX of all blocks so far are kept (Mairal et al.).

        The first block decides what "auto" is as a strength.
        """
        if not hasattr(self, "components_") and self.n_nonzero is None:
            self._know_strength(open_table(self, X, self.missing, self._loss())[0])
        return super().partial_fit(X)
