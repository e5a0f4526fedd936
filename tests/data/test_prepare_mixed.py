"""Tables of mixed columns become numbers: categories by level, dates as time, the rest left out in words."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unweave
from unweave.cli.output import recipe_of
from unweave.data.named import NamedTable
from unweave.data.recipe import prepare

TOWNS = ["Ulm", "Bern", "Rome"]


def named(columns: dict, **more) -> NamedTable:
    frame = pl.DataFrame(columns, strict=False)
    return NamedTable(frame, columns=frame.columns, missing="nan" if any(frame.null_count().row(0)) else None, **more)


@pytest.fixture
def shop(rng):
    n = 90
    return named(
        {
            "order_id": rng.permutation(n) + 500,
            "year": rng.integers(2000, 2020, n),
            "when": [f"2024-{m:02d}-{d:02d}" for m, d in zip(rng.integers(1, 13, n), rng.integers(1, 29, n))],
            "price": rng.normal(100, 30, n),
            "town": rng.choice(TOWNS, n).tolist(),
            "express": rng.choice(["yes", "no"], n).tolist(),
            "comment": [f"parcel number {i} came in good order and on time" for i in range(n)],
            "unit": ["kg"] * n,
        }
    )


def test_every_column_goes_its_way_and_it_is_said(shop):
    ready, recipe = prepare(shop)
    assert ready.columns == ["when (days)", "price", *(f"town={t}" for t in recipe.parts[2].levels), "express"]
    said = "\n".join(recipe.notes)
    for words in ("'order_id' (an id)", "'year' (a year)", "'comment' (free text)", "constant columns: 'unit'"):
        assert f"left out {words}" in said
    assert "the date 'when' became time in days from 2024-01-" in said and "'town' (3)" in said


def test_a_category_counts_as_much_as_one_number(shop):
    ready, _ = prepare(shop)
    variance = dict(zip(ready.columns, ready.X.var(axis=0)))
    np.testing.assert_allclose(variance["price"], 1)
    np.testing.assert_allclose(sum(v for name, v in variance.items() if name.startswith("town=")), 1)
    np.testing.assert_allclose(ready.X.mean(axis=0), 0, atol=1e-9)
    parts, _ = prepare(shop, centre=False)
    assert parts.X[:, 2:].min() == 0, "parts stay non-negative"
    plain, recipe = prepare(shop, scale="none")
    assert set(np.unique(plain.X[:, 2:])) == {0.0, 1.0} and recipe.scale is None


def test_you_choose_columns_and_kinds(shop):
    assert prepare(shop, columns=["price", "year"])[0].columns == ["year", "price"]
    assert prepare(shop, columns=["order_id"])[0].columns == ["order_id"]
    assert "price" not in prepare(shop, ignore=["price"])[0].columns
    coded = named({"level": [1, 2, 3, 1, 2, 3], "x": [1.0, 2, 3, 4, 5, 7]})
    assert prepare(coded, kinds={"level": "category"})[0].columns == ["level=1", "level=2", "level=3", "x"]
    assert prepare(coded, kinds={"level": "id"})[0].columns == ["x"]
    for argument in ("columns", "ignore"):
        with pytest.raises(ValueError, match=rf"{argument}: there is no column 'pricy'; the columns are 'order_id'"):
            prepare(shop, **{argument: ["pricy"]})
        with pytest.raises(TypeError, match=rf"{argument} must be a list of names"):
            prepare(shop, **{argument: "price"})
    with pytest.raises(ValueError, match="'town' cannot be read as dates"):
        prepare(shop, kinds={"town": "date"})
    with pytest.raises(ValueError, match=r"'town' holds '.*' where numbers are expected"):
        prepare(shop, kinds={"town": "number"})
    with pytest.raises(ValueError, match="'town' does not say yes or no"):
        prepare(shop, kinds={"town": "flag"})


def test_rare_levels_are_put_together():
    colours = ["red"] * 300 + ["blue"] * 200 + ["pink", "grey", "lime"]
    ready, recipe = prepare(named({"colour": colours, "x": np.arange(503) % 7}))
    assert ready.columns[:3] == ["colour=red", "colour=blue", "colour=other"]
    assert any("'other' in 'colour'" in note for note in recipe.notes)
    once = named({"colour": [f"c{i % 60}" for i in range(240)], "x": np.arange(240) % 7})
    assert sum(name.startswith("colour=") for name in prepare(once)[0].columns) == 21, "twenty and the others"


def test_a_missing_category_is_unknown_and_not_a_level():
    ready, recipe = prepare(named({"town": ["Ulm", None, "Bern", "Ulm"], "x": [1.0, 2, 3, 5]}))
    assert recipe.parts[0].levels == ["Ulm", "Bern"]
    assert np.isnan(ready.X[1, :2]).all() and ready.missing == "nan"
    assert recipe.frame(ready.X)["town"].to_list() == ["Ulm", None, "Bern", "Ulm"]


def test_months_are_added_where_the_numbers_go_with_them(rng):
    days = np.arange("2020-01-01", "2024-01-01", 5, dtype="datetime64[D]")
    month = days.astype("datetime64[M]").astype(int) % 12
    warm = 10 - 8 * np.cos(2 * np.pi * month / 12) + rng.normal(size=len(days))
    order = rng.permutation(len(days))
    seasonal = named({"day": days.astype(str)[order].tolist(), "warmth": warm[order]})
    ready, recipe = prepare(seasonal)
    assert "day: month=January" in ready.columns and any("its month" in note for note in recipe.notes)
    flat = named({"day": days.astype(str)[order].tolist(), "noise": rng.normal(size=len(days))})
    assert prepare(flat)[0].columns == ["day (days)", "noise"]


def test_new_rows_are_treated_alike(shop):
    ready, recipe = prepare(shop)
    np.testing.assert_array_equal(recipe.apply(shop).X, ready.X)
    new = named({"price": [80.0], "town": ["Oslo"], "express": ["no"], "when": ["2025-01-01"], "more": ["x"]})
    row = recipe.apply(new)
    assert row.columns == ready.columns and np.isfinite(row.X).all()
    back = dict(zip(row.columns, recipe.restore(row.X)[0]))
    assert back["price"] == pytest.approx(80) and back["express"] == pytest.approx(0)
    assert [back[f"town={t}"] for t in TOWNS] == pytest.approx([0, 0, 0]), "a level that nobody knew"
    with pytest.raises(ValueError, match=r"lacks columns .*'town'"):
        recipe.apply(named({"price": [80.0], "when": ["2025-01-01"], "express": ["no"]}))


def test_dates_of_new_rows_may_be_written_otherwise(shop):
    _, recipe = prepare(shop, columns=["when", "price"])
    iso = recipe.apply(named({"when": ["2024-05-31", None], "price": [1.0, 2.0]}))
    for dates in (["31.5.2024", None], ["May 31, 2024", None], [20240531, None]):
        np.testing.assert_allclose(recipe.apply(named({"when": dates, "price": [1.0, 2.0]})).X, iso.X)
    assert np.isnan(recipe.apply(named({"when": [None, None], "price": [1.0, 2.0]})).X[:, 0]).all()
    for wrong in (["soon", "later"], [3.5, 4.5], ["14:30", "12:00"]):
        with pytest.raises(ValueError, match="'when' cannot be read as dates"):
            recipe.apply(named({"when": wrong, "price": [1.0, 2.0]}))
    in_digits, digits = prepare(named({"date": [20240131, 20240201, 20240301], "x": [1.0, 2, 4]}))
    same = digits.apply(named({"date": ["2024-01-31", "2024-02-01", "2024-03-01"], "x": [1.0, 2, 4]}))
    np.testing.assert_allclose(same.X, in_digits.X)


def test_a_category_that_named_the_rows_of_a_small_file_is_found(tmp_path):
    big, small = tmp_path / "big.csv", tmp_path / "small.csv"
    big.write_text("town,x\n" + "".join(f"{TOWNS[i % 3]},{i % 7}\n" for i in range(60)))
    small.write_text("town,x\nUlm,1\nBern,2\n")
    _, recipe = prepare(unweave.read(big))
    row = recipe.apply(unweave.read(small))
    assert recipe.frame(row.X)["town"].to_list() == ["Ulm", "Bern"]


def test_recipes_are_saved_as_plain_data_and_old_ones_load(shop):
    _, recipe = prepare(shop)
    saved = json.loads(json.dumps(asdict(recipe), default=lambda a: a.tolist()))
    np.testing.assert_array_equal(recipe_of(saved).apply(shop).X, recipe.apply(shop).X)
    old = {"columns": ["price"], "keep": [3], "n_columns": 8, "shift": None, "scale": [2.0], "notes": []}
    np.testing.assert_allclose(recipe_of(old).apply(shop).X[:, 0], shop.X["price"].to_numpy() / 2)


# -- any frame ---------------------------------------------------------------------------------------------------------

CELLS = [
    st.floats(-1e6, 1e6, width=32),
    st.integers(-5, 2100),
    st.booleans(),
    st.sampled_from(["red", "blue", "yes", "no", "", "2024-01-31", "31.1.2024", "$5", "12 %", "a b c d e f g h"]),
    st.dates().map(str),
    st.text(max_size=30),
]
NAMES = st.sampled_from(["x", "id", "year", "date", "time", "Unnamed: 0", "text", "when?", "=1+1", "größe"])


@st.composite
def frames(draw):
    n = draw(st.integers(1, 14))
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    kind = st.sampled_from(CELLS)
    return {name: draw(st.lists(draw(kind) | st.none(), min_size=n, max_size=n)) for name in names}


@settings(max_examples=120, deadline=None)
@given(frames(), frames())
def test_no_frame_is_too_strange(columns, other):
    table = named(columns)
    try:
        ready, recipe = prepare(table)
    except ValueError as error:
        assert any(words in str(error) for words in ("no column", "comes twice"))
        return
    known = ~np.isnan(ready.X)
    assert ready.shape[0] == table.shape[0] and np.isfinite(ready.X[known]).all()
    np.testing.assert_array_equal(recipe.apply(table).X, ready.X)
    back = recipe.restore(ready.X)
    for j, name in enumerate(ready.columns):
        if name in columns and pl.Series(columns[name], strict=False).dtype.is_numeric():
            wanted = pl.Series(columns[name], strict=False).cast(pl.Float64).fill_null(float("nan")).to_numpy()
            np.testing.assert_allclose(back[:, j], wanted, rtol=1e-6, atol=1e-3)
    recipe.frame(ready.X)
    shared = {name: other.get(name, [None] * len(next(iter(other.values())))) for name in columns}
    try:
        again = recipe.apply(named(shared))
    except ValueError as error:
        assert any(words in str(error) for words in ("where numbers are expected", "cannot be read as dates"))
        return
    assert again.columns == ready.columns


def test_many_rows_of_few_days_do_not_make_weekdays_special(rng):
    days = np.repeat(np.arange("2024-01-01", "2024-12-31", 31, dtype="datetime64[D]"), 40)
    x = rng.normal(size=len(days)) + np.repeat(rng.normal(size=len(days) // 40), 40)  # each day has its own level
    assert prepare(named({"day": days.astype(str).tolist(), "x": x}))[0].columns == ["day (days)", "x"]
