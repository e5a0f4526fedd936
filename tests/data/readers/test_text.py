"""Text: documents are told apart, words counted, and what cannot be read or leaves no word says what to do."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.broken_files import broken, reads_or_refuses
from tests.data.helpers import read_bytes
from unweave.data.readers.source import Options, ReadError, Source
from unweave.data.readers.text import count_words, looks_like, read_text

PARAGRAPHS = "Bees make honey.\n\nHoney is what\nbees make.\n\n\nThe bear eats honey.\n"
LINES = (
    "bees make honey and they make wax\nbears like honey more than they like bees\nwax is not what bears like to eat\n"
)
WORDS = st.sampled_from(["bee", "honey", "wax", "bear", "forest", "über", "мёд"])


def read(text: str, **options):
    return read_bytes(read_text, text.encode(), **options)


@settings(max_examples=60)
@given(st.lists(st.lists(WORDS, min_size=1, max_size=9), min_size=1, max_size=6), st.booleans())
def test_counts_are_those_of_a_counter(documents, one_a_line):
    text = ("\n" if one_a_line else "\n\n").join(" ".join(words) for words in documents) + "\n"
    table = read(text, lines=one_a_line, min_documents=1, stop_words=None)
    assert table.kind == "text" and table.X.has_canonical_format
    assert table.columns == sorted({word for words in documents for word in words})
    for row, words in zip(table.X.toarray(), documents):
        assert {word: n for word, n in zip(table.columns, row) if n} == Counter(words)


def test_paragraphs_and_lines_are_told_apart():
    paragraphs = read(PARAGRAPHS)
    assert paragraphs.rows == ["line 1", "line 3", "line 7"]
    assert "blank lines part documents" in paragraphs.notes[0]
    lines = read(LINES)
    assert lines.rows == ["line 1", "line 2", "line 3"]
    assert "each line is a document" in lines.notes[0]
    assert read(LINES + "\n\n").shape == lines.shape
    assert read(PARAGRAPHS, lines=True).shape[0] == 4


def test_a_folder_of_files(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "one.txt").write_text("Honey and wax")
    (tmp_path / "a.TXT").write_text("wax, honey; HONEY")
    (tmp_path / "c.txt").write_text("")
    (tmp_path / "picture.png").write_bytes(b"\xff\xd8")
    table = read_text(Source(tmp_path), Options())
    assert table.rows == ["a", "b/one", "c"] and table.columns == ["honey", "wax"]
    np.testing.assert_array_equal(table.X.toarray(), [[2, 1], [1, 1], [0, 0]])
    assert any("1 document has none" in note for note in table.notes)


def test_a_folder_without_text(tmp_path):
    with pytest.raises(ReadError, match=r"no \*.txt file"):
        read_text(Source(tmp_path), Options())


def test_other_encodings(tmp_path):
    text = "Über Käse\n\nKäse über alles\n"
    (tmp_path / "a.txt").write_bytes(text.encode("latin-1"))
    with pytest.raises(ReadError, match="encoding='latin-1'") as error:
        read_text(Source(tmp_path / "a.txt"), Options())
    assert error.value.line == 1
    with pytest.raises(ReadError, match=r"a\.txt, line 1"):
        read_text(Source(tmp_path), Options())
    table = read_text(Source(tmp_path / "a.txt", encoding="latin-1"), Options(stop_words=None))
    assert table.columns == ["käse", "über"]
    (tmp_path / "a.txt").write_bytes(text.encode("utf-16"))
    assert read_text(Source(tmp_path / "a.txt"), Options(stop_words=None)).columns == ["käse", "über"]


def test_options_of_counting():
    documents = ["the bee the wax", "the bee", "2nd_bee x"]
    assert count_words(documents).columns == ["bee"]
    everything = count_words(documents, options=Options(stop_words=None, min_documents=1))
    assert everything.columns == ["bee", "nd", "the", "wax"] and everything.rows is None
    assert count_words(documents, options=Options(stop_words=["BEE", "don't"], min_documents=1)).columns == [
        "nd",
        "the",
        "wax",
    ]
    assert count_words(documents, options=Options(stop_words=None, max_words=1)).columns == ["bee"]
    assert count_words(documents, options=Options(dtype="float32")).X.dtype == np.float32


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("bee\n\nwax\n", {}, "smaller min_documents"),
        ("the\n\nand\n", {"min_documents": 1}, "stop_words=None"),
        ("1 2 3\n\n4 5\n", {}, "no word of two letters"),
        (" \n\n", {}, "no text but blanks"),
        ("bee\n\nbee\n", {"stop_words": "klingon"}, "stop_words='klingon' is not known"),
    ],
)
def test_no_words_left_says_what_to_relax(text, options, words):
    with pytest.raises(ReadError, match=words):
        read(text, **options)


def test_no_documents():
    with pytest.raises(ValueError, match="no document"):
        count_words([])


@settings(max_examples=60)
@given(broken(PARAGRAPHS.encode(), LINES.encode()))
def test_damaged_files(data):
    reads_or_refuses(data, "text")


def test_looks_like():
    assert looks_like(PARAGRAPHS.encode(), "a") == "text"
    assert looks_like(LINES.encode(), "a.csv") == "text"
    assert looks_like(b"a,b,c\n1,2,3\n", "a.txt") is None
    assert looks_like(b"\x89PNG\0\0", "a.txt") is None


def test_a_text_is_counted_as_scikit_learn_would(rng):
    from sklearn.feature_extraction.text import CountVectorizer

    names = [f"wört{i}x²" for i in range(40)] + ["two_parts", "a1b", "Ⅷ", "İstanbul", "x"]
    documents = [" ".join(rng.choice(names, 12)) for _ in range(50)]
    table = count_words(documents, options=Options(stop_words=None, min_documents=3))
    theirs = CountVectorizer(token_pattern=r"(?u)[^\W\d_]{2,}", min_df=3)
    expected = theirs.fit_transform(documents)
    assert table.columns == theirs.get_feature_names_out().tolist()
    np.testing.assert_array_equal(table.X.toarray(), expected.toarray())


def test_the_counts_alone_are_held(monkeypatch):
    """No more than a few batches of the text at a time."""
    from unweave.data.text import counting, documents

    monkeypatch.setattr(documents, "BATCH", 100)
    waves = []
    monkeypatch.setattr(counting, "_waves", lambda batches, most: (waves.append(1) or [batch] for batch in batches))
    table = read("some words here\n\n" * 200, stop_words=None)
    assert table.shape == (200, 3) and table.rows[-1] == "line 399" and len(waves) > 20


def test_stop_words_of_languages():
    text = "der Hund bellt\n\ndie Katze und der Hund\n"
    table = read(text, stop_words="german", min_documents=1)
    assert table.columns == ["bellt", "hund", "katze"] and "German stop words" in table.notes[1]
    assert "left out" not in read(text, stop_words=None, min_documents=1).notes[1]


@pytest.mark.parametrize(
    ("raw", "columns"),
    [
        (b"\xef\xbb\xbfbee wax\r\n\r\nwax bee\r\n", ["bee", "wax"]),
        (b"bee\0wax\n\nwax bee", ["bee", "wax"]),
        ("bee wax\n\nwax bee".encode("utf-16"), ["bee", "wax"]),
        (b"bee wax\n \t\nwax bee\n\n\n", ["bee", "wax"]),
    ],
)
def test_marks_line_ends_and_zero_bytes(raw, columns):
    table = read_bytes(read_text, raw)
    assert table.columns == columns and table.shape[0] == 2


def test_one_document_says_what_to_do():
    with pytest.raises(ReadError, match=r"there is only one; use min_documents=1, or say lines=True"):
        read("bees make honey")
    with pytest.raises(ReadError, match=r"there is only one; use min_documents=1$"):
        read("bees make honey", lines=True)


def test_limits_of_packed_files_in_a_folder(tmp_path):
    import gzip

    (tmp_path / "a.txt").write_bytes(gzip.compress(b"bee wax " * 5000))
    with pytest.raises(ReadError, match=r"a\.txt.*unpacks to more than 1,000 bytes"):
        read_text(Source(tmp_path, limit=1000), Options(limit=1000, min_documents=1))
