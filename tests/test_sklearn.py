"""scikit-learn's own checks on every estimator."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import unweave

_TABLE = "predict(X) of a recommender is the completed table; this check wants one number a row"
_CLASSES = "predict_proba has a column for each component; this check reads the tags of a classifier"


def _expected(estimator) -> dict[str, str]:
    if isinstance(estimator, unweave.MatrixCompletion | unweave.ImplicitALS):
        return {"check_estimator_sparse_array": _TABLE, "check_estimator_sparse_matrix": _TABLE}
    if isinstance(estimator, unweave.GaussianMixture | unweave.BernoulliMixture | unweave.SoftClustering):
        return {"check_estimator_sparse_array": _CLASSES, "check_estimator_sparse_matrix": _CLASSES}
    if isinstance(estimator, unweave.SymmetricNMF):
        return {"check_estimators_nan_inf": "it fits 10×10 similarities, then hands predict three columns"}
    return {}


@parametrize_with_checks(
    [
        unweave.Factorization(),
        unweave.PCA(),
        unweave.TruncatedSVD(),
        unweave.NMF(),
        unweave.SemiNMF(),
        unweave.ConvexNMF(),
        unweave.OrthogonalNMF(),
        unweave.SymmetricNMF(),
        unweave.TextTable(),
        unweave.LSA(),
        unweave.LDA(),
        unweave.PLSA(),
        unweave.SimplexTopics(3),
        unweave.KMeans(),
        unweave.BFR(),
        unweave.CURE(),
        unweave.Agglomerative(),
        unweave.Divisive(),
        unweave.SpectralClustering(),
        unweave.SoftClustering(),
        unweave.HiddenMarkov(),
        unweave.GaussianMixture(),
        unweave.BernoulliMixture(binarize=0.0),
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
