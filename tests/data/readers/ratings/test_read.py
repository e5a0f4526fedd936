"""Triples and pairs: every separator and header comes back, the quick and the plain parser agree, faults name lines."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.broken_files import broken, reads_or_refuses
from tests.data.helpers import read_bytes
from unweave.data.readers.lines import Block, count_lines
from unweave.data.readers.ratings import read as ratings_reader
from unweave.data.readers.ratings.fields import find_fields
from unweave.data.readers.ratings.read import looks_like, read_pairs, read_triples
from unweave.data.readers.source import Options, ReadError, Source

MOVIES = b"userId,movieId,rating,timestamp\n1,31,2.5,1260759144\n1,1029,3.0,1260759179\n7,31,0,851868750\n"
ONE_M = b"1::1193::5::978300760\n1::661::3::978302109\n2::1193::4::978298413\n"
BOOKS = b'"User-ID";"ISBN";"Book-Rating"\r\n"276725";"034545104X";"0"\r\n"276726";"0155061224";"5"\r\n'
PAIRS = b"ann read\nann write\nbob read\nann read\n"
SEEDS = (MOVIES, ONE_M, BOOKS, b"196\t242\t3\t881250949\n186\t302\t3\t891717742\n", b"a  b 3\nc d  4\n")


def read(data: bytes, **options):
    return read_bytes(read_triples, data, **options)


def as_dict(table) -> dict:
    coo = table.X.tocoo()
    return {(table.rows[i], table.columns[j]): v for i, j, v in zip(coo.row, coo.col, coo.data)}


def test_movielens_with_a_header():
    table = read(MOVIES)
    assert (table.kind, table.missing) == ("ratings", "zeros")
    assert table.rows == ["1", "7"] and table.columns == ["31", "1029"]
    assert table.X.nnz == 3, "a rating of 0 is a rating"
    assert as_dict(table) == {("1", "31"): 2.5, ("1", "1029"): 3.0, ("7", "31"): 0.0}
    assert table.times.tolist() == [1260759144, 1260759179, 851868750] and table.times.dtype == np.int64
    assert any("'movieId' is the item" in note for note in table.notes)


def test_movielens_with_double_colons_and_books_with_quotes():
    table = read(gzip.compress(ONE_M))
    assert table.columns == ["661", "1193"] and table.times.tolist() == [978302109, 978300760, 978298413]
    books = read(BOOKS)
    assert as_dict(books) == {("276725", "034545104X"): 0, ("276726", "0155061224"): 5}


IDS = st.one_of(st.integers(-5, 10**12).map(str), st.sampled_from(["007", "ann", "bob c", "über", "x-1"]))
ENTRIES = st.lists(
    st.tuples(IDS, IDS, st.floats(-1e6, 1e6), st.integers(0, 2**40)),
    min_size=1,
    max_size=12,
    unique_by=lambda entry: entry[:2],
)


@settings(max_examples=80)
@given(
    ENTRIES, st.sampled_from(["::", "\t", ";", ",", "|"]), st.booleans(), st.booleans(), st.sampled_from(["\n", "\r\n"])
)
def test_entries_come_back(entries, separator, header, timed, end):
    rows = [[user, item, repr(value), str(time)][: 4 if timed else 3] for user, item, value, time in entries]
    rows = [["user", "item", "rating", "time"][: 4 if timed else 3]] * header + rows
    table = read("".join(separator.join(row) + end for row in rows).encode(), header=header, delimiter=separator)
    assert as_dict(table) == {entry[:2]: entry[2] for entry in entries}
    assert table.X.has_canonical_format
    if timed:
        times = sp.csr_array((table.times, table.X.indices, table.X.indptr), shape=table.shape).tocoo()
        found = {(table.rows[i], table.columns[j]): t for i, j, t in zip(times.row, times.col, times.data)}
        assert found == {entry[:2]: entry[3] for entry in entries}


def test_order_of_ids():
    assert read(b"b,z,1\na,y,2\nb,y,3\n").rows == ["b", "a"]
    assert read(b"10,z,1\n9,y,2\n").rows == ["9", "10"]
    assert read(b"010,z,1\n9,y,2\n").rows == ["9", "010"], "text that is a whole number keeps its zeros"
    late = b"".join(b"%d,1,1\n" % i for i in range(5000)) + b"x,1,1\n"
    assert read(late).rows == [*map(str, range(5000)), "x"], "a late id that is no number"


@pytest.mark.parametrize(("how", "value"), [("mean", 3.0), ("last", 2.0), ("sum", 6.0)])
def test_duplicates(how, value):
    table = read(b"a,x,4,10\nb,x,1,5\na,x,2,7\n", duplicates=how)
    assert as_dict(table) == {("a", "x"): value, ("b", "x"): 1}
    assert table.times.tolist() == [10, 5]
    assert any(f"1 lines repeat a user and item of another line: duplicates='{how}'" in note for note in table.notes)


def test_duplicates_as_an_error():
    with pytest.raises(ReadError, match=r"user 'a' and item 'x' come more than once \(entry 3\)"):
        read(b"a,x,4\nb,x,1\na,x,2\n", duplicates="error")


def test_columns_by_name_in_any_order():
    table = read(b"rating,title,movie_id,customer\n4,Heat,m1,c1\n5,Alien,m2,c1\n")
    assert as_dict(table) == {("c1", "m1"): 4, ("c1", "m2"): 5}
    assert any("columns left out: 'title'" in note for note in table.notes)


def test_dates_are_times_and_other_text_is_not():
    table = read(b"a,x,4,2005-09-06\nb,x,1,2005-12-31 23:59:58\n")
    assert table.times.tolist() == np.array(["2005-09-06", "2005-12-31T23:59:58"], "datetime64[s]").tolist()
    table = read(b"a,x,4,monday\nb,x,1,friday\n")
    assert table.times is None and any("times were left out" in note for note in table.notes)


def test_blank_lines_comments_and_aligned_columns():
    assert as_dict(read(b"# ratings\na   x\t4\n\n b  y  5 \n")) == {("a", "x"): 4, ("b", "y"): 5}


def test_types_and_missing(dtype):
    table = read(MOVIES, dtype=np.dtype(dtype).name, missing=None)
    assert table.X.dtype == dtype and table.missing is None


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"a,x,4\nb,y\n", 2, "2 fields where the others have 3"),
        (b"a,x,4\nb,y,1,2\n", 2, "4 fields"),
        (b"a,x,4\n\nb,y,good\n", 3, "the value 'good' is not a finite number"),
        (b"a,x,4\nb,y,\n", 2, "leave the line out"),
        (b"a,x,4\nb,y,nan\n", 2, "not a finite number"),
        (b"a,x,4\nb,y,-inf\n", 2, "not a finite number"),
        (b"a,x,4\nb,y,1e999\n", 2, "too large"),
        (b"a,x,4\n,y,1\n", 2, "the user is empty"),
        (b"a,x,4\nb, ,1\n", 2, "the item is empty"),
        (b"user,item,rating\n1,2,3\n1,3,x\n", 3, "the value 'x'"),
        (b"a,x,4\n\xe9,y,1\n", 2, "encoding='latin-1'"),
        (b'a,x,4\n"b,y,1\n', 2, "quotes"),
        (b"a,x,4,5\nb,y,1,\n", 2, "the time ''"),
        (b"a,x,4,2005-01-01\nb,y,1,2005-13-01\n", 2, "not a date"),
        (b"1::2::3\n1::4:5\n", 2, "2 fields"),
        (b"a,b,c,d,e\n", 1, "5 fields where user, item, value"),
    ],
)
def test_errors_name_the_line(data, line, words):
    with pytest.raises(ReadError) as error:
        read(data, header=data.startswith(b"user"))
    assert error.value.line == line and words in error.value.message


def test_a_fault_far_into_a_file_names_its_line():
    lines = [b"%d\t%d\t3\t881250949\n" % (i % 97, i) for i in range(20000)]
    lines[17000] = b"1\t2\tthree\t881250949\n"
    with pytest.raises(ReadError) as error:
        read(b"".join(lines))
    assert error.value.line == 17001


@pytest.mark.parametrize("size", [1, 30, 100])
@pytest.mark.parametrize("prefix", ["", "u"])
def test_many_blocks_give_what_one_gives(monkeypatch, rng, size, prefix):
    lines = [f"{prefix}{u}::{i}::{v}::{t}\n" for u, i, v, t in rng.integers(0, 9, size=(60, 4))]
    data = ("% a comment\nuser::item::rating::time\n" + "".join(lines)).encode()
    whole = read(data)
    monkeypatch.setattr(ratings_reader, "_BLOCK", size)
    parts = read(data)
    assert (parts.rows, parts.columns, parts.notes) == (whole.rows, whole.columns, whole.notes)
    np.testing.assert_array_equal(parts.X.toarray(), whole.X.toarray())
    np.testing.assert_array_equal(parts.times, whole.times)


def test_nothing_but_a_header():
    with pytest.raises(ReadError, match="no line with an entry"):
        read(b"user,item,rating\n")


def test_encoding_can_be_said():
    assert read("ann,café,4\n".encode("latin-1"), encoding="latin-1").columns == ["café"]


def test_pairs():
    table = read_bytes(read_pairs, PAIRS)
    assert (table.kind, table.missing) == ("pairs", None)
    assert table.rows == ["ann", "bob"] and table.columns == ["read", "write"]
    np.testing.assert_array_equal(table.X.toarray(), [[1, 1], [1, 0]])
    assert any("1 lines repeat" in note for note in table.notes)
    named = read_bytes(read_pairs, b"user,permission,day\nann,read,mon\n")
    assert named.columns == ["read"] and any("'day'" in note for note in named.notes)
    with pytest.raises(ReadError, match="line 2: 1 fields"):
        read_bytes(read_pairs, b"ann read\nbob\n")
    with pytest.raises(ReadError, match="3 fields where user and item"):
        read_bytes(read_pairs, b"ann read now\n")


@settings(max_examples=100)
@given(broken(*SEEDS))
def test_damaged_triples(data):
    reads_or_refuses(data, "triples")


@settings(max_examples=60)
@given(broken(PAIRS, b"user,item\n1,2\n1,3\n"))
def test_damaged_pairs(data):
    reads_or_refuses(data, "pairs")


@pytest.mark.parametrize(
    ("head", "name", "expected"),
    [
        (ONE_M, "ratings.dat", "triples"),
        (MOVIES, "ratings.csv", "triples"),
        (BOOKS, "books.csv", "triples"),
        (SEEDS[3], "u.data", "triples"),
        (b"customer product quantity\na b 2\n", "x.txt", "triples"),
        (b"user,item\na,b\n", "x.csv", "pairs"),
        (PAIRS, "rights.txt", "pairs"),
        (b"1 2\n3 4\n", "edges.pairs", "pairs"),
        (b"x,y,z\n1,2,3\n4,5,6\n", "points.csv", None),
        (b"1\t2\t3\n4\t5\t6\n", "points.tsv", None),
        (b"1\t2\t3\t4\n4\t5\t6\t7\n", "points.tsv", None),
        (b"user,item,rating,colour\n1,2,3,red\n", "survey.csv", None),
        (b"1 2\n3 4\n5 6\n", "points.txt", None),
        (b"hello world\nmore words here\n", "notes.txt", None),
        (b"user,item,rating\n", "empty.csv", None),
        (b"", "nothing", None),
        (b"\xff\xfe\0\0::\n", "binary", None),
    ],
)
def test_looks_like(head, name, expected):
    assert looks_like(head, name) == expected


# -- the two parsers agree, and the quick one takes the usual files --------------------------------------------------

BOOKS_UNIX = b'"User-ID";"ISBN";"Book-Rating"\n"276725";"034545104X";"0"\n"276726";"0155061224";"5"\n'
U_DATA = b"196\t242\t3\t881250949\n186\t302\t3\t891717742\n"
BLANKS = b"a b 3\nc d 4\n"
DATES = b"a|b|3|2005-01-01\nc|d|4|2005-01-02 10:00\n"
PARSER_SEEDS = (MOVIES, ONE_M, BOOKS_UNIX, U_DATA, BLANKS, DATES)


def plan_of(tmp_path, data: bytes, least: int = 3):
    (tmp_path / "f.txt").write_bytes(data)
    return Source(tmp_path / "f.txt"), find_fields(Source(tmp_path / "f.txt"), Options(), least)


@pytest.mark.parametrize("data", PARSER_SEEDS)
def test_the_quick_parser_does_the_usual_files_and_agrees_with_the_plain_one(tmp_path, data):
    source, plan = plan_of(tmp_path, data)
    body = data.split(b"\n", plan.skip)[-1]
    block = Block(1, body, count_lines(body))
    whole = ratings_reader._whole_at_first(source, plan)
    quick = ratings_reader._quickly(block, plan, whole)
    plain = ratings_reader._plainly(source, block, plan, whole)
    assert quick is not None
    for fast, slow in zip(quick, plain):
        assert (fast is None) == (slow is None)
        assert fast is None or list(fast) == list(slow)


@settings(max_examples=100)
@given(broken(*PARSER_SEEDS), st.tuples(st.booleans(), st.booleans()))
def test_what_the_quick_parser_takes_the_plain_one_takes_too(tmp_path_factory, data, whole):
    try:
        source, plan = plan_of(tmp_path_factory.mktemp("quick"), data)
        body = (data.split(b"\n", plan.skip)[-1] + b"\n").replace(b"\r\n", b"\n")
        block = Block(1, body, count_lines(body))
        quick = ratings_reader._quickly(block, plan, whole)
    except (ReadError, ratings_reader.NotWhole):
        return
    if quick is None:
        return
    plain = ratings_reader._plainly(source, block, plan, whole)
    assert [None if column is None else list(column) for column in quick] == [
        None if column is None else list(column) for column in plain
    ]


def test_odd_numbers_are_seen_wherever_a_piece_is_cut(monkeypatch):
    monkeypatch.setattr(ratings_reader, "_PIECE", 5)
    for place in range(40):
        assert ratings_reader._odd_numbers(b"1,20,3.05\n" * place + b"1,07,3\n")
        assert ratings_reader._odd_numbers(b"12,20,3.05\n" * place + b"07,1,3\n")
    assert not ratings_reader._odd_numbers(b"0,100,3.05\n10,0,0.5\n" * 20)


def test_clicks_in_a_csv_are_pairs_and_their_times_are_said(write):
    from unweave.data.readers import read as read_file

    clicks = "user_id,item_id,timestamp\n" + "".join(f"u{i % 4},i{i % 6},{1700000000 + i}\n" for i in range(12))
    table = read_file(write("clicks.csv", clicks))
    assert table.kind == "pairs" and table.missing is None and table.X.max() == 1 and len(table.times) == table.X.nnz
    said = " ".join(table.notes)
    assert "pairs of a user and an item" in said and "no model of pairs uses them" in said
    plain = read_file(write("plain.csv", "user,item\nann,tea\nbob,tea\nann,milk\n"))
    assert plain.kind == "pairs" and plain.times is None and "times" not in " ".join(plain.notes)
    assert read_file(write("words.tsv", "ann\tread\nann\twrite\nbob\tread\n")).kind == "table"


def test_times_of_ratings_are_not_said_to_be_used():
    assert any("only a fit that is handed them uses them" in note for note in read(MOVIES).notes)
