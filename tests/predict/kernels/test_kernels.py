"""Kernels of vectors and trees, what is made of kernels, and their manners."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

import unweave
from unweave.predict import (
    Gaussian,
    KernelFeatures,
    KernelTable,
    Linear,
    Polynomial,
    Spectrum,
    Subsequences,
    Substrings,
    Trees,
    check_psd,
)


def double(x):
    return 2 * np.asarray(x)


def test_the_worked_tables():
    X = [[1, 2], [3, 4]]
    assert Linear()(X).tolist() == [[5, 11], [11, 25]]
    psi = [[1, 2**0.5 * a, 2**0.5 * b, 2**0.5 * a * b, a * a, b * b] for a, b in X]
    np.testing.assert_allclose(Polynomial(2)(X), np.array(psi) @ np.array(psi).T, rtol=1e-14)


def test_monomials_of_degree_three_in_two_variables():
    ordered = list(product(range(2), repeat=3))
    assert len(ordered) == 8 and len({tuple(sorted(m)) for m in ordered}) == 4
    X = np.random.default_rng(0).normal(size=(20, 2))
    psi = np.array([[x[list(m)].prod() for m in ordered] for x in X])
    cubes = Polynomial(3, offset=0)(X)
    np.testing.assert_allclose(cubes, psi @ psi.T, rtol=1e-10, atol=1e-12)
    assert np.linalg.matrix_rank(cubes) == 4


@pytest.mark.parametrize("sparse", [False, True])
def test_the_scale_of_a_gaussian(rng, sparse):
    X, Y = rng.normal(size=(300, 4)) + 1e3 * (not sparse), rng.normal(size=(7, 4)) + 1e3 * (not sparse)
    A, B = (sp.csr_array(X), sp.csr_array(Y)) if sparse else (X, Y)
    expected = np.exp(-((X[:, None] - Y) ** 2).sum(axis=2) / (2 * 1.5**2))
    np.testing.assert_allclose(Gaussian(1.5)(A, B), expected, rtol=1e-9)
    np.testing.assert_allclose(Gaussian(gamma=0.5 / 1.5**2)(A, B), expected, rtol=1e-9)
    assert (np.diag(Gaussian(1e-3)(A)) == 1).all()
    np.testing.assert_allclose(Gaussian(gamma=0.1)(X - X.mean(axis=0)), rbf_kernel(X - X.mean(axis=0), gamma=0.1))


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Gaussian(), Linear() + Gaussian()])
def test_the_bits_do_not_depend_on_the_number_of_threads(rng, kernel, two_threads):
    X = rng.normal(size=(500, 5))
    one, two = two_threads(lambda: kernel(X))
    np.testing.assert_array_equal(one, two)
    assert (one == one.T).all()
    np.testing.assert_allclose(one[:9], kernel(X[:9], X), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(one), rtol=1e-12)


def test_what_is_made_of_kernels_is_a_kernel(rng):
    X = rng.normal(size=(40, 3))
    K, G = Linear()(X), Gaussian()(X)
    k, g = Linear(), Gaussian()
    for made, expected in [
        (k + g, K + G),
        (k * g, K * G),
        (3 * k, 3 * K),
        (np.float64(0.5) * k + 1, 0.5 * K + 1),
        (k**3, K**3),
        ((0.1 * k).exp(), np.exp(0.1 * K)),
        (k.polynomial([1, 2, 0, 4]), 1 + 2 * K + 4 * K**3),
        (k.after(double), 4 * K),
        ((1 + k).normalised(), (1 + K) / np.sqrt(np.outer(np.diag(1 + K), np.diag(1 + K)))),
    ]:
        np.testing.assert_allclose(made(X), expected, rtol=1e-12)
        np.testing.assert_allclose(made.diagonal(X), np.diag(expected), rtol=1e-12)
        assert made.check_psd(X).holds
        assert made == clone(made) == pickle.loads(pickle.dumps(made)) and made != k


def test_operators_that_make_no_kernel():
    for make in (lambda: -1 * Linear(), lambda: Linear() + (-2), lambda: Linear().polynomial([1, -1])):
        with pytest.raises(ValueError, match="must be a finite number of at least 0"):
            make()
    with pytest.raises(ValueError, match=r"takes vectors and Spectrum.. takes texts"):
        (Linear() + Spectrum())([[1.0]])
    with pytest.raises(ValueError, match="numbers that are not finite"):
        Linear().exp()([[100.0]])
    both = Subsequences(2).normalised() + Substrings(2).normalised()
    assert both(["ab"]).tolist() == [[2.0]] and both.takes == "texts"


def test_parameters_are_found_from_outside():
    kernel = 2 * Gaussian(3.0) + Linear()
    assert kernel.get_params()["left__kernel__sigma"] == 3.0
    kernel.set_params(left__kernel__sigma=1.0)
    assert kernel == 2 * Gaussian() + Linear()


def test_a_table_that_is_none_of_inner_products():
    told = check_psd([[1, 2], [2, 1]])
    assert not told.holds and told.eigenvalue == pytest.approx(-1) and told.largest == pytest.approx(3)
    assert told.vector @ np.array([[1, 2], [2, 1]]) @ told.vector == pytest.approx(-1)
    assert "not positive semidefinite: the smallest eigenvalue is -1" in str(told)
    assert check_psd([[5, 11], [11, 25]]).holds and check_psd(np.zeros((3, 3))).holds
    with pytest.raises(ValueError, match="two halves differ by 22"):
        check_psd([[5, -11], [11, 25]])
    with pytest.raises(ValueError, match="square"):
        check_psd(np.ones((2, 3)))


# -- trees -------------------------------------------------------------------------------------------------------------

SHE, HE = ("S", ("NP", "she"), ("VP", "runs")), ("S", ("NP", "he"), ("VP", "runs"))


def nodes(tree):
    if not isinstance(tree, tuple):
        return [tree]
    return [tree, *(node for child in tree[1:] for node in nodes(child))]


def label(tree):
    return tree[0] if isinstance(tree, tuple) else tree


def fragments(a, b, decay):
    """Collins and Duffy's recursion as it is written."""
    if not (isinstance(a, tuple) and isinstance(b, tuple)) or len(a) < 2:
        return 0.0
    if [a[0], *map(label, a[1:])] != [b[0], *map(label, b[1:])]:
        return 0.0
    value = decay
    for p, q in zip(a[1:], b[1:]):
        value *= 1 + fragments(p, q, decay)
    return value


