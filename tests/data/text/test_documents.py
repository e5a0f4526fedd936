"""Where documents come from."""

import gzip
import os
import socket
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from unweave.data.readers.source import ReadError
from unweave.data.text import documents
from unweave.data.text.documents import Batch, Cutting, check_encoding, documents_of, join_batch


def texts(raw, source="text", encoding="utf-8", errors="strict"):
    """What the counter gets to see, document by document."""
    cutting = Cutting(lowercase=False, encoding=encoding, errors=errors)
    found = []
    for batch in documents_of(raw, source, encoding):
        data, bounds = join_batch(batch, cutting)
        assert len(bounds) == len(batch.contents) + 1
        last = len(bounds) - 2
        spans = [(a, b if d == last else b - 1) for d, (a, b) in enumerate(pairwise(bounds))]
        found += [data[a:b].tobytes().decode("utf-8", "surrogatepass") for a, b in spans]
    return found


def test_texts_bytes_and_arrays():
    assert texts(["a", b"b", np.str_("c")]) == ["a", "b", "c"]
    assert texts(np.array(["x", "y"], dtype=object)) == ["x", "y"]
    assert texts(iter(["one"])) == ["one"]


def test_files_a_folder_and_packed_files(tmp_path):
    (tmp_path / "b.txt").write_text("bé", encoding="utf-8")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "z.TXT").write_text("")
    (tmp_path / "c.md").write_text("not text")
    packed = tmp_path / "d.gz"
    packed.write_bytes(gzip.compress(b"packed"))
    assert texts(tmp_path, "files") == ["", "bé"]
    assert texts([str(packed), tmp_path / "b.txt"], "files") == ["packed", "bé"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_wins(tmp_path, encoding):
    path = tmp_path / "marked.txt"
    path.write_bytes("né\nzwölf\n".encode(encoding))
    assert texts([path], "files") == ["né\nzwölf\n"]
    assert [line.strip() for line in texts(path, "lines")] == ["né", "zwölf"]


def test_lines_in_another_encoding(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes("né\n\nü\n".encode("latin-1"))
    assert texts(path, "lines", "latin-1") == ["né\n", "\n", "ü\n"]
    path.write_bytes("né\nü\n".encode("utf-16-le"))
    assert texts(path, "lines", "utf-16-le") == ["né\n", "ü\n"]


def test_undecodable_bytes_name_the_document(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"fine\nbroken \xff here\n")
    with pytest.raises(ReadError, match=r"bad\.txt, line 2: byte 7 is not utf-8.*encoding='latin-1'.*errors='replace'"):
        texts([path], "files")
    with pytest.raises(ReadError, match=r"bad\.txt, line 2: byte 7"):
        texts(path, "lines")
    with pytest.raises(ReadError, match="document 1: byte 0"):
        texts(["ok", b"\xff"])
    assert texts([path], "files", errors="replace") == ["fine\nbroken \ufffd here\n"]
    assert texts([b"a\xffb"], errors="ignore") == ["ab"]


@pytest.mark.parametrize("raw", ["one text", b"bytes", Path("a.txt")])
def test_one_text_is_not_a_list(raw):
    with pytest.raises(ValueError, match=r"where several documents are expected: give a list of texts"):
        texts(raw)


@pytest.mark.parametrize("item", [None, 3, float("nan"), ["a"]])
def test_what_is_no_text_is_named(item):
    with pytest.raises(TypeError, match=r"document 1 is .* replace it by ''"):
        texts(["a", item])
    with pytest.raises(TypeError, match=r"file 0 is .* not a file name"):
        texts([item], "files")


def test_other_bad_input(tmp_path):
    with pytest.raises(TypeError, match="documents must be an iterable, not of type int"):
        texts(3)
    with pytest.raises(ReadError, match=r"no \*\.txt file in this folder"):
        texts(tmp_path, "files")
    with pytest.raises(ReadError, match="cannot be read"):
        texts([tmp_path / "absent.txt"], "files")
    with pytest.raises(ValueError, match="encoding='klingon'"):
        check_encoding("klingon", "strict")
    with pytest.raises(ValueError, match="errors='shrug'"):
        check_encoding("utf-8", "shrug")


def test_batches_follow_the_sizes(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "BATCH", 10)
    batches = list(documents_of(["x" * n for n in (4, 4, 4, 30, 1, 12)], "text"))
    assert [[len(text) for text in batch.contents] for batch in batches] == [[4, 4, 4], [30], [1, 12]]
    assert [batch.size for batch in batches] == [12, 30, 13] and [batch.first for batch in batches] == [0, 3, 4]
    for name in "abc":
        (tmp_path / f"{name}.txt").write_bytes(b"12345")
    assert [[path.stem for path in batch.contents] for batch in documents_of(tmp_path, "files")] == [["a", "b"], ["c"]]
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntwo\nthree\nfour\n")
    assert [batch.first for batch in documents_of(path, "lines")] == [1, 4]


def test_short_documents_are_taken_in_large_pieces():
    batches = list(documents_of(("few words" for _ in range(300_000)), "text"))
    assert sum(len(batch.contents) for batch in batches) == 300_000
    assert all(batch.size < 1.1 * documents.BATCH for batch in batches) and len(batches) < 8


def test_zero_bytes_part_words_and_not_documents():
    for zero in (["a\0b", "c"], [b"a\0b", b"c"], ["a\0b", b"c"]):
        assert texts(zero) == ["a b", "c"]
    assert texts(["\0"]) == [" "]


def test_a_place_for_every_kind_of_document():
    assert Batch([Path("a.txt")]).place(0) == ("a.txt", None)
    assert Batch(["x"], first=3).place(0) == ("document 3", None)
    assert Batch([b"x", b"y"], "a.txt", 3).place(1) == ("a.txt", 4)


@pytest.mark.parametrize("source", ["files", "lines"])
def test_what_is_no_regular_file_is_refused_and_not_waited_for(tmp_path, source):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ReadError, match="pipe: is not a regular file"):
        texts([pipe], source)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        with pytest.raises(ReadError, match="socket: is not a regular file"):
            texts([tmp_path / "socket"], source)
    with pytest.raises(ReadError, match="is a folder where a file is expected"):
        texts([tmp_path], source)


def test_line_ends_and_an_empty_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\n\r\ntwo")
    assert [line.strip() for line in texts(path, "lines")] == ["one", "", "two"]
    path.write_bytes(b"")
    assert texts([path], "files") == [""]
    with pytest.raises(ReadError, match="the file is empty"):
        texts(path, "lines")
