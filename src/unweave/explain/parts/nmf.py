"""Factorise a non-negative table into sums of parts (NMF)."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import NDArray

from unweave.data.arguments import number
from unweave.data.table import check_table
from unweave.explain.parts.base import NonNegativeModel
from unweave.factorization.base import Coder
from unweave.objectives import Objective
from unweave.penalties import Both, ElasticNet, NonNegative
from unweave.solve.problem import Problem

NEGATIVE = "Negative values in data passed to NMF (input X): shift or clip X, or use SemiNMF, whose components are free"


class NMF(NonNegativeModel):
    """X ≈ U·Z with U ≥ 0 and Z ≥ 0: a table as sums of parts.

    Minimises ½‖X − U·Z‖² (or another loss, "kl" for counts, "itakura-saito" for power spectra) plus, if asked, ℓ1 and
    ℓ2 penalties on both sides. Data must not be negative. Squared loss is solved by coordinate descent (HALS), KL and
    Itakura–Saito by multiplicative updates, Huber by reweighted coordinate descent.

    Parameters
    ----------
    n_components : int or "auto", default=2
        "auto" takes the number with the least error at hidden entries, see :func:`unweave.select.choose`.
    loss : str or Loss, default="squared"
        "squared", "kl", "itakura-saito" (data above 0), "huber" or any loss in data units.
    alpha_W, alpha_H : float, default=0.0 and "same"
        Strength of the penalty on codes and components, times the number of columns and of rows, as in scikit-learn.
    l1_ratio : float, default=0.0
        Share of ℓ1 in it; the rest is ridge.
    missing, solver, init, max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`; solvers are "coordinate" (HALS), "multiplicative" and
        "projected-least-squares" (projected ALS), the start "nndsvd".

    Attributes
    ----------
    components_, codes_, objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`; ``codes_`` is scikit-learn's W, ``components_`` its H.
    reconstruction_err_ : float
        ‖X − U·Z‖ over the observed entries (squared loss only).

    Examples
    --------
    >>> import numpy as np, unweave
    >>> X = np.array([[1, 0, 2.0], [2, 0, 4], [0, 3, 1], [0, 6, 2]])
    >>> model = unweave.NMF(2, tol=1e-9).fit(X)
    >>> np.abs(model.inverse_transform(model.codes_) - X).max() < 1e-3
    np.True_

    References
    ----------
    Lee and Seung (1999), Learning the parts of objects by non-negative matrix factorization. Gillis (2020), Nonnegative
    matrix factorization.
    """

    def __init__(
        self,
        n_components=2,
        *,
        loss="squared",
        alpha_W=0.0,
        alpha_H="same",
        l1_ratio=0.0,
        missing=None,
        solver="auto",
        init="auto",
        max_iter=200,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.loss = loss
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.missing = missing
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _loss(self):
        return self.loss

    def _problem(self, loss, shape, mixed):
        k = self._number()
        ratio = number(self.l1_ratio, "l1_ratio")
        if ratio > 1:
            raise ValueError(f"l1_ratio must lie between 0 and 1, got {ratio}")
        first = number(self.alpha_W, "alpha_W")
        second = first if isinstance(self.alpha_H, str) and self.alpha_H == "same" else number(self.alpha_H, "alpha_H")
        return Problem(k, loss, _side(first * shape[1], ratio), _side(second * shape[0], ratio))

    def _fit_objective(self, objective, learned):
        refuse_negative(objective)
        return super()._fit_objective(objective, learned)

    def _coder(self):
        return OfParts(super()._coder())

    def partial_fit(self, X, y=None):
        """Learn from one more block of rows, which must not be negative either; see :class:`unweave.Factorization`."""
        table = check_table(self, X, self.missing, reset=not hasattr(self, "components_"))
        if min(table.shape) and table.values.min() < 0:
            raise ValueError(NEGATIVE)
        return super().partial_fit(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _side(strength: float, ratio: float):
    return NonNegative() if strength == 0 else Both(NonNegative(), ElasticNet(strength=strength, l1_ratio=ratio))


def refuse_negative(objective) -> None:
    """Raise if a table has a negative entry; blocks have been looked at."""
    if objective.in_blocks and objective.totals.least < 0:
        raise ValueError(NEGATIVE)
    if not objective.in_blocks:
        refused_negative(objective)


def refused_negative(table):
    """The table itself, unless it has a negative entry."""
    if min(table.X.shape) and table.X.min() < 0:
        raise ValueError(NEGATIVE)
    return table


@dataclass(frozen=True)
class OfParts:
    """Codes of rows in memory that must not be negative."""

    coder: Coder

    def __call__(self, rows: Objective) -> NDArray:
        return self.coder(refused_negative(rows))
