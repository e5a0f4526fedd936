"""The demo runs, says where its pictures are, and is clear when it cannot draw."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[1] / "examples" / "demo.py"
PICTURES = ("parts.png", "groups.png", "scatter.png", "completion.png")


def run_demo(arguments: list[str], folder: Path, before: str = "") -> subprocess.CompletedProcess:
    """Run the demo in a process of its own, after the statements `before`."""
    start = f"runpy.run_path({str(DEMO)!r}, run_name='__main__')"
    code = f"import runpy, sys; sys.argv = {['demo.py', *arguments]!r}; {before}{start}"
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_demo_draws_and_tells(tmp_path):
    pytest.importorskip("matplotlib")
    done = run_demo(["pictures"], tmp_path)
    assert done.returncode == 0, done.stderr
    for name in PICTURES:
        path = tmp_path / "pictures" / name
        assert path.read_bytes().startswith(b"\x89PNG")
        assert str(Path("pictures") / name) in done.stdout
    assert done.stdout.count("Certificate: ") == done.stdout.count("Solver: ") == 4


def test_demo_without_matplotlib_says_what_to_install(tmp_path):
    done = run_demo([], tmp_path, before="sys.modules['matplotlib'] = None; ")
    assert done.returncode != 0
    assert "pip install matplotlib" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
