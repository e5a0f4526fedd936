"""The first use in a new process: silent and quick with a warm cache, one line when it compiles.

Seconds are of this process on a processor, so that other tests running beside it do not count.
"""

import gc
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import unweave
from unweave import compiling
from unweave.kernels import private_folder

SCRIPT = """
import time
import sklearn.base, sklearn.utils.validation, numpy as np, unweave
imported = time.process_time()
X = np.random.default_rng(0).random((100, 10))
began = time.process_time()
unweave.{model}.fit(X)
print(time.process_time() - began, imported)
"""


def first_fit(model: str, **env: str) -> tuple[float, float, str]:
    """Seconds of the fit, those of starting Python and importing scikit-learn on this machine, and what was said."""
    command = [sys.executable, "-c", SCRIPT.format(model=model)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **env})
    fit, imported = map(float, ended.stdout.split())
    return fit, imported, ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("model", ["PCA(3)", "NMF(3)", "KMeans(3)"])
def test_a_first_fit_with_a_warm_cache_is_quick_and_silent(model):
    first_fit(model)
    runs = [first_fit(model) for _ in range(3)]
    # A second where importing scikit-learn takes one; processors differ by more than two.
    assert min(seconds / max(1.0, imported) for seconds, imported, _ in runs) < 1.0
    assert all("compiling" not in said for *_, said in runs)


@pytest.mark.slow
def test_a_first_compile_says_so_once(tmp_path):
    *_, said = first_fit("NMF(3)", NUMBA_CACHE_DIR=str(tmp_path))
    assert said.count("compiling kernels") == 1
    assert "unweave warmup" in said


READ_ONLY = """
import os, sys, tempfile
import numpy as np, unweave
X = np.random.default_rng(0).random((30, 3))
first = unweave.KMeans(2, random_state=0).fit(X)  # loads all that is not ours, which nobody may not be allowed to read
for name in [name for name in sys.modules if name.split(".")[0] == "unweave"]:
    del sys.modules[name]
sys.path.insert(0, {package!r})
tempfile.tempdir = {temporary!r}
os.environ["HOME"] = os.environ["XDG_CACHE_HOME"] = {home!r}
if os.getuid() == 0:
    os.setuid(65534)  # nobody: root is not stopped by the modes of files
import unweave
print(unweave.__file__)
assert (unweave.KMeans(2, random_state=0).fit(X).labels_ == first.labels_).all()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes of files are another thing there")
@pytest.mark.parametrize("temporary", ["writable", "read-only"])
def test_nothing_that_can_be_written_is_no_reason_to_fail(tmp_path, temporary):
    """Package, home and perhaps even the temporary folder are read-only: kernels are kept elsewhere or in memory."""
    package = tmp_path / "site" / "unweave"
    shutil.copytree(Path(unweave.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    home, scratch = tmp_path / "home", tmp_path / "scratch"
    home.mkdir()
    scratch.mkdir()
    scratch.chmod(0o777 if temporary == "writable" else 0o555)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.is_relative_to(tempfile.gettempdir()) and folder != Path(tempfile.gettempdir()):
            folder.chmod(folder.stat().st_mode | 0o055)
    for path in [home, *package.parent.rglob("*"), package.parent]:
        path.chmod(0o555)
    script = READ_ONLY.format(package=str(package.parent), temporary=str(scratch), home=str(home))
    env = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)
    assert ended.returncode == 0, ended.stderr
    assert str(package) in ended.stdout
    assert ended.stderr.count("compiled kernels are kept") == 1
    kept = list(scratch.glob("unweave-kernels-*"))
    assert len(kept) == (temporary == "writable") and all(folder.stat().st_mode & 0o077 == 0 for folder in kept)


def test_a_folder_that_somebody_else_made_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"unweave-kernels-{os.getuid()}"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    assert private_folder.__wrapped__() is None
    folder.chmod(0o700)
    assert private_folder.__wrapped__() == folder


def test_the_clock_stands_still_while_something_is_compiled():
    told = []
    compiling.tell(lambda name, begins: told.append((name, begins)))
    try:
        before, spent = compiling.clock(), compiling.seconds()
        compiling.begins("outer")
        compiling.begins("inner")
        time.sleep(0.05)
        compiling.ends("inner")
        time.sleep(0.05)
        compiling.ends("outer")
        assert compiling.clock() - before < 0.05
        assert 0.1 <= compiling.seconds() - spent < 0.2
    finally:
        compiling.tell(None)
    assert told == [("outer", True), ("inner", True), ("inner", False), ("outer", False)]


@pytest.mark.slow
def test_a_fit_is_not_charged_for_compiling(tmp_path):
    script = SCRIPT.replace("unweave.{model}.fit(X)", "print(unweave.{model}.fit(X).history_.seconds[-1])")
    command = [sys.executable, "-c", script.format(model="NMF(3)")]
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
    fit, process, _ = map(float, ended.stdout.split())
    assert process > 1.0 > fit  # the process compiled for seconds, the fit took some milliseconds


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_waits_for_the_compiler_and_is_collected_again_as_before(collects):
    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        compiling.begins("outer")
        compiling.begins("inner")
        compiling.ends("inner")
        assert not gc.isenabled()
        compiling.ends("outer")
        assert gc.isenabled() == collects
    finally:
        (gc.enable if before else gc.disable)()
