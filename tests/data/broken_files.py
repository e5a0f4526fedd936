"""Makes small valid files of every format, breaks them, and checks what reading a broken file may end in.

The tests of readers draw broken files from hypothesis (`broken`); ``tools/fuzz_readers.py`` makes them from a random
generator for as long as it is told (`spoil`). Both break files by the same edits.
"""

from __future__ import annotations

import gzip
import lzma
import random
import struct
import tempfile
from pathlib import Path

import numpy as np

from tests.data.helpers import saved
from unweave.data.named import NamedTable
from unweave.data.readers import ReadError, read

PROSE = "Bees make honey, and wax too.\nWe keep them for both.\n\nHoney is what they eat in winter.\n"
# Pieces that numbers, separators and ends of lines trip over.
NASTY = [b"-1", b"99999999999", b"2147483648", b"nan", b"inf", b"1e400", b"0", b"\n", b"\r\n", b"\n\n", b"\xff", b"\0"]
NASTY += [b",", b":", b"::", b"\t", b" ", b'"', b"#", b"%", b"x", b"", b"9" * 30, "é".encode(), b"-0.5", b"1e999"]
EDITS = ("flip", "set", "cut", "insert", "repeat")

Edit = tuple[str, int, bytes]  # one of EDITS, the place (modulo the length of the file), and a piece


def valid_files() -> dict[str, list[bytes]]:
    """Small valid files of every format; the first of each tells its format by its content alone."""
    import polars as pl
    import scipy.sparse as sp
    from PIL import Image

    frame = pl.DataFrame({"name": ["a", "b", "c"], "x": [1.0, None, 2.5], "y": [True, False, None]})
    image = Image.fromarray(np.arange(48, dtype=np.uint8).reshape(6, 8))
    return {
        "csv": [
            b"x,y\n1,2\n3,4\n",
            b"name,x,y\nann,1,2.5\nbob,,NA\n",
            b'"a";"b"\r\n"1,5";2\r\n3;4\r\n',
            b"  1 2\n 3 4\n",
            b"1\n\n3\n",
        ],
        "tsv": [b"x\ty\n1\t2\n3\t4\n", b"x\ty\n1\ttrue\n2\tfalse\n"],
        "ndjson": [
            b'{"x": 1}\n{"x": 2}\n',
            b'{"n": "a", "x": 1}\n{"n": "b", "x": NaN}\n',
            b'{"x": 1.5}\n{"y": null}\n',
        ],
        "json": [b'[{"x": 1}, {"x": 2}]', b'[{"n": "a", "x": 1},\n {"n": "b", "x": NaN}]'],
        "parquet": [saved(frame.write_parquet), saved(frame.write_parquet, compression="uncompressed")],
        "npy": [saved(np.save, np.eye(3)), saved(np.save, np.eye(2, dtype="i4"))],
        "npz": [saved(np.savez, a=np.eye(3)), saved(sp.save_npz, sp.eye_array(5).tocsr())],
        "images": [saved(image.save, kind) for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")],
        "wav": [wav(np.arange(6) - 3, 16), wav(np.arange(8) / 8 - 0.5, 32, channels=2), wav(np.arange(5), 8)],
        "matrix-market": [
            b"%%MatrixMarket matrix coordinate real general\n% note\n3 3 2\n1 1 5\n3 2 -1.5\n",
            b"%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n",
        ],
        "triples": [
            b"userId,movieId,rating,timestamp\n1,10,4.5,964982703\n2,10,3,964981247\n",
            b"1::10::5::978300760\n2::10::3::978302109\n",
        ],
        "pairs": [b"ann read\nann write\nbob read\nbob write\ncid read\n"],
        "transactions": [b"1 2 3\n2 5\n7\n", b"1 2 3\n2 5\n\n7\n"],
        "uci-bag": [b"2\n3\n2\n1 3 5\n2 1 1\n"],
        "lda-c": [b"2 0:1 7:3\n1 4:1\n"],
        "libsvm": [b"+1 1:0.5 3:2\n-1 2:1\n", b"+1 1:0.5 3:2 # note\n-1 qid:3 2:1\n"],
        "text": [
            PROSE.encode(),
            b"Bees make honey.\n\nHoney bees eat honey.\n\nWax is not honey.\n",
            "é à la carte\n".encode(),
        ],
    }


def wav(samples: np.ndarray, bits: int, *, channels: int = 1, rate: int = 8000) -> bytes:
    """A wav file: whole numbers of so many bits (8: from 0 to 255), or 32-bit floats for samples that are none."""
    real = samples.dtype.kind == "f"
    if bits == 24:
        body = np.asarray(samples, "<i4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
    else:
        body = samples.astype("<f4" if real else "u1" if bits == 8 else f"<i{bits // 8}").tobytes()
    width = channels * bits // 8
    described = struct.pack("<HHIIHH", 3 if real else 1, channels, rate, rate * width, width, bits)
    chunks = b"WAVEfmt " + struct.pack("<I", 16) + described + b"data" + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunks)) + chunks


