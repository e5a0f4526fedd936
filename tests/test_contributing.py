"""docs/contributing.md runs from top to bottom, and every example fits on a screen."""

from __future__ import annotations

import re
import sys
from types import ModuleType

import pytest

from unweave import losses, penalties, registry, updates
from unweave.data.readers import detect

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


@pytest.fixture
def untouched():
    """The registries as they were before."""
    tables = [losses.LOSSES, penalties.PENALTIES, registry.ESTIMATORS, detect._FORMATS, detect._ADDED]
    before, methods = [dict(table) for table in tables], list(updates.UPDATES)
    yield
    for table, former in zip(tables, before):
        table.clear()
        table.update(former)
    updates.UPDATES[:] = methods


@pytest.mark.usefixtures("untouched")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_example_runs_outside_the_package(root, tmp_path, monkeypatch):
    blocks = _BLOCK.findall((root / "docs" / "contributing.md").read_text(encoding="utf-8"))
    assert len(blocks) >= 8, "losses, constraints, updates, formats, estimators, schemes, benchmark rows"
    monkeypatch.chdir(tmp_path)
    module = ModuleType("my_own_models")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in blocks:
        assert block.count("\n") <= 30, block[:200]
        exec(compile(block, "docs/contributing.md", "exec"), vars(module))
    assert "box" in penalties.PENALTIES and "BoxedParts" in registry.ESTIMATORS
