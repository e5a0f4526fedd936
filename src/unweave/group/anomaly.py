"""Score how strange rows are to a fitted model, in one convention: higher is stranger."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.storage import as_dense


def anomaly_score(model, X) -> NDArray[np.float64]:
    """Score every row of X by how badly a fitted model explains it: higher is stranger.

    What the model itself calls ``anomaly_score``; otherwise −log p(x) for densities (``score_samples``), the distance
    to the nearest centre for clusterings (``cluster_centers_``), and ‖x − U·Z‖ for factorisations, over the entries
    that were observed. Scores of different models are not on one scale.

    Parameters
    ----------
    model : fitted estimator
        Of this library, or one of scikit-learn with these methods.
    X : table

    Examples
    --------
    >>> import numpy as np, unweave
    >>> from unweave import anomaly_score
    >>> X = np.outer(np.arange(1.0, 9), [1.0, 2.0])
    >>> anomaly_score(unweave.PCA(1).fit(X), [[1.0, 2.0], [2.0, 1.0]]).round(3)
    array([0.   , 1.342])
    """
    check_is_fitted(model)
    if hasattr(model, "anomaly_score"):
        return np.asarray(model.anomaly_score(X), dtype=np.float64)
    if hasattr(model, "score_samples"):
        return -np.asarray(model.score_samples(X), dtype=np.float64)
    if hasattr(model, "cluster_centers_"):
        return np.asarray(model.transform(X), dtype=np.float64).min(axis=1)
    if hasattr(model, "inverse_transform") and hasattr(model, "transform"):
        return _residuals(model, X)
    raise TypeError(f"{type(model).__name__} has neither a density nor a reconstruction to score rows by")


def _residuals(model, X) -> NDArray[np.float64]:
    predicted = np.asarray(model.inverse_transform(model.transform(X)), dtype=np.float64)
    seen = np.asarray(as_dense(X), dtype=np.float64)
    return np.sqrt(np.nansum((seen - predicted) ** 2, axis=1))