def edited(data: bytes, edits: list[Edit]) -> bytes:
    """The bytes after some edits.

    >>> edited(b"1,2", [("set", 0, b"x"), ("insert", 3, b"!")])
    b'x,2!'
    """
    for what, where, piece in edits:
        at = where % (len(data) + 1)
        if what == "flip" and data:
            at = where % len(data)
            data = data[:at] + bytes([data[at] ^ 1 << (len(piece) % 8)]) + data[at + 1 :]
        elif what == "set":
            data = data[:at] + piece + data[at + len(piece) :]
        elif what == "cut":
            data = data[:at] + data[at + max(1, len(piece)) :]
        elif what == "insert":
            data = data[:at] + piece + data[at:]
        elif what == "repeat":
            data = data[:at] + data[at : at + 40] * (2 + len(piece)) + data[at + 40 :]
    return data


def broken(*seeds: bytes):
    """A hypothesis strategy: one of the seeds after up to six edits."""
    from hypothesis import strategies as st

    pieces = st.sampled_from(NASTY) | st.binary(max_size=9)
    edits = st.lists(st.tuples(st.sampled_from(EDITS), st.integers(0, 10**6), pieces), min_size=1, max_size=6)
    return st.builds(edited, st.sampled_from(seeds), edits)


def spoil(data: bytes, chance: random.Random) -> bytes:
    """The bytes after up to six random edits; now and then the whole is packed, and maybe broken again."""
    edits: list[Edit] = []
    for _ in range(chance.randint(1, 6)):
        piece = chance.choice(NASTY) if chance.random() < 0.5 else chance.randbytes(chance.randint(1, 8))
        edits.append((chance.choice(EDITS), chance.randrange(len(data) + 1), piece))
    data = edited(data, edits)
    if chance.random() < 0.05:
        packed = bytearray(chance.choice([gzip.compress, lzma.compress])(data))
        packed[chance.randrange(len(packed))] ^= chance.choice([0, 1])
        data = bytes(packed)
    return data or b"\n"


def reads_or_refuses(data: bytes, format: str, **options) -> NamedTable | None:
    """Read a file of these bytes: a sound table, or None after a ReadError in one line; nothing else may come out."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file.bin")
        path.write_bytes(data)
        try:
            table = read(path, format=format, **options)
        except ReadError as error:
            assert str(path) in str(error)
            assert "\n" not in str(error).replace(str(path), "") and error.message.strip()
            return None
    assert isinstance(table, NamedTable) and min(table.shape) >= 1
    if table.sparse:
        table.X.check_format(full_check=True)
        assert table.X.has_canonical_format
    if table.numeric:
        values = table.X.data if table.sparse else table.X
        assert values.dtype == np.float64 and not np.isinf(values).any()
    return table
