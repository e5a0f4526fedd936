"""No certificate claims more than is true: a bound lies below every objective that a longer fit reaches.

Short fits claim, long fits in double precision of the same numbers try to go below. Weights, holes, float32 and sparse
storage change which code finds the bound, so every kind of bound meets all of them that it can.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

import unweave
from unweave.complete import SingularValueThresholding, SoftImpute
from unweave.penalties import L1, ElasticNet, Fixed, L1Ball, L2Ball, Nuclear, Ridge

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

DTYPES = (np.float64, np.float32)


def tables(rng: np.random.Generator, n: int, m: int, dtype, positive: bool = False) -> dict[str, tuple]:
    """One random table in every storage: name → (X, parameters of the model, arguments of fit)."""
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, m)) + rng.normal(size=(n, m)) * 10.0 ** rng.uniform(-2, 0)
    X = (np.abs(X) if positive else X).astype(dtype)
    hidden = rng.random((n, m)) < 0.3
    W = (rng.gamma(0.5, size=(n, m)) * 10.0 ** rng.uniform(-2, 2)).astype(dtype)  # as the table's type keeps them
    cut = np.where(hidden, 0, X).astype(dtype)
    holes = np.where(hidden, np.nan, X).astype(dtype)
    weighted, given = {"loss": "weighted"}, {"weights": W}
    return {
        "dense": (X, {}, {}),
        "sparse": (sp.csr_array(cut), {}, {}),
        "holes": (holes, {"missing": "nan"}, {}),
        "stored only": (sp.csr_array(cut), {"missing": "zeros"}, {}),
        "light": (X, weighted, {"weights": np.full((n, m), 0.1, dtype)}),
        "weighted": (X, weighted, given),
        "weighted holes": (holes, {"missing": "nan", **weighted}, given),
    }


STORAGES = tuple(tables(np.random.default_rng(0), 3, 3, np.float64))


def in_double(X):
    return X.astype(np.float64)


def size_of(X, fit: dict) -> float:
    """The objective of predicting nothing, about: what a tolerance on an objective is relative to."""
    values = X.data if sp.issparse(X) else np.nan_to_num(X)
    heaviest = max(float(np.max(w, initial=0.0)) for w in (*fit.values(), np.ones(1)))
    return 0.5 * heaviest * float(np.square(values.astype(np.float64)).sum())


def below(claim, objective: float, X, fit: dict) -> None:
    """The bound is at most the objective that a fit in double precision reached; 1e-9 is left for that fit."""
    assert claim.lower_bound <= objective + 1e-9 * objective + 1e-12 * size_of(X, fit), str(claim)


def agree(one, two, X, fit: dict) -> None:
    """Two certificates of one fit do not contradict each other."""
    eps = float(np.finfo(X.dtype).eps)
    close, rounding = float(np.sqrt(eps)), eps * size_of(X, fit)
    assert two.objective == pytest.approx(one.objective, rel=close, abs=rounding)
    if one.kind == two.kind and one.kind != "kkt":
        assert two.lower_bound == pytest.approx(one.lower_bound, rel=max(close, 1e-6), abs=rounding)


# -- the nuclear norm --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("seed", range(3))
def test_no_fit_undercuts_the_bound_of_the_nuclear_norm(seed, storage, dtype):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(4, 25, 2)
    X, model, fit = tables(rng, n, m, dtype)[storage]
    tau = 10.0 ** rng.uniform(-2, 1)

    def fitted(X, steps):
        k, penalty = min(X.shape), Nuclear(tau)
        return unweave.Factorization(k, codes=penalty, max_iter=steps, tol=0, init="random", **model).fit(X, **fit)

    long = fitted(in_double(X), 150)
    for steps in (1, 5):
        short = fitted(X, steps)
        claims = [short.certificate_, short.certify(X, **fit), long.certificate_, long.certify(in_double(X), **fit)]
        for claim in claims:
            below(claim, long.objective_, X, fit)
        agree(claims[0], claims[1], X, fit)


def test_the_bound_with_light_weights_that_was_once_above_a_longer_fit():
    X = np.random.default_rng(0).normal(size=(30, 10))
    for seed in range(5):
        X = np.random.default_rng(seed).normal(size=(30, 10))
        models = [unweave.Factorization(10, loss="weighted", codes=Nuclear(0.3), max_iter=i, tol=0) for i in (1, 400)]
        short, long = (model.fit(X, weights=np.full(X.shape, 0.1)) for model in models)
        assert short.certificate_.exact and short.certificate_.lower_bound <= long.objective_ * (1 + 1e-9)
        assert long.certificate_.gap < 1e-2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(4))
def test_no_table_undercuts_the_bounds_of_the_completions(seed, dtype):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(4, 25, 2)
    X = tables(rng, n, m, dtype)["holes"][0]
    tau = 10.0 ** rng.uniform(-1, 1)
    short, long = SoftImpute(strength=tau, max_iter=2).fit(X), SoftImpute(strength=tau, tol=1e-10).fit(in_double(X))
    for claim in (short.certificate_, short.certify(X), long.certificate_, long.certify(in_double(X))):
        below(claim, long.objective_, X, {})
    # Thresholding: at a table that agrees with the entries to 1e-9 the objective can be short by slope · 1e-9 only.
    few, many = (SingularValueThresholding(max_iter=i, tol=t) for i, t in ((3, 1e-2), (3000, 1e-9)))
    few, many = few.fit(X), many.fit(in_double(X))
    assert many.residual_ > 1e-7 or few.certificate_.lower_bound <= many.certificate_.objective * (1 + 1e-6)


# -- components fixed --------------------------------------------------------------------------------------------------

CODES = {
    "free": lambda: "free",
    "ridge": lambda: Ridge(0.3),
    "nonnegative": lambda: "nonnegative",
    "nonnegative and ridge": lambda: ("nonnegative", Ridge(0.3)),
    "l1": lambda: L1(0.3),
    "nonnegative and l1": lambda: ("nonnegative", L1(0.3)),
    "elastic net": lambda: ElasticNet(0.3, 0.5),
    "simplex": lambda: "simplex",
    "l1-ball": lambda: L1Ball(0.7),
    "l2-ball": lambda: L2Ball(0.7),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("codes", CODES)
def test_no_codes_undercut_the_bound_with_the_components_fixed(codes, storage, dtype):
    rng = np.random.default_rng([list(CODES).index(codes), STORAGES.index(storage)])
    for k in (2, 7):
        X, model, fit = tables(rng, 12, 6, dtype)[storage]
        Z = (rng.normal(size=(k, 6)) * 10.0 ** rng.uniform(-1, 1)).astype(dtype)

        def fitted(X, Z, steps, k=k, model=model, fit=fit):
            settings = {"codes": CODES[codes](), "components": Fixed(Z), "max_iter": steps, "tol": 0}
            return unweave.Factorization(k, **settings, **model).fit(X, **fit)

        long, short = fitted(in_double(X), Z.astype(np.float64), 5), fitted(X, Z, 1)
        claims = [short.certificate_, short.certify(X, **fit), long.certificate_, long.certify(in_double(X), **fit)]
        assert {claim.kind for claim in claims} == {"duality"}
        for claim in claims:
            below(claim, long.objective_, X, fit)
        agree(claims[0], claims[1], X, fit)
        assert long.certificate_.gap < 1e-3


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("condition", [1e1, 1e3, 1e5, 1e6])
def test_codes_of_components_that_are_nearly_alike_are_the_best_or_the_certificate_says_so(condition, storage, dtype):
    """Against NumPy's least squares in double precision; float32 itself cannot tell what is alike to a millionth."""
    rng = np.random.default_rng([int(condition), STORAGES.index(storage)])
    for codes in ("free", "nonnegative"):
        X, model, fit = tables(rng, 20, 9, dtype)[storage]
        Z = rng.normal(size=(4, 9))
        Z = (Z[:1] + Z / condition).astype(dtype)
        fitted = unweave.Factorization(4, codes=codes, components=Fixed(Z), max_iter=1, **model).fit(X, **fit)
        reached = best = 0.0
        dense = X.toarray() if sp.issparse(X) else X
        seen = dense != 0 if storage == "stored only" else ~np.isnan(dense)
        for i, x in enumerate(dense.astype(np.float64)):
            root = np.sqrt(fit["weights"][i].astype(np.float64)) if fit else np.ones(9)
            H, x = (Z.astype(np.float64) * root)[:, seen[i]].T, (root * x)[seen[i]]
            solve = nnls if codes == "nonnegative" else lambda A, b: np.linalg.lstsq(A, b, rcond=None)
            code = fitted.codes_[i].astype(np.float64)
            reached += 0.5 * np.square(x - H @ code).sum()
            best += 0.5 * np.square(x - H @ solve(H, x)[0]).sum()
        above = (reached - best) / best
        assert above <= (1e-4 if condition * np.finfo(dtype).eps < 1e-3 else 3.0)
        assert above <= 1e-4 or fitted.certificate_.gap >= 0.5 * above


