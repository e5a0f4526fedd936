"""The demo runs from data of this computer, says what it did, and leaves one page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[1] / "examples" / "demo.py"


@pytest.mark.slow
def test_demo_leaves_one_page_and_tells_where(tmp_path):
    done = subprocess.run([sys.executable, str(DEMO), "out"], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    page = tmp_path / "out" / "index.html"
    assert f"The page: {page}" in done.stdout
    assert [path.name for path in page.parent.iterdir()] == ["index.html"]
    assert done.stdout.count("Certificate: ") == done.stdout.count("Solver: ") == 3
    html = page.read_text(encoding="utf-8")
    assert html.count("<article") == 3 and html.count("data:image/png") >= 16
    assert "topic 12:" in done.stdout and "group 8:" in done.stdout
