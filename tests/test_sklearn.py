"""scikit-learn's own checks on every public estimator, with its default parameters."""

import inspect

from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import unweave
from unweave import complete, compress, explain, group

# Whatever has a public name, so that a new estimator cannot be forgotten.
ESTIMATORS = {
    name: kind
    for room in (unweave, compress, complete, explain, group)
    for name in room.__all__
    if inspect.isclass(kind := getattr(room, name)) and issubclass(kind, BaseEstimator) and hasattr(kind, "fit")
}
_CLASSES = "predict_proba has a column for each component; this check reads the tags of a classifier"

# Checks that are expected to fail, and why.
EXPECTED = {
    (unweave.GaussianMixture, unweave.BernoulliMixture, unweave.SoftClustering): _CLASSES,
}


def _expected(estimator) -> dict[str, str]:
    sparse = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
    return {check: why for kinds, why in EXPECTED.items() if isinstance(estimator, kinds) for check in sparse}


@parametrize_with_checks([kind() for kind in ESTIMATORS.values()], expected_failed_checks=_expected)
def test_estimator_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)