@pytest.mark.parametrize("loss", ["huber", "kl", "logistic", "itakura-saito"])
def test_no_shares_undercut_the_bound_under_another_loss(loss, dtype=np.float32):
    rng = np.random.default_rng(1)
    for missing in (None, "nan") if loss == "huber" else (None,):
        X = rng.gamma(1, size=(6, 5)).astype(dtype)
        X = (X > 0.7).astype(dtype) if loss in ("logistic", "hinge") else X + dtype(0.01)
        X = np.where(rng.random(X.shape) < 0.3, np.nan, X).astype(dtype) if missing else X
        Z = rng.gamma(1, size=(3, 5)).astype(dtype)
        model = {"loss": loss, "codes": "simplex", "missing": missing, "tol": 0}
        short = unweave.Factorization(3, components=Fixed(Z), max_iter=1, **model).fit(X)
        other = Fixed(Z.astype(np.float64))
        long = unweave.Factorization(3, components=other, max_iter=2, **model).fit(in_double(X))
        assert (short.certificate_.kind == "kkt") == (loss == "itakura-saito")  # which is not convex
        for claim in (short.certificate_, short.certify(X), long.certificate_):
            below(claim, long.objective_, X, {})


# -- Eckart and Young --------------------------------------------------------------------------------------------------


