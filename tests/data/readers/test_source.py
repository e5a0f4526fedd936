"""Files are unpacked within a limit, decoded, and refused in words."""

from __future__ import annotations

import gzip
import lzma
import os
import pickle
import time

import pytest
import zstandard

from unweave.data.readers import ReadError, Source

PACK = {"gz": gzip.compress, "xz": lzma.compress, "zst": zstandard.compress}
TEXT = b"".join(b"%d,%d\n" % (i, i * i) for i in range(20000))


@pytest.mark.parametrize("suffix", PACK)
def test_packed_files_read_as_what_they_hold(write, suffix):
    packed = PACK[suffix](TEXT)
    source = Source(write(f"a.csv.{suffix}", packed))
    assert source.compressed and source.inner_name == "a.csv"
    assert source.everything() == TEXT
    assert source.head(5) == TEXT[:5]
    assert Source(write("misnamed.csv", packed)).everything() == TEXT
    assert Source(write("twice", packed + packed)).everything() == TEXT + TEXT


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("keep", [0.5, 0.999])
def test_a_cut_off_packed_file_is_refused(write, suffix, keep):
    packed = PACK[suffix](TEXT)
    path = write(f"cut.csv.{suffix}", packed[: int(len(packed) * keep)])
    with pytest.raises(ReadError, match=r"cut.csv.*damaged or cut off.*get the file again"):
        Source(path).everything()


@pytest.mark.parametrize("suffix", PACK)
def test_a_bomb_is_refused_quickly(write, suffix):
    path = write(f"bomb.csv.{suffix}", PACK[suffix](bytes(400 << 20)))
    start = time.perf_counter()
    with pytest.raises(ReadError, match=r"unpacks to more than [\d,]+ bytes.*limit="):
        Source(path).everything()
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize("suffix", PACK)
def test_the_limit_can_be_set(write, suffix):
    path = write(f"a.{suffix}", PACK[suffix](TEXT))
    with pytest.raises(ReadError, match="more than 1,000 bytes"):
        Source(path, limit=1000).everything()
    assert len(Source(path, limit=len(TEXT)).everything()) == len(TEXT)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_are_heeded_and_dropped(write, encoding):
    path = write("a.txt", "é,b\r\n1,2".encode(encoding))
    assert list(Source(path).lines()) == [(1, "é,b"), (2, "1,2")]
    assert Source(path).open_utf8().read() == "é,b\r\n1,2".encode()


def test_other_encodings_are_named_with_line_and_remedy(write):
    path = write("a.txt", b"ok\nna\xefve\n")
    with pytest.raises(ReadError, match=r"a.txt, line 2: is not utf-8 text.*encoding='latin-1'"):
        list(Source(path).lines())
    assert list(Source(path, encoding="latin-1").lines()) == [(1, "ok"), (2, "naïve")]


def test_utf16_that_breaks_off_is_refused(write):
    path = write("a.txt", "ab".encode("utf-16") + b"\x00")
    with pytest.raises(ReadError, match="is not utf-16 text"):
        list(Source(path).lines())


def test_missing_empty_and_special_files(tmp_path, write):
    with pytest.raises(ReadError, match=r"nothing.csv: there is no such file"):
        Source(tmp_path / "nothing.csv")
    with pytest.raises(ReadError, match="the file is empty"):
        Source(write("empty.csv", b""))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ReadError, match="not a regular file"):
        Source(tmp_path / "pipe")
    with pytest.raises(ReadError, match="zero byte"):
        Source("a\0b")
    assert Source(tmp_path).is_folder
    with pytest.raises(ReadError, match="a folder where a file is expected"):
        Source(tmp_path).open()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(write):
    path = write("secret.csv", b"1,2\n")
    path.chmod(0)
    with pytest.raises(ReadError, match=r"cannot be read \(permission denied\)"):
        Source(path)


def test_the_home_folder_is_expanded(write, monkeypatch):
    path = write("a.txt", b"x")
    monkeypatch.setenv("HOME", str(path.parent))
    assert Source("~/a.txt").everything() == b"x"


def test_errors_survive_a_trip_between_processes():
    error = pickle.loads(pickle.dumps(ReadError("a.csv", "is odd; mend it", line=3)))
    assert str(error) == "a.csv, line 3: is odd; mend it"
    assert (error.path, error.line) == ("a.csv", 3)
