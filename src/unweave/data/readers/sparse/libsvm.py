"""Reads libsvm (svmlight) files: ``label column:value column:value …``, one row per line."""

from __future__ import annotations

import re

import numpy as np

from unweave.data.named import NamedTable
from unweave.data.readers.build import LARGEST, canonical, check_shape, missing_of
from unweave.data.readers.lines import blocks, head_lines
from unweave.data.readers.source import Options, ReadError, Source

_NUMBER = rb"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_LABEL = re.compile(_NUMBER)
_PAIR = re.compile(rb"([0-9]+):(" + _NUMBER + rb")")
_HEAD_LINE = re.compile(rb"\s*" + _NUMBER + rb"(\s+qid:[0-9]+)?(\s+[0-9]+:" + _NUMBER + rb")*\s*")


def read_libsvm(source: Source, options: Options) -> NamedTable:
    """Read rows of ``label column:value …`` into a sparse table, with the labels apart in ``labels``.

    Columns count from 1, or from 0 if a column 0 is used. ``qid:N`` and everything behind ``#`` is passed over.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.svm")
    ...     _ = path.write_text("+1 1:0.5 3:2 # first\\n-1 2:1\\n")
    ...     table = read_libsvm(Source(path), Options())
    >>> table.X.toarray().tolist(), table.labels.tolist()
    ([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1.0, -1.0])
    """
    from sklearn.datasets import load_svmlight_file

    try:
        with source.open_utf8() as file:
            X, labels = load_svmlight_file(file, dtype=np.float64, zero_based=True)
    except ReadError:
        raise
    except (ValueError, OverflowError, TypeError, IndexError, MemoryError) as error:
        raise _first_fault(source) or ReadError(source.name, f"cannot be read as libsvm ({error})") from None
    if not X.nnz:
        raise _first_fault(source) or ReadError(source.name, "no row has a value; is this a libsvm file?")
    low, high = int(X.indices.min()), int(X.indices.max())
    with np.errstate(over="ignore"):
        values = X.data.astype(options.dtype)
    if low < 0 or high >= LARGEST or not (np.isfinite(values).all() and np.isfinite(labels).all()):
        raise _first_fault(source) or ReadError(source.name, "a column or value is out of range; correct it")
    first = 1 if low else 0
    X.indices -= first
    X = X.__class__((values, X.indices, X.indptr), shape=(len(labels), high + 1 - first))
    check_shape(source, X.shape, X.nnz)
    missing = missing_of(options, None)
    notes = [
        f"columns count from {first}",
        "a column that a row does not name is unknown" if missing else "a column that a row does not name is 0",
    ]
    return NamedTable(canonical(X, options.dtype), missing=missing, labels=labels, notes=notes, source=source.name)


def _first_fault(source: Source) -> ReadError | None:
    """Find the first line that is wrong and say why: scikit-learn names none."""
    for block in blocks(source):
        for number, line in enumerate(block.data.split(b"\n")[:-1], block.line):
            fault = _fault(line.split(b"#")[0].split())
            if fault:
                return ReadError(source.name, fault, number)
    return None


def _fault(fields: list[bytes]) -> str | None:
    if not fields:
        return None
    shown = fields[0][:40].decode("utf-8", "replace")
    if b"," in fields[0]:
        return f"several labels ({shown!r}) are not supported; keep one"
    if not _LABEL.fullmatch(fields[0]) or not np.isfinite(float(fields[0])):
        return f"the label {shown!r} is not a finite number; a line must read label column:value …"
    last = -1
    pairs = fields[2:] if len(fields) > 1 and fields[1].startswith(b"qid:") else fields[1:]
    for pair in pairs:
        found, shown = _PAIR.fullmatch(pair), pair[:40].decode("utf-8", "replace")
        if found is None or not np.isfinite(float(found[2])):
            return f"{shown!r} is not column:value with a column from 0 and a finite number; correct it"
        if len(found[1]) > 10 or int(found[1]) >= LARGEST:
            return f"column {shown!r} is beyond the {LARGEST} that can be; number the columns from 1"
        if int(found[1]) <= last:
            return f"column {int(found[1])} comes after column {last}; columns must ascend"
        last = int(found[1])
    return None


def looks_like(head: bytes, name: str) -> str | None:
    """Tell "libsvm" if every line is a number and pairs ``column:value``, with at least one pair.

    >>> looks_like(b"+1 1:0.5 3:2\\n-1 2:1\\n", "a1a"), looks_like(b"1 2 3\\n", "a1a")
    ('libsvm', None)
    """
    lines = [line.split("#")[0].encode() for line in head_lines(head)]
    lines = [line for line in lines if line.strip()]
    fits = bool(lines) and all(_HEAD_LINE.fullmatch(line) for line in lines)
    return "libsvm" if fits and any(b":" in line for line in lines) else None


FORMATS = {"libsvm": read_libsvm}
