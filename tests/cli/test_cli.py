"""The command line: it answers, it compiles, and one failing job does not stop the others."""

from __future__ import annotations

import csv

import numpy as np
import polars
import pytest

from unweave import __version__, load
from unweave.cli import warmup
from unweave.cli.main import main
from unweave.cli.output import write_frame, write_text


def test_version(capsys):
    assert main(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


def test_without_a_command_it_shows_the_help(capsys):
    assert main([]) == 2
    assert "warmup" in capsys.readouterr().out


def test_warmup_explains_itself(capsys):
    assert main(["warmup", "--help"]) == 0
    assert "compiled" in capsys.readouterr().out


def test_a_failing_job_is_reported_and_the_others_run():
    done = []

    def broken():
        raise RuntimeError("no luck")

    lines = list(warmup.attempts([("bad", broken), ("good", lambda: done.append(1))]))
    assert done == [1]
    assert "bad: failed: RuntimeError: no luck" in lines[0] and lines[1].endswith("good")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_tables_have_what_their_names_say(dtype):
    tables = warmup.tables(dtype)
    assert all(table.dtype == dtype for table in tables.values())
    assert np.isnan(tables["nan"]).any() and not np.isnan(tables["nan"]).all(axis=1).any()
    assert not np.isnan(tables["nan"]).all(axis=0).any()
    assert set(np.unique(tables["binary"])) == {0, 1}


def test_every_job_of_the_warmup_works():
    lines: list[str] = []
    assert warmup.warmup(quiet=True, say=lines.append) == 0, lines


@pytest.fixture
def formulas(tmp_path):
    """A table whose names a spreadsheet would run."""
    path = tmp_path / "names.csv"
    names = ['"=HYPERLINK(""x"")"', "+a", "-b", "@c", "-1.5", "d=e"]
    lines = [f"{name},{i},{(7 * i) % 5},{-i * i}" for i, name in enumerate(names)]
    path.write_text("\n".join(["who,=1+1,x,@sum", *lines]), encoding="utf-8")
    return path


def test_no_name_goes_into_a_spreadsheet_as_a_formula(formulas, tmp_path, capsys):
    assert main(["compress", str(formulas), "-k", "1", "--scale", "none", "--out", str(tmp_path / "out")]) == 0
    with open(tmp_path / "out" / "codes.csv", newline="", encoding="utf-8") as file:
        codes = list(csv.reader(file))
    assert [line[0] for line in codes] == ["row", '\'=HYPERLINK("x")', "'+a", "'-b", "'@c", "-1.5", "d=e"]
    assert any(line[1].startswith("-") for line in codes[1:]), "numbers stay numbers"
    header = (tmp_path / "out" / "components.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header == "component,'=1+1,x,'@sum"
    assert list(load(tmp_path / "out" / "model.unweave").feature_names_in_) == ["=1+1", "x", "@sum"]
    capsys.readouterr()
    assert main(["transform", str(tmp_path / "out" / "model.unweave"), str(formulas), "--out", "-"]) == 0
    assert list(csv.reader(capsys.readouterr().out.splitlines())) == codes


def test_a_full_disk_is_told_with_the_file_and_what_to_do(formulas, tmp_path, capsys, full_disk):
    with full_disk():
        assert main(["compress", str(formulas), "-k", "1", "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "out/model.unweave" in said and "free some space" in said and "defect" not in said
    frame = polars.DataFrame({"row": ["name"] * 2000})
    with full_disk(), pytest.raises(OSError, match=r"cannot write .*codes\.csv: file too large.*free some space"):
        write_frame(tmp_path / "codes.csv", frame)
    with full_disk(), pytest.raises(OSError, match=r"cannot write .*page\.html: file too large.*free some space"):
        write_text(tmp_path / "page.html", "x" * 10_000)
    assert not (tmp_path / "codes.csv").exists() and not (tmp_path / "page.html").exists()
