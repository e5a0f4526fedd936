"""Write one page for every public name, from the registry: nothing about the API is listed by hand.

The pages only say which object stands where; signatures and texts come from the docstrings. Members are those of
docs/api.txt, so what scikit-learn's base classes define is left out.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from tools.api import members, signature
from unweave.registry import ESTIMATORS, OTHERS, find

# Rooms in the order in which a reader has jobs; the last is for everything else.
ROOMS = {
    "unweave.compress": "Compress",
    "unweave.complete": "Complete and recommend",
    "unweave.group": "Group",
    "unweave.explain": "Explain",
    "unweave.embed": "Embed",
    "unweave.predict": "Predict",
    "unweave.factorization": "Any factorisation",
}
ELSE = "Tables, files and settings"
MODULES = "Modules"


def room_of(name: str) -> str:
    """The heading under which a public name stands.

    >>> room_of("KMeans"), room_of("read"), room_of("losses")
    ('Group', 'Tables, files and settings', 'Modules')
    """
    if name in ESTIMATORS:
        return next(title for room, title in ROOMS.items() if ESTIMATORS[name].home.startswith(room))
    if OTHERS[name] is None:
        return MODULES
    return next((title for home, title in ROOMS.items() if str(OTHERS[name]).startswith(home)), ELSE)


def sentence(thing: object) -> str:
    """The first sentence of a docstring, safe in a table of reStructuredText."""
    from docstrings import plain

    first = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    return plain(first)


def member_names(cls: type) -> list[str]:
    """Public members that our classes define, without their signatures.

    >>> "fit" in member_names(find("PCA")), "get_params" in member_names(find("PCA"))
    (True, False)
    """
    return [line.split("(")[0].split()[0] for line in members(cls)]


def page_names() -> list[str]:
    """Every public name that gets a page."""
    return [*ESTIMATORS, *OTHERS]


def class_lines(path: str, cls: type, own: bool = False) -> Iterator[str]:
    """The directives of a class; `own` leaves out what it inherits."""
    # Said here, because Sphinx would take that of Model.__new__, which only looks at the names of arguments.
    said = signature(cls) if cls.__name__ in ESTIMATORS else ""
    yield from (f".. autoclass:: {path}{said}", "")
    for member in member_names(cls):
        if own and member not in vars(cls):
            continue
        raw = next(vars(c)[member] for c in cls.__mro__ if member in vars(c))
        kind = "autoproperty" if isinstance(raw, property) else "automethod"
        yield from (f"   .. {kind}:: {path}.{member}", "")


def module_lines(path: str, module: ModuleType) -> Iterator[str]:
    """The directives of a public module: its docstring, then each name under a heading, or where its page is."""
    yield from (f".. automodule:: {path}", "")
    for name in sorted(module.__all__, key=str.lower):
        thing = getattr(module, name)
        if isinstance(thing, ModuleType):
            continue
        if name in page_names() and find(name) is thing:
            yield from (name, "-" * len(name), "", f"{sentence(thing)} See :doc:`unweave.{name}`.", "")
        elif inspect.isclass(thing):
            yield from (name, "-" * len(name), "", *class_lines(f"{path}.{name}", thing, own=True))
        elif callable(thing):
            yield from (name, "-" * len(name), "", f".. autofunction:: {path}.{name}", "")
        else:
            yield from (name, "-" * len(name), "", f".. autodata:: {path}.{name}", "   :no-value:", "")


def page(name: str) -> str:
    """The page of one public name."""
    thing, path = find(name), f"unweave.{name}"
    lines = [path, "=" * len(path), ""]
    if inspect.isclass(thing):
        lines += class_lines(path, thing)
    elif isinstance(thing, ModuleType):
        lines += module_lines(path, thing)
    else:
        lines += [f".. autofunction:: {path}", ""]
    return "\n".join(lines)


def index() -> str:
    """The list of all public names, by room, with one sentence each."""
    lines = ["API", "===", "", "Every public name, with what it does. Models are scikit-learn estimators.", ""]
    for title in (*ROOMS.values(), ELSE, MODULES):
        names = [name for name in page_names() if room_of(name) == title]
        lines += [title, "-" * len(title), "", ".. list-table::", "   :widths: 30 70", ""]
        for name in names:
            lines += [f"   * - :doc:`{name} <unweave.{name}>`", f"     - {sentence(find(name))}"]
        lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {name} <unweave.{name}>" for name in names), ""]
    return "\n".join(lines)


def write(folder: Path) -> None:
    """Write all pages; a file that would not change is left alone, so that a second build is quick."""
    folder.mkdir(exist_ok=True)
    pages = {"index.rst": index(), **{f"unweave.{name}.rst": page(name) for name in page_names()}}
    for stale in folder.glob("*.rst"):
        if stale.name not in pages:
            stale.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app) -> dict:
    """Write the pages before Sphinx looks for sources."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir) / "api"))
    return {"parallel_read_safe": True}
