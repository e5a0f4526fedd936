"""Dates and amounts as people write them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from unweave.data.amounts import read_amounts
from unweave.data.dates import days_of, find_layout, written


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["2024-01-31", "2024-02-01"], "2024-01-31"),
        (["2024/1/31 14:05", "2024/2/1"], "2024-01-31 14:05"),
        (["2024-01-31T14:05:07.250Z", "2024-02-01T00:00:00Z"], "2024-01-31 14:05:07"),
        (["2024-01-31T01:00:00+02:00"], "2024-01-30 23:00"),
        (["31.1.2024", "1.2.2024"], "2024-01-31"),
        (["31/01/24", "01/02/24"], "2024-01-31"),
        (["01/31/2024 2:05 PM", "02/01/2024 12:10 am"], "2024-01-31 14:05"),
        (["31 Jan 2024", "1 February 2024"], "2024-01-31"),
        (["31. März 2024", "1. Mai 2024"], "2024-03-31"),
        (["Jan 31, 2024", "Feb 1st, 2024"], "2024-01-31"),
        (["Jan 2024", "Feb 2024"], "2024-01-01"),
        (["2024Q3", "2024Q4"], "2024-07-01"),
        (["20240131", "20240201"], "2024-01-31"),
    ],
)
def test_dates(texts, first):
    column = pl.Series(texts)
    layout = find_layout(column)
    assert layout is not None and written(days_of(column, layout)[0]) == first


@pytest.mark.parametrize("texts", [["red", "blue"], ["2024-13-45"], ["12-3"], ["1.2.3.4"], [""], [None], ["a 1 b"]])
def test_what_is_no_date(texts):
    assert find_layout(pl.Series(texts, dtype=pl.String)) is None


def test_a_few_odd_cells_are_unknown_and_many_are_no_dates():
    days = ["2024-01-31"] * 97
    layout = find_layout(pl.Series([*days, "soon", "later", None]))
    assert layout == "year first"
    assert np.isnan(days_of(pl.Series(["soon", None]), layout)).all()
    assert find_layout(pl.Series([*days, *["soon"] * 20])) is None


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["$1,234.50", "$8", None], [1234.5, 8, np.nan]),
        (["€ 12", "€ 1.234,50"], [12, 1234.5]),
        (["1.234,50 €", "3,2 €"], [1234.5, 3.2]),
        (["1.234 €", "5 €"], [1234, 5]),
        (["12 %", "3.5%"], [12, 3.5]),
        (["1,234", "950"], [1234, 950]),
        (["1,5", "2,25"], [1.5, 2.25]),
        (["(1,234)", "-$5"], [-1234, -5]),
        (["CHF 1'000.50", "CHF 3"], [1000.5, 3]),
        (["1 234 567", "12"], [1234567, 12]),
    ],
)
def test_amounts(texts, values):
    np.testing.assert_allclose(read_amounts(pl.Series(texts)).values, values)


@pytest.mark.parametrize("texts", [["$5", "€6"], ["red", "$5"], ["030 123 456"], ["5 kg"], ["1-2"], ["12,34,5"]])
def test_what_is_no_amount(texts):
    assert read_amounts(pl.Series(texts)) is None


def test_a_few_unreadable_amounts_are_missing_and_named():
    found = read_amounts(pl.Series([*["$5"] * 50, "free"]))
    assert np.isnan(found.values[-1]) and found.unreadable == ["free"]
