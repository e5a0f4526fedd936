"""Finds two real data sets on every computer: the docstrings and the imports of the installed Python packages.

Files are parsed, never imported, so looking costs nothing but time.
"""

from __future__ import annotations

import ast
import re
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from unweave.data.named import NamedTable

_LARGEST = 1_000_000  # bytes of a source file worth reading
_IMPORT = re.compile(rb"^[ \t]*(?:from|import)[ \t]+(\w+)", re.MULTILINE)


def folder() -> Path:
    """Return the folder where the packages of this Python are installed."""
    return Path(sysconfig.get_paths()["purelib"])


def docstrings(packages: Iterable[str] = ("numpy", "scipy", "sklearn"), least: int = 40) -> tuple[list[str], list[str]]:
    """Return names and texts of the docstrings of functions, classes and modules, those of at least `least` words."""
    names, texts = [], []
    for package in packages:
        for path, tree in _trees(folder() / package):
            module = ".".join(path.relative_to(folder()).with_suffix("").parts)
            for node in ast.walk(tree):
                if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                    continue
                text = ast.get_docstring(node)
                if text and len(text.split()) >= least:
                    names.append(f"{module}.{node.name}" if hasattr(node, "name") else module)
                    texts.append(text)
    return names, texts


def imports(least: int = 3) -> NamedTable:
    """Return a 0/1 table of which installed package (or package within it) imports which module.

    Modules are those of the standard library and of the packages themselves. Modules imported by fewer than `least`
    packages are left out, and packages that import none of the rest.
    """
    found: dict[str, set[str]] = {}
    for file in _files(folder()):
        parts = file.relative_to(folder()).parts
        if len(parts) > 1 and (folder() / parts[0] / "__init__.py").exists():
            home = found.setdefault(".".join(parts[: min(2, len(parts) - 1)]), set())
            home |= {name.decode() for name in _IMPORT.findall(file.read_bytes())} - {parts[0]}
    known = sys.stdlib_module_names | {path.name.removesuffix(".py") for path in folder().iterdir()}
    counts = Counter(module for modules in found.values() for module in modules & known)
    columns = sorted(module for module, count in counts.items() if count >= least)
    where = {module: j for j, module in enumerate(columns)}
    rows = sorted(package for package, modules in found.items() if modules & where.keys())
    pairs = [(i, where[module]) for i, package in enumerate(rows) for module in sorted(found[package] & where.keys())]
    index = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    X = sp.csr_array((np.ones(len(index)), (index[:, 0], index[:, 1])), shape=(len(rows), len(columns)))
    return NamedTable(X, rows, columns, kind="pairs", source="imports of the installed packages")


def _files(path: Path) -> Iterator[Path]:
    for file in sorted(path.rglob("*.py")):
        if "tests" not in file.parts and file.stat().st_size <= _LARGEST:
            yield file


def _trees(path: Path) -> Iterator[tuple[Path, ast.Module]]:
    for file in _files(path):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # old packages have invalid escapes; theirs to mend
                yield file, ast.parse(file.read_bytes())
        except (SyntaxError, ValueError, RecursionError):
            continue  # templates and files for other Pythons
