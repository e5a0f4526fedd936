"""Write every row as a sum of few atoms of a dictionary that is given."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.compress.coding.methods import ANY_ENTRIES, BALL, LASSO, SPARSE, TITLES, Coder, Limits
from unweave.compress.coding.strength import strength_of, warn_if_nothing_is_left
from unweave.data.arguments import number, whole
from unweave.factorization.base import BaseFactorization
from unweave.objectives import Objective
from unweave.penalties import L1, Both, Fixed, L1Ball, Sparse
from unweave.penalties.base import Penalty
from unweave.solve.alternate import sides
from unweave.solve.certificate import Certificate, bounded, row_gaps
from unweave.solve.iterate import Loop
from unweave.solve.plan import Plan, describe
from unweave.solve.problem import Problem
from unweave.solve.scheme import FactorScheme
from unweave.updates import LeastSquares


class SparseCoder(BaseFactorization):
    """X ≈ U·D with sparse codes U on a dictionary D that is given.

    One of three questions, each row f of U on its own: min ½‖x − f·D‖² + λ‖f‖₁ (the lasso, with `strength` λ), or
    min ½‖x − f·D‖² with at most `n_nonzero` entries of f, or with ‖f‖₁ ≤ `radius`. The first and the last are convex,
    and every row comes with a proof of how close its code is (``gaps_``).

    Parameters
    ----------
    dictionary : array (k, m) or "cosines and spikes", default="cosines and spikes"
        Atoms as rows; their lengths are used as they are. The name stands for the m cosines of the discrete cosine
        transform and the m unit vectors.
    strength : float or "auto", default="auto"
        λ. "auto" is 1.2 times the root mean square of an entry of the table that `fit` sees (times that length of the
        atoms), so that c·X has the same supports as X; kept as ``strength_``.
    n_nonzero : int, optional
        Most nonzeros of a code, instead of a strength.
    noise : float, default=0
        With `n_nonzero`, a greedy method takes no more atoms into a code once the root mean square of what it leaves of
        the row is at most this.
    radius : float, optional
        Largest ‖f‖₁ of a code, instead of a strength.
    positive_code : bool, default=False
        Codes must not be negative (not with `n_nonzero`).
    method : str, default="auto"
        For a strength: "active-set" (exact, and the fastest), "coordinate", "block-coordinate", "fista", "ista",
        "lars", "subgradient". For n_nonzero: "joint-omp" (the atom that helps most together with those taken), "omp",
        "exact" (all supports are tried). For a radius: "ball" (exact), "fista", "ista". "auto" takes the first.
    missing : None, "nan", "zeros" or a Boolean mask, default=None
        As in :class:`unweave.Factorization`; methods are then "active-set", "fista", "ista", "subgradient", "omp" or
        "joint-omp".
    max_iter : int, default=1000
        Most sweeps of the iterative methods.
    tol : float, default=1e-6
        Iterative methods end where no code moves by more than this share; "coordinate" where the gap is below this
        share of ½‖x‖².
    callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    components_ : array (k, m)
        The dictionary.
    codes_ : array (n, k)
    gaps_ : array (n,) or None
        How far the objective of each row lies above its best, at most; None where the question is not convex.
    objective_, certificate_, history_, plan_, strength_

    Examples
    --------
    >>> import numpy as np, unweave
    >>> t = np.arange(32)
    >>> X = np.cos(np.pi * (t + 0.5) * 3 / 32)[None] + 2 * (t == 7)
    >>> coder = unweave.SparseCoder(n_nonzero=2).fit(X)
    >>> np.flatnonzero(coder.codes_[0]).tolist(), round(coder.objective_, 6)
    ([3, 39], 0.0)

    References
    ----------
    Tibshirani (1996), Regression shrinkage and selection via the lasso. Pati, Rezaiifar and Krishnaprasad (1993),
    Orthogonal matching pursuit. Chen, Donoho and Saunders (1998), Atomic decomposition by basis pursuit.
    """

    solver, init = "auto", "auto"  # what this model does not let its users choose

    def __init__(
        self,
        dictionary="cosines and spikes",
        *,
        strength="auto",
        n_nonzero=None,
        noise=0.0,
        radius=None,
        positive_code=False,
        method="auto",
        missing=None,
        max_iter=1000,
        tol=1e-6,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.dictionary = dictionary
        self.strength = strength
        self.n_nonzero = n_nonzero
        self.noise = noise
        self.radius = radius
        self.positive_code = positive_code
        self.method = method
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _cost_family(self, complete):
        return "parts" if complete else "holes"

    def _fit_objective(self, objective, learned, *given):
        self._atoms = atoms_of(self.dictionary, objective.shape[1], objective.dtype)
        if self.n_nonzero is None and self.radius is None:
            self.strength_ = strength_of(self.strength, objective, self._atoms)
        codes = super()._fit_objective(objective, learned, *given)
        del self._atoms
        return codes

    def _problem(self, loss, shape, mixed):
        penalty, family = self._question()
        self._method = self._chosen(family)
        return Problem(len(self._atoms), loss, penalty, Fixed(self._atoms))

    def _question(self) -> tuple[Penalty, dict]:
        """The penalty on a code, and the methods that answer for it."""
        if self.n_nonzero is not None and self.radius is not None:
            raise ValueError("n_nonzero and radius are two questions: give one of them")
        if self.n_nonzero is not None:
            if self.noise and self.method == "exact":
                raise ValueError("noise= is for greedy methods: leave it out, or use method='omp'")
            if self.positive_code:
                raise ValueError("positive_code=True needs a strength or a radius: leave n_nonzero out")
            return Sparse(whole(self.n_nonzero, "n_nonzero", 1)), SPARSE
        if self.radius is not None:
            ball = L1Ball(number(self.radius, "radius"))
            if ball.radius == 0:
                raise ValueError("radius must be above 0")
            return (Both("nonnegative", ball) if self.positive_code else ball), BALL
        lasso = L1(self.strength_)
        return (Both("nonnegative", lasso) if self.positive_code else lasso), LASSO

    def _chosen(self, family: dict) -> str:
        if self.method == "auto":
            return next(iter(family))
        if self.method not in family:
            asked = "n_nonzero" if family is SPARSE else "a radius" if family is BALL else "a strength"
            raise ValueError(f"method={self.method!r} does not answer for {asked}; use 'auto' or {', '.join(family)}")
        return self.method

    def _coder(self):
        return self._coder_of(self._sentence, self._full_components)

    def _coder_of(self, problem: Problem, D: NDArray) -> Coder:
        floor = number(self.noise, "noise") ** 2
        limits = Limits(whole(self.max_iter, "max_iter", 1), number(self.tol, "tol"), floor, D.shape[1])
        family = SPARSE if self.n_nonzero is not None else BALL if self.radius is not None else LASSO
        return Coder(self._method, family, sides(problem)[0], limits, D)

    def _codes(self, objective):
        self._need_entries(objective)
        return super()._codes(objective)

    def _need_entries(self, objective: Objective) -> None:
        if not objective.complete and self._method not in ANY_ENTRIES:
            raise ValueError(
                f"method={self._method!r} needs every entry of X; with missing entries use one of "
                f"{', '.join(ANY_ENTRIES)}"
            )

    def _plan(self, objective, problem, rng):
        self._need_entries(objective)
        plan = Plan(describe(objective, problem), "each row on its own", TITLES[self._method], "fixed", "none needed")
        scheme = Coding(objective, problem, self._coder_of(problem, self._atoms))
        return plan, scheme, scheme.begin()

    def _finish(self, objective, problem, scheme, state):
        self._full_components = self._atoms
        self._publish(problem, self._atoms)
        self.objective_ = float(self.history_.objective[-1])
        self.codes_, self.gaps_ = state.get("codes"), state.get("gaps")
        self.reconstruction_err_ = float(np.sqrt(2 * state["loss"]))
        self.certificate_ = scheme.certificate(state)
        if self.n_nonzero is None and self.radius is None:
            warn_if_nothing_is_left(state["used"] > 0, self.strength_, objective, "of a row with an atom")
        return self.codes_

    def _certify(self, X, weights=None):
        from unweave.objectives.opening import reopen_table
        from unweave.parallel import single_blas

        with single_blas():
            objective = reopen_table(self, X, self.missing, self._learned)
            scheme = Coding(objective, self._sentence, self._coder())
            self.certificate_ = scheme.certificate(scheme.step(scheme.begin())[0])
        return self.certificate_

    @property
    def partial_fit(self):
        raise AttributeError("the dictionary is given: SparseCoder has nothing to learn block by block; use fit")


def atoms_of(dictionary, n_columns: int, dtype) -> NDArray:
    """The dictionary that was given, checked, or made for that many columns."""
    if isinstance(dictionary, str):
        if dictionary != "cosines and spikes":
            raise ValueError(f"dictionary={dictionary!r} is not known; give atoms as rows, or 'cosines and spikes'")
        from scipy.fft import dct

        identity = np.eye(n_columns)
        return np.vstack([dct(identity, axis=0, norm="ortho"), identity]).astype(dtype)
    try:
        atoms = np.array(dictionary, dtype=dtype, order="C")
    except (TypeError, ValueError):
        raise ValueError("dictionary must be a table of numbers, atoms as rows") from None
    if atoms.ndim != 2 or not len(atoms):
        raise ValueError(f"dictionary must be a table with atoms as rows, got the shape {atoms.shape}")
    if atoms.shape[1] != n_columns:
        raise ValueError(
            f"dictionary has {atoms.shape[1]} columns, but X has {n_columns}: atoms must be as long as rows"
        )
    if not np.isfinite(atoms).all():
        raise ValueError("dictionary holds NaN or infinity: atoms must be finite numbers")
    return atoms


class Coding(FactorScheme):
    """The codes of all rows, once; the state holds them with their losses and how far each can be from its best."""

    left = LeastSquares()

    def __init__(self, objective: Objective, problem: Problem, coder: Coder):
        self.objective, self.problem, self.coder = objective, problem, coder

    def adapt(self, loop: Loop) -> Loop:
        return loop.once()

    def begin(self, rng=None) -> dict:
        return {"components": self.coder.components}

    def step(self, state):
        if self.objective.in_blocks:
            found, kept = self.objective.total(_coded, (self.coder, self.problem)), {}
        else:
            found, codes = _coded_here(self.objective, self.coder, self.problem)
            kept = {"codes": codes} | ({"gaps": found["gaps"][0]} if found["convex"] else {})
        facts = {name: found[name] for name in ("loss", "value", "used", "bound", "scale", "convex")}
        return {**state, **facts, **kept}, found["value"]

    def certificate(self, state: dict) -> Certificate:
        """The duality gap, summed over rows; none where supports were chosen greedily."""
        if not state["convex"]:
            return Certificate.none(state["value"])
        rounding = sum(self.objective.shape) * float(np.finfo(self.objective.dtype).eps) * state["scale"]
        return bounded("duality", state["bound"], state["value"], state["scale"], rounding=rounding)


def _coded(rows: Objective, told: tuple[Coder, Problem], own: None) -> tuple[dict, None]:
    found, _ = _coded_here(rows, *told)
    return {**found, "gaps": []}, None


def _coded_here(rows: Objective, coder: Coder, problem: Problem) -> tuple[dict, NDArray]:
    """Codes of rows in memory, and sums of what is known of them."""
    U = coder(rows)
    losses = rows.row_values(U, coder.components)
    values = losses + coder.half.row_values(U)
    gaps = None
    if problem.codes.convex:
        gaps = row_gaps(rows.rows_given(coder.components), U, coder.half, losses)
    bound = 0.0 if gaps is None else float(np.maximum(values - gaps, 0).sum())
    found = {
        "loss": float(losses.sum()), "value": float(values.sum()), "used": int(np.count_nonzero(U)), "bound": bound,
        "scale": 0.5 * rows.squares(), "convex": gaps is not None, "gaps": [] if gaps is None else [gaps],
    }  # fmt: skip
    return found, U
