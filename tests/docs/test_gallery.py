"""The gallery: every example says in plain English what it shows, runs in seconds, and needs no network."""

from __future__ import annotations

import ast
import re
import runpy
import time
from pathlib import Path

import pytest

GALLERY = Path(__file__).resolve().parents[2] / "examples" / "gallery"
EXAMPLES = sorted(GALLERY.rglob("*.py"))
PACKAGES = {"importlib", "matplotlib", "numpy", "pathlib", "polars", "scipy", "sklearn", "sys", "tempfile", "unweave"}
PACKAGES |= {"warnings", "wave"}


def test_there_are_twenty_and_some_for_every_job():
    assert len(EXAMPLES) >= 20
    rooms = {path.parent.name for path in EXAMPLES}
    assert rooms == {"compress", "complete", "group", "explain", "embed", "recommend", "predict"}
    assert all((GALLERY / room / "README.txt").exists() for room in rooms)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_a_title_a_sentence_and_a_picture(path):
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source, str(path))
    compile(tree, str(path), "exec")
    title, line, blank, text = (ast.get_docstring(tree) or "").split("\n", 3)
    assert title and set(line) == {"="} and len(line) == len(title) and not blank
    assert re.search(r"\w\.(\s|$)", text), "say in a sentence what the example shows"
    assert "plt.subplots" in source or "plt.figure" in source


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_needs_what_everybody_has(path):
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    names = [
        name
        for node in nodes
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    assert {name.split(".")[0] for name in names} <= PACKAGES
    assert "fetch_" not in path.read_text(encoding="utf-8"), "examples do not download"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["compress/wine_on_a_map", "group/groups_of_wine", "complete/holes_in_a_table"])
def test_an_example_runs(name, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    import matplotlib.pyplot as plt

    began = time.perf_counter()
    runpy.run_path(str(GALLERY / f"{name}.py"))
    print(f"{name}: {time.perf_counter() - began:.1f} s")
    assert plt.get_fignums()
    assert not any(tmp_path.iterdir()), "examples leave no files behind"
    plt.close("all")
