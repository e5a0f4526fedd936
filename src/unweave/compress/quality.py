"""Tables whose rows have weights, and how much of them fitted axes keep: R² and a certificate, from one visit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import row_weights
from unweave.factorization.base import BaseFactorization
from unweave.objectives import Objective
from unweave.objectives.opening import Learned, open_table, reopen_table
from unweave.parallel import single_blas
from unweave.solve.certificate import Certificate, of_spectrum
from unweave.solve.closed import decompose

NO_HOLES = "sample_weight needs every entry of X observed: fill those that are missing first (unweave.TableImputer)"


def open_weighted(model: BaseFactorization, X, sample_weight) -> tuple[Objective, Learned, NDArray | None]:
    """The objective of a training table, what reading it taught, and the weights of its rows."""
    objective, learned = open_table(model, X, model.missing, model._loss())
    learned.weighted = sample_weight is not None
    if sample_weight is not None and not objective.complete:
        raise ValueError(NO_HOLES)
    return objective, learned, row_weights(sample_weight, objective.shape[0])


def r2(model: BaseFactorization, X, sample_weight=None) -> float:
    """The share of the sum of squares of X, about the model's mean where it has one, that its components keep."""
    left, total = _left_and_total(model, X, sample_weight)[1:]
    return r2_of(left, total)


def r2_of(left: float, total: float) -> float:
    """R² from two sums of squares; a table of which there is nothing to explain is explained.

    >>> r2_of(1.0, 4.0), r2_of(0.0, 0.0)
    (0.75, 1.0)
    """
    return 1.0 - left / total if total > 0 else 1.0


def certify_weighted(model: BaseFactorization, X, sample_weight, shift: str | None) -> Certificate:
    """Eckart–Young for weighted rows: the tail of the singular values of √w·(x − mean), and what the model leaves."""
    objective, left, _ = _left_and_total(model, X, sample_weight)
    weights = row_weights(sample_weight, objective.shape[0])
    with single_blas():
        svd = decompose(objective, min(model.n_components_, *objective.shape), shift, weights)
    return of_spectrum(svd, objective, 0.5 * left)


def _left_and_total(model: BaseFactorization, X, sample_weight) -> tuple[Objective, float, float]:
    check_is_fitted(model)
    with single_blas():
        objective = reopen_table(model, X, model.missing, model._learned)
        weights = None if sample_weight is None else row_weights(sample_weight, objective.shape[0])
        if weights is not None and not objective.complete:
            raise ValueError(NO_HOLES)
        told = (model.components_, getattr(model, "mean_", None), model._coder(), model._full_components)
        kept = None if weights is None else objective.kept_weights(weights)
        left, total = objective.total(_sums_of_rows, told, kept)
    return objective, float(left), float(total)


def _sums_of_rows(rows: Objective, told: tuple, own: dict | None) -> tuple[tuple[float, float], None]:
    """What the codes of some rows leave of their squares, and their squares, each row counted by its weight."""
    Z, mean, coder, full = told
    if not rows.complete:
        about = rows if mean is None else rows.shifted(mean)
        return (2 * rows.value(coder(rows), full), about.squares()), None
    left, total = rows.row_residuals(Z.astype(np.float64), np.zeros(Z.shape[1]) if mean is None else mean)
    weights = np.ones(len(left)) if own is None else own["weights"]
    return (float(weights @ left), float(weights @ total)), None
