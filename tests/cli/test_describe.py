"""What `unweave describe` says of the columns of a file."""

from __future__ import annotations

import json

import pytest

from unweave.cli.main import main


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["order_id,when,price,town,stars,comment"]
    for i in range(40):
        town = "" if i % 5 == 0 else ("Ulm", "Bern")[i % 2]
        text = f"parcel {i} came in good order and on time"
        lines.append(f'{900 + 7 * i},2024-01-{1 + i % 28:02d},"$1,{200 + i}",{town},{i % 6},{text}')
    (tmp_path / "my shop.csv").write_text("\n".join(lines))
    return "my shop.csv"


def test_columns_are_told_apart(shop, capsys):
    assert main(["describe", shop]) == 0
    said = capsys.readouterr().err
    for words in (
        "free text",
        "category",
        "count",
        "date",
        "2024-01-01 to 2024-01-28",
        "1,200 to 1,239",
        "2 different",
    ):
        assert words in said
    assert "'order_id' is no measurement" in said
    assert "suggested: unweave topics 'my shop.csv'    ('comment' is free text)" in said


def test_the_json_has_the_roles(shop, capsys):
    assert main(["describe", shop, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["roles"] == {"order_id": "id", "when": "date", "price": "number", "town": "category",
                              "stars": "count", "comment": "prose"}  # fmt: skip
    assert found["suggested"] == "topics"


def test_pairs_suggest_recommending(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clicks.csv").write_text("user,item\nann,tea\nbob,tea\nann,milk\n")
    assert main(["describe", "clicks.csv"]) == 0
    assert "suggested: unweave recommend clicks.csv" in capsys.readouterr().err
