"""Convex NMF: the kernel against its twin, the published rule, k-means, and kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

import unweave
from tests.reference import nonneg as slow
from tests.tables import signed_parts
from unweave.explain.parts import gram as gram
from unweave.explain.parts.convex import ConvexNMF
from unweave.explain.parts.gram import KERNELS, training_table
from unweave.kernels.nonneg import mix_sweep

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def table(n=70, *args, **more):
    return signed_parts(n, *args, **more)


@given(seed=st.integers(0, 2**31), n=st.integers(1, 12))
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_sweep_agrees_with_its_twin(kind, seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[rng.random(n) < 0.2] = 0
    K, w, s = (
        (X @ X.T).astype(kind),
        (rng.random(n) * (rng.random(n) < 0.5)).astype(kind),
        rng.normal(size=n).astype(kind),
    )
    want = slow.mix_sweep(K.astype(np.float64), s, w, 1.5)
    got, q = w.copy(), K @ w
    most = mix_sweep(K, s, got, q, kind(1.5))
    tight = 1e-3 if kind is np.float32 else 1e-9
    np.testing.assert_allclose(got, want, rtol=tight, atol=tight * (1 + np.abs(want).max()))
    np.testing.assert_allclose(q, K @ got, rtol=tight, atol=tight * (1 + np.abs(q).max()))
    moves = np.abs(want - w) * np.sqrt(np.diag(K))
    assert most == pytest.approx(moves.max(), rel=10 * tight, abs=10 * tight)


def test_it_goes_below_the_published_rule_from_the_same_start():
    X = table()
    member = np.eye(3)[unweave.KMeans(3, random_state=0).fit(X).labels_]
    U, W = slow.convex_nmf(X, member + 0.2, ((member + 0.2) / member.sum(axis=0)).T, 300)
    model = ConvexNMF(3, max_iter=300, tol=1e-8).fit(X)
    assert model.objective_ <= 0.5 * np.square(X - U @ (W @ X)).sum()


@pytest.mark.parametrize("kind", ["hull", "cone"])
@pytest.mark.parametrize("as_table", [np.asarray, sp.csr_array])
def test_components_are_mixtures_of_rows(kind, as_table, dtype):
    X = np.where(np.abs(table()) > 0.2, table(), 0).astype(dtype)
    model = ConvexNMF(3, kind=kind).fit(as_table(X))
    assert model.row_weights_.min() >= 0 and model.codes_.min() >= 0 and model.components_.dtype == dtype
    np.testing.assert_allclose(model.row_weights_ @ X, model.components_, rtol=1e-4, atol=1e-4)
    size = model.row_weights_.sum(axis=1) if kind == "hull" else np.linalg.norm(model.components_, axis=1)
    np.testing.assert_allclose(size, 1, rtol=1e-5)
    np.testing.assert_allclose(model.transform(as_table(X)), model.codes_, rtol=1e-4, atol=1e-5)
    values = np.asarray(model.history_.objective)
    assert (np.diff(values) <= 1e-5 * values[0]).all()


def test_hull_and_cone_have_the_same_objective():
    X = table()
    hull, cone = (ConvexNMF(3, kind=kind, tol=1e-8).fit(X) for kind in ("hull", "cone"))
    assert hull.objective_ == pytest.approx(cone.objective_, rel=1e-6)


@given(seed=st.integers(0, 2**31), k=st.integers(1, 5))
def test_it_never_costs_more_than_k_means_nor_less_than_semi_nmf_could(seed, k):
    X = np.random.default_rng(seed).normal(size=(25, 6))
    model = ConvexNMF(k, random_state=seed, max_iter=10).fit(X)
    assert model.objective_ <= unweave.KMeans(k, random_state=seed).fit(X).objective_ * (1 + 1e-9)
    tail = 0.5 * np.square(np.linalg.svd(X, compute_uv=False)[k:]).sum()
    assert model.objective_ >= tail * (1 - 1e-9)


@given(seed=st.integers(0, 2**31), k=st.integers(2, 4), far=st.sampled_from([0, 1, 10, 100]))
def test_it_begins_at_k_means_wherever_the_table_lies(seed, k, far):
    X = far + np.random.default_rng(seed).normal(size=(8, 3))
    model = ConvexNMF(k, random_state=seed).fit(X)
    groups = unweave.KMeans(k, random_state=seed).fit(X).objective_ * (1 + 1e-9) + 1e-12 * far**2
    assert model.history_.objective[0] <= groups and model.objective_ <= groups


def test_the_clusters_that_were_missed():
    X = 100 + np.random.default_rng(4).normal(size=(6, 2))
    model = ConvexNMF(4).fit(X)
    assert max(model.objective_, model.history_.objective[0]) <= unweave.KMeans(4).fit(X).objective_


def test_many_rows_begin_at_k_means_too(monkeypatch):
    monkeypatch.setattr("unweave.explain.parts.convex.MOST_ROWS", 100)
    X = 100 + np.random.default_rng(0).normal(size=(300, 5))
    model, groups = ConvexNMF(5, max_iter=20).fit(X), unweave.KMeans(5).fit(X)
    assert model.plan_.start == "k-means"
    assert model.history_.objective[0] <= groups.objective_ and model.objective_ <= groups.objective_


def test_the_history_never_rises_in_float32():
    values = ConvexNMF(3).fit(table(dtype=np.float32)).history_.objective
    assert (np.diff(values) <= 0).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_that_is_offered_works_or_says_what_to_do(kernel):
    X = np.abs(table())
    try:
        model = ConvexNMF(2, kernel=kernel).fit(X)
    except ValueError as error:
        assert kernel == "sigmoid" and "use 'rbf'" in str(error)
    else:
        assert model.objective_ <= 0.5 * np.trace(training_table(kernel, X))


def test_the_linear_kernel_is_the_plain_form():
    X = table()
    plain = ConvexNMF(3, tol=1e-8, max_iter=500).fit(X)
    for kernel, data in (("linear", X), ("precomputed", X @ X.T), (lambda a, b: a @ b.T, X)):
        model = ConvexNMF(3, kernel=kernel, tol=1e-8, max_iter=500).fit(data)
        assert model.objective_ == pytest.approx(plain.objective_, rel=0.02)
        np.testing.assert_allclose(model.transform(data), model.codes_, atol=1e-9)
        U, W = model.codes_, model.row_weights_
        assert model.objective_ == pytest.approx(0.5 * np.square(X - U @ W @ X).sum(), rel=1e-6)


def test_a_kernel_finds_what_no_line_divides():
    turn = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    X = np.vstack([0.2 * ring, 3 * ring[:10] + [8, 0]])
    model = ConvexNMF(2, kernel="rbf").fit(X)
    labels = model.codes_.argmax(axis=1)
    assert len(set(labels[:40])) == 1
    K = rbf_kernel(X)
    U, W = model.codes_, model.row_weights_
    assert model.objective_ == pytest.approx(0.5 * np.trace(K - 2 * U @ W @ K + U @ W @ K @ W.T @ U.T), rel=1e-6)
    assert model.score(X) == pytest.approx(-model.objective_ / len(X), rel=1e-6)
    assert model.transform(X[:3]).shape == (3, 2) and list(model.get_feature_names_out()) == [
        "convexnmf0",
        "convexnmf1",
    ]
    with pytest.raises(ValueError, match="row_weights_"):
        model.inverse_transform(model.codes_)


def test_many_rows_take_the_engine(monkeypatch):
    assert gram.MOST_ROWS == 8192
    X = table(120)
    small = ConvexNMF(3).fit(X)
    monkeypatch.setattr("unweave.explain.parts.convex.MOST_ROWS", 100)
    large = ConvexNMF(3, max_iter=500).fit(X)
    assert large.row_weights_.shape == (3, 120) and large.objective_ < 3 * small.objective_
    monkeypatch.setattr("unweave.explain.parts.gram.MOST_ROWS", 100)
    with pytest.raises(ValueError, match="at most"):
        ConvexNMF(3, kernel="rbf").fit(X)


def test_threads_do_not_matter(two_threads):
    X = table(1500, 40)
    one, two = two_threads(lambda: ConvexNMF(3, max_iter=4).fit(X))
    assert np.array_equal(one.row_weights_, two.row_weights_) and one.objective_ == two.objective_


def test_more_components_than_distinct_rows_still_fit():
    X = np.repeat(np.array([[1.0, 2], [3, -1]]), 4, axis=0)
    model = ConvexNMF(3).fit(X)
    assert model.objective_ < 1e-9 and np.isfinite(model.row_weights_).all()


@pytest.mark.parametrize("arguments, data, words", [
    ({"kind": "ball"}, table(), "kind='ball' is not known"),
    ({"kernel": "magic"}, table(), "kernel='magic' is not known"),
    ({"kernel": "precomputed"}, table(), "square"),
    ({"kernel": "precomputed"}, np.array([[1.0, 5], [5, 1]]), "not inner products"),
    ({"kernel": "precomputed"}, np.array([[1.0, 0.5], [0.1, 1]]), "symmetric"),
    ({"kernel": lambda a, b: a}, table(), "shape"),
    ({"n_components": 100}, table(), "n_samples=70"),
    ({"n_components": "auto", "kernel": "rbf"}, table(), "kernel=None"),
])  # fmt: skip
def test_bad_arguments_are_named(arguments, data, words):
    with pytest.raises(ValueError, match=words):
        ConvexNMF(**{"n_components": 2} | arguments).fit(data)


def test_auto_and_no_stream():
    assert ConvexNMF("auto").fit(table(60)).n_components_ >= 3
    assert not hasattr(ConvexNMF(), "partial_fit")


def test_the_former_name_of_the_weights_warns_and_saved_models_have_the_new_one():
    saved = unweave.load(Path(__file__).resolve().parents[2] / "persist" / "saved" / "ConvexNMF.unweave")
    assert "mixing_" not in vars(saved)
    np.testing.assert_allclose(saved.row_weights_.sum(axis=1), 1, atol=1e-5)
    with pytest.warns(FutureWarning, match="row_weights_"):
        assert saved.mixing_ is saved.row_weights_
