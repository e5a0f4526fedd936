"""Unpacks gzip, xz and zstandard streams within a limit, and turns other encodings into UTF-8."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import Any, BinaryIO

_MAGIC = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstandard"}
# xz names the size of its dictionary in the header and allocates it at once: `xz -9` needs 65 MiB.
_XZ_MEMORY = 512 << 20
_STEP = 1 << 18
_ZSTANDARD_STEP = 1 << 11


def packing(head: bytes) -> str | None:
    """Tell the packing by the first bytes of a file.

    >>> packing(b"\\x1f\\x8b\\x08"), packing(b"1,2,3")
    ('gzip', None)
    """
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


def unpacked(file: BinaryIO, kind: str, limit: int, failure: Callable[[str], Exception]) -> BinaryIO:
    """Open the unpacked bytes of a file, at most `limit`; `failure` makes the error from "limit" or a reason."""
    return io.BufferedReader(Unpacked(file, kind, limit, failure), _STEP)


class Unpacked(io.RawIOBase):
    """Unpacks step by step, so that a bomb is refused before it fills the memory. Can only go back to the start."""

    def __init__(self, file: BinaryIO, kind: str, limit: int, failure: Callable[[str], Exception]):
        self._file, self._kind, self._limit, self._failure = file, kind, limit, failure
        self._inner = _opener(kind)(file)
        self._count = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == 1 and offset == 0:
            return self._count
        if whence != 0 or offset != 0:
            raise io.UnsupportedOperation("a packed file can only be read again from its start")
        self._file.seek(0)
        self._inner, self._count = _opener(self._kind)(self._file), 0
        return 0

    def tell(self) -> int:
        return self._count

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._inner.read(len(buffer))
        except (OSError, EOFError, zlib.error, ValueError, MemoryError) as error:
            raise self._failure(_words(error)) from None
        except Exception as error:
            if type(error).__name__ not in ("ZstdError", "LZMAError"):
                raise
            raise self._failure(_words(error)) from None
        self._count += len(data)
        if self._count > self._limit:
            raise self._failure("limit")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _words(error: Exception) -> str:
    return str(error).strip().rstrip(".").lower() or type(error).__name__


def _opener(kind: str) -> Callable[[BinaryIO], Any]:
    if kind == "gzip":
        import gzip

        return lambda file: gzip.GzipFile(fileobj=file, mode="rb")
    if kind == "xz":
        return _Xz
    return _Zstandard


class _Xz:
    """An xz reader with a bound on the memory that the header may ask for, which `lzma.open` cannot set."""

    def __init__(self, file: BinaryIO):
        self._file, self._decompressor = file, self._new()

    @staticmethod
    def _new():
        import lzma

        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)

    def read(self, n: int) -> bytes:
        while True:
            if self._decompressor.eof:
                rest = (self._decompressor.unused_data or self._file.read(_STEP)).lstrip(b"\0")
                if not rest:
                    return b""
                self._decompressor = self._new()
                data = self._decompressor.decompress(rest, n)
            else:
                step = self._file.read(_STEP) if self._decompressor.needs_input else b""
                if self._decompressor.needs_input and not step:
                    raise EOFError("the data ends too early")
                data = self._decompressor.decompress(step, n)
            if data:
                return data


class _Zstandard:
    """A zstandard reader that notices when a frame is cut off, which the library's own reader passes over.

    Four bytes can become 128 KiB, so small steps bound what one of them makes.
    """

    def __init__(self, file: BinaryIO):
        self._file, self._rest, self._ready = file, b"", memoryview(b"")
        self._frame: Any = None

    def read(self, n: int) -> bytes:
        while not self._ready:
            step = self._rest or self._file.read(_ZSTANDARD_STEP)
            if not step:
                if self._frame is not None:
                    raise EOFError("the data ends too early")
                return b""
            self._unpack(step)
        data, self._ready = bytes(self._ready[:n]), self._ready[n:]
        return data

    def _unpack(self, step: bytes) -> None:
        if self._frame is None:
            import zstandard

            self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._ready = memoryview(self._frame.decompress(step))
        self._rest = b""
        if self._frame.eof:
            self._rest, self._frame = self._frame.unused_data, None


class Transcoded(io.RawIOBase):
    """Turns the text of a file into UTF-8 without a byte order mark. Can only go back to the start."""

    def __init__(self, file: BinaryIO, encoding: str, failure: Callable[[str], Exception]):
        self._file, self._encoding, self._failure = file, encoding, failure
        self._restart()

    def _restart(self) -> None:
        self._text = io.TextIOWrapper(self._file, self._encoding, newline="")
        self._rest, self._count = memoryview(b""), 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            try:
                text = self._text.read(1 << 16)
                self._rest = memoryview(text.encode())
            except UnicodeError:
                raise self._failure(self._encoding) from None
        n = min(len(buffer), len(self._rest))
        buffer[:n], self._rest = self._rest[:n], self._rest[n:]
        return n

    def close(self) -> None:
        if not self.closed:
            self._text.close()
        super().close()
