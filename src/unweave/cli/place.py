"""Find a place for results before anything is computed, and never overwrite what is there unless told to."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from unweave.cli.options import Settings
from unweave.data.atomic import system_words

# Every file that a job may leave in its folder.
RESULTS = (
    "model.unweave", "report.html", "codes.csv", "components.csv", "groups.csv", "completed.csv", "uncertainty.csv",
    "topics.csv", "topics.html", "predictions.csv", "recommendations.csv", "roles.csv", "roles.html", "assignments.csv",
    "exceptions.csv", "changes.csv", "rates.csv", "compressed.png", "factors.csv", "weights.csv", "source-1.wav",
    "vectors.unweave", "vectors.txt", "vectors.bin", "vectors.glove.txt", "vectors.vec", "words.html",
    "new-predictions.csv",
)  # fmt: skip


def folder_for(settings: Settings) -> Path:
    """Choose the folder of a job's results: that of --out, or FILE-VERB, with a number if that is taken.

    Raises ValueError or OSError now if nothing could be written there later, or if --out has results already.
    """
    if settings.out is None:
        base = Path(f"{stem(settings.file)}-{settings.verb}")
        return _writable(base if settings.force else _free(base))
    folder = settings.out
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out {folder} is a file; give the name of a folder")
    there = [name for name in RESULTS if os.path.lexists(folder / name)]
    if there and not settings.force:
        shown = ", ".join(there[:3]) + (", …" if len(there) > 3 else "")
        raise ValueError(f"--out {folder} holds results already ({shown}): give another folder, or --force to replace")
    return _writable(folder)


def file_for(asked: Path | None, usual: Path, force: bool) -> Path:
    """Choose the file of a single result: that of --out, or the usual one, with a number if that is taken."""
    if asked is None:
        return _writable(usual if force else _free(usual))
    if asked.is_dir():
        raise ValueError(f"--out {asked} is a folder; give the name of a file in it")
    if os.path.lexists(asked) and not force:
        raise ValueError(f"--out {asked} is there already: give another name, or --force to replace it")
    return _writable(asked)


def stem(path: Path) -> str:
    """Strip a file name of its suffixes."""
    name = path.resolve().name
    while "." in name.lstrip(".") and len(Path(name).suffix) <= 9:
        name = Path(name).stem
    return name or "table"


def _free(path: Path) -> Path:
    """Return the path, or the first one with a number that is not taken; an empty folder is not taken."""
    tried, number = path, 2
    while os.path.lexists(tried) and not (tried.is_dir() and not any(tried.iterdir())):
        tried, number = path.with_name(f"{path.stem}-{number}{path.suffix}"), number + 1
    return tried


def _writable(path: Path) -> Path:
    """Return the path if something can be written there, by trying in the nearest folder that exists."""
    existing = next(parent for parent in path.absolute().parents if os.path.lexists(parent))
    if not existing.is_dir():
        raise ValueError(f"{existing} is a file, in which nothing can be put; choose another place by --out")
    try:
        with tempfile.TemporaryFile(dir=existing):  # who may write cannot be told without trying
            pass
    except OSError as error:
        raise type(error)(
            f"cannot write into {existing}: {system_words(error)}; choose another place by --out"
        ) from None
    return path
