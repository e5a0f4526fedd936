"""Unmix signals into independent sources (independent component analysis)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.compress.ica.contrasts import Contrast, contrast_of
from unweave.compress.ica.deflation import Deflation
from unweave.compress.ica.likelihood import Likelihood
from unweave.compress.ica.rotations import Ascent, Parallel, Unmixing, random_rotation, roughly_unmixed
from unweave.compress.ica.rows import Rows, Whitened, WhitenedBlocks, Whitening, whitening
from unweave.compress.ica.sources import told, warn_of_noise
from unweave.compress.pca import PCA, Projected
from unweave.data.arguments import number
from unweave.factorization.base import BaseFactorization
from unweave.linalg.products import matmul
from unweave.objectives.opening import reopen_table
from unweave.parallel import single_blas
from unweave.penalties import Free
from unweave.select.auto import chooses
from unweave.solve.certificate import Certificate
from unweave.solve.plan import Plan
from unweave.solve.problem import Problem

SOLVERS: dict[str, tuple[type[Unmixing], str]] = {
    "parallel": (Parallel, "FastICA, all sources at once"),
    "deflation": (Deflation, "FastICA, one source after the other"),
    "likelihood": (Likelihood, "maximum likelihood by preconditioned L-BFGS"),
    "ascent": (Ascent, "projected gradient ascent"),
}


class ICA(BaseFactorization):
    """X ≈ mean + S·Aᵀ with sources S (columns) as independent as can be: blind separation of mixed signals.

    Rows are moments, columns are recordings. They are whitened as by PCA; then that rotation of them is sought whose
    coordinates are the least Gaussian, max Σ_j |E[G(s_j)] − E[G(ν)]| with ν a standard Gaussian, or the matrix under
    which they are most likely (``solver="likelihood"``). Use it where several causes that know nothing of each other
    add up in every column: voices in microphones, artefacts in recordings of the brain. PCA finds axes that are
    uncorrelated, which leaves any rotation open; ICA fixes it.

    Neither the order nor the sign nor the size of sources is in the data. Here they have variance one (divisor n), come
    from the least Gaussian on, and the largest loading of each (a column of ``mixing_``) is positive, so that two fits
    that find the same sources give the same columns. Gaussian sources cannot be separated: where more than one is not
    told from chance, a warning says so, and ``gaussian_`` says which.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        How many sources, at most the rank of the centred table; None takes that rank. "auto" takes PCA's number, see
        :func:`unweave.select.auto_count`. The axes of least variance are left out first.
    solver : {"auto", "parallel", "deflation", "likelihood", "ascent"}, default="auto"
        FastICA for all sources at once (which is "auto") or one after the other; maximum likelihood with a density for
        peaked and one for flat sources (extended Infomax), in steps of a preconditioned quasi-Newton method, for which
        sources need not be uncorrelated; projected gradient ascent, the plain and slow reference.
    contrast : {"log-cosh", "exp", "cube"}, default="log-cosh"
        G: log cosh s, −exp(−s²/2) for very heavy tails, or s⁴/4 (kurtosis; not with "likelihood").
    max_iter : int, default=200
        Passes over the table; for "deflation" those for each source.
    tol : float, default=1e-4
        Largest turn (radians) of a source in the step to come; for "deflation" in the last one, for "likelihood" and
        "ascent" the largest entry of the gradient.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`. The start is a random rotation, improved on a sample of a long table.

    Notes
    -----
    There is no `sample_weight`: every moment of a recording counts alike. Leave out moments that should not count (a
    click, a pause), and fit to the rest.

    Attributes
    ----------
    components_ : array (k, m)
        The unmixing matrix: sources are (X − mean)·components_ᵀ.
    mixing_ : array (m, k)
        A, its pseudo-inverse: column j says how strong source j is in every column.
    mean_ : array (m,)
    whitening_ : array (k, m)
        The map to whitened columns.
    negentropy_ : array (k,)
        (E[G(s_j)] − E[G(ν)])², falling.
    gaussian_ : array (k,) of bool
        Sources no less Gaussian than chance would make them.
    codes_ : None
        Sources are not kept; ``transform`` gives them.
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`; the objective is minus the sum above (minus the mean log-likelihood, up to
        a constant), and the certificate says how far from stationary it is.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import ICA
    >>> moments = np.linspace(0, 8, 2000)
    >>> sources = np.column_stack([np.sign(np.sin(3 * moments)), np.sin(2 * moments)])
    >>> model = ICA(2, random_state=0).fit(sources @ np.array([[1.0, 0.5], [0.4, 2.0]]))
    >>> found = model.transform(sources @ np.array([[1.0, 0.5], [0.4, 2.0]]))
    >>> bool(np.abs(np.corrcoef(found.T, sources.T))[:2, 2:].max(axis=0).min() > 0.99)
    True

    References
    ----------
    Hyvärinen (1999), Fast and robust fixed-point algorithms for independent component analysis. Lee, Girolami and
    Sejnowski (1999), Independent component analysis using an extended Infomax algorithm. Ablin, Cardoso and Gramfort
    (2018), Faster independent component analysis by preconditioning with Hessian approximations.
    """

    missing, loss, init = None, "squared", "auto"

    def __init__(
        self,
        n_components=None,
        *,
        solver="auto",
        contrast="log-cosh",
        max_iter=200,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.solver = solver
        self.contrast = contrast
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @property
    def _patterns(self):
        """What one unit of each source adds to a row, which is what reports draw."""
        return self.mixing_.T

    @property
    def partial_fit(self):
        raise AttributeError("how independent sources are is seen on all rows: ICA needs the whole table; use fit")

    @chooses
    def _fit(self, X, weights=None):
        return super()._fit(X, weights)

    def _stand_in(self):
        return PCA(random_state=self.random_state), "n_components"

    def _cost_family(self, complete):
        return "axes"

    def _problem(self, loss, shape, mixed):
        if shape[0] < 2:
            raise ValueError(f"X has n_samples={shape[0]}: sources are told apart by how rows differ; give more rows")
        most = min(shape)
        k = most if self.n_components is None else self._number()
        if k > most:
            raise ValueError(f"n_components={k} must be at most min(n_samples={shape[0]}, n_features={shape[1]})")
        return Problem(k, loss, Free(), Free(), offset=True)

    def _plan(self, objective, problem, rng):
        kind, title = self._method()
        contrast = contrast_of(self.contrast)
        if kind is Likelihood and not contrast.is_density:
            raise ValueError(
                f"contrast={self.contrast!r} is the logarithm of no density, so that solver='likelihood' cannot use "
                "it: use 'log-cosh' or 'exp'"
            )
        white = self._white = whitening(objective, problem.n_components, exactly=self.n_components is not None)
        rows: Rows = WhitenedBlocks(objective, white) if objective.in_blocks else Whitened(white.of(objective))
        W, start = _start(kind, rows, contrast, rng)
        scheme = kind(rows, contrast, W, number(self.tol, "tol"))
        n, m = objective.shape
        what = f"{n}×{m} table ≈ {rows.shape[1]} independent sources, {contrast.name} contrast"
        reasons = ["rows are whitened by PCA: what is left to find is how the axes are turned"]
        return Plan(what, title, "", "", start, reasons), scheme, scheme.begin(rng)

    def _method(self) -> tuple[type[Unmixing], str]:
        solver = "parallel" if isinstance(self.solver, str) and self.solver == "auto" else self.solver
        if not isinstance(solver, str) or solver not in SOLVERS:
            raise ValueError(f"solver={self.solver!r} is not known; use 'auto' or one of {', '.join(SOLVERS)}")
        return SOLVERS[solver]

    def _finish(self, objective, problem, scheme, state):
        white, contrast = self._white, contrast_of(self.contrast)
        del self._white
        found, dtype = told(state, white, contrast, objective.shape[0]), objective.dtype
        self._sentence = Problem(len(found.components), problem.loss, Free(), Free(), offset=True)
        self._full_components = np.vstack([found.mixing.T, white.mean]).astype(dtype)
        self.components_ = np.ascontiguousarray(found.components, dtype=dtype)
        self.mixing_ = np.ascontiguousarray(self._full_components[:-1].T)
        self.mean_, self.whitening_ = self._full_components[-1], white.forth.astype(dtype)
        if not np.isfinite(self.components_).all() or not np.isfinite(self.mixing_).all():
            raise ValueError("the sources are not finite: the values of X are too large or too small; rescale X")
        self.n_components_ = self._n_features_out = len(found.components)
        self.negentropy_, self.gaussian_ = found.negentropy, found.gaussian
        self._scale = found.scale
        warn_of_noise(found.gaussian)
        self.objective_ = float(self.history_.objective[-1])
        self.reconstruction_err_ = float(np.sqrt(max(0.0, white.left)))
        self.certificate_ = _stationary(scheme, state, self.objective_)
        self.codes_ = None
        return None

    def _coder(self):
        return Projected(self.components_, self.mean_, super()._coder())

    def _codes_out(self, U):
        return np.ascontiguousarray(U[:, : self.n_components_])

    def _linear(self, U):
        back = np.ascontiguousarray(self.mixing_.T)
        return matmul(np.ascontiguousarray(U, dtype=back.dtype), back) + self.mean_

    def certify(self, X) -> Certificate:
        """Say how far from stationary the sources are on the table that was fitted, kept as ``certificate_``."""
        check_is_fitted(self)
        with single_blas():
            objective = reopen_table(self, X, None, self._learned)
            mean, forth = self.mean_.astype(np.float64), self.whitening_.astype(np.float64)
            back = np.asarray(np.linalg.pinv(forth), dtype=np.float64)
            white, W = Whitening(mean, forth, back, 0.0), self.components_.astype(np.float64) @ back
            rows: Rows = WhitenedBlocks(objective, white) if objective.in_blocks else Whitened(white.of(objective))
            kind, _ = self._method()
            scheme = kind(rows, contrast_of(self.contrast), W, 0.0)
            state = {**scheme.measured(W), "scale": self._scale}
            self.certificate_ = _stationary(scheme, state, self.objective_)
        return self.certificate_


def _start(kind: type[Unmixing], rows: Rows, contrast: Contrast, rng) -> tuple[NDArray, str]:
    """The first rotation, and what it is in words; a likelihood must know which sources are flat."""
    W, start = random_rotation(rows.shape[1], rng), "a random rotation"
    if kind is Deflation:
        return W, start
    sample = rows.sample(rng)
    if sample is not None:
        return roughly_unmixed(sample, contrast, W), f"{start}, unmixed on a sample of the rows"
    return (roughly_unmixed(rows, contrast, W), f"{start}, unmixed") if kind is Likelihood else (W, start)


def _stationary(scheme: Unmixing, state: dict, objective: float) -> Certificate:
    """The certificate of an answer: by how much the objective changes at most for a small turn of a pair of sources."""
    return Certificate("kkt", float("-inf"), scheme.residual(state), True, objective)
