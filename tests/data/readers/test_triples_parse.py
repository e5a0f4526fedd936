"""The two parsers of triples agree, and the quick one really takes the usual files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.readers.mutate import mutated
from unweave.data.readers import triples, triples_parse
from unweave.data.readers.blocks import Block, count_lines
from unweave.data.readers.options import Options
from unweave.data.readers.source import ReadError, Source
from unweave.data.readers.triples_layout import find_layout

MOVIES = b"userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n1,1029,3.0,1260759179\n7,31,0,851868750\n"
ONE_M = b"1::1193::5::978300760\n1::661::3::978302109\n2::1193::4::978298413\n"
BOOKS = b'"User-ID";"ISBN";"Book-Rating"\n"276725";"034545104X";"0"\n"276726";"0155061224";"5"\n'
U_DATA = b"196\t242\t3\t881250949\n186\t302\t3\t891717742\n"
BLANKS = b"a b 3\nc d 4\n"
DATES = b"a|b|3|2005-01-01\nc|d|4|2005-01-02 10:00\n"
SEEDS = (MOVIES, ONE_M, BOOKS, U_DATA, BLANKS, DATES)


def layout_of(tmp_path, data: bytes, least: int = 3):
    (tmp_path / "f.txt").write_bytes(data)
    return Source(tmp_path / "f.txt"), find_layout(Source(tmp_path / "f.txt"), Options(), least)


@pytest.mark.parametrize("data", SEEDS)
def test_the_quick_parser_does_the_usual_files_and_agrees_with_the_plain_one(tmp_path, data):
    source, layout = layout_of(tmp_path, data)
    body = data.split(b"\n", layout.skip)[-1]
    block = Block(1, body, count_lines(body))
    whole = triples._whole_at_first(source, layout)
    quick = triples_parse._quickly(block, layout, whole)
    plain = triples_parse._plainly(source, block, layout, whole)
    assert quick is not None
    for fast, slow in zip(quick, plain):
        assert (fast is None) == (slow is None)
        assert fast is None or list(fast) == list(slow)


@settings(max_examples=100)
@given(mutated(*SEEDS), st.tuples(st.booleans(), st.booleans()))
def test_what_the_quick_parser_takes_the_plain_one_takes_too(tmp_path_factory, data, whole):
    try:
        source, layout = layout_of(tmp_path_factory.mktemp("quick"), data)
        body = (data.split(b"\n", layout.skip)[-1] + b"\n").replace(b"\r\n", b"\n")
        block = Block(1, body, count_lines(body))
        quick = triples_parse._quickly(block, layout, whole)
    except (ReadError, triples_parse.NotWhole):
        return
    if quick is None:
        return
    plain = triples_parse._plainly(source, block, layout, whole)
    assert [None if column is None else list(column) for column in quick] == [
        None if column is None else list(column) for column in plain
    ]


def test_odd_numbers_are_seen_wherever_a_piece_is_cut(monkeypatch):
    monkeypatch.setattr(triples_parse, "_PIECE", 5)
    for place in range(40):
        assert triples_parse._odd_numbers(b"1,20,3.05\n" * place + b"1,07,3\n")
        assert triples_parse._odd_numbers(b"12,20,3.05\n" * place + b"07,1,3\n")
    assert not triples_parse._odd_numbers(b"0,100,3.05\n10,0,0.5\n" * 20)
