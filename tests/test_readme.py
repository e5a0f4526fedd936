"""What the README and the documentation show runs, block by block, as a reader would paste it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = sorted((ROOT / "docs").glob("*.md"))


def run_blocks(page: Path) -> dict:
    """Run all python blocks of a page in one namespace; a traceback names the page and the line in it."""
    text = page.read_text(encoding="utf-8")
    names: dict = {"__name__": "reader"}
    for match in BLOCK.finditer(text):
        lines_before = text[: match.start(1)].count("\n")
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


def test_readme():
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    names = run_blocks(ROOT / "README.md")
    model, nmf, completion = names["model"], names["nmf"], names["completion"]
    assert str(model.plan_) in (ROOT / "README.md").read_text(encoding="utf-8"), "the plan shown is out of date"
    assert model.certificate_.kind == "eckart-young" and model.certificate_.lower_bound <= model.objective_
    assert nmf.components_.min() >= 0 and names["images"].shape == (5, 64)
    assert Path("parts.png").stat().st_size > 0
    assert names["error"] < 0.5 * names["truth"].std() and completion.ridge_ > 0
    assert np.isfinite(names["repaired"]).all()
    predicted = names["mixed"].inverse_transform(names["mixed"].codes_)
    assert (predicted["town"] == names["frame"]["town"]).mean() > 0.8
    assert predicted["smokes"].between(0, 1).all()
    assert not Path("digits.ckpt").exists()
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
