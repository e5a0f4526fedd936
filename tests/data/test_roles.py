"""What columns are for: told by their names and cells, as a person would."""

from __future__ import annotations

import uuid

import numpy as np
import polars as pl
import pytest

from unweave.data.named import NamedTable
from unweave.data.roles import column_roles

N = 60


def kinds(columns: dict, **overrides) -> dict[str, str]:
    frame = pl.DataFrame(columns, strict=False)
    return {role.name: role.kind for role in column_roles(NamedTable(frame, columns=frame.columns), overrides)}


def one(name: str, values) -> str:
    return kinds({name: list(values)})[name]


def shuffled(values):
    return np.random.default_rng(0).permutation(np.asarray(values)).tolist()


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("weight", np.linspace(1, 2, N), "number"),
        ("children", [0, 1, 2, 3, 1, 0] * 10, "count"),
        ("smokes", [0, 1, 1] * 20, "flag"),
        ("smokes", ["Yes", "no", None] * 20, "flag"),
        ("customerID", shuffled(range(5000, 5000 + N)), "id"),
        ("id", shuffled(range(N)), "id"),
        ("store_id", [3, 7, 9] * 20, "id"),
        ("zip", shuffled(range(10000, 10000 + N)), "id"),
        ("key", [str(uuid.UUID(int=i)) for i in range(N)], "id"),
        ("mail", [f"a{i % 40}@b.org" for i in range(N)], "id"),
        ("name", [f"Ann {i}" for i in range(N)], "id"),
        ("x", range(N), "order"),
        ("x", range(1, N + 1), "order"),
        ("x", range(3, N + 3), "count"),
        ("Sample number", shuffled(range(100, 100 + N)), "order"),
        ("Unnamed: 0", shuffled(range(N)), "order"),
        ("population", shuffled(range(10**6, 10**6 + N)), "number"),
        ("number of rooms", [1, 2, 3] * 20, "number"),
        ("year", list(range(1950, 2010)), "year"),
        ("model_year", [70, 75, 82] * 20, "year"),
        ("age_in_years", [40, 75, 82] * 20, "number"),
        ("years at company", [1, 5, 12] * 20, "count"),
        ("yearly income", [1500, 1800, 2100] * 20, "number"),
        ("when", ["2024-01-31", "2024-02-01", None] * 20, "date"),
        ("when", ["31.1.2024", "1.2.2024"] * 30, "date"),
        ("timestamp", [964982703 + i for i in shuffled(range(N))], "date"),
        ("date", [19580329, 19580405] * 30, "date"),
        ("amount", [964982703 + i for i in shuffled(range(N))], "number"),
        ("price", ["$1,200.50", "$8"] * 30, "number"),
        ("town", ["Ulm", "Bern", None] * 20, "category"),
        ("level", [3, 1, 2] * 20, "number"),
        ("review", [f"this was the best of {i} visits to the place" for i in range(N)], "prose"),
        ("answer", ["I strongly agree with that", "I do not agree at all"] * 30, "category"),
        ("unit", ["kg"] * N, "constant"),
        ("seven", [7] * N, "constant"),
        ("nothing", [None] * N, "empty"),
    ],
)
def test_one_column(name, values, kind):
    assert one(name, values) == kind


def test_numbers_without_a_frame_and_without_names(rng):
    X = np.column_stack([np.arange(20), rng.normal(size=20), np.full(20, 3.0), np.full(20, np.nan)])
    assert [role.kind for role in column_roles(NamedTable(X))] == ["order", "number", "constant", "empty"]


def test_a_hole_is_never_a_level():
    frame = pl.DataFrame({"town": ["Ulm", None, "Ulm", None]})
    assert column_roles(NamedTable(frame, columns=["town"]))[0].kind == "constant"


def test_day_and_month_that_cannot_be_told_apart_are_said():
    frame = pl.DataFrame({"a": ["1/2/2024", "3/4/2024"] * 5, "b": ["1/2/2024", "3/14/2024"] * 5})
    a, b = column_roles(NamedTable(frame, columns=["a", "b"]))
    assert "other way round" in a.why and "other way round" not in b.why


def test_you_may_know_better():
    assert kinds({"level": [1, 2, 3] * 4}, level="category") == {"level": "category"}
    with pytest.raises(ValueError, match=r"no column 'x' to be read as 'date'; the columns are 'a'"):
        kinds({"a": [1, 2]}, x="date")
    with pytest.raises(ValueError, match=r"'number-ish' is no kind of column \(for 'a'\); use one of number"):
        kinds({"a": [1, 2]}, a="number-ish")


def test_counts_of_words_are_counts(rng):
    import scipy.sparse as sp

    table = NamedTable(sp.random_array((5, 3), density=0.5, rng=rng, format="csr"), columns=list("abc"), kind="text")
    assert {role.kind for role in column_roles(table)} == {"count"}


def test_later_rows_may_undo_what_the_first_ones_say():
    n = 10_000
    columns = {
        "a": ["yes", "no"] * (n // 2) + ["maybe"] * 40,
        "b": ["2024-01-31"] * n + ["soon"] * 4000 + ["2024-02-01"],
        "c": list(range(n)) + [5] * 40,
        "id": [7] * n + [0.5] * 40,
    }
    height = max(map(len, columns.values()))
    found = kinds({name: [*values, *[None] * (height - len(values))] for name, values in columns.items()})
    assert found == {"a": "category", "b": "category", "c": "count", "id": "number"}
