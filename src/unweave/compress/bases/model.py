"""Compress signals and pictures in a basis that is known beforehand: waves or wavelets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unweave.compress.bases.keeping import Rule
from unweave.compress.bases.transforms import Transform, make_transform
from unweave.data.arguments import row_weights, whole
from unweave.data.named import NamedTable
from unweave.data.storage import as_dense, stack_rows
from unweave.data.table import joined_blocks
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting
from unweave.losses import Squared
from unweave.objectives import Objective
from unweave.objectives.opening import Learned, open_table, reopen_table
from unweave.parallel import run, single_blas
from unweave.penalties import Free
from unweave.solve import certificate as certify
from unweave.solve.certificate import Certificate
from unweave.solve.plan import Plan
from unweave.solve.problem import Problem
from unweave.solve.scheme import Scheme

_BLOCK = 1 << 18  # numbers of the rows that are transformed at a time


class OrthonormalBasis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Model, BaseEstimator):
    """X ≈ U·Z where Z is not learned: rows of a known orthonormal basis, waves (DCT, Fourier) or wavelets.

    min ½‖X − U·Z‖² over codes U and over which k rows of the basis are kept as Z. As the basis is orthonormal the code
    is X·Zᵀ, and what is lost is the energy (sum of squares) of the coefficients that are left out; so keeping the
    largest is the best there is in this basis. Who receives the codes knows the basis already: it costs nothing to
    send, which PCA's components do (:func:`unweave.compare_bases` counts). Use it for signals and pictures, whose
    neighbouring numbers are alike. Nothing is centred: the mean is a coefficient like others.

    The fit changes nothing but which coefficients are kept. It finds these in common for all rows, or with
    ``per_row=True`` for each row on its own, which loses less, but has to say which they are.

    Parameters
    ----------
    kind : str, default="dct"
        "dct" (cosines; no jump at the ends), "fourier" (cosines and sines; for what repeats), "haar" (steps), or a
        wavelet of PyWavelets (the extra ``unweave[signals]``): "db2" to "db38", "sym2" to "sym20", "coif1" to "coif17".
    keep : int, float or None, default=None
        A whole number is how many; a number between 0 and 1 the share of the energy to reach with as few as possible;
        None is all (a turn that loses nothing).
    threshold : float, optional
        Instead of `keep`: coefficients of at least this size, in the units of X. In common for all rows it is compared
        with their root mean square over the rows.
    shape : (height, width) or (height, width, channels), optional
        Of the picture that a row is; transforms are then those of pictures. None: rows are signals, unless X is a
        :class:`unweave.NamedTable` that knows the shape of its pictures.
    per_row : bool, default=False
        Whether each row keeps coefficients of its own. Codes are then a sparse table with a column for every
        coefficient.
    levels : int, optional
        How often a wavelet halves a row. Unless given: Haar until one number is left; others while the length is even
        and no shorter than the wavelet.
    callback, checkpoint, verbose
        As in :class:`unweave.Factorization`; there is one iteration.

    Attributes
    ----------
    kept_ : array (k,)
        Which coefficients are kept, most energy first (all of them with ``per_row=True``).
    components_ : array (k, m)
        The basis, restricted to these; made when asked for, so that a saved model is small.
    energies_ : array (m,)
        Σ over the rows of the squares of each coefficient.
    energy_ratio_ : array (k,)
        Share of all energy that each kept coefficient has.
    objective_, reconstruction_err_ : float
        ½‖X − U·Z‖² and ‖X − U·Z‖.
    shape_ : tuple
        Of a row.
    numbers_per_row_ : float
        How many coefficients of a row are kept, on average.
    n_components_, n_samples_ : int

    Notes
    -----
    Any length will do for "dct", "fourier" and "haar" (pairs of neighbours are weighed by how many numbers they stand
    for, so that it stays orthonormal where a length is odd). Other wavelets halve only what is even: a row of 40 has
    3 levels at most, and one of odd length is refused with what to do.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> t = np.linspace(0, 1, 64)
    >>> X = np.array([np.exp(-a * t) for a in (1, 2, 3)])
    >>> basis = unweave.OrthonormalBasis("dct", keep=4).fit(X)
    >>> basis.transform(X).shape, bool(basis.reconstruction_err_ < 0.05 * np.linalg.norm(X))
    ((3, 4), True)

    References
    ----------
    Ahmed, Natarajan and Rao (1974), Discrete cosine transform. Mallat (1989), A theory for multiresolution signal
    decomposition. Fryzlewicz (2007), Unbalanced Haar technique for nonparametric function estimation.
    """

    def __init__(
        self,
        kind="dct",
        *,
        keep=None,
        threshold=None,
        shape=None,
        per_row=False,
        levels=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.kind = kind
        self.keep = keep
        self.threshold = threshold
        self.shape = shape
        self.per_row = per_row
        self.levels = levels
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X, y=None, sample_weight=None, *, client=None):
        """Find which coefficients are kept, in one pass over the rows.

        Parameters
        ----------
        X : array, sparse matrix, data frame, or sequence of row blocks
            A row is a signal, or a picture written out.
        y : ignored
        sample_weight : array (n,), optional
            Weights of the rows: one of weight 2 counts as if it were there twice.
        client : distributed.Client or str, optional
            A Dask cluster, or the address of its scheduler, whose workers visit the blocks of X.
        """
        with fitting(self, client):
            self.__dict__.pop("energies_", None)
            self._take(X, sample_weight)
        return self

    def fit_transform(self, X, y=None, sample_weight=None, *, client=None):
        """Fit, and the codes of X: the same numbers as ``fit(X).transform(X)``; arguments as in :meth:`fit`."""
        return self.fit(X, sample_weight=sample_weight, client=client).transform(X)

    def partial_fit(self, X, y=None, sample_weight=None):
        """Learn from one more block of rows: energies add up, so the answer is that of a fit to all rows so far."""
        with fitting(self):
            self._take(X, sample_weight)
        return self

    def _take(self, X, sample_weight=None) -> None:
        """Add the energies of rows to those that there are, and choose anew."""
        before = (self.energies_, *self._sums) if hasattr(self, "energies_") else None
        if before is None:
            objective, _ = open_table(self, X, None, "squared")
            self.shape_ = row_shape(X, self.shape, objective.shape[1])
        else:
            objective = self._rows(X)
        weights = row_weights(sample_weight, objective.shape[0])
        rule = Rule.of(self.keep, self.threshold, self.n_features_in_)
        scheme = Choosing(objective, self._transform_of_rows(), rule, bool(self.per_row), before, weights)
        given = (*(before or ()), *(() if weights is None else (weights,)))
        fit = Run(self, objective, *given, max_iter=1)
        state = fit.through(scheme, self._plan(objective, rule))
        self.n_samples_: int = (0 if before is None else self.n_samples_) + objective.shape[0]
        self._publish(state)
        fit.close(self.objective_, self._certificate(objective, weights) if before is None else None)

    def _transform_of_rows(self) -> Transform:
        levels = None if self.levels is None else whole(self.levels, "levels", 0)
        return make_transform(self.kind, self.shape_, levels)

    def _plan(self, objective: Objective, rule: Rule) -> Plan:
        n, m = objective.shape
        who = "each row keeps its own" if self.per_row else "all rows keep the same"
        return Plan(
            f"{n}×{m} table, rows of {'×'.join(map(str, self.shape_))} ≈ codes · rows of the basis {self.kind!r}, "
            "squared loss", "orthonormal transform", "", "", "none needed",
            [f"{who}: {rule}", "the basis is orthonormal: what is left out is what is lost"],
        )  # fmt: skip

    def _publish(self, state: dict) -> None:
        self.kept_, self.energies_ = state["kept"], state["energies"]
        self._sums = lost, chosen, n = float(state["lost"]), float(state["chosen"]), float(state["rows"])
        self.numbers_per_row_ = chosen / n if n else 0.0
        self.objective_, self.reconstruction_err_ = 0.5 * lost, float(np.sqrt(lost))
        total = float(self.energies_.sum())
        self.energy_ratio_ = self.energies_[self.kept_] / total if total > 0 else np.zeros(len(self.kept_))
        self.n_components_ = self._n_features_out = len(self.kept_)

    def _sentence(self) -> Problem:
        return Problem(self.n_components_, Squared(), Free(), Free())

    def _rows(self, X) -> Objective:
        """New rows, however they are stored."""
        return reopen_table(self, X, None, Learned(Squared(), {}, False))

    def _certificate(self, objective: Objective, weights: NDArray | None) -> Certificate | None:
        """Eckart–Young where it is cheap: how far this basis is from the best one of as many components."""
        problem = self._sentence()
        if self.per_row or objective.in_blocks or not certify.bound_is_cheap(objective, problem, 1):
            return None
        return certify.eckart_young(objective, problem, self.objective_, weights)

    def certify(self, X, *, sample_weight=None) -> Certificate:
        """How far the error is from that of the best basis of as many components, learned for X (Eckart–Young).

        With ``per_row=True`` rows do not share their components, and no such bound holds.
        """
        check_is_fitted(self)
        with single_blas():
            objective = self._rows(X)
            weights = row_weights(sample_weight, objective.shape[0])
            task = Choosing(objective, self._transform_of_rows(), self._rule(), bool(self.per_row), None, weights)
            value = 0.5 * float(task.lost_of(self.kept_))
            if self.per_row:
                self.certificate_ = Certificate.none(value)
            else:
                self.certificate_ = certify.eckart_young(objective, self._sentence(), value, weights)
        return self.certificate_

    def _rule(self) -> Rule:
        return Rule.of(self.keep, self.threshold, self.n_features_in_)

    # -- using ---------------------------------------------------------------------------------------------------

    @property
    def components_(self) -> NDArray:
        """The rows of the basis that are kept (k, m)."""
        if not hasattr(self, "kept_"):
            raise AttributeError("components_ is there after a fit")
        one = np.zeros((len(self.kept_), self.n_features_in_))
        one[np.arange(len(self.kept_)), self.kept_] = 1
        return self._transform_of_rows().backward(one)

    def transform(self, X):
        """Codes of X: the coefficients that are kept; with ``per_row=True`` a sparse table with those of each row."""
        check_is_fitted(self)
        with single_blas():
            objective = self._rows(X)
            coder = Coder(self._transform_of_rows(), None if self.per_row else self.kept_, self._rule())
            return stack_rows(objective.answers(_codes_of_rows, coder))

    def inverse_transform(self, U):
        """The rows that have these codes."""
        check_is_fitted(self)
        U = as_dense(joined_blocks(U))
        if U.ndim != 2 or U.shape[1] != self.n_components_:
            raise ValueError(f"U must have {self.n_components_} columns, one for each component, got {U.shape}")
        U = U if U.dtype == np.float32 else U.astype(np.float64)
        C = np.zeros((len(U), self.n_features_in_), dtype=U.dtype)
        C[:, self.kept_] = U
        return self._transform_of_rows().backward(C)

    def score(self, X, y=None) -> float:
        """Minus the mean loss ½(x − p)² of an entry: higher is better."""
        check_is_fitted(self)
        with single_blas():
            objective = self._rows(X)
            task = Choosing(objective, self._transform_of_rows(), self._rule(), bool(self.per_row), None)
            return -0.5 * task.lost_of(self.kept_) / max(1, objective.n_observed)

    def _check_loaded(self, looked_at: bool) -> None:
        """Check what a file may not get wrong: what is kept are coefficients that a row has."""
        m, kept = self.n_features_in_, np.asarray(self.kept_)
        if type(m) is not int or self.energies_.shape != (m,) or int(np.prod(self.shape_)) != m:
            raise ValueError("the energies and the shape of a row do not fit the number of columns")
        sound = kept.ndim == 1 and kept.dtype.kind == "i" and len(kept) == self.n_components_ > 0
        if not sound or len(np.unique(kept)) != len(kept) or kept.min() < 0 or kept.max() >= m:
            raise ValueError("kept_ does not name coefficients of a row, each once")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def row_shape(X: Any, shape: Any, m: int) -> tuple[int, ...]:
    """The shape of a row of m numbers: as asked, as a table of pictures knows it, or one signal."""
    if shape is None:
        return tuple(X.image) if isinstance(X, NamedTable) and X.image is not None else (m,)
    try:
        sides = tuple(whole(side, "shape", 1) for side in shape)
    except TypeError:
        raise TypeError(f"shape must be (height, width) or (height, width, channels), got {shape!r}") from None
    if len(sides) not in (1, 2, 3):
        raise ValueError(f"shape must be (height, width) or (height, width, channels), got {shape!r}")
    if int(np.prod(sides)) != m:
        raise ValueError(f"shape={shape!r} has {int(np.prod(sides))} numbers, but a row of X has {m}")
    return sides


# -- one pass over the rows --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Coder:
    """Codes of rows: the coefficients `kept` of all, or a sparse table with those that each row keeps by the rule."""

    transform: Transform
    kept: NDArray | None
    rule: Rule

    def __call__(self, X: NDArray) -> Any:
        C = self.transform.forward(X)
        if self.kept is not None:
            return np.ascontiguousarray(C[:, self.kept])
        return sp.csr_array(np.where(self.rule.of_each(C), C, 0))


def _in_turn(rows: Objective, task) -> list:
    """``task`` of dense stretches of rows, which is told where they begin and end."""
    size = max(1, _BLOCK // max(1, rows.shape[1]))
    return run(lambda start, stop: task(rows.dense_rows(start, stop)[0], slice(start, stop)), rows.shape[0], size)


def _codes_of_rows(rows: Objective, coder: Coder, own: None) -> tuple[Any, None]:
    parts = _in_turn(rows, lambda X, where: coder(X))
    return parts[0] if len(parts) == 1 else stack_rows(parts), None


def _energies(rows: Objective, told: tuple[Coder, bool], own: dict | None) -> tuple[tuple, None]:
    """Sums over some rows, each counted by its weight: the energy of every coefficient, what is lost and how many are
    kept where each row keeps its own, and the rows."""
    coder, per_row = told
    weights = None if own is None else own["weights"]

    def task(X, where):
        C = coder.transform.forward(X)
        kept = coder.rule.of_each(C) if per_row else np.ones(C.shape, dtype=bool)
        energy = np.square(C, dtype=np.float64)
        lost = np.where(kept, 0, energy).sum(axis=1)
        if weights is None:
            return energy.sum(axis=0), float(lost.sum()), float(kept.sum()), float(len(X))
        some = weights[where]
        return some @ energy, float(some @ lost), float(some @ kept.sum(axis=1)), float(some.sum())

    parts = _in_turn(rows, task)
    energies = sum((one[0] for one in parts), np.zeros(rows.shape[1]))
    return (energies, *(float(sum(one[i] for one in parts)) for i in (1, 2, 3))), None


class Choosing(Scheme):
    """One step: add up the energy of every coefficient over all rows, and keep by the rule."""

    def __init__(
        self, objective: Objective, transform: Transform, rule: Rule, per_row: bool, before: tuple | None,
        weights: NDArray | None = None,
    ):  # fmt: skip
        self.objective, self.rule, self.per_row, self.before = objective, rule, per_row, before
        self.weights = weights
        self.coder = Coder(transform, None, rule)

    def begin(self, rng=None):
        return {"energies": np.zeros(self.objective.shape[1])}

    def step(self, state):
        sums = self._sums()
        if self.before is not None:
            sums = tuple(one + other for one, other in zip(sums, self.before, strict=True))
        energies, lost, chosen, rows = sums
        kept = np.arange(len(energies))
        if not self.per_row:
            kept = self.rule.for_all(energies, rows)
            lost, chosen = _left_out(energies, kept), rows * len(kept)
        found = {"energies": energies, "kept": kept, "lost": float(lost), "chosen": float(chosen), "rows": float(rows)}
        return found, 0.5 * float(lost)

    def lost_of(self, kept: NDArray) -> float:
        """What is lost of the rows where these coefficients are kept, or each row's own."""
        energies, lost, _, _ = self._sums()
        return float(lost) if self.per_row else _left_out(energies, kept)

    def _sums(self) -> tuple[NDArray, float, float, float]:
        kept = self.objective.kept_weights(self.weights)
        return self.objective.total(_energies, (self.coder, self.per_row), kept)

    def adapt(self, loop):
        return loop.once()


def _left_out(energies: NDArray, kept: NDArray) -> float:
    """The energy that is not kept: added up, not taken off the whole, so that no digits cancel."""
    return float(np.delete(energies, kept).sum())
