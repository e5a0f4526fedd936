"""Complete a table with noise by the matrix of least rank, as far as a convex problem can ask for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from unweave.complete.nuclear.model import NuclearModel, positive_or_auto
from unweave.complete.nuclear.strengths import (
    best_strength,
    candidates,
    given_path,
    held_out_path,
    largest_strength,
    way_down,
)
from unweave.data.arguments import generator, number, whole
from unweave.data.table import refuse_blocks
from unweave.factorization.base import penalties
from unweave.linalg.operators import small_gram
from unweave.linalg.sparse import SparseProduct
from unweave.objectives import Objective
from unweave.objectives.opening import reopen_table
from unweave.parallel import single_blas
from unweave.penalties import Ridge
from unweave.solve.alternate import left_half_step
from unweave.solve.certificate import Certificate, bounded, dual_scale
from unweave.solve.iterate import Loop
from unweave.solve.plan import Plan
from unweave.solve.problem import Problem
from unweave.solve.scheme import FactorScheme
from unweave.solve.search import seed_of
from unweave.solve.soft_impute import SoftImputeScheme
from unweave.solve.sparse_plus_low_rank import LowRankMatrix, ObservedEntries
from unweave.solve.svd import truncated_svd
from unweave.updates import LeastSquares

MOST_PROVEN = 4096  # shorter side of the largest table whose bound is proven: a Gram of 128 MB
_KRYLOV_BLOCKS = 60  # of the Krylov method at most
_MARGINS = (1e-7, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 1e-2)
_FIRST = 16  # singular values asked for at first; four times as many while all of them survive


class SoftImpute(NuclearModel):
    """Complete a table by the M of least ½ Σ_observed (x_ij − m_ij)² + τ‖M‖₊, the sum of M's singular values.

    When to use it: the table has low rank, nobody knows which, and the answer should carry a proof. There is one best
    M, whatever the start, and `certificate_` says how far this one can be from it. For ratings with biases,
    :class:`unweave.MatrixCompletion` predicts better; centre the columns first if they have means.

    Sparse means unobserved here: stored entries are known, the rest is not (``missing="auto"``), and so is NaN in a
    dense table. M = codes · components with codes U√s and components √sVᵀ, whose ridges ½τ(‖U‖² + ‖Z‖²) add up to
    τ‖M‖₊; so `transform` is a ridge regression on the components. No n×m array is made: the iterates are the residual
    on the observed entries plus a matrix of low rank.

    Parameters
    ----------
    n_components : int, optional
        The largest rank allowed; None leaves it to τ. With a limit that binds the problem is no longer convex, and the
        certificate still compares with the best of any rank.
    strength : float or "auto", default="auto"
        τ, in the units of X; "auto" holds a tenth of the entries out, takes the largest of a falling row whose error
        on them is within a hundredth of the least, then fits on all.
    path : int or sequence of float, optional
        Strengths to visit, each from the answer to the last: how many on the way down to τ (None: each a third of the
        last), or which. With ``strength="auto"`` these are the candidates (None: 16 from half the norm of the observed
        table down to 1e-5 of it; the search ends early when the error rises).
    missing : None, "nan", "zeros", "auto" or mask, default="auto"
        What was not observed, as in :class:`unweave.Factorization`.
    max_iter : int, default=300
        Steps along the whole path.
    tol : float, default=1e-4
        The fit settles when its duality gap is this fraction of the objective, or when a step lowers the objective by
        less than a hundredth of it; 0 runs `max_iter` steps.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    components_ : array (rank, m)
    codes_ : array (n, rank)
    rank_ : int
        Rank of M (0 when τ leaves nothing; there is one component, of zeros, then).
    singular_values_ : array (rank,)
        Of M, as the loop left it.
    strength_ : float
        The τ used.
    path_ : dict of arrays
        "strength", "rank" and "objective" for every τ visited; with ``strength="auto"`` those tried on held-out
        entries, with the root mean square of their errors in "held_out_error".
    certificate_ : Certificate
        The duality gap; exact where the norm of the residual is proven to be no larger than assumed.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import SoftImpute
    >>> X = np.outer([1.0, 2, 3, 4], [1.0, 2, 3])
    >>> X[1, 2] = np.nan
    >>> model = SoftImpute(strength=0.01).fit(X)
    >>> round(float(model.inverse_transform(model.codes_)[1, 2]), 1), model.rank_
    (6.0, 1)

    References
    ----------
    Mazumder, Hastie and Tibshirani (2010), Spectral regularization algorithms for learning large incomplete matrices.
    Hastie, Mazumder, Lee and Zadeh (2015), Matrix completion and low-rank SVD via fast alternating least squares.
    """

    def __init__(
        self,
        n_components=None,
        *,
        strength="auto",
        path=None,
        missing="auto",
        max_iter=300,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.strength = strength
        self.path = path
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _problem(self, loss, shape, mixed):
        ridge = Ridge(strength=self.strength_)
        return Problem(self._most(shape), loss, ridge, ridge)

    def _fit_objective(self, objective, learned):
        given_path(self.path)
        self.strength_, tried = self._choose_strength(objective)
        codes = super()._fit_objective(objective, learned)
        if tried is not None:
            self.path_ = tried
        return codes

    def _most(self, shape: tuple[int, int]) -> int:
        """Find the largest rank allowed."""
        return min(shape) if self.n_components is None else whole(self.n_components, "n_components", 1)

    def _plan(self, objective, problem, rng):
        most, seed = min(problem.n_components, *objective.shape), seed_of(rng)
        notes = [f"τ = {self.strength_:.6g}" + (", the best on held-out entries" if self.strength == "auto" else "")]
        if objective.complete:
            scheme: Shrunk | SoftImputeScheme = Shrunk(objective, self.strength_, most, seed)
            title, why = "singular-value shrinkage", "everything is observed: one shrinkage is the answer"
        else:
            entries = ObservedEntries.of(objective)
            strengths = way_down(largest_strength(entries), self.strength_, self.path)
            scheme = SoftImputeScheme(entries, strengths, most, tol=number(self.tol, "tol"), seed=seed)
            title = "soft-impute: singular-value shrinkage and alternating least squares"
            why = f"{len(strengths)} strengths, each from the answer to the last; sparse plus low rank, nothing dense"
        n, m = objective.shape
        kind = "" if objective.complete else "partly observed "
        sentence = f"{n}×{m} {kind}table ≈ M, squared loss + τ × nuclear norm of M, rank at most {most}"
        plan = Plan(sentence, title, "", "", "zeros", [*notes, why])
        return plan, scheme, scheme.begin()

    def _choose_strength(self, objective: Objective) -> tuple[float, dict | None]:
        """Choose the strength, and give what was tried on held-out entries to find it."""
        given = positive_or_auto(self.strength, "strength")
        if given is not None:
            return given, None
        most, seed = self._most(objective.shape), seed_of(generator(self.random_state))
        top = largest_strength(ObservedEntries.of(objective))
        if not top > 0:
            return 1.0, None  # a table of zeros
        tried = held_out_path(objective, candidates(top, self.path), most, seed)
        return (0.1 * top, None) if tried is None else (best_strength(tried), tried)

    def _finish(self, objective, problem, scheme, state):
        self.rank_, self.singular_values_ = len(state["s"]), state["s"]
        done = state["stage"] + 1
        self.path_ = {
            "strength": np.array(scheme.strengths[:done]),
            "rank": state["path_rank"][:done],
            "objective": state["path_objective"][:done],
        }
        self._sentence = replace(problem, n_components=len(state["components"]))
        return super()._finish(objective, self._sentence, scheme, state)

    def _certificate(self, objective, problem, scheme, U, Z, rows):
        if objective.complete:
            return super()._certificate(objective, problem, scheme, U, Z, rows)
        entries = ObservedEntries.of(objective)
        return self._gap(entries, U, Z, self.objective_, proof_is_cheap(entries, len(Z), self.n_iter_))

    def certify(self, X):
        """Find the duality gap on the table of the fit, with a proven bound where the shorter side has up to 4096."""
        check_is_fitted(self)
        refuse_blocks(self, X)
        with single_blas():
            objective = reopen_table(self, X, self.missing, self._learned)
            if objective.complete:
                return super().certify(X)
            Z = self._full_components
            U = left_half_step(objective, self._sentence, self._left, Z)
            value = objective.accurate_value(U, Z) + penalties(self._sentence, U, Z)
            entries, proven = ObservedEntries.of(objective), min(objective.shape) <= MOST_PROVEN
            self.certificate_ = self._gap(entries, U, Z, value, proven)
        return self.certificate_

    def _gap(self, entries: ObservedEntries, U, Z, value: float, prove: bool) -> Certificate:
        M = LowRankMatrix.of_factors(U, np.ascontiguousarray(Z.T))
        return duality_gap(entries, M, self.strength_, value, prove)


# -- tables that are observed throughout -------------------------------------------------------------------------------


class Shrunk(FactorScheme):
    """Shrink a table that is observed throughout: ½‖X − M‖² + τ‖M‖₊ is least at U·(s − τ)₊·Vᵀ, in one step.

    :class:`unweave.solve.closed.ClosedForm` must be told how many components to find; here τ decides, so a few singular
    values are found first and more while all survive (2000×1500 of rank 10: 0.6 s beside 4.4 s for all of them).

    Reference: Cai, Candès and Shen (2010), A singular value thresholding algorithm for matrix completion, theorem 2.1.
    """

    def __init__(self, objective: Objective, tau: float, most: int, seed: int):
        self.objective, self.most, self.seed = objective, most, seed
        self.strengths, self.left = [tau], LeastSquares()

    def adapt(self, loop: Loop) -> Loop:
        return loop.once()

    def begin(self, rng=None) -> dict:
        return {}

    def step(self, state: dict) -> tuple[dict, float]:
        table, k, tau = self.objective.matrix, min(_FIRST, self.most), self.strengths[0]
        svd = truncated_svd(table, k, rng=self.seed)
        while svd.s[-1] > tau and k < self.most:
            k = min(4 * k, self.most)
            svd = truncated_svd(table, k, rng=self.seed)
        assert svd.U is not None
        s = svd.s.astype(np.float64)
        M = LowRankMatrix(svd.U, s, np.ascontiguousarray(svd.Vt.T)).shrunk(tau)
        left = max(svd.total - float(s[: M.rank] @ s[: M.rank]), 0.0)
        value = 0.5 * left + 0.5 * M.rank * tau**2 + tau * float(M.s.sum())
        path = {"stage": 0, "path_rank": np.array([M.rank]), "path_objective": np.array([value])}
        return {**path, **M._asdict()}, value

    def finish(self, state: dict) -> dict:
        codes, components = LowRankMatrix.of_state(state).padded().halves()
        return {**state, "codes": codes, "components": components}


# -- the certificate ---------------------------------------------------------------------------------------------------


def norm_bound(product: SparseProduct, prove: bool) -> tuple[float, bool]:
    """Find (ρ, proven) such that ‖R‖₂, the largest singular value of a sparse R, is at most ρ.

    The block Krylov method comes from below. ρ lies a little above what it found, and is proven when the Cholesky
    factorisation of ρ²I − RᵀR exists. Without proof ρ is an estimate.

    >>> import numpy as np, scipy.sparse as sp
    >>> rho, proven = norm_bound(SparseProduct(sp.csr_array(np.diag([3.0, 1.0]))), True)
    >>> round(rho, 6), proven
    (3.0, True)
    """
    # Singular values of a residual crowd below τ: a loose tolerance would stop among them.
    found = float(truncated_svd(product, 1, method="krylov", codes=False, tol=1e-8, max_iter=_KRYLOV_BLOCKS).s[0])
    if not prove or not found > 0:
        return found * (1 + 1e-6), False
    G, _ = small_gram(product, None)
    for margin in _MARGINS:
        rho = found * (1 + margin)
        if _is_below(G, rho):
            return rho, True
    return float(np.sqrt(np.linalg.norm(G, 1))), True  # the largest row sum bounds every eigenvalue


def _is_below(G: np.ndarray, rho: float) -> bool:
    """Tell whether ρ²I − G is positive definite."""
    shifted = -G
    shifted[np.diag_indices(len(G))] += rho**2
    return not linalg.lapack.dpotrf(shifted, lower=1, overwrite_a=1)[1]


def proof_is_cheap(entries: ObservedEntries, rank: int, n_iter: int) -> bool:
    """Tell whether the proof costs at most a tenth of the fit, in operations, so that the answer never varies."""
    short = min(entries.shape)
    if short > MOST_PROVEN:
        return False
    proof = short**3 + float(entries.nnz) ** 2 / max(entries.shape)
    fit = n_iter * entries.nnz * (2.0 * rank * rank + 100.0)
    return proof <= max(0.1 * fit, 2e8)


def duality_gap(entries: ObservedEntries, M: LowRankMatrix, tau: float, value: float, prove: bool) -> Certificate:
    """Bound ½ Σ_observed (x − m)² + τ‖M‖₊ from below by its dual.

    The dual is max ⟨Y, X⟩ − ½‖Y‖² over all Y on the observed entries with ‖Y‖₂ ≤ τ.
    Y is the residual, scaled down by a bound of its norm. The certificate is exact where that bound is proven.
    """
    r = entries.residual(M).astype(np.float64)
    x = entries.values.astype(np.float64)
    square, inner = float(r @ r), float(r @ x)
    norm, proven = norm_bound(SparseProduct(entries.matrix(r)), prove)
    c = dual_scale(inner, square, tau, norm)
    return bounded("duality", c * inner - 0.5 * c * c * square, value, 0.5 * float(x @ x), proven)
