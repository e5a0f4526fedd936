"""What the README and the documentation show runs, block by block, as a reader would paste it."""

from __future__ import annotations

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest
from sklearn.datasets import load_wine

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
# contributing.md defines classes that are looked up in a module: tests/test_contributing.py runs it in one.
HAS_TORCH = importlib.util.find_spec("torch") is not None
PAGES = sorted(page for page in (ROOT / "docs").glob("*.md") if page.name != "contributing.md")


def run_blocks(page: Path) -> dict:
    """Run all python blocks of a page in one namespace; a traceback names the page and the line in it.

    A block with prompts is a doctest: what it prints is compared too. One that imports torch is for those who have it.
    """
    text = page.read_text(encoding="utf-8")
    names: dict = {"__name__": "reader"}
    for match in BLOCK.finditer(text):
        if "import torch" in match[1] and not HAS_TORCH:
            continue
        lines_before = text[: match.start(1)].count("\n")
        if match[1].startswith(">>>"):
            test = doctest.DocTestParser().get_doctest(match[1], names, page.name, str(page), lines_before)
            assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0, f"{page.name}: see the output"
            names = test.globs
            continue
        code = compile("\n" * lines_before + match[1], str(page), "exec")
        exec(code, names)
    return names


pytestmark = pytest.mark.filterwarnings("error::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Pages are read in an empty folder and with no screen; what they show must converge."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """The shell lines of a page that use the program on files, as they stand."""
    lines = [line for block in SHELL.findall(page.read_text(encoding="utf-8")) for line in block.splitlines()]
    return [line for line in lines if line.startswith(("unweave ", "python -c ")) and "warmup" not in line]


def run_commands(page: Path) -> None:
    """Run the commands of a page by a shell, with the program of this environment first on the path."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for line in commands(page):
        done = subprocess.run(line, shell=True, capture_output=True, text=True, env={**os.environ, "PATH": path})
        assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.slow
def test_commands_of_the_readme_leave_what_they_promise():
    assert len(commands(ROOT / "README.md")) >= 5
    run_commands(ROOT / "README.md")
    for path in ("wine-group/report.html", "wine-group/groups.csv", "small/codes.csv", "wine-codes.csv"):
        assert Path(path).stat().st_size > 100


@pytest.mark.slow
@pytest.mark.parametrize("page, least", [("command-line.md", 10), ("access.md", 6)])
def test_commands_of_the_documentation(page, least):
    assert len(commands(ROOT / "docs" / page)) >= least
    run_commands(ROOT / "docs" / page)


@pytest.mark.slow
def test_readme():
    wine = load_wine()  # the file that the commands before the blocks have written
    polars.DataFrame(wine.data, schema=wine.feature_names).write_csv("wine.csv")
    names = run_blocks(ROOT / "README.md")
    model, nmf, completion = names["model"], names["nmf"], names["completion"]
    assert str(model.plan_) in (ROOT / "README.md").read_text(encoding="utf-8"), "the plan shown is out of date"
    assert model.certificate_.kind == "eckart-young" and model.certificate_.lower_bound <= model.objective_
    assert nmf.components_.min() >= 0 and names["images"].shape == (5, 64)
    assert Path("digits.html").stat().st_size > 0
    assert names["error"] < 0.5 * names["truth"].std() and completion.ridge_ > 0
    assert np.isfinite(names["repaired"]).all()
    predicted = names["mixed"].inverse_transform(names["mixed"].codes_)
    assert (predicted["town"] == names["frame"]["town"]).mean() > 0.8
    assert predicted["smokes"].is_between(0, 1).all()
    assert not Path("digits.ckpt").exists()
    np.testing.assert_array_equal(names["again"].predict(names["ready"]), names["groups"].labels_)
    assert "<html" in Path("wine.html").read_text(encoding="utf-8")
    np.testing.assert_allclose(names["whole"].explained_variance_, _reference_variances(names["X"]), rtol=1e-8)
    assert names["stream"].predict(names["X"]).max() < 10


def _reference_variances(X):
    return np.linalg.eigvalsh(np.cov(X.T))[::-1][:5]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documentation(page):
    if "pandas" in page.read_text(encoding="utf-8"):
        pytest.importorskip("pandas")
    run_blocks(page)


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"
