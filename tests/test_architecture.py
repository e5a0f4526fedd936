"""Imports point one way, and a few other rules that reading the sources can check."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from unweave.registry import ESTIMATORS, OTHERS, find
from unweave.solve.scheme import Scheme

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "unweave"
FILES = sorted(SOURCE.rglob("*.py"))
NAMES = [str(path.relative_to(SOURCE)) for path in FILES]

# From the top (may import everything below) to the bottom (imports nothing of ours).
LEVELS = [
    {"cli", "studio"},
    {"compress", "complete", "group", "explain", "embed", "predict"},
    {"factorization"},
    {"report", "persist", "judge"},  # below the models, which call them; they know models by their attributes alone
    {"select", "solve"},
    {"updates"},
    {"objectives", "penalties"},
    {"losses"},
    {"linalg"},
    {"kernels"},
]
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}
# Imported by all but kernels; the registry imports what it is asked for.
ANYWHERE = {"data", "parallel", "registry", "compiling", "scale"}
DATA_MAY_USE = {"parallel", "linalg", "kernels"}
SCALE_MAY_USE = {"data", "parallel"}

# Heavy or risky packages and the only rooms that may load them.
ONLY_IN = {
    "numba": {"kernels"},
    "http": {"studio"},
    "socketserver": {"studio"},
    "flask": {"studio"},
    "fastapi": {"studio"},
    "starlette": {"studio"},
    "uvicorn": {"studio"},
    "aiohttp": {"studio"},
    "tornado": {"studio"},
    "dask": {"scale"},
    "distributed": {"scale"},
    "torch": {"predict"},
    "jax": {"predict"},
    "tensorflow": {"predict"},
}


def room(path: Path) -> str:
    """The first folder (or module) below ``unweave``; empty for ``unweave/__init__.py``, cli for ``__main__.py``."""
    first = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    return {"__init__": "", "__main__": "cli"}.get(first, first)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def _runtime_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but those under ``if TYPE_CHECKING``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from _runtime_nodes(child)


@cache
def imported(path: Path) -> frozenset[str]:
    """Absolute dotted names that a file imports, inside functions too."""
    package = ["unweave", *path.relative_to(SOURCE).parts[:-1]]
    found: set[str] = set()
    for node in _runtime_nodes(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            found |= {f"{stem}.{alias.name}" for alias in node.names} if stem == "unweave" else {stem}
    return frozenset(found)


def rooms_used(path: Path) -> set[str]:
    """Our rooms that a file imports; a public name counts as the room it lives in, the bare package as ``""``."""
    used = set()
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != "unweave":
            continue
        first = parts[1] if len(parts) > 1 else ""
        home = ESTIMATORS[first].home if first in ESTIMATORS else OTHERS.get(first)
        used.add(home.split(".")[1] if home else "" if first.startswith("__") else first)
    return used - {room(path)}


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_imports_point_down(path):
    mine, used = room(path), rooms_used(path)
    if mine == "cli":
        return  # the front door loads what a command asks for
    if mine == "":
        allowed: set[str] = {"registry"}
    elif mine in ("parallel", "compiling", "registry"):
        allowed = set()
    elif mine == "kernels":
        allowed = {"compiling"}
    elif mine == "data":
        allowed = DATA_MAY_USE
    elif mine == "scale":
        allowed = SCALE_MAY_USE
    else:
        assert mine in LEVEL, f"'{mine}' is a new room: give it a level in this test and in docs/architecture.md"
        allowed = ANYWHERE | {other for other, level in LEVEL.items() if level >= LEVEL[mine]}
    assert used <= allowed, f"{mine} must not import {sorted(used - allowed)}"


def test_no_two_rooms_import_each_other():
    edges = {(room(path), other) for path in FILES for other in rooms_used(path)} - {("cli", "")}
    both_ways = sorted((a, b) for a, b in edges if (b, a) in edges and a < b)
    assert not both_ways, f"rooms that import each other: {both_ways}"


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_heavy_packages_stay_in_their_rooms(path):
    for name in imported(path):
        rooms = ONLY_IN.get(name.split(".")[0])
        assert rooms is None or room(path) in rooms, f"{name} may be imported in {sorted(rooms or [])} only"


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes that run when a module is loaded: those outside functions."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.Lambda):
            yield child
            yield from _at_import(child)


@pytest.mark.parametrize("path", [path for path in FILES if room(path) == "predict"], ids=str)
def test_torch_is_loaded_when_a_fit_asks_for_it(path):
    loaded = [node for node in _at_import(tree(path)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {getattr(node, "module", None) or node.names[0].name for node in loaded}
    assert not [name for name in names if name.split(".")[0] == "torch"]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_nothing_below_the_front_end_prints(path):
    calls = [n for n in ast.walk(tree(path)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    if room(path) != "cli":
        assert not [c.lineno for c in calls if c.func.id == "print"]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_files_are_short_and_kernels_use_no_threading_layer(path):
    source = path.read_text(encoding="utf-8")
    assert source.count("\n") < 450, "a file is one idea: split it"
    assert not [n for n in ast.walk(tree(path)) if isinstance(n, ast.Name) and n.id == "prange"]


def _text_files() -> Iterator[Path]:
    """What is part of the project: no environments, no caches."""
    folders = ["src", "tests", "docs", "benchmarks", "tools", "examples", ".ci"]
    kinds = {".py", ".md", ".txt", ".toml", ".cfg", ".sh", ".html", ".json", ""}
    yield from (p for p in ROOT.iterdir() if p.is_file() and p.suffix in kinds and p.name != ".git")
    for folder in folders:
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and path.suffix in kinds and "__pycache__" not in path.parts:
                yield path


def test_no_file_names_a_path_of_one_machine():
    # Written apart so that this file does not name one itself.
    pattern = re.compile("/" + "work" + "/|/" + "root" + "/")
    guilty = [str(p.relative_to(ROOT)) for p in _text_files() if pattern.search(p.read_text("utf-8", "replace"))]
    assert not guilty


IMPORT = """
import sys, time
started = time.perf_counter()
import unweave
seconds = time.perf_counter() - started
heavy = [name for name in ("numpy", "scipy", "sklearn", "numba", "pandas") if name in sys.modules]
print(seconds, ",".join(heavy))
"""


def test_import_is_quick_and_loads_nothing_heavy():
    seconds = []
    for _ in range(3):
        out = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout
        took, _, heavy = out.rstrip("\n").partition(" ")
        assert heavy == ""
        seconds.append(float(took))
    assert min(seconds) < 0.3


# -- one protocol, one runner, no mazes --------------------------------------------------------------------------------


def _calls(path: Path, *names: str) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    ]


def _classes() -> Iterator[type]:
    """Every class that the package defines."""
    for path in FILES:
        if path.name == "__main__.py":
            continue
        module = importlib.import_module(".".join(["unweave", *path.relative_to(SOURCE).with_suffix("").parts]))
        for thing in list(vars(module).values()):
            if inspect.isclass(thing) and thing.__module__ == module.__name__:
                yield thing


def test_whatever_steps_is_a_scheme():
    stepping = [kind for kind in _classes() if inspect.isfunction(vars(kind).get("step"))]
    assert len(stepping) > 30
    assert not [kind.__qualname__ for kind in stepping if not issubclass(kind, Scheme)]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_nobody_asks_whether_a_scheme_has_a_method(path):
    asked = [call for call in _calls(path, "hasattr", "getattr") if "scheme" in ast.unparse(call.args[0]).lower()]
    assert not [call.lineno for call in asked]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_one_runner_ends_fits(path):
    source = path.read_text(encoding="utf-8")
    if path.relative_to(SOURCE).as_posix() != "factorization/run.py":
        assert "checkpoint.remove()" not in source
        assert "make_loop(" not in source
    if path.relative_to(SOURCE).as_posix() != "solve/certificate.py":
        assert not re.search(r"Certificate\(\s*\"none\"", source), "use Certificate.none, or let Run.close do it"


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_are_made_of_few_classes(name):
    mine = [kind for kind in find(name).__mro__ if kind.__module__.startswith("unweave")]
    assert len(mine) <= 4, [kind.__name__ for kind in mine]


_STORAGES = {"Dense", "Sparse", "Observed", "Blocks", "csr_array", "csr_matrix", "csc_array", "DenseProduct"}


def _storage_tests(path: Path) -> int:
    """How often a file asks how a table is stored."""
    asked = [
        call for call in _calls(path, "isinstance") if _STORAGES & set(re.findall(r"\w+", ast.unparse(call.args[1])))
    ]
    # `Sparse` is a penalty, too, and `half.penalty` is one of those.
    asked = [call for call in asked if "penalty" not in ast.unparse(call.args[0])]
    attributes = [n for n in ast.walk(tree(path)) if isinstance(n, ast.Attribute) and n.attr == "issparse"]
    return len(asked) + len(attributes) + len(_calls(path, "issparse", "is_sparse", "is_array"))


def test_storage_is_known_in_four_rooms():
    outside = {name: _storage_tests(path) for name, path in zip(NAMES, FILES) if room(path) not in STORAGE_ROOMS}
    found = {name: n for name, n in outside.items() if n}
    assert sum(found.values()) <= 15, found


STORAGE_ROOMS = {"data", "objectives", "linalg", "scale"}


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_losses_penalties_and_updates_are_told_apart_by_traits(path):
    compared = [
        part
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Compare)
        for part in [node.left, *node.comparators]
        if isinstance(part, ast.Attribute)
        and part.attr == "name"
        and re.search(r"(loss|penalty|codes|components|left|right|update)$", ast.unparse(part.value))
    ]
    # A table of updates is searched by the name that the user wrote.
    allowed = 1 if path.name == "plan.py" else 0
    assert len(compared) <= allowed, [ast.unparse(part) for part in compared]


def test_families_are_folders_not_prefixes():
    prefixes: dict[tuple[Path, str], list[str]] = {}
    for path in FILES:
        if "_" in path.stem.strip("_"):
            prefixes.setdefault((path.parent, path.stem.strip("_").split("_")[0]), []).append(path.name)
    assert not {f"{folder.name}/{prefix}": names for (folder, prefix), names in prefixes.items() if len(names) > 2}


def test_every_docstring_begins_with_a_sentence():
    """A module, class or function of ours says what it does in its first line, which ends like a sentence."""
    bad = []
    for name, path in zip(NAMES, FILES):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node)
                first = (text or "").split("\n\n")[0].strip()
                if text is not None and not first.endswith((".", ":", "::", "?", ")", "]", "²", "₊")):
                    bad.append(f"{name}: {first[:60]}")
    assert not bad
