"""Fuzz the readers: spoiled files must come back as a table or as a ReadError, in time, and as nothing else.

    python tools/fuzz_readers.py --seconds 20              all formats in turn
    python tools/fuzz_readers.py --seconds 60 --format csv one of them
    python tools/fuzz_readers.py --format csv --atheris    coverage-guided, if atheris is installed

It starts from small valid files, made on the spot, and without atheris changes them at random, from a seed that is
printed. A file that breaks a reader is kept in the temporary folder, and the program ends with exit code 1.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the tests share the makers of broken files

from tests.data.broken_files import spoil, valid_files

SLOWEST = 5.0


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
    known = valid_files()
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