def of_rank(name: str, steps: int):
    """A model whose answer has rank three, for so many iterations."""
    some = {"max_iter": steps}
    return {
        "free": lambda: unweave.Factorization(3, codes="free", **some),
        "nonnegative": lambda: unweave.NMF(3, **some),
        "semi": lambda: unweave.SemiNMF(3, **some),
        "convex": lambda: unweave.ConvexNMF(3, **some),
        "orthogonal": lambda: unweave.OrthogonalNMF(3, **some),
        "simplex": lambda: unweave.SoftClustering(3, **some),
        "one-hot": lambda: unweave.Factorization(3, codes="one-hot", **some),
        "k-means": lambda: unweave.KMeans(3, **some),
        "pca": lambda: unweave.PCA(3),
        "svd": lambda: unweave.TruncatedSVD(3),
    }[name]()


RANKED = ("free", "nonnegative", "semi", "convex", "orthogonal", "simplex", "one-hot", "k-means", "pca", "svd")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("name", RANKED)
def test_no_fit_undercuts_the_bound_of_its_rank(name, storage, dtype):
    for seed in range(2):
        X = tables(np.random.default_rng(seed), 30, 6, dtype, positive=True)[storage][0]
        short, long = of_rank(name, 2).fit(X), of_rank(name, 100).fit(in_double(X))
        claims = [short.certificate_, short.certify(X), long.certify(in_double(X))]
        assert claims[1].kind == "eckart-young"
        for claim in claims:
            below(claim, long.objective_, X, {})
        agree(claims[0], claims[1], X, {})


@pytest.mark.parametrize("dtype", DTYPES)
def test_similarities_and_blocks_keep_the_law_too(dtype):
    X = tables(np.random.default_rng(3), 20, 6, dtype, positive=True)["dense"][0]
    A = X @ X.T
    short, long = unweave.SymmetricNMF(3, max_iter=2).fit(A), unweave.SymmetricNMF(3).fit(in_double(A))
    for claim in (short.certificate_, short.certify(A), long.certify(in_double(A))):
        below(claim, long.objective_, A, {})
    agree(short.certificate_, short.certify(A), A, {})
    stream = unweave.TruncatedSVD(2)
    for block in (X[:8], X[8:]):
        stream.partial_fit(block)
    below(stream.certificate_, unweave.TruncatedSVD(2).fit(in_double(X)).objective_, X, {})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("scale", [0.1, 30.0])
def test_centres_of_weighted_rows_are_certified_for_those_weights(scale, storage, dtype):
    rng = np.random.default_rng(4)
    X = tables(rng, 60, 4, dtype)[storage][0]
    for weights in (np.full(60, scale), scale * rng.gamma(0.5, size=60), scale * (rng.random(60) < 0.5)):
        model = unweave.KMeans(4).fit(X, sample_weight=weights)
        long = unweave.KMeans(4, tol=0).fit(in_double(X), sample_weight=weights)
        found = model.certificate_, model.certify(X, sample_weight=weights)
        for claim in found:
            assert claim.kind == "eckart-young"
            below(claim, long.objective_, X, {"sample_weight": weights})
        agree(*found, X, {"sample_weight": weights})
        with pytest.raises(ValueError, match="sample_weight"):
            model.certify(X)


def test_weights_that_the_fit_had_are_asked_for():
    X, model, fit = tables(np.random.default_rng(5), 9, 5, np.float64)["weighted"]
    fitted = unweave.Factorization(2, **model).fit(X, **fit)
    before = fitted.certificate_
    with pytest.raises(ValueError, match=r"certify\(X, weights=...\)"):
        fitted.certify(X)
    assert fitted.certificate_ is before and fitted.certify(X, **fit).objective == pytest.approx(fitted.objective_)


def test_no_cut_undercuts_the_bound_of_a_graph():
    rng = np.random.default_rng(6)
    X = np.vstack([rng.normal(size=(12, 2)), 4 + rng.normal(size=(12, 2))])
    model = unweave.SpectralClustering(2, n_neighbors=5).fit(X)
    W = np.asarray(sp.csr_array(model._graph(X)[0]).todense())
    degree, least = W.sum(axis=1), np.inf
    for labels in rng.random((3000, len(X))) < rng.random((3000, 1)):
        if 0 < labels.sum() < len(X):
            cut = W[labels][:, ~labels].sum()
            least = min(least, cut / degree[labels].sum() + cut / degree[~labels].sum())
    assert model.certificate_.lower_bound <= min(least, model.objective_)


@pytest.mark.parametrize("rows", [60, 4200])  # of many rows some stand for all
def test_ridges_of_single_rows_are_those_of_the_fit(rows):
    rng = np.random.default_rng(rows)
    X = sp.random_array((rows, 6), density=0.6, format="csr", rng=rng)
    short, long = (unweave.MatrixCompletion(2, ridge=0.1, max_iter=n, tol=0).fit(X) for n in (1, 60))
    assert np.isfinite(short.certificate_.gap) and long.certificate_.gap < 0.5 * short.certificate_.gap
