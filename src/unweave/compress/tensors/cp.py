"""Describe a tensor by a few components, each one curve along every side (CP, also PARAFAC or CANDECOMP)."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unweave.compress.tensors.choice import choose_number, core_consistency, model_at
from unweave.compress.tensors.scheme import Sides, factors_of, lengths, plan_updates
from unweave.compress.tensors.sides import halves_of, of_new_slices
from unweave.compress.tensors.start import best_start, given_start, random_start, some_rounds
from unweave.data.arguments import generator, whole
from unweave.data.storage import as_dense
from unweave.data.table import joined_blocks
from unweave.data.tensor import check_tensor
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting
from unweave.linalg.tensors import khatri_rao
from unweave.objectives.tensors import Holes, Whole, open_tensor
from unweave.parallel import single_blas
from unweave.penalties.base import Penalty
from unweave.select.auto import chooses
from unweave.select.choose import Choice
from unweave.solve.alternate import transform_effort
from unweave.solve.certificate import Certificate, unrest, unrest_parts
from unweave.solve.plan import Plan
from unweave.updates import Half, Update, first_rows


class CP(Model, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """X ≈ Σ_r w_r u_r∘v_r∘…, a sum of components with one vector for each side of a tensor of three or more sides.

    Minimises ½ Σ (x − Σ_r u_r·v_r·…)² over the observed entries, plus penalties on the factors. Unlike those of a
    table, the factors are unique up to order and scale without any constraint, so each component may be read for
    itself: a substance with its spectra and amounts, a group of people with its habits and days.

    Parameters
    ----------
    n_components : int or "auto", default=2
        May be more than a side is long. "auto" takes the largest number with a core consistency of 80 % or more,
        constraints left aside; where entries are missing, the one with the least error at a tenth of the others, which
        are hidden for the purpose. Kept as ``choice_``.
    factors : str, Penalty, or list of these with one for each side, default="free"
        "free", "nonnegative", "ridge", "l1", "elastic-net", "smooth", "orthonormal", "unit-norm", "simplex" and others,
        or an object with a strength (``Smooth(10.0)``), or a pair with "nonnegative" as a tuple. Penalties on vectors
        are on the column of each component. Beside a side with a penalty sides that could grow without end are kept at
        length one.
    missing : None, "nan", "zeros" or a Boolean mask, default=None
        What was not observed: nothing; NaN; everything that is not stored (:class:`unweave.SparseTensor`) or is zero;
        or where the mask is True. Of a sparse tensor zeros are data unless "zeros" is said.
    ridge : float, default=0.0
        ½·ridge times the sum of squares of every factor whose penalty is one on single entries. A little keeps
        components from growing against each other where there are too many.
    solver : str, default="auto"
        A half-step as in :class:`unweave.Factorization`, used on each side that it can do.
    init : "auto", "random" or list of arrays (side, n_components), default="auto"
        "auto" is the best of `n_starts` random starts, made on the tensor compressed to a small core where it is in
        memory.
    n_starts : int, default=5
    max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`; an iteration is one half-step on every side.

    Attributes
    ----------
    factors_ : list of arrays (side, n_components)
        Columns of length one; the largest entry of each is positive, except on the first side. A component that
        vanished has a constant column.
    weights_ : array (n_components,)
        Descending.
    codes_ : array (first side, n_components)
        ``factors_[0] * weights_``: what `transform` gives.
    explained_share_ : float
        1 − Σ(x − prediction)² / Σx² over the observed entries.
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`. The certificate is a KKT residual: there is no bound as for tables,
        because the leading components of a tensor are not nested and a best sum of k need not even exist.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> X = np.einsum("ir,jr,kr->ijk", *(np.random.default_rng(d).random((n, 2)) for d, n in enumerate((6, 5, 4))))
    >>> model = unweave.CP(2).fit(X)
    >>> bool(np.allclose(model.reconstruct(), X, atol=1e-3)), [F.shape for F in model.factors_]
    (True, [(6, 2), (5, 2), (4, 2)])
    >>> model.transform(X[:2]).shape
    (2, 2)

    References
    ----------
    Harshman (1970), Foundations of the PARAFAC procedure. Carroll and Chang (1970). Kolda and Bader (2009), Tensor
    decompositions and applications. De Silva and Lim (2008), Tensor rank and the ill-posedness of the best low-rank
    approximation problem.
    """

    _takes_blocks = False

    def __init__(
        self,
        n_components=2,
        *,
        factors="free",
        missing=None,
        ridge=0.0,
        solver="auto",
        init="auto",
        n_starts=5,
        max_iter=500,
        tol=1e-7,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.factors = factors
        self.missing = missing
        self.ridge = ridge
        self.solver = solver
        self.init = init
        self.n_starts = n_starts
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    # -- fitting -------------------------------------------------------------------------------------------------------

    def fit(self, X, y=None):
        """Fit the components.

        Parameters
        ----------
        X : array of three or more sides, SparseTensor, or what :func:`unweave.read` gave of a tensor
            Slices along the first side are samples. `sparse.COO` and `pyttb.sptensor` are taken too.
        y : ignored
        """
        with fitting(self):
            self._fit(X)
        return self

    def fit_transform(self, X, y=None):
        """Fit, and the codes of X: the same numbers as ``fit(X).transform(X)``."""
        return self.fit(X).transform(X)

    @chooses
    def _fit(self, X) -> None:
        tensor = check_tensor(self, X, self.missing)
        objective = open_tensor(tensor)
        halves, notes = halves_of(self.factors, self.ridge, len(objective.shape))
        k = self._number()
        _check_size(k, objective, halves)
        seen = tensor.seen if isinstance(tensor.seen, np.ndarray) else None
        parts = (tensor.values.coords, tensor.values.values) if tensor.sparse else (tensor.values,)
        run = Run(self, *parts, seen)
        first, words = self._start(objective, halves, k, run.rng)
        scheme = Sides(objective, halves, first, plan_updates(objective, halves, first, self.solver))
        state = run.through(scheme, _plan(objective, halves, k, scheme.updates, words, notes))
        self._publish(objective, halves, scheme, factors_of(state))
        run.close(self.objective_, self.certificate_)

    def _start(self, objective: Whole, halves: list[Half], k: int, rng) -> tuple[list[NDArray], str]:
        if not isinstance(self.init, str):
            return given_start(objective, self.init, k), "given"
        if self.init not in ("auto", "random"):
            raise ValueError(f"init={self.init!r} is not known; use 'auto', 'random' or a list of arrays")
        n_starts = whole(self.n_starts, "n_starts", 1)
        if self.init == "random":
            return random_start(objective, halves, k, rng), "random"
        return best_start(objective, halves, k, rng, n_starts, self.solver)

    def _publish(self, objective: Whole, halves: list[Half], scheme: Sides, F: list[NDArray]) -> None:
        """Keep what was learned; where slices of the first side are free, these are found as `transform` finds them."""
        if not all(np.isfinite(one).all() for one in F):
            raise ValueError("the factors are not finite: the values of X are too large or too small; rescale X")
        F = _arranged(F)
        update = scheme.updates[0]
        if not halves[0].tied:
            F[0] = _rows(objective, halves[0], update, F)
        order = np.argsort(-lengths(F).prod(axis=0), kind="stable")
        F = [np.ascontiguousarray(one[:, order]) for one in F]
        self._others, self._new_slices = F[1:], of_new_slices(halves[0]).penalty
        sizes = lengths(F)
        self.shape_, self.n_components_ = tuple(objective.shape), F[0].shape[1]
        self.weights_ = sizes.prod(axis=0).astype(F[0].dtype)
        self.factors_ = [_unit(one, size) for one, size in zip(F, sizes, strict=True)]
        self.codes_ = self._scaled(F[0])
        self._n_features_out = self.n_components_
        loss = objective.loss(F)
        self.objective_ = loss + scheme.penalties(F)
        self.reconstruction_err_ = float(np.sqrt(2 * loss))
        self.explained_share_ = 1.0 - loss / objective.half_norm if objective.half_norm > 0 else 1.0
        self.certificate_ = _stationarity(objective, halves, F, self.objective_)

    def _scaled(self, U: NDArray) -> NDArray:
        """Codes for columns of length one on the other sides."""
        return np.ascontiguousarray((U * lengths(self._others).prod(axis=0)).astype(U.dtype))

    def _choose_number(self, X, *args, **more) -> Choice:
        """Choose by core consistency, or by hidden entries where some are missing; see `choice`."""
        tensor = check_tensor(self, X, self.missing)
        halves, _ = halves_of(self.factors, self.ridge, len(tensor.shape))
        n_starts = whole(self.n_starts, "n_starts", 1)
        with single_blas():
            rng = generator(self.random_state)

            def rounds(objective: Whole, k: int, halves=halves) -> list[NDArray]:
                first = best_start(objective, halves, k, rng, n_starts, self.solver)[0]
                return some_rounds(objective, halves, first, _CHOOSING, self.solver)[0]

            if (
                tensor.seen is None
            ):  # what a core says holds for the best components of all, so constraints are left out
                rounds = partial(rounds, halves=halves_of("free", 0.0, len(tensor.shape))[0])
            most = min(_most(tensor.shape, halves), max(tensor.shape))
            return choose_number(tensor, rounds, most, rng)

    # -- using ---------------------------------------------------------------------------------------------------------

    def transform(self, X):
        """Codes of new slices along the first side, (slices, n_components): X ≈ Σ_r code_r · v_r∘….

        Every other side must be as long as in the fit. A slice with nothing observed has the code zero.
        """
        check_is_fitted(self)
        with single_blas():
            return self._codes(self._opened(X))

    def _opened(self, X) -> Whole:
        missing = self.missing if isinstance(self.missing, str) else None
        return open_tensor(check_tensor(self, X, missing, shape=self.shape_))

    def _codes(self, objective: Whole) -> NDArray:
        k, dtype = self.n_components_, self._others[0].dtype
        half = Half(self._new_slices, transposed=True)
        F = [np.zeros((objective.shape[0], k), dtype), *self._others]
        update = plan_updates(objective, [half], F, "auto")[0]
        return self._scaled(_rows(objective, half, update, F).astype(dtype, copy=False))

    def inverse_transform(self, U) -> NDArray:
        """The slices that codes stand for, as a dense array."""
        check_is_fitted(self)
        U = as_dense(joined_blocks(U))
        if U.ndim != 2 or U.shape[1] != self.n_components_:
            raise ValueError(f"U must have {self.n_components_} columns, one for each component, got {U.shape}")
        with single_blas():
            product = U.astype(self.codes_.dtype) @ khatri_rao(self.factors_[1:]).T
        return product.reshape(len(U), *self.shape_[1:])

    def reconstruct(self) -> NDArray:
        """The tensor as the components describe it, a dense array of its shape: missing entries are filled."""
        check_is_fitted(self)
        return self.inverse_transform(self.codes_)

    def predict_entries(self, coords) -> NDArray:
        """The prediction at single entries, given by their coordinates (entries, sides)."""
        check_is_fitted(self)
        at = np.asarray(coords)
        if at.ndim != 2 or at.shape[1] != len(self.shape_) or at.dtype.kind not in "iu":
            raise ValueError(f"coords must be whole numbers with {len(self.shape_)} columns, one for each side")
        if (at < 0).any() or (at >= np.array(self.shape_)).any():
            raise ValueError(f"coords must lie inside of the shape {self.shape_}")
        return model_at([self.codes_, *self.factors_[1:]], at)

    def score(self, X, y=None) -> float:
        """Minus the mean loss of an observed entry, after the best codes for X: higher is better."""
        check_is_fitted(self)
        with single_blas():
            objective = self._opened(X)
            return -objective.loss([self._codes(objective), *self.factors_[1:]]) / max(1.0, objective.n_observed)

    def core_consistency(self, X) -> float:
        """How far a core that may mix components stays a diagonal of ones, in %: near 100 is good, below 50 too many.

        X is the tensor of the fit. Holes are filled by the model.
        """
        check_is_fitted(self)
        with single_blas():
            objective = self._opened(X)
            F = [self.codes_, *self.factors_[1:]]
            if isinstance(objective, Holes):
                full = objective.filled(F)
                if full is None:
                    raise ValueError(
                        "core consistency needs every entry: it is not for coordinates with missing='zeros'"
                    )
                objective = open_tensor(check_tensor(self, full, None))
            return core_consistency(objective.products, F)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = self.missing is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_loaded(self, looked_at: bool) -> None:
        """Whether the parts of a model out of a file fit together."""
        k, shape = self.n_components_, self.shape_
        arrays = [*self.factors_, *self._others, self.codes_]
        wanted = [*shape, *shape[1:], shape[0]]
        fits = len(self.factors_) == len(shape) >= 3 and len(self._others) == len(shape) - 1
        fits = fits and all(np.shape(one) == (side, k) for one, side in zip(arrays, wanted, strict=True))
        fits = fits and np.shape(self.weights_) == (k,) and isinstance(self._new_slices, Penalty)
        if not fits or len({one.dtype for one in arrays}) != 1 or arrays[0].dtype not in (np.float32, np.float64):
            raise ValueError("the factors do not fit the shape of the tensor")
        if looked_at and not all(np.isfinite(one).all() for one in arrays):
            raise ValueError("a factor holds numbers that are not finite")


# -- details -----------------------------------------------------------------------------------------------------------

_CHOOSING = 50  # rounds on the tensor itself after those of the start, when only the number is asked


def _check_size(k: int, objective: Whole, halves: list[Half]) -> None:
    most = _most(objective.shape, halves)
    if k > most:
        raise ValueError(
            f"n_components={k} is more than {most}, which any tensor of this shape (or orthonormal side) needs at most"
        )


def _most(shape: tuple[int, ...], halves: list[Half]) -> int:
    """No tensor needs more components than the product of its sides but the longest; nor can more be orthonormal."""
    sides = sorted(shape)
    most = float(np.prod([float(side) for side in sides[:-1]]))
    whole_side = [side for side, half in zip(shape, halves, strict=True) if half.penalty.acts == "matrix"]
    return int(min([most, *whole_side, 2**31 - 1]))


def _plan(objective: Whole, halves, k: int, updates, words: str, notes) -> Plan:
    kind = "tensor" if objective.complete else "partly observed tensor"
    by = "×".join(map(str, objective.shape))
    what = ", ".join(dict.fromkeys(half.penalty.name for half in halves))
    problem = f"{by} {kind} ≈ sum of {k} components ({what} factors), squared loss"
    return Plan(
        problem, "half-steps on the factor of each side in turn that look ahead (extrapolated)", updates[0].title,
        ", ".join(dict.fromkeys(update.title for update in updates[1:])), words, list(notes),
    )  # fmt: skip


def _rows(objective: Whole, half: Half, update: Update, F: list[NDArray]) -> NDArray:
    """Rows of the first factor, each on its own from a fixed start until it settles."""
    model = objective.rows_given(F, 0).resolved()
    return update(model, first_rows(model, half, update), half, transform_effort(model.dtype))


def _arranged(F: list[NDArray]) -> list[NDArray]:
    """Components by weight; the largest entry of every column positive, except on the first side, which pays for it."""
    order = np.argsort(-lengths(F).prod(axis=0), kind="stable")
    F = [np.ascontiguousarray(one[:, order]) for one in F]
    for d in range(1, len(F)):
        top = np.abs(F[d]).argmax(axis=0)
        signs = np.where(F[d][top, np.arange(F[d].shape[1])] < 0, -1, 1).astype(F[d].dtype)
        F[d], F[0] = F[d] * signs, F[0] * signs
    return F


def _unit(F: NDArray, size: NDArray) -> NDArray:
    """Columns of length one; those that vanished are constant."""
    even = np.full(F.shape, len(F) ** -0.5, F.dtype)
    return np.ascontiguousarray(np.where(size > 0, F / np.where(size > 0, size, 1.0), even).astype(F.dtype))


def _stationarity(objective: Whole, halves: list[Half], F: list[NDArray], value: float) -> Certificate:
    """How far from rest each factor is with the others fixed, the worst of them."""
    residual = 0.0
    for d, model in objective.models(list(F)):
        residual = max(residual, unrest(unrest_parts(model, F[d], halves[d], []), value))
    return Certificate("kkt", 0.0, residual, True, float(value))
