"""Fuzz the readers: spoiled files must come back as a table or as a ReadError, in time, and as nothing else.

    python tools/fuzz_readers.py --seconds 20              all formats in turn
    python tools/fuzz_readers.py --seconds 60 --format csv one of them
    python tools/fuzz_readers.py --format csv --atheris    coverage-guided, if atheris is installed

Seeds are made on the spot. Without atheris they are changed at random, from a seed that is printed. A file that breaks
a reader is kept in the temporary folder, and the program ends with exit code 1.
"""

from __future__ import annotations

import argparse
import faulthandler
import gzip
import io
import lzma
import random
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SLOWEST = 5.0


def seeds() -> dict[str, list[bytes]]:
    """Small valid files of every format."""
    import polars as pl
    import scipy.sparse as sp
    from PIL import Image

    def saved(save, *arguments, **options) -> bytes:
        file = io.BytesIO()
        save(file, *arguments, **options)
        return file.getvalue()

    frame = pl.DataFrame({"name": ["a", "b", "c"], "x": [1.0, None, 2.5], "y": [True, False, None]})
    image = Image.fromarray(np.arange(48, dtype=np.uint8).reshape(6, 8))
    return {
        "csv": [b"name,x,y\nann,1,2.5\nbob,,NA\n", b'"a";"b"\r\n"1,5";2\r\n3;4\r\n', b"  1 2\n 3 4\n", b"1\n\n3\n"],
        "tsv": [b"x\ty\n1\ttrue\n2\tfalse\n"],
        "ndjson": [b'{"n": "a", "x": 1}\n{"n": "b", "x": NaN}\n', b'{"x": 1.5}\n{"y": null}\n'],
        "parquet": [saved(frame.write_parquet), saved(frame.write_parquet, compression="uncompressed")],
        "npy": [saved(np.save, np.eye(3)), saved(np.save, np.eye(2, dtype="i4"))],
        "npz": [saved(np.savez, a=np.eye(3)), saved(sp.save_npz, sp.eye_array(5).tocsr())],
        "images": [saved(image.save, kind) for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")],
        "matrix-market": [
            b"%%MatrixMarket matrix coordinate real general\n% note\n3 3 2\n1 1 5\n3 2 -1.5\n",
            b"%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n",
        ],
        "triples": [
            b"user,item,rating,time\na,x,4.5,964982703\nb,x,3,964981247\n",
            b"1::10::5::978300760\n2::10::3::978302109\n",
        ],
        "pairs": [b"ann read\nann write\nbob read\n"],
        "transactions": [b"1 2 3\n2 5\n\n7\n"],
        "uci-bag": [b"2\n3\n2\n1 3 5\n2 1 1\n"],
        "lda-c": [b"2 0:1 7:3\n1 4:1\n"],
        "libsvm": [b"+1 1:0.5 3:2 # note\n-1 qid:3 2:1\n"],
        "text": [b"Bees make honey.\n\nHoney bees eat honey.\n\nWax is not honey.\n", "é à la carte\n".encode()],
    }


def spoil(data: bytes, chance: random.Random) -> bytes:
    """A few random edits; now and then the whole is packed, before or after."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at, size = chance.randrange(len(data) + 1), chance.randint(1, 8)
        what = chance.randrange(5)
        if what == 0 and data:
            data[at % len(data)] ^= 1 << chance.randrange(8)
        elif what == 1:
            data[at : at + size] = chance.randbytes(size)
        elif what == 2:
            del data[at : at + size]
        elif what == 3:
            data[at:at] = chance.choice(
                [b"\n", b",", b'"', b"99999999999", b"-1", b"1e999", b"nan", b"\0", b"\xff", b" "]
            )
        else:
            data[at:at] = data[at : at + 50] * chance.randint(1, 20)
    if chance.random() < 0.05:
        packed = bytearray(chance.choice([gzip.compress, lzma.compress])(bytes(data)))
        packed[chance.randrange(len(packed))] ^= chance.choice([0, 1])
        data = packed
    return bytes(data) or b"\n"


def check(path: Path, data: bytes, format: str) -> bool:
    """Read the bytes; True for a table, False for a ReadError; anything else is raised."""
    from unweave.data.named import NamedTable
    from unweave.data.readers import ReadError, read

    path.write_bytes(data)
    start = time.perf_counter()
    faulthandler.dump_traceback_later(SLOWEST * 4, exit=True)
    try:
        table = read(path, format=format, min_documents=1, limit=1 << 28)
        if not isinstance(table, NamedTable):
            raise AssertionError(f"got {type(table).__name__}")
        return True
    except ReadError:
        return False
    finally:
        faulthandler.cancel_dump_traceback_later()
        if (taken := time.perf_counter() - start) > SLOWEST:
            raise AssertionError(f"took {taken:.1f} s")


def fuzz(format: str, start: list[bytes], seconds: float, seed: int, path: Path) -> tuple[int, int]:
    """Spoil and read for a while; how many files were tried and how many of them read."""
    chance, tried, read = random.Random(f"{seed} {format}"), 0, 0
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        read += check(path, spoil(chance.choice(start), chance), format)
        if tried % 8 == 0:
            check(path, path.read_bytes(), "auto")
        tried += 1
    return tried, read


def guided(format: str, path: Path) -> None:
    """Let atheris choose the bytes; it never returns."""
    import atheris

    atheris.Setup(sys.argv[:1], lambda data: data and check(path, data, format))
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20.0, help="in all")
    parser.add_argument("--format", help="one format instead of all")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--atheris", action="store_true", help="coverage-guided, endless; needs --format")
    asked = parser.parse_args()
    known = seeds()
    chosen = [asked.format] if asked.format else list(known)
    if unknown := set(chosen) - set(known):
        parser.error(f"no format {unknown.pop()!r}; use one of {', '.join(known)}")
    seed = asked.seed if asked.seed is not None else time.time_ns() % 10**6
    path = Path(tempfile.mkdtemp(prefix="fuzz_readers_")) / "file"
    if asked.atheris:
        guided(chosen[0], path)
    print(f"seed {seed}; the last file is {path}", flush=True)
    for format in chosen:
        try:
            tried, read = fuzz(format, known[format], asked.seconds / len(chosen), seed, path)
        except BaseException as error:
            print(f"{format}: {type(error).__name__}: {error}; the file is kept: {path}")
            if isinstance(error, KeyboardInterrupt):
                return 1
            import traceback

            traceback.print_exc()
            return 1
        print(f"{format}: {tried} files, {read} of them read, the rest refused in words", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
