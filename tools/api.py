"""Write docs/api.txt: every public name with its signature and its public methods.

``python tools/api.py`` rewrites the file, ``--check`` only says whether it is up to date. The file is a list to read in
a review: a change of the public surface shows as a change of a line.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "api.txt"


def signature(thing: object) -> str:
    """``(a, *, b=1) -> int``; empty when Python does not know it. Default objects lose their address."""
    try:
        text = str(inspect.signature(thing))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def ours(thing: object) -> bool:
    """Is this defined in unweave (not inherited from scikit-learn, whose methods change with its version)?"""
    return (getattr(thing, "__module__", None) or "").split(".")[0] == "unweave"


def members(cls: type) -> Iterator[str]:
    """Public methods and properties of a class that one of our classes defines."""
    for name in sorted(dir(cls)):
        if name.startswith("_"):
            continue
        owner = next((c for c in cls.__mro__ if name in vars(c)), None)
        if owner is None or not ours(owner):
            continue
        raw = vars(owner)[name]
        if isinstance(raw, property):
            yield f"{name}  (property)"
        elif isinstance(raw, classmethod | staticmethod) or callable(raw):
            yield f"{name}{signature(getattr(cls, name))}"


def describe(name: str, thing: object) -> Iterator[str]:
    """The lines of one public name."""
    if inspect.isclass(thing):
        yield f"class {name}{signature(thing)}"
        yield from (f"    {line}" for line in members(thing))
    elif isinstance(thing, ModuleType):
        yield f"module {name}"
        yield from (f"    {line}" for line in describe_module(thing))
    elif callable(thing):
        yield f"def {name}{signature(thing)}"
    else:
        yield f"{name}: {type(thing).__name__}"


def describe_module(module: ModuleType) -> Iterator[str]:
    """The public names of a module: its ``__all__``, or what it holds that is ours and not a module."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n, v in vars(module).items() if not n.startswith("_") and callable(v) and ours(v)]
    for name in sorted(names):
        yield from describe(name, getattr(module, name))


def text() -> str:
    """The whole file."""
    import unweave

    lines = ["Public names of unweave. Written by `make api`; do not edit.", ""]
    for name in unweave.__all__:
        lines += [*describe(name, getattr(unweave, name)), ""]
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true", help="write nothing; exit 1 if the file is out of date")
    if options.parse_args().check:
        fresh = TARGET.exists() and TARGET.read_text(encoding="utf-8") == text()
        print("docs/api.txt is up to date" if fresh else "docs/api.txt is out of date: run `make api`")
        return int(not fresh)
    TARGET.write_text(text(), encoding="utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
