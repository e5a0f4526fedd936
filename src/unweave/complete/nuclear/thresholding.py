"""Complete a table whose entries are exact by the matrix of least nuclear norm that agrees with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.complete.nuclear.model import NuclearModel, positive_or_auto
from unweave.complete.nuclear.strengths import largest_strength
from unweave.data.arguments import number
from unweave.linalg.products import matmul
from unweave.penalties import Free, Ridge
from unweave.solve.certificate import Certificate
from unweave.solve.iterate import Loop
from unweave.solve.plan import Plan
from unweave.solve.problem import Problem
from unweave.solve.scheme import FactorScheme
from unweave.solve.search import seed_of
from unweave.solve.sparse_plus_low_rank import LowRankMatrix, ObservedEntries, leading, shrink
from unweave.updates import LeastSquares

_TIMES = 4.0  # τ over the largest singular value that X is likely to have
DENSE_SIDE = 128  # shorter side up to which Y is decomposed as an array
DENSE_ENTRIES = 1 << 22  # entries of the largest Y that is made an array when most of its singular values are wanted
_BLOCK, _SPARE = 8, 6  # columns of the first search, and columns beyond the rank that are kept to see it grow
_ROUNDS = 8  # of a search at most
_ACCURATE = 1e-4  # residual of the singular vectors, as a fraction of τ
_TRIES = 12  # shorter steps tried when the dual value falls


class SingularValueThresholding(NuclearModel):
    """Complete a table without noise by the M of least τ‖M‖₊ + ½‖M‖² with m_ij = x_ij where observed.

    When to use it: the observed entries are right and the table has low rank. Then M is the whole table, to the
    tolerance asked for, as soon as there are enough entries (some n·rank·log n of them, spread at random). With noise
    take :class:`SoftImpute`, which need not reproduce it. A large τ makes the term ½‖M‖² negligible.

    Sparse means unobserved here: stored entries are known, the rest is not (``missing="auto"``), and so is NaN in a
    dense table. Ascent in the dual: `history_` holds minus the dual value, which falls. `transform` finds the codes of
    rows by least squares on the components (with a ridge too small to see, for rows with few entries).

    Parameters
    ----------
    tau : float or "auto", default="auto"
        "auto" is 4 times the norm of the observed table over the share of entries observed.
    step : float or "auto", default="auto"
        Length of the steps in the dual; "auto" takes it from the last two slopes (Barzilai and Borwein). The
        classical choice is 1.2 · n · m / (number of entries observed).
    missing, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`, and ``missing="auto"``.
    max_iter : int, default=500
    tol : float, default=1e-5
        The fit settles when M misses the observed entries by this fraction of their norm; 0 runs `max_iter` steps.

    Attributes
    ----------
    components_ : array (rank, m)
    codes_ : array (n, rank)
    rank_ : int
    singular_values_ : array (rank,)
        Of M, as the loop left it.
    tau_ : float
    residual_ : float
        By what fraction of their norm codes · components misses the observed entries.
    certificate_ : Certificate
        Kind "dual": `lower_bound` is the dual value, below which no M that agrees with the entries can lie, and `gap`
        is `residual_`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import SingularValueThresholding
    >>> X = np.outer([1.0, 2, 3, 4, 5], [1.0, 2, 3, 4])
    >>> X[1, 2] = np.nan
    >>> model = SingularValueThresholding().fit(X)
    >>> round(float(model.inverse_transform(model.codes_)[1, 2]), 2), model.rank_
    (6.0, 1)

    References
    ----------
    Cai, Candès and Shen (2010), A singular value thresholding algorithm for matrix completion.
    """

    def __init__(
        self,
        tau="auto",
        *,
        step="auto",
        missing="auto",
        max_iter=500,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.tau = tau
        self.step = step
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _problem(self, loss, shape, mixed):
        return Problem(min(shape), loss, Free(), Free())

    def _plan(self, objective, problem, rng):
        entries = ObservedEntries.of(objective).in_double()  # a dual point adds up hundreds of steps
        top, share = largest_strength(entries), entries.nnz / (entries.shape[0] * entries.shape[1])
        usual = _TIMES * top / share if top > 0 else 1.0
        self.tau_ = positive_or_auto(self.tau, "tau") or usual
        step = positive_or_auto(self.step, "step")
        scheme = DualAscent(entries, self.tau_, top, step=step, tol=number(self.tol, "tol"), seed=seed_of(rng))
        n, m = entries.shape
        plan = Plan(
            f"{n}×{m} table, {100 * share:.3g} % observed: least τ × nuclear norm + ½‖M‖² that agrees with the entries",
            "singular-value thresholding (dual ascent)", "", "", "kicked start",
            [f"τ = {self.tau_:.6g}", "the dual has a number for each observed entry, and M is of low rank"],
        )  # fmt: skip
        return plan, scheme, scheme.begin()

    def _finish(self, objective, problem, scheme, state):
        self.rank_, self.singular_values_ = len(state["s"]), state["s"]
        least = float(state["s"][-1]) if self.rank_ else 1.0
        share = scheme.entries.nnz / (objective.shape[0] * objective.shape[1])
        # Rows with few entries leave their code open: a ridge far below the tolerance closes it.
        ridge = Ridge(strength=max(1e-3 * min(scheme.tol, 1e-5) * share * least, np.finfo(np.float64).tiny))
        components = np.ascontiguousarray(state["components"], dtype=objective.dtype)
        self._sentence = replace(problem, n_components=len(components), codes=ridge, components=ridge)
        return super()._finish(objective, self._sentence, scheme, {**state, "components": components})

    def _certificate(self, objective, problem, scheme, U, Z, rows):
        """Set the primal objective beside the dual value and the residual of the constraint."""
        entries, M = scheme.entries, LowRankMatrix.of_factors(U, np.ascontiguousarray(Z.T))
        self.objective_ = self.tau_ * float(M.s.sum()) + 0.5 * float(M.s @ M.s)
        missed = float(np.linalg.norm(entries.residual(M).astype(np.float64)))
        self.residual_ = missed / max(scheme.size, np.finfo(np.float64).tiny)
        return Certificate("dual", scheme.dual, self.residual_, scheme.exact, self.objective_)

    def certify(self, X):
        """Give the dual value and the residual of the constraint that the fit found, since nothing more can be had."""
        return self.certificate_


class DualAscent(FactorScheme):
    """Maximise g(Y) = ⟨Y, X⟩ − ½‖D(Y)‖² over Y on the observed entries, where D(Y) = U·(s − τ)₊·Vᵀ shrinks Y.

    g is the dual of min τ‖M‖₊ + ½‖M‖² subject to M = X where observed, M = D(Y) is the matrix that belongs to Y, and
    the slope of g is X − M on the observed entries: Y grows by a multiple of what M misses. Y is sparse, M of low rank.

    The step length is that of Barzilai and Borwein (``step=None``), or fixed. A step that lowers g is taken back and
    tried shorter; 1 is always short enough.

    References
    ----------
    Cai, Candès and Shen (2010), A singular value thresholding algorithm for matrix completion.
    Barzilai and Borwein (1988), Two-point step size gradient methods.
    """

    def __init__(self, entries: ObservedEntries, tau: float, top: float, *, step: float | None, tol: float, seed: int):
        self.entries, self.tau, self.top, self.given_step, self.tol, self.seed = entries, tau, top, step, tol, seed
        self.left = LeastSquares()
        self.size = float(np.linalg.norm(entries.values.astype(np.float64)))
        self.exact = True  # until a decomposition was only searched for
        self.dual = -np.inf  # the value reached, once the fit is finished
        self._seen: tuple[object, NDArray] | None = None

    @property
    def usual_step(self) -> float:
        """Give the classical step length: 1.2 over the share of entries that were observed."""
        return 1.2 * self.entries.shape[0] * self.entries.shape[1] / max(1, self.entries.nnz)

    def adapt(self, loop: Loop) -> Loop:
        """Let the loop end when the entries are met, whatever the dual value does."""
        return replace(loop, tol=None if loop.tol else 0.0)

    def begin(self, rng=None) -> dict:
        """Begin with as many first steps at once as leave D(Y) empty; the scheme has a seed of its own."""
        length = self.given_step or self.usual_step
        kick = np.ceil(self.tau / (length * self.top)) * length if self.top > 0 else 0.0
        own = np.random.default_rng((self.seed, 0))
        width = min(_BLOCK, *self.entries.shape)
        block = own.standard_normal((self.entries.shape[1], width)).astype(self.entries.dtype)
        Y = (kick * self.entries.values).astype(self.entries.dtype)
        return self._at(Y, np.linalg.qr(block)[0], float(length), 0)

    def step(self, state: dict) -> tuple[dict, float]:
        residual = self._residual(state)
        length = state["length"]
        for _ in range(_TRIES):
            Y = state["Y"] + self.entries.dtype.type(length) * residual
            new = self._at(Y, state["block"], length, state["turn"] + 1)
            if new["dual"] >= state["dual"] - 1e-10 * abs(state["dual"]):
                break
            length = max(1.0, length / 3) if length > 1 else length / 2
        else:
            return {**state, "stuck": True}, -state["dual"]  # rounding: there is nothing left to gain
        new["length"] = self._next_length(length, residual, self._residual(new))
        return new, -new["dual"]

    def settled(self, state: dict) -> bool:
        return bool(state["missed"] <= self.tol or state["stuck"])

    def finish(self, state: dict) -> dict:
        self.dual = float(state["dual"])
        codes, components = LowRankMatrix.of_state(state).padded().halves()
        return {**state, "codes": codes, "components": components}

    # -- one point of the dual -----------------------------------------------------------------------------------

    def _at(self, Y: NDArray, block: NDArray, length: float, turn: int) -> dict:
        M, block = self.threshold(Y, block, turn)
        residual = self.entries.residual(M)
        dual = float(Y.astype(np.float64) @ self.entries.values) - 0.5 * float(M.s @ M.s)
        missed = float(np.linalg.norm(residual.astype(np.float64))) / max(self.size, np.finfo(np.float64).tiny)
        self._seen = (M.U, residual)
        numbers = {"length": length, "turn": turn, "dual": dual, "missed": missed, "stuck": False}
        return {"Y": Y, "block": block, **M._asdict(), **numbers}

    def _residual(self, state: dict) -> NDArray:
        if self._seen is None or self._seen[0] is not state["U"]:
            self._seen = (state["U"], self.entries.residual(LowRankMatrix.of_state(state)))
        return self._seen[1]

    def _next_length(self, length: float, before: NDArray, after: NDArray) -> float:
        """Take ‖ΔY‖² / ⟨ΔY, Δslope⟩ from the last step, kept between 1 (always safe) and fifty times the usual."""
        if self.given_step is not None:
            return self.given_step
        b, a = before.astype(np.float64), after.astype(np.float64)
        bend = float(b @ (b - a))
        square = float(b @ b)
        most = 50 * self.usual_step
        return float(np.clip(length * square / bend, 1.0, most)) if bend > 0 else most

    # -- D(Y) ----------------------------------------------------------------------------------------------------

    def threshold(self, Y: NDArray, block: NDArray, turn: int) -> tuple[LowRankMatrix, NDArray]:
        """Shrink Y to D(Y), and give the right vectors from which the next search begins."""
        e, short = self.entries, min(self.entries.shape)
        for attempt in range(_ROUNDS):
            width = block.shape[1]
            if short <= DENSE_SIDE or (6 * width >= short and e.shape[0] * e.shape[1] <= DENSE_ENTRIES):
                return self._decomposed(Y), block
            self.exact = False
            U, s, V = self._search(Y, block)
            kept = int(np.count_nonzero(s > self.tau))
            if kept == width and width < short:
                block = self._wider(V, min(2 * width, short), (turn, attempt))
                continue
            missed = e.tdot(Y, U[:, :kept]) - V[:, :kept] * s[:kept].astype(V.dtype)
            block = V
            if not kept or np.linalg.norm(missed, axis=0).max() <= _ACCURATE * self.tau:
                break
        return LowRankMatrix(U, s, V).shrunk(self.tau), np.ascontiguousarray(block[:, : max(kept + _SPARE, _BLOCK)])

    def _decomposed(self, Y: NDArray) -> LowRankMatrix:
        array = self.entries.matrix(Y).toarray()
        return shrink(array, np.eye(array.shape[1], dtype=array.dtype), self.tau, min(array.shape))

    def _search(self, Y: NDArray, block: NDArray) -> LowRankMatrix:
        """Find the best triplets in the Krylov space of two multiplications from `block`."""
        e, blocks = self.entries, [block]
        for _ in range(2):
            blocks.append(np.linalg.qr(e.tdot(Y, e.dot(Y, blocks[-1])))[0])
        K = np.linalg.qr(np.hstack(blocks)[:, : e.shape[1]])[0]
        return leading(e.dot(Y, K), K, block.shape[1])

    def _wider(self, V: NDArray, width: int, turn: tuple[int, int]) -> NDArray:
        rng = np.random.default_rng((self.seed, 1, *turn))
        more = rng.standard_normal((len(V), width - V.shape[1])).astype(V.dtype)
        return np.linalg.qr(np.hstack([V, more - matmul(V, V.T @ more)]))[0]
