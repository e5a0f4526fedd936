"""Look up the criterion that a number of components is chosen by; each scores one number, some pick among several."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from unweave.select.curves import Elbow, Knee
from unweave.select.held_out import BiCrossValidation, Completion, CrossValidation, HeldOut
from unweave.select.information import AIC, BIC, ICL
from unweave.select.separation import Groups, Separation
from unweave.select.silhouette import Silhouette
from unweave.select.stability import Stability
from unweave.select.trial import Trial, suitable


class Criterion(Protocol):
    """Score one number of components by ``values``, once per repeat; ``pick``, where there is one, chooses."""

    name: str
    title: str
    larger_is_better: bool

    def values(self, trial: Trial, X, seed: int) -> NDArray: ...


_KINDS: tuple[type, ...] = (
    Groups, Stability, Silhouette, Separation, BIC, AIC, ICL, HeldOut, BiCrossValidation, Completion, CrossValidation,
    Elbow, Knee,
)  # fmt: skip
CRITERIA = {kind.name: kind for kind in _KINDS}  # type: ignore[attr-defined]


def find_criterion(by: Any, estimator: Any, X: Any = None) -> Criterion:
    """Find a criterion by its name, or take the object itself; "auto" goes by the kind of the estimator.

    Groups of a table with holes are chosen by hidden entries: silhouettes would need the distances of every two rows.

    >>> from unweave import NMF, KMeans
    >>> find_criterion("auto", NMF()).name, find_criterion("auto", KMeans()).name
    ('held-out', 'groups')
    """
    if isinstance(by, str):
        word = suitable(estimator, X) if by == "auto" else by
        if word not in CRITERIA:
            raise ValueError(f"by={by!r} is not known; use one of auto, {', '.join(CRITERIA)}, or a criterion")
        return CRITERIA[word]()
    if isinstance(by, type) or not hasattr(by, "values") or not hasattr(by, "larger_is_better"):
        raise TypeError(f"by must be the name of a criterion or one with its options (Stability(...)), got {by!r}")
    return by
