"""A column of prose beside other columns: found, said, and made texts."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from unweave.data.readers import read

SPAM = "win a free prize now call this number today"
HAM = "see you at home this evening after work then"


@pytest.fixture
def messages() -> list[dict]:
    return [
        {"id": 7000 + 3 * i, "label": "spam" if i % 3 == 0 else "ham", "sent": f"2024-0{1 + i % 9}-1{i % 10}",
         "text": f"{SPAM if i % 3 == 0 else HAM},\nline {i} of {i + 1}", "length": 40 + i % 5}
        for i in range(30)
    ]  # fmt: skip


def as_csv(records: list[dict]) -> str:
    file = io.StringIO()
    writer = csv.DictWriter(file, records[0])
    writer.writeheader()
    writer.writerows(records)
    return file.getvalue()


def as_lines(records: list[dict]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize(
    ("name", "written"), [("m.csv", as_csv), ("m.jsonl", as_lines), ("m.json", lambda records: json.dumps(records))]
)
def test_prose_is_found_and_counted_with_what_stands_beside(write, messages, name, written):
    path = write(name, written(messages))
    table = read(path)
    assert table.prose == "text" and any("'text' is free text" in note for note in table.notes)
    for texts in (table.texts(), table.texts("text"), read(path, text="text")):
        assert texts.kind == "text" and texts.shape[0] == 30 and "prize" in texts.columns and "id" not in texts.columns
        assert texts.rows[:2] == ["7000", "7003"] and texts.named_by == "id"
        assert texts.label_name == "label" and set(texts.labels) == {"ham", "spam"}
        assert texts.time_name == "sent" and str(texts.times[1]) == "2024-02-11T00:00:00"
        assert texts.excerpts[0] == f"{SPAM}, line 0 of 1"
    counts = texts.X[:, [texts.columns.index("prize")]].toarray().ravel()
    np.testing.assert_array_equal(counts, texts.labels == "spam")


def test_prose_in_the_first_column_does_not_name_rows(write, messages):
    records = [{"text": record["text"], "label": record["label"]} for record in messages]
    table = read(write("m.csv", as_csv(records)))
    assert table.rows is None and table.prose == "text" and table.texts().rows[0] == "1"


def test_options_and_refusals(write, messages):
    path = write("m.csv", as_csv(messages))
    assert "you" in read(path, text="text", stop_words=None).columns
    with pytest.raises(ValueError, match=r"no column of words 'length'; columns of words are: 'label', 'sent', 'text'"):
        read(path, text="length")
    with pytest.raises(ValueError, match="has no column of free text; name one of 'x'"):
        read(write("x.csv", "x,town\n1,Ulm\n2,Ulm\n3,Rome\n")).texts()


def test_a_table_without_prose_says_so(write):
    assert read(write("x.csv", "x,town\n1,Ulm\n2,Ulm\n3,Rome\n")).prose is None
    assert read(write("y.csv", "x,y\n1,2\n")).prose is None
