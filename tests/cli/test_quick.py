"""What must be quick does not load what is slow, and compiling is no part of the time of a fit."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cli import files
from unweave.cli.main import main

_HEAVY = ("sklearn", "numba", "scipy.stats", "polars", "matplotlib", "unweave.report.page")
_LOADED = "import sys, json; from unweave.cli.main import main; main({words!r}); print(json.dumps(sorted(sys.modules)))"


def loaded(folder, *words) -> set[str]:
    """The modules that a command has loaded when it is done."""
    code = _LOADED.format(words=list(words))
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.slow
def test_show_reads_the_answer_without_loading_models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files.write_wine(tmp_path / "wine.csv")
    assert main(["compress", "wine.csv", "-k", "2", "--quiet"]) == 0
    found = loaded(tmp_path, "show", "wine-compress/model.unweave", "--top", "5")
    assert "unweave.cli.verbs.show" in found and not found & set(_HEAVY)


@pytest.mark.slow
def test_help_and_wrong_words_load_no_numbers(tmp_path):
    for words in (["--help"], ["group", "--help"], ["clustr", "x.csv"]):
        assert not loaded(tmp_path, *words) & {"numpy", *_HEAVY}
