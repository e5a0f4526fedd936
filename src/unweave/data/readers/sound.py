"""Reads wav files: one row for each moment, one column for each channel, the rate beside."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.readers.build import dense_table
from unweave.data.readers.source import Options, ReadError, Source

_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_OTHERS = {2: "ADPCM", 6: "A-law", 7: "µ-law", 0x55: "MP3"}
_UNKNOWN_SIZE = (0, 0xFFFFFFFF)  # of what was written to a pipe: all that follows is sound
_MOST_CHANNELS = 4096


class _Kind(NamedTuple):
    """How samples are written."""

    code: int
    channels: int
    rate: int
    bits: int


def looks_like(head: bytes, name: str) -> str | None:
    """Tell wav files by their first bytes."""
    return "wav" if head[:4] in (b"RIFF", b"RF64") and head[8:12] == b"WAVE" else None


def read_wav(source: Source, options: Options) -> NamedTable:
    """Read the samples of all channels as numbers between −1 and 1 (floats as they are)."""
    data = source.everything()
    if looks_like(data[:12], "") is None:
        raise ReadError(source.name, "is not a wav file: it does not begin with RIFF and WAVE; save the sound as wav")
    kind, samples = _parts(source, data)
    needed = len(samples) * 8 // max(1, kind.bits) * np.dtype(options.dtype).itemsize
    if needed > source.memory_limit:
        words = f"the sound takes {needed:,} bytes as {options.dtype}; cut it, or allow more with limit="
        raise ReadError(source.name, words)
    X = _numbers(source, kind, samples).astype(options.dtype, copy=False).reshape(-1, kind.channels)
    if not np.isfinite(X).all():
        raise ReadError(source.name, "a sample is NaN or infinite; save the sound again")
    stem = Path(source.inner_name).stem
    columns = [stem] if kind.channels == 1 else [f"channel {j + 1}" for j in range(kind.channels)]
    note = f"{len(X):,} samples at {kind.rate:,} Hz ({len(X) / kind.rate:.3g} s), {kind.bits} bits"
    return dense_table(
        source, options, np.ascontiguousarray(X), holes=False, columns=columns, notes=[note], rate=float(kind.rate)
    )


FORMATS = {"wav": read_wav}


def _parts(source: Source, data: bytes) -> tuple[_Kind, memoryview]:
    """Go through the chunks of a file; sizes that it claims are held against what there is."""
    at, kind = 12, None
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        start, left = at + 8, len(data) - at - 8
        if name == b"fmt ":
            kind = _kind(source, data[start : start + min(size, left)])
        elif name == b"data":
            if kind is None:
                raise _damaged(source, "the sound comes before what says how it is written")
            if size in _UNKNOWN_SIZE:
                size = left
            if size > left:
                raise _damaged(source, f"{size:,} bytes of sound are announced and {left:,} are there")
            return kind, memoryview(data)[start : start + size]
        at = start + size + size % 2
    raise _damaged(source, "there is no sound in it")


def _kind(source: Source, chunk: bytes) -> _Kind:
    if len(chunk) < 16:
        raise _damaged(source, "the description of the samples is cut off")
    code, channels, width, bits = (int.from_bytes(chunk[i : i + 2], "little") for i in (0, 2, 12, 14))
    rate = int.from_bytes(chunk[4:8], "little")
    if code == _EXTENSIBLE and len(chunk) >= 26:
        code = int.from_bytes(chunk[24:26], "little")
    known = (code == _PCM and bits in (8, 16, 24, 32)) or (code == _FLOAT and bits in (32, 64))
    if not known:
        what = _OTHERS.get(code, "floats" if code == _FLOAT else "PCM" if code == _PCM else f"code {code}")
        words = f"holds samples of {bits} bits ({what}); save it as PCM of 8, 16, 24 or 32 bits, or as floats"
        raise ReadError(source.name, words)
    if not (0 < channels <= _MOST_CHANNELS and rate > 0 and width == channels * bits // 8):
        words = f"{channels} channels at {rate} Hz in {width} bytes do not fit together"
        raise _damaged(source, words)
    return _Kind(code, channels, rate, bits)


def _numbers(source: Source, kind: _Kind, samples: memoryview) -> NDArray:
    width = kind.bits // 8
    if len(samples) % (width * kind.channels):
        raise _damaged(source, "the last sample is cut off")
    if kind.code == _FLOAT:
        return np.frombuffer(samples, f"<f{width}")
    if kind.bits == 8:
        return (np.frombuffer(samples, np.uint8) - 128.0) / 128
    if kind.bits == 24:
        wide = np.zeros((len(samples) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(samples, np.uint8).reshape(-1, 3)
        return wide.view("<i4").ravel() / float(1 << 31)
    return np.frombuffer(samples, f"<i{width}") / float(1 << (kind.bits - 1))


def _damaged(source: Source, why: str) -> ReadError:
    return ReadError(source.name, f"is a damaged or cut off wav file ({why}); get the file again")
