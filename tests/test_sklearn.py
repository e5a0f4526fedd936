"""scikit-learn's own checks on every public estimator, with its default parameters where these take any numbers."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import unweave
from unweave.registry import ESTIMATORS, find

_CLASSES = "predict_proba has a column for each component; this check reads the tags of a classifier"

# Checks that are expected to fail, and why.
EXPECTED = {
    (unweave.GaussianMixture, unweave.BernoulliMixture, unweave.SoftClustering): _CLASSES,
}


def _expected(estimator) -> dict[str, str]:
    sparse = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
    return {check: why for kinds, why in EXPECTED.items() if isinstance(estimator, kinds) for check in sparse}


@parametrize_with_checks(
    [find(name)(**entry.checked) for name, entry in ESTIMATORS.items()], expected_failed_checks=_expected
)
def test_estimator_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)
