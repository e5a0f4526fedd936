"""Hand ``Factorization(loss="boolean")``, whose product is an OR of ANDs, to the model that fits it."""

from __future__ import annotations

from typing import Any

from unweave.registry import find

_HERE = {"codes": ("free", "boolean"), "components": ("free", "boolean"), "solver": ("auto",), "init": ("auto",)}
_SHARED = ("n_components", "missing", "max_iter", "random_state", "callback", "checkpoint", "verbose")
_LEARNED = ("objective_", "n_iter_", "history_", "plan_", "certificate_", "roles_", "assignments_", "n_features_in_")


def is_boolean(loss: Any) -> bool:
    """Whether a loss is the mismatch of Boolean products, which is no loss of U·Z."""
    return isinstance(loss, str) and loss == "boolean"


def boolean_model(model: Any) -> Any:
    """The BooleanFactorization that a Factorization stands for: fitted, if that is."""
    for name, allowed in _HERE.items():
        value = getattr(model, name)
        if not (isinstance(value, str) and value in allowed):
            raise ValueError(
                f"{name}={value!r} does not go with loss='boolean', whose codes and components are zeros and ones: "
                "leave it out, or use BooleanFactorization, which has methods of its own"
            )
    found = find("BooleanFactorization")(**{name: getattr(model, name) for name in _SHARED})
    for name in ("roles_", "assignments_", "n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(found, name, getattr(model, name))
    return found


def fit_boolean(model: Any, X: Any) -> None:
    """Fit it, and publish what was learned under the names of both."""
    for name in ("feature_names_in_", "roles_", "assignments_", "n_features_in_"):
        vars(model).pop(name, None)
    found = boolean_model(model).fit(X)
    for name in (*_LEARNED, "feature_names_in_"):
        if hasattr(found, name):
            setattr(model, name, getattr(found, name))
    model.components_, model.codes_ = found.roles_, found.assignments_
