"""Mixed frames: one reading of columns for every model, levels as numbers and back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unweave
from unweave.data.mixed import decode_frame, encode_frame, levels_of, positions_of, read_columns

SIZES = ["small", "medium", "large"]


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [30, 41, 17],
            "smokes": pd.array([True, None, False], dtype="boolean"),
            "size": pd.Categorical(["large", None, "small"], categories=SIZES, ordered=True),
            "town": pd.Series(["Ulm", "Bern", None], dtype=object),
            "score": pd.Series([10, 9, None], dtype=object),
        }
    )


def as_polars() -> pl.DataFrame:
    lists = {name: [None if pd.isna(v) else v for v in column] for name, column in frame().items()}
    return pl.DataFrame(lists, schema_overrides={"size": pl.Enum(SIZES), "score": pl.Int64}, strict=False)


@pytest.mark.parametrize("table", [frame(), as_polars()], ids=["pandas", "polars"])
def test_columns_are_read_by_their_kind(table):
    read = {column.name: column for column in read_columns(table)}
    kinds = {"age": "number", "smokes": "bool", "size": "ordinal", "town": "category", "score": "number"}
    assert {name: column.kind for name, column in read.items()} == kinds
    assert read["town"].holes.tolist() == [False, False, True] and read["age"].whole
    assert levels_of(read["smokes"]) == [False, True]
    assert levels_of(read["size"]) == ["small", "large"]  # those that occur, in the order declared
    assert levels_of(read["town"]) == ["Bern", "Ulm"] and levels_of(read["town"], 1) == ["Bern"]
    assert positions_of(read["town"], ["Ulm"]).tolist() == [0, -1, -1]


@pytest.mark.parametrize("table", [frame(), as_polars()], ids=["pandas", "polars"])
def test_levels_become_numbers_and_come_back(table):
    numbers, levels = encode_frame(table, None)
    assert type(numbers) is type(table) and list(numbers.columns) == list(table.columns)
    assert levels == {1: [False, True], 2: ["small", "large"], 3: ["Bern", "Ulm"]}
    values = np.asarray(numbers, dtype=float)
    expected = [[30, 1, 1, 1, 10], [41, np.nan, np.nan, 0, 9], [17, 0, 0, np.nan, np.nan]]
    np.testing.assert_array_equal(values, expected)
    again, _ = encode_frame(table[:2], levels)
    np.testing.assert_array_equal(np.asarray(again, dtype=float), values[:2])
    back = decode_frame(np.nan_to_num(values), levels, list(table.columns), "pandas")
    assert back["size"].tolist() == ["large", "small", "small"] and back["smokes"].tolist() == [True, False, False]


def test_frames_of_numbers_and_arrays_stay_as_they_are():
    numbers = pd.DataFrame({"a": np.arange(3, dtype=np.float32)})
    assert encode_frame(numbers, None)[0] is numbers and not encode_frame(numbers, None)[1]
    X = np.eye(2)
    assert encode_frame(X, None)[0] is X


def test_what_fit_did_not_see_is_refused():
    _, levels = encode_frame(frame(), None)
    new = frame()
    new["town"] = ["Ulm", "Rome", None]
    with pytest.raises(ValueError, match=r"'town' has levels.*Rome"):
        encode_frame(new, levels)
    new = frame().assign(age=["old", "young", "new"])
    with pytest.raises(ValueError, match="'age' is not numeric"):
        encode_frame(new, levels)
    empty = frame().assign(age=None)
    assert np.isnan(np.asarray(encode_frame(empty, levels)[0], dtype=float)[:, 0]).all()


def test_two_columns_of_one_name_are_refused():
    twice = pd.DataFrame([["a", "b"]] * 2, columns=["x", "x"])
    with pytest.raises(ValueError, match="more than one column"):
        encode_frame(twice, None)


def test_both_models_of_mixed_columns_take_ordered_levels_in_their_order():
    """An ordinal loss is about the order that the type declares, not about that of the alphabet."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=150)
    size = pd.Categorical(np.array(SIZES)[np.digitize(z, [-0.5, 0.5])], categories=SIZES, ordered=True)
    table = pd.DataFrame({"x": z, "y": 2 * z + 0.1 * rng.normal(size=150), "size": size})
    model = unweave.Factorization(1, loss={"size": "ordinal"}, codes="ridge", components="ridge").fit(table)
    told = model.inverse_transform(model.transform(table))["size"]
    assert (told.to_numpy() == np.asarray(size)).mean() > 0.8
    table.loc[:20, "size"] = None
    filled = unweave.TableImputer().fit_transform(table)["size"]
    assert (filled[:21].to_numpy() == np.asarray(size)[:21]).mean() > 0.8


def test_a_table_read_from_a_file_is_filled_as_a_frame(tmp_path):
    rng = np.random.default_rng(0)
    z = rng.normal(size=60)
    lines = [f"{a:.3f},{'' if i % 7 == 0 else 'up' if a > 0 else 'down'}" for i, a in enumerate(z)]
    (tmp_path / "t.csv").write_text("\n".join(["x,way", *lines]))
    table = unweave.read(tmp_path / "t.csv")
    imputer = unweave.TableImputer().fit(table)
    filled, doubt = imputer.transform(table), imputer.uncertainty(table)
    assert filled.columns == ["x", "way"] and filled["way"].null_count() == 0
    assert (np.asarray(filled["way"]) == np.where(z > 0, "up", "down")).mean() > 0.9
    assert np.isfinite(doubt["way"].to_numpy()).sum() == 9