def forest(rng, n):
    def grow(depth):
        if depth == 0 or rng.random() < 0.3:
            return str(rng.choice(["x", "y"]))
        return (str(rng.choice(["a", "b"])), *(grow(depth - 1) for _ in range(rng.integers(1, 3))))

    return [grow(4) for _ in range(n)]


@pytest.mark.parametrize("decay", [1.0, 0.5])
def test_trees_share_what_is_written_out(rng, decay):
    trees, others = forest(rng, 15), forest(rng, 10)
    sub, frag = np.zeros((15, 10)), np.zeros((15, 10))
    for i, j in product(range(15), range(10)):
        for a, b in product(nodes(trees[i]), nodes(others[j])):
            inner = sum(isinstance(node, tuple) for node in nodes(a))
            sub[i, j] += decay**inner if a == b else 0.0
            frag[i, j] += fragments(a, b, decay)
    for kernel, expected in ((Trees(decay=decay), sub), (Trees("fragments", decay=decay), frag)):
        np.testing.assert_allclose(kernel(trees, others), expected, rtol=1e-12)
        np.testing.assert_allclose(kernel.diagonal(trees), np.diag(kernel(trees)), rtol=1e-12)
        assert kernel.check_psd(trees).holds


def test_trees_that_are_none():
    cycle: list = ["a"]
    cycle.append(["b", cycle])
    with pytest.raises(ValueError, match=r"A\[1\] has a cycle"):
        Trees()([SHE, cycle])
    with pytest.raises(ValueError, match="empty node"):
        Trees()([("a", ())])
    with pytest.raises(ValueError, match="labels are words or numbers"):
        Trees()([(("a", "b"), "c")])
    with pytest.raises(ValueError, match=r"give .A."):
        Trees()(SHE)
    with pytest.raises(ValueError, match="kind='all' is not known"):
        Trees("all")([SHE])


def test_deep_trees_and_shared_nodes():
    deep = wide = "x"
    for _ in range(5000):
        deep = ("a", deep)
    for _ in range(40):
        wide = ("a", wide, wide)  # 2⁴⁰ leaves, 41 nodes that differ
    assert Trees()([deep])[0, 0] == 5001
    assert Trees()([wide], ["x"])[0, 0] == 2.0**40


# -- in pipelines ------------------------------------------------------------------------------------------------------


