"""Tables that bring their names and holes along."""

import numpy as np
import polars
import pytest
import scipy.sparse as sp

import unweave
from unweave.data.named import NamedTable


@pytest.fixture
def table(rng):
    X = rng.random((30, 4))
    X[3, 1] = np.nan
    return NamedTable(X, columns=list("abcd"), missing="nan")


@pytest.mark.parametrize("model", [unweave.PCA(2), unweave.NMF(2), unweave.KMeans(2), unweave.Factorization(2)])
def test_estimators_take_it_with_its_names_and_holes(model, table):
    model.fit(table)
    assert list(model.feature_names_in_) == list("abcd")
    again = type(model)(**{**model.get_params(), "missing": "nan"}).fit(table.X)
    np.testing.assert_array_equal(model.components_, again.components_)
    np.testing.assert_array_equal(model.transform(table), again.transform(table.X))
    assert list(model.feature_names_in_) == list("abcd")


def test_sparse_ratings_are_told_from_zeros(rng):
    X = sp.random_array((40, 12), density=0.4, rng=rng, format="csr")
    names = [f"item {j}" for j in range(12)]
    model = unweave.Factorization(2, codes="ridge", components="ridge")
    plain = unweave.Factorization(2, codes="ridge", components="ridge", missing="zeros").fit(X)
    model.fit(NamedTable(X, columns=names, missing="zeros"))
    np.testing.assert_array_equal(model.components_, plain.components_)


def test_other_columns_are_refused_by_name(table):
    model = unweave.PCA(2).fit(table)
    with pytest.raises(ValueError, match="lacks 'd'"):
        model.transform(table.with_(columns=["a", "b", "c", "e"]))
    with pytest.raises(ValueError, match="order"):
        model.transform(table.with_(columns=["b", "a", "c", "d"]))


def test_a_frame_of_mixed_columns_needs_losses(rng):
    frame = polars.DataFrame({"x": rng.random(40), "town": rng.choice(["Bath", "York"], 40)})
    table = NamedTable(frame, columns=["x", "town"])
    assert not table.numeric
    with pytest.raises(ValueError, match="town"):
        unweave.PCA(1).fit(table)
    model = unweave.Factorization(1, loss={"town": "categorical"}, codes="ridge", components="ridge").fit(table)
    assert set(model.inverse_transform(model.transform(table))["town"]) <= {"Bath", "York"}


def test_numbers_with_one_loss_a_column(table):
    loss = {"a": "huber"}
    model = unweave.Factorization(1, loss=loss, missing="nan").fit(table)
    other = unweave.Factorization(1, loss=loss, missing="nan").fit(table.frame())
    np.testing.assert_array_equal(model.components_, other.components_)


@pytest.mark.parametrize(
    "bad", [{"rows": ["a"]}, {"columns": ["a"]}, {"kind": "picture"}], ids=lambda bad: next(iter(bad))
)
def test_names_must_fit(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        NamedTable(np.ones((3, 2)), **bad)
