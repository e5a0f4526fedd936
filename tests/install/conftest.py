"""Build the package and install it in a new environment, once for all tests of this folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str, cwd: Path, **more) -> str:
    """Run a command that must succeed, outside of the clone and without what the clone's shell has set."""
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={**env, "MPLBACKEND": "Agg", **more})
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """A folder with the wheel and the sdist."""
    folder = tmp_path_factory.mktemp("built")
    tools = folder / "tools"
    run(sys.executable, "-m", "venv", str(tools), cwd=folder)
    run(str(tools / "bin" / "pip"), "install", "--quiet", "build", cwd=folder)
    run(str(tools / "bin" / "python"), "-m", "build", "--outdir", str(folder / "dist"), str(ROOT), cwd=folder)
    return folder / "dist"


@pytest.fixture(scope="module")
def programs(request, tmp_path_factory) -> Path:
    """The programs of a new environment with the wheel and what it asks for, and nothing else.

    ``UNWEAVE_PROGRAMS`` names the folder of an environment that is there already, to try a single test.
    """
    if "UNWEAVE_PROGRAMS" in os.environ:
        return Path(os.environ["UNWEAVE_PROGRAMS"])
    built = request.getfixturevalue("built")
    folder = tmp_path_factory.mktemp("new")
    run(sys.executable, "-m", "venv", str(folder / "env"), cwd=folder)
    (wheel,) = built.glob("*.whl")
    run(str(folder / "env" / "bin" / "pip"), "install", "--quiet", str(wheel), cwd=folder)
    return folder / "env" / "bin"
