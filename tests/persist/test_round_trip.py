"""Everything that can be fitted can be saved, and does bit for bit the same afterwards."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from tests.persist import zoo
from unweave import persist

VARIANTS = zoo.variants()


def dense(value):
    return value.toarray() if sp.issparse(value) else np.asarray(value)


def assert_identical(first, second, where=""):
    """Equal in type, shape and every bit, all the way down."""
    assert type(first) is type(second), f"{where}: {type(first)} and {type(second)}"
    if isinstance(first, np.ndarray):
        assert first.dtype == second.dtype and first.shape == second.shape, where
        if first.dtype == object:
            assert first.tolist() == second.tolist(), where
        else:
            assert first.tobytes() == second.tobytes(), where
    elif sp.issparse(first):
        for part in ("data", "indices", "indptr"):
            assert_identical(getattr(first, part), getattr(second, part), f"{where}.{part}")
    elif isinstance(first, dict):
        assert list(first) == list(second), where
        for key in first:
            assert_identical(first[key], second[key], f"{where}[{key!r}]")
    elif isinstance(first, list | tuple):
        assert len(first) == len(second), where
        for i, (one, other) in enumerate(zip(first, second)):
            assert_identical(one, other, f"{where}[{i}]")
    elif isinstance(first, np.random.Generator):
        assert_identical(first.bit_generator.state, second.bit_generator.state, where)
    elif isinstance(first, np.random.RandomState):
        assert_identical(first.get_state(legacy=False), second.get_state(legacy=False), where)
    elif type(first).__module__.startswith("unweave"):
        assert_identical(vars(first), vars(second), where)
    else:
        assert repr(first) == repr(second) if isinstance(first, float | np.floating) else first == second, where


def through(model, folder):
    return persist.load(persist.save(model, folder / "m.unweave"))


def assert_same_work(model, again, X):
    rows = X[:10]
    codes = model.transform(rows)
    assert_identical(codes, again.transform(rows), "transform")
    assert model.score(rows) == again.score(rows)
    if hasattr(model, "predict"):
        assert_identical(model.predict(rows), again.predict(rows), "predict")
    if hasattr(model, "labels_"):
        codes = np.eye(zoo.K)
    for linear in (False, True):
        one, other = (m.inverse_transform(codes, linear=linear) for m in (model, again))
        assert one.equals(other) if hasattr(one, "equals") else dense(one).tobytes() == dense(other).tobytes()


@pytest.mark.parametrize("name", VARIANTS)
def test_a_saved_model_is_the_same_model(name, tmp_path):
    fit, X = VARIANTS[name]
    model = fit()
    again = through(model, tmp_path)
    if callable(getattr(model, "callback", None)):
        assert again.callback is None
        model.callback = None
    if getattr(model, "_stream", None) is not None:
        model._stream.estimator = None
    assert_identical(model, again, name)
    assert_same_work(model, again, X)


@pytest.mark.parametrize("name", [name for name in VARIANTS if "mixed" not in name])
def test_partial_fit_goes_on_as_if_nothing_had_happened(name, tmp_path):
    fit, X = VARIANTS[name]
    model = fit()
    again = through(model, tmp_path)
    try:
        for _ in range(2):
            model.partial_fit(X)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20]):
            again.partial_fit(X)
        return
    for _ in range(2):
        again.partial_fit(X)
    assert_identical(model.components_, again.components_, name)
    assert_identical(model.transform(X), again.transform(X), name)


@pytest.mark.slow
@pytest.mark.parametrize("loss", zoo.ALL_LOSSES)
def test_every_loss_with_every_penalty(loss, tmp_path):
    done = 0
    for name, model, X in zoo.sentences(loss):
        again = through(model, tmp_path)
        assert_identical(model, again, name)
        assert_identical(model.transform(X), again.transform(X), name)
        done += 1
    assert done >= 8, "too few sentences could be fitted for this test to say anything"


def test_a_loaded_model_can_be_saved_again_byte_for_byte(tmp_path):
    model = VARIANTS["kmeans-stream-after-fit"][0]()
    first = persist.save(model, tmp_path / "a.unweave")
    second = persist.save(persist.load(first), tmp_path / "b.unweave")
    assert first.read_bytes() == second.read_bytes()


def test_parts_of_an_array_are_stored_once(tmp_path):
    model = unweave.PCA(3).fit(zoo.numbers())
    arrays = persist.header(persist.save(model, tmp_path / "m.unweave"))["arrays"]
    assert "_full_components" in arrays or "components_" in arrays
    assert sum(a["shape"][-1:] == [zoo.COLUMNS] for a in arrays.values()) == 1
    again = persist.load(tmp_path / "m.unweave")
    assert np.shares_memory(again.components_, again._full_components)


def test_names_output_settings_and_odd_levels_survive(tmp_path):
    import datetime
    import decimal

    import pandas

    X = zoo.numbers()
    day = datetime.date(2020, 2, 29)
    table = pandas.DataFrame(X[:, :2], columns=pandas.Index(["ä\ud800", 'quote"\\'], dtype=object))
    table["day"] = [day if x > 1 else datetime.date(1999, 1, 1) for x in X[:, 2]]
    table["bin"] = pandas.cut(X[:, 3], 3)
    table["price"] = [decimal.Decimal("0.1") if x > 1 else decimal.Decimal("1E+3") for x in X[:, 4]]
    table["when"] = pandas.Series(
        pandas.to_datetime(["2020-01-01T00:00:00.000000001", "2021-05-05T00:00:00.000000000"] * 12)
    ).astype("category")
    loss = dict.fromkeys(["day", "bin", "price", "when"], "categorical")
    model = zoo.quiet(unweave.Factorization(2, loss=loss, missing="nan", max_iter=3), table).set_output(
        transform="pandas"
    )
    again = through(model, tmp_path)
    assert_identical(model, again)
    assert again.transform(table).equals(model.transform(table))
    assert again.inverse_transform(model.codes_).equals(model.inverse_transform(model.codes_))
    assert persist.header(tmp_path / "m.unweave")["names"][0] == "ä\ud800"


def test_more_columns_than_fit_in_a_header(tmp_path):
    import pandas

    n = 20_000
    names = [f"column number {i} ✓" for i in range(n)]
    X = pandas.DataFrame(np.random.default_rng(0).random((5, n)), columns=names)
    model = unweave.TruncatedSVD(2).fit(X)
    again = through(model, tmp_path)
    assert again.feature_names_in_.tolist() == names
    assert persist.header(tmp_path / "m.unweave")["names"] == names
    assert again.transform(X).tobytes() == model.transform(X).tobytes()


def test_large_arrays_are_mapped_and_still_their_own(tmp_path):
    """Above 16 MB nothing is read until it is used; changes stay in memory."""
    model = unweave.PCA(2).fit(np.random.default_rng(0).random((4, 3)))
    n = 1_200_000
    model.n_features_in_ = n
    model._full_components = np.random.default_rng(0).random((3, n))
    model._publish(model._sentence, model._full_components)
    path = persist.save(model, tmp_path / "m.unweave")
    before = path.read_bytes()
    again = persist.load(path)
    x = np.random.default_rng(1).random((2, n))
    assert_identical(model.transform(x), again.transform(x))
    assert again.components_.flags.writeable and again.components_.flags.aligned
    again.components_[:] = 0
    persist.save(again, path)  # over the file it is mapped from
    assert path.read_bytes() != before and not persist.load(path, check=True).components_.any()


def test_a_copy_of_a_loaded_model_and_a_clone_work(tmp_path):
    from sklearn.base import clone

    model = VARIANTS["nmf"][0]()
    again = through(model, tmp_path)
    X = zoo.numbers()
    assert_identical(copy.deepcopy(again).transform(X), model.transform(X))
    assert_identical(zoo.quiet(clone(again), X).components_, zoo.quiet(clone(model), X).components_)