def test_a_table_in_a_pipeline_is_the_kernel_itself(rng):
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC, SVR

    X = rng.normal(size=(60, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    ours = make_pipeline(KernelTable(Gaussian(gamma=0.5)), SVC(kernel="precomputed")).fit(X, y)
    asked = SVC(kernel=Gaussian(gamma=0.5)).fit(X, y)
    named = SVC(kernel="rbf", gamma=0.5).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), named.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(asked.decision_function(X), named.decision_function(X), atol=1e-6)
    assert SVR(kernel=Polynomial(2)).fit(X, X[:, 0] * X[:, 1]).score(X, X[:, 0] * X[:, 1]) > 0.5
    texts = ["".join(rng.choice(list("ab" if i % 2 else "bc"), 9)) for i in range(40)]
    model = make_pipeline(KernelTable(Subsequences(2), normalised=True), SVC(kernel="precomputed"))
    assert cross_val_score(model, texts, np.arange(40) % 2, cv=4).mean() > 0.9


@pytest.mark.parametrize("kernel", [Gaussian(), 2 * Gaussian(0.5) + 1, Polynomial(2).normalised(), "gaussian"])
def test_a_table_and_features_are_saved(rng, tmp_path, kernel):
    X = rng.normal(size=(30, 3))
    for model in (KernelTable(kernel), KernelFeatures(kernel, 8, random_state=0)):
        fitted = model.fit(X)
        loaded = unweave.load(fitted.save(tmp_path / "kernel.unweave"))
        assert loaded.kernel_ == fitted.kernel_
        np.testing.assert_array_equal(loaded.transform(X), fitted.transform(X))
    texts = ["ab", "ba", ""]
    table = KernelTable(Spectrum(2)).fit(texts)
    loaded = unweave.load(table.save(tmp_path / "texts.unweave"))
    assert loaded.rows_ == texts and loaded.transform(["abab"]).tolist() == table.transform(["abab"]).tolist()


def test_features_come_near_to_the_kernel(rng):
    X = rng.normal(size=(300, 3))
    K = Gaussian(2.0)(X)
    for method, most in (("nystrom", 1e-3), ("fourier", 0.15)):
        F = KernelFeatures(Gaussian(2.0), 200, method=method, random_state=0).fit_transform(X)
        assert F.shape[1] <= 200 and np.abs(F @ F.T - K).max() < most
    few = KernelFeatures(Linear(), 100, random_state=0).fit(X)
    assert few.transform(X).shape == (300, 3)  # three directions are all there are
    np.testing.assert_allclose(few.transform(X) @ few.transform(X).T, X @ X.T, atol=1e-8)
    texts = ["".join(rng.choice(list("ab"), 6)) for _ in range(80)]
    F = KernelFeatures(Spectrum(2), 50, random_state=0).fit_transform(texts)
    np.testing.assert_allclose(F @ F.T, Spectrum(2)(texts), atol=1e-8)
    with pytest.raises(ValueError, match="no function of x − x'"):
        KernelFeatures(Spectrum(2), method="fourier").fit(texts)


def test_other_rooms_take_kernels(rng):
    turn = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    X = np.vstack([ring, 3 * ring])
    cut = unweave.SpectralClustering(2, affinity=Gaussian(0.3)).fit(X)
    named = unweave.SpectralClustering(2, affinity="rbf", gamma=0.5 / 0.3**2).fit(X)
    np.testing.assert_array_equal(cut.labels_, named.labels_)
    np.testing.assert_array_equal(cut.predict(X), cut.labels_)
    with pytest.raises(ValueError, match="affinity must give numbers that are finite and not negative"):
        unweave.SpectralClustering(2, affinity=Linear()).fit(X)
    parts = unweave.ConvexNMF(2, kernel=Gaussian(1.0), random_state=0).fit(X)
    given = unweave.ConvexNMF(2, kernel="precomputed", random_state=0).fit(Gaussian(1.0)(X))
    assert parts.objective_ == pytest.approx(given.objective_, rel=1e-6)


def test_names_and_functions_are_kernels(rng, tmp_path):
    X = rng.normal(size=(20, 3))
    np.testing.assert_allclose(KernelTable(laplacian_kernel).fit(X).transform(X), laplacian_kernel(X))
    gaussian = KernelTable("rbf").fit(X).kernel_
    assert gaussian.rate == pytest.approx(1 / (3 * X.var()))
    with pytest.raises(ValueError, match="kernel='nothing' is not known"):
        KernelTable("nothing").fit(X)
    with pytest.raises(TypeError, match="cannot be saved"):
        KernelTable(Linear().after(double)).fit(X).save(tmp_path / "no.unweave")
