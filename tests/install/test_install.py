"""A stranger installs the package: the wheel alone, in a new environment, then README word for word.

Slow (it builds and installs), so only with ``UNWEAVE_INSTALL=1``; ``make test-install`` does that.
"""

from __future__ import annotations

import json
import os
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.install.conftest import ROOT, run

FENCED = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.skipif(
    os.environ.get("UNWEAVE_INSTALL") != "1", reason="builds and installs the package: UNWEAVE_INSTALL=1"
)

# Runs python blocks in one namespace, as a reader pastes them; a block with prompts is a doctest. Only the standard
# library, because the new environment has nothing else.
READER = """
import doctest, json, sys
names = {"__name__": "reader"}
for number, block in enumerate(json.load(open(sys.argv[1], encoding="utf-8"))):
    if block.startswith(">>>"):
        test = doctest.DocTestParser().get_doctest(block, names, f"block {number}", "README.md", 0)
        if doctest.DocTestRunner().run(test, clear_globs=False).failed:
            sys.exit(1)
        names = test.globs
    else:
        exec(compile(block, f"README.md, block {number}", "exec"), names)
"""


def test_the_wheel_holds_the_package_and_no_tests(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = next(name for name in names if name.endswith("METADATA"))
        metadata = archive.read(about).decode()
    assert "unweave/py.typed" in names and "unweave/__init__.py" in names
    tops = {name.split("/")[0] for name in names}
    assert tops == {"unweave", next(top for top in tops if top.endswith(".dist-info"))}
    assert not [name for name in names if "test" in Path(name).name or name.endswith((".nbi", ".nbc", ".pyc"))]
    assert "Typing :: Typed" in metadata and "Requires-Python: >=3.11" in metadata


def test_the_sdist_holds_what_the_tests_need(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        inside = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"README.md", "LICENSE", "docs/index.md", "tests/conftest.py", "src/unweave/py.typed"} <= inside
    assert not [name for name in inside if name.startswith(("docs/_build", "docs/gallery", "docs/api/"))]


def test_the_program_and_the_library_work_elsewhere(programs, tmp_path):
    version = run(str(programs / "unweave"), "--version", cwd=tmp_path)
    code = "import unweave; print(unweave.__version__, unweave.__file__); unweave.KMeans(2).fit([[0.0], [1], [9]])"
    said = run(str(programs / "python"), "-c", code, cwd=tmp_path)
    assert said.split()[0] in version
    assert str(programs.parent) in said and str(ROOT) not in said


def test_readme_word_for_word(programs, tmp_path):
    blocks = FENCED.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    lines = [line for kind, block in blocks if kind == "sh" for line in block.splitlines()]
    for line in lines:
        if line.startswith(("unweave ", "python -c ")) and "warmup" not in line:
            run("sh", "-c", line, cwd=tmp_path, PATH=path)
    python = tmp_path / "blocks.json"
    python.write_text(json.dumps([block for kind, block in blocks if kind == "python"]), encoding="utf-8")
    (tmp_path / "reader.py").write_text(READER, encoding="utf-8")
    run(str(programs / "python"), "reader.py", "blocks.json", cwd=tmp_path)
