"""The command line: it answers, it compiles, and one failing job does not stop the others."""

from __future__ import annotations

import numpy as np
import pytest

from unweave import __version__
from unweave.cli import warmup
from unweave.cli.main import main


def test_version(capsys):
    assert main(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


def test_without_a_command_it_shows_the_help(capsys):
    assert main([]) == 2
    assert "warmup" in capsys.readouterr().out


def test_warmup_explains_itself(capsys):
    assert main(["warmup", "--help"]) == 0
    assert "compiled" in capsys.readouterr().out


def test_a_failing_job_is_reported_and_the_others_run(monkeypatch):
    done = []

    def broken():
        raise RuntimeError("no luck")

    monkeypatch.setattr(warmup, "jobs", lambda: [("bad", broken), ("good", lambda: done.append(1))])
    lines: list[str] = []
    assert warmup.warmup(say=lines.append) == 1
    assert done == [1]
    assert "bad: failed: RuntimeError: no luck" in lines[0] and "good" in lines[1] and "1 failed" in lines[2]


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
