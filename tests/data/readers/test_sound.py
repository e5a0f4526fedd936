"""Wav files: what they hold comes back as it was written, and what they claim is not believed."""

from __future__ import annotations

import io
import struct
import wave

import numpy as np
import pytest

import unweave
from tests.data.broken_files import wav
from unweave.data.readers import ReadError


@pytest.mark.parametrize("bits", [16, 24, 32])
def test_whole_numbers_become_numbers_between_one_and_minus_one(tmp_path, bits):
    top = 1 << (bits - 1)
    path = tmp_path / "tone.wav"
    path.write_bytes(wav(np.array([0, 1, -top, top - 1, -7, 5]), bits, channels=2, rate=44100))
    table = unweave.read(path)
    wanted = np.array([0, 1, -top, top - 1, -7, 5]).reshape(3, 2) / top
    np.testing.assert_array_equal(table.X, wanted)
    assert table.rate == 44100.0 and table.columns == ["channel 1", "channel 2"] and "44,100 Hz" in table.notes[0]


def test_bytes_and_floats(tmp_path):
    path = tmp_path / "a.wav"
    path.write_bytes(wav(np.array([0, 128, 255]), 8))
    assert unweave.read(path).X[:, 0].tolist() == [-1, 0, 127 / 128] and unweave.read(path).columns == ["a"]
    path.write_bytes(wav(np.array([0.25, -2.5]), 32))
    assert unweave.read(path, dtype="float32").X.dtype == np.float32
    assert unweave.read(path).X[:, 0].tolist() == [0.25, -2.5]


def test_what_the_standard_library_writes_is_read(tmp_path):
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16000)
        out.writeframes(np.array([1, 2, -3], "<i2").tobytes())
    (tmp_path / "w").write_bytes(file.getvalue())  # told by the content
    np.testing.assert_array_equal(unweave.read(tmp_path / "w").X[:, 0], np.array([1, 2, -3]) / 32768)


def test_an_extensible_header_and_chunks_between(tmp_path):
    body = np.array([1, -2], "<i2").tobytes()
    described = struct.pack("<HHIIHHHHIH", 0xFFFE, 1, 8000, 16000, 2, 16, 22, 16, 0, 1) + bytes(14)
    chunks = b"WAVELIST" + struct.pack("<I", 3) + b"abc\0" + b"fmt " + struct.pack("<I", 40) + described
    chunks += b"data" + struct.pack("<I", 0xFFFFFFFF) + body
    (tmp_path / "x.wav").write_bytes(b"RIFF" + struct.pack("<I", 0xFFFFFFFF) + chunks)
    np.testing.assert_array_equal(unweave.read(tmp_path / "x.wav").X[:, 0], np.array([1, -2]) / 32768)


def test_recordings_of_one_channel_stand_side_by_side(tmp_path):
    for name, start in (("a", 0), ("b", 10)):
        (tmp_path / f"{name}.wav").write_bytes(wav(np.arange(start, start + 4), 16))
    table = unweave.read(tmp_path / "*.wav")
    assert table.shape == (4, 2) and table.columns == ["a", "b"] and table.rate == 8000
    (tmp_path / "b.wav").write_bytes(wav(np.arange(5), 16))
    with pytest.raises(ReadError, match=r"b.wav: has 5 samples, and .* 4; cut them to one length"):
        unweave.read(tmp_path / "*.wav")
    (tmp_path / "b.wav").write_bytes(wav(np.arange(4), 16, rate=16000))
    with pytest.raises(ReadError, match="bring them to one rate"):
        unweave.read(tmp_path / "*.wav")


GOOD = wav(np.arange(6), 16)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (GOOD[:-1], "announced"),
        (GOOD[:40], "no sound"),
        (GOOD[:30], "description of the samples is cut off"),
        (GOOD[:40] + struct.pack("<I", 0x7FFFFFFF) + GOOD[44:], "announced"),
        (GOOD[:22] + struct.pack("<H", 0) + GOOD[24:], "do not fit together"),
        (GOOD[:20] + struct.pack("<H", 7) + GOOD[22:], "µ-law"),
        (GOOD[:20] + struct.pack("<H", 1) + GOOD[22:34] + struct.pack("<H", 20) + GOOD[36:], "20 bits"),
        (wav(np.array([np.nan, 1.0]), 32), "NaN"),
        (wav(np.zeros(0, int), 16), "nothing to work on"),
    ],
)
def test_what_is_cut_off_forged_or_strange_is_refused_in_words(tmp_path, data, words):
    path = tmp_path / "bad.wav"
    path.write_bytes(data)
    with pytest.raises(ReadError, match=r"bad\.wav: .*" + words):
        unweave.read(path)


def test_no_more_is_made_than_the_limit_allows(tmp_path):
    path = tmp_path / "long.wav"
    path.write_bytes(wav(np.zeros(5000, int), 8))
    with pytest.raises(ReadError, match="limit="):
        unweave.read(path, limit=10_000)
