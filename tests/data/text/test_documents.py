"""Where documents come from."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from unweave.data.readers.source import ReadError
from unweave.data.text.documents import Document, check_encoding, decoded, documents_of


def texts(raw, source="text", encoding="utf-8", errors="strict"):
    found = [decoded(document, encoding, errors) for document in documents_of(raw, source, encoding)]
    return [text.decode() if isinstance(text, bytes) else text for text in found]


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
    with pytest.raises(ReadError, match=r"bad\.txt: byte 12 is not utf-8.*encoding='latin-1'.*errors='replace'"):
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
    with pytest.raises(ValueError, match=r"no \*\.txt file"):
        texts(tmp_path, "files")
    with pytest.raises(ReadError, match="cannot be read"):
        texts([tmp_path / "absent.txt"], "files")
    with pytest.raises(ValueError, match="encoding='klingon'"):
        check_encoding("klingon", "strict")
    with pytest.raises(ValueError, match="errors='shrug'"):
        check_encoding("utf-8", "shrug")


def test_sizes_cut_the_work(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"12345")
    assert Document("abc").size() == 3 and Document(tmp_path / "a.txt", "a").size() == 5
