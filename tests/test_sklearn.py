"""scikit-learn's own checks on every estimator."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import unweave

_WEIGHTS = "scikit-learn's own KMeans fails this too: a start drawn from rows is not that of repeated rows"


_TABLE = "predict(X) of a recommender is the completed table; this check wants one number a row"


def _expected(estimator) -> dict[str, str]:
    if isinstance(estimator, unweave.MatrixCompletion | unweave.ImplicitALS):
        return {"check_estimator_sparse_array": _TABLE, "check_estimator_sparse_matrix": _TABLE}
    if not isinstance(estimator, unweave.KMeans):
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": _WEIGHTS,
        "check_sample_weight_equivalence_on_sparse_data": _WEIGHTS,
    }


@parametrize_with_checks(
    [
        unweave.Factorization(),
        unweave.PCA(),
        unweave.TruncatedSVD(),
        unweave.NMF(),
        unweave.KMeans(),
        unweave.MatrixCompletion(),
        unweave.ImplicitALS(n_components=3),
        unweave.SoftImpute(),
        unweave.SingularValueThresholding(),
        unweave.TableImputer(),
    ],
    expected_failed_checks=_expected,
)
def test_estimator_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)
