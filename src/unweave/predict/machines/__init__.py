"""Machines on kernels: what scikit-learn does not have. Its SVC, SVR and KernelRidge take our kernels as they are.

`logistic` is the estimator, `newton` the scheme that fits it, `losses` what it minimises over rows of scores.
"""

from __future__ import annotations

from unweave.registry import lazily

_HOMES = {"KernelLogistic": "logistic"}

__all__ = list(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
