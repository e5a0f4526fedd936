"""Files that are whole or not there: written beside their place, then renamed over it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def replace_file(path: str | os.PathLike, write: Callable[[str], object]) -> Path:
    """Let ``write(temporary)`` write a file, then put it at `path`; if anything fails, what was there stays whole.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = replace_file(f"{folder}/note.txt", lambda name: pathlib.Path(name).write_text("whole"))
    ...     path.read_text()
    'whole'
    """
    target = Path(path)
    if target.is_dir():
        raise ValueError(f"{target} is a folder: give the name of a file in it")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to put {target.name} in: make it first")
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".part")
    os.close(handle)
    try:
        write(temporary)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return target


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
