"""scikit-learn's own checks on every public estimator, with its default parameters where these take any numbers."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import unweave
from unweave.registry import ESTIMATORS, find, lacking

_CLASSES = "predict_proba has a column for each component; this check reads the tags of a classifier"
_ROWS = (
    "by default there are as many components as rows, and 27 with repetition: those beyond the 15 different ones have "
    "no variance. tests/compress holds weights to repetition for a number of components"
)

# Checks that are expected to fail, and why.
_SPARSE = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
_WEIGHTS = (
    "check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"
)  # fmt: skip
EXPECTED = {
    (unweave.GaussianMixture, unweave.BernoulliMixture, unweave.SoftClustering): (_SPARSE, _CLASSES),
    (unweave.PCA, unweave.LSA): (_WEIGHTS, _ROWS),
}


def _expected(estimator) -> dict[str, str]:
    return {check: why for kinds, (checks, why) in EXPECTED.items() if isinstance(estimator, kinds) for check in checks}


@parametrize_with_checks(
    [find(name)(**entry.checked) for name, entry in ESTIMATORS.items()], expected_failed_checks=_expected
)
def test_estimator_keeps_the_contract_of_scikit_learn(estimator, check):
    if lack := lacking(type(estimator).__name__):
        pytest.skip(lack)
    check(estimator)
