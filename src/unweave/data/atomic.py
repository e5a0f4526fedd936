"""Writes files beside their place and renames them over it, so that they are whole or not there; or says why not."""

from __future__ import annotations

import errno
import os
import re
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
    try:
        _write_beside(target, write)
    except OSError as error:
        raise not_written(error, "write", target) from error
    return target


def _write_beside(target: Path, write: Callable[[str], object]) -> None:
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:100]}.", suffix=".part")
    os.close(handle)
    try:
        write(temporary)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def need_place(path: str | os.PathLike | None, what: str) -> None:
    """Raise OSError now if a file could not be written at `path` later; `what` names it, and None asks nothing."""
    if path is None:
        return
    target = Path(os.path.realpath(path))
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with tempfile.TemporaryFile(dir=target.parent):  # who may write cannot be told without trying
            pass
    except OSError as error:
        raise not_written(error, f"write {what}", path) from error


def not_written(error: OSError, what: str, path: str | os.PathLike) -> OSError:
    """Return the same kind of error with a sentence that names the file and what to do.

    >>> not_written(OSError(errno.ENOSPC, "No space left on device"), "save the model to", "/tmp/a.unweave")
    OSError('cannot save the model to /tmp/a.unweave: no space left on device; nothing was changed, free some space or \
choose another place')
    """
    return type(error)(f"cannot {what} {path}: {_why(error, Path(path))}")


def _why(error: OSError, path: Path) -> str:
    # os.path and not pathlib, which raises where one may not look.
    if isinstance(error, PermissionError):
        return f"{system_words(error)}; nothing was changed, choose another place"
    if os.path.isdir(path):
        return "it is a folder; give the name of a file in it"
    if not os.path.isdir(path.parent):
        return f"there is no folder {path.parent}; make it first"
    told = re.search(r"\(os error (\d+)\)", str(error))  # polars' errors have no number of their own
    number = error.errno or (int(told[1]) if told else 0)
    full = number in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
    return f"{system_words(error)}; nothing was changed, {'free some space or ' if full else ''}choose another place"


def system_words(error: OSError) -> str:
    """Return the reason that the operating system gives, in lower case."""
    return (error.strerror or str(error)).lower()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
