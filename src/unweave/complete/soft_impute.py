"""The nuclear norm: complete a table by the matrix of least rank, as far as a convex problem can ask for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unweave.complete.nuclear_base import NuclearModel
from unweave.complete.nuclear_bound import MOST_PROVEN, duality_gap, proof_is_cheap
from unweave.complete.nuclear_closed import Shrunk
from unweave.complete.nuclear_path import (
    best_strength,
    candidates,
    given_path,
    held_out_path,
    hold_out,
    largest_strength,
    way_down,
)
from unweave.complete.nuclear_scheme import Impute
from unweave.complete.sparse_plus_low_rank import LowRank, Pattern, observed_entries
from unweave.factorization.base import penalties
from unweave.factorization.settings import generator, number, whole
from unweave.objectives.opening import reopen_table
from unweave.parallel import single_blas
from unweave.penalties import Ridge
from unweave.solve.alternate import left_half_step
from unweave.solve.certificate import Certificate
from unweave.solve.plan import Plan
from unweave.solve.problem import Problem
from unweave.solve.search import seed_of


class SoftImpute(NuclearModel):
    """min over M of ½ Σ_observed (x_ij − m_ij)² + τ‖M‖₊, the sum of the singular values: convex matrix completion.

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
    >>> from unweave.complete.soft_impute import SoftImpute
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
        most = self._most(objective.shape)
        self.strength_ = self._choose_strength(objective, most, seed_of(generator(self.random_state)))
        return super()._fit_objective(objective, learned)

    def _most(self, shape: tuple[int, int]) -> int:
        """The largest rank allowed."""
        return min(shape) if self.n_components is None else whole(self.n_components, "n_components", 1)

    def _plan(self, objective, problem, rng):
        most, seed = min(problem.n_components, *objective.shape), seed_of(rng)
        notes = [f"τ = {self.strength_:.6g}" + (", the best on held-out entries" if self.strength == "auto" else "")]
        if objective.complete:
            scheme: Shrunk | Impute = Shrunk(objective, self.strength_, most, seed)
            title, why = "singular-value shrinkage", "everything is observed: one shrinkage is the answer"
        else:
            entries = observed_entries(objective)
            strengths = way_down(largest_strength(entries), self.strength_, self.path)
            scheme = Impute(entries, strengths, most, tol=number(self.tol, "tol"), seed=seed)
            title = "soft-impute: singular-value shrinkage and alternating least squares"
            why = f"{len(strengths)} strengths, each from the answer to the last; sparse plus low rank, nothing dense"
        n, m = objective.shape
        kind = "" if objective.complete else "partly observed "
        sentence = f"{n}×{m} {kind}table ≈ M, squared loss + τ × nuclear norm of M, rank at most {most}"
        plan = Plan(sentence, title, "", "", "zeros", [*notes, why])
        return plan, scheme, scheme.begin()

    def _choose_strength(self, objective, most: int, seed: int) -> float:
        self.__dict__.pop("path_", None)  # of a former fit
        if not isinstance(self.strength, str):
            strength = number(self.strength, "strength")
            if not strength > 0:
                raise ValueError("strength must be above 0; a small one comes close to no penalty")
            return strength
        if self.strength != "auto":
            raise ValueError(f"strength={self.strength!r} must be a number or 'auto'")
        entries = observed_entries(objective)
        top = largest_strength(entries)
        if not top > 0:
            return 1.0  # a table of zeros
        parts = hold_out(entries, np.random.default_rng((seed, 1)))
        if parts is None:
            return 0.1 * top
        self.path_ = held_out_path(*parts, candidates(top, self.path), most, seed)
        return best_strength(self.path_)

    def _finish(self, objective, problem, scheme, state):
        self.rank_, self.singular_values_ = len(state["s"]), state["s"]
        if not hasattr(self, "path_"):
            done = state["stage"] + 1
            self.path_ = {"strength": np.array(scheme.strengths[:done]), "rank": state["path_rank"][:done]}
            self.path_["objective"] = state["path_objective"][:done]
        self._sentence = replace(problem, n_components=len(state["components"]))
        return super()._finish(objective, self._sentence, scheme, state)

    def _certificate(self, objective, problem, scheme, U, Z, rows):
        if objective.complete:
            return super()._certificate(objective, problem, scheme, U, Z, rows)
        entries = observed_entries(objective)
        return self._gap(entries, U, Z, self.objective_, proof_is_cheap(entries, len(Z), self.n_iter_))

    def certify(self, X):
        """The duality gap on the table of the fit, with a proven bound where the shorter side has up to 4096."""
        check_is_fitted(self)
        with single_blas():
            objective = reopen_table(self, X, self.missing, self._learned)
            if objective.complete:
                return super().certify(X)
            Z = self._full_components
            U = left_half_step(objective, self._sentence, self._left, Z)
            value = objective.accurate_value(U, Z) + penalties(self._sentence, U, Z)
            self.certificate_ = self._gap(observed_entries(objective), U, Z, value, min(objective.shape) <= MOST_PROVEN)
        return self.certificate_

    def _gap(self, entries: Pattern, U, Z, value: float, prove: bool) -> Certificate:
        return duality_gap(entries, LowRank.of_factors(U, np.ascontiguousarray(Z.T)), self.strength_, value, prove)
