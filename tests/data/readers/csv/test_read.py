"""CSV and its relatives, good and bad."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.data.broken_files import broken, reads_or_refuses
from unweave.data.readers import ReadError, read
from unweave.data.readers.csv import read as csv_reader
from unweave.data.readers.csv.chunks import Chunk, chunks
from unweave.data.readers.source import Source

nan = np.nan


def dense(table, expected):
    np.testing.assert_array_equal(table.X, np.array(expected, dtype=float))
    assert table.X.flags.c_contiguous and table.X.dtype == np.float64


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiters_and_line_ends_are_found(write, delimiter, end):
    text = end.join(delimiter.join(row) for row in [["x", "y"], ["1", "2.5"], ["-3e2", "4"]])
    for tail in ("", end):
        table = read(write("a.csv", text + tail))
        dense(table, [[1, 2.5], [-300, 4]])
        assert table.columns == ["x", "y"] and table.rows is None and table.missing is None


def test_aligned_columns_of_spaces(write):
    dense(read(write("a.txt", "  1    2\n 10   20\n")), [[1, 2], [10, 20]])


def test_header_is_told_from_numbers(write):
    assert read(write("a.csv", "1,2\n3,4\n")).columns is None
    assert read(write("a.csv", "1,2\n3,4\n"), header=True).columns == ["1", "2"]
    assert read(write("a.csv", "0,1,2\n7,8,9\n")).columns == ["0", "1", "2"]
    assert read(write("a.csv", "name,x\nann,1\n"), header=False).numeric is False
    dense(read(write("a.csv", "only,names\n1,2\n")), [[1, 2]])


def test_bom_quotes_and_decimal_comma(write):
    table = read(write("a.csv", '\ufeff"x, cm";"y"\r\n"1,5";2,5\r\n'))
    dense(table, [[1.5, 2.5]])
    assert table.columns == ["x, cm", "y"]
    assert any("decimal comma" in note for note in table.notes)


def test_quoted_cells_hold_delimiters_quotes_and_line_ends(write):
    table = read(write("a.csv", 'name,x\n"Ann, ""A""\nB",1\n"C",2\n'))
    assert table.rows == ['Ann, "A"\nB', "C"]
    dense(table, [[1], [2]])


def test_empty_cells_and_markers_are_missing(write):
    table = read(write("a.csv", "x,y\n1,\nNA,2\n?,3\nnull,NaN\n , 4 \n"))
    dense(table, [[1, nan], [nan, 2], [nan, 3], [nan, nan], [nan, 4]])
    assert table.missing == "nan"
    assert any("'?', 'NA'" in note and "'null'" in note for note in table.notes)
    with pytest.raises(ReadError, match="row 1, column 'y' is missing, but missing=None"):
        read(write("a.csv", "x,y\n1,\n"), missing=None)
    assert read(write("a.csv", "x,y\n1,2\n"), missing="nan").missing == "nan"
    zeros = read(write("a.csv", "x,y\n1,0\n"), missing="zeros")
    dense(zeros, [[1, nan]])
    assert zeros.missing == "nan" and "1 zeros were read as missing, as asked" in zeros.notes


def test_a_row_may_be_called_na(write):
    table = read(write("a.csv", "name,x\nNA,1\nFR,NA\n"))
    assert table.rows == ["NA", "FR"]
    dense(table, [[1], [nan]])


def test_names_of_rows(write):
    table = read(write("a.csv", "name,x\nann,1\nbob,2\n"))
    assert table.rows == ["ann", "bob"] and table.columns == ["x"]
    assert any("rows are named by the first column" in note for note in table.notes)
    asked = read(write("a.csv", "id,x,town\n7,1,Bath\n8,2,York\n"), names="town")
    assert asked.rows == ["Bath", "York"] and asked.columns == ["id", "x"]
    assert read(write("a.csv", "id,x\n7,1\n8,2\n"), names=0).rows == ["7", "8"]
    assert read(write("a.csv", "id,x\n7,1\n8,2\n"), names=-1).rows == ["1", "2"]
    index = read(write("a.csv", ",x,y\n0,5,6\n1,7,8\n"))
    assert index.rows == ["0", "1"] and index.columns == ["x", "y"]
    r_style = read(write("a.csv", "x y\na 1 2\nb 3 4\n"))
    assert r_style.rows == ["a", "b"] and r_style.columns == ["x", "y"]
    for names in ("nobody", 9):
        with pytest.raises(ReadError, match="there is no column"):
            read(write("a.csv", "id,x\n7,1\n"), names=names)


def test_words_that_repeat_leave_a_frame(write):
    table = read(write("a.csv", "town,x,ok\nBath,1,true\nBath,,false\n"))
    assert not table.numeric and table.kind == "table" and table.rows is None
    assert table.X["x"].to_list() == [1.0, None]
    assert table.X["ok"].to_list() == [1.0, 0.0]
    assert table.missing == "nan" and any("not numbers: 'town'" in note for note in table.notes)
    assert not read(write("a.csv", "name,x\nann,1\n"), names=None).numeric


def test_yes_and_no_become_one_and_zero(write):
    dense(read(write("a.csv", "x,ok\n1,true\n2,False\n3,\n")), [[1, 1], [2, 0], [3, nan]])
    late = "x,ok\n" + "1,true\n" * 2000 + "1,perhaps\n"
    with pytest.raises(ReadError, match="line 2002: 'perhaps' in the column 'ok'"):
        read(write("a.csv", late))


def test_double_names_are_numbered(write):
    table = read(write("a.csv", "x,x,x (2),,y\n1,2,3,4,5\n"))
    assert table.columns == ["x", "x (3)", "x (2)", "column 4", "y"]
    assert any("occur twice" in note for note in table.notes)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("1,2\n3\n4,5\n", 2, "1 cell where the table has 2 columns"),
        ("x,y\n1,2\n3,4,5\n", 3, "3 cells where the table has 2 columns"),
        ("x,y\n" + "1,2\n" * 3000 + "3\n1,2\n", 3002, "1 cell where"),
        ("x,y\n" + "1,2\n" * 3000 + "3,4,5\n", 3002, "3 cells where"),
        ("x,y\n" + "1,2\n" * 3000 + '"3"\n"1",2\n', 3002, "1 cell where"),
        ("x,y\n1,inf\n", 2, "column 'y' is infinite or too large"),
        ("x,y\n1,2\n1,-1e999\n", 3, "column 'y' is infinite or too large"),
        ("x,y\n1,2\n1,two\n1,3\n", 3, "'two' in the column 'y' of numbers"),
        ("x,y\n" + "1,2\n" * 3000 + "1,two\n", 3002, "'two' in the column 'y' of numbers"),
        ('x,y\n1,2\n1,"3\n1,4\n', 3, 'opens with " and never closes'),
    ],
)
def test_errors_name_the_line(write, text, line, words):
    path = write("bad.csv", text)
    with pytest.raises(ReadError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert words in str(caught.value)


def test_wrong_delimiter_is_pointed_out(write):
    with pytest.raises(ReadError, match=r"no line holds the delimiter ','.*use delimiter=';'"):
        read(write("a.csv", "x;y\n1;2\n"), delimiter=",")
    dense(read(write("a.dat", "1::2\n3::4\n"), delimiter="::", format="csv"), [[1, 2], [3, 4]])


def test_bytes_that_are_not_utf8(write):
    for text, line in (
        (b"n\xe9,y\n1,2\n", 1),
        (b"n,y\nRen\xe9,2\n", 2),
        (b"x,y\n" + b"1,2\n" * 3000 + b"\xe9,2\n", 3002),
    ):
        with pytest.raises(ReadError, match=rf"line {line}: is not UTF-8 text.*encoding='latin-1'"):
            read(write("a.csv", text))
    assert read(write("a.csv", b"n\xe9,y\n1,2\n"), encoding="latin-1").columns == ["né", "y"]
    assert read(write("a.csv", "é,y\n1,2\n".encode("utf-16"))).columns == ["é", "y"]


def test_blank_lines(write):
    dense(read(write("a.csv", "\n1,2\n\n3,4\n  \n\n")), [[1, 2], [3, 4]])
    dense(read(write("a.csv", "x\n1\n\n3\n\n\n")), [[1], [nan], [3]])
    with pytest.raises(ReadError, match="only blank lines"):
        read(write("a.csv", "\n\n \n"))
    with pytest.raises(ReadError, match="nothing to work on"):
        read(write("a.csv", "x,y\n"))
    with pytest.raises(ReadError, match="carriage returns alone"):
        read(write("a.csv", "x,y\r1,2\r"))


def test_a_column_that_is_empty_for_long_may_hold_words(write):
    table = read(write("a.csv", "x,y\n" + "1,\n" * 3000 + "1,late\n"))
    assert table.X["y"][-1] == "late" and table.X["y"][0] is None


def test_a_million_columns(write):
    m = 1_000_000
    row = b",".join([b"%d" % (j % 10) for j in range(m)])
    holes = row.replace(b"9", b"NA", 3).replace(b"8,", b",", 1)
    table = read(write("wide.csv", b"\n".join([row, holes, row]) + b"\n"))
    assert table.shape == (3, m) and table.missing == "nan"
    assert np.isnan(table.X[1]).sum() == 4
    np.testing.assert_array_equal(table.X[2], np.arange(m) % 10)


@pytest.mark.parametrize("spoil", ["short", "word", "quote", "inf"])
def test_wide_tables_have_the_same_errors(write, spoil):
    rows = [["a", *["1.5"] * 2500], ["b", *["2"] * 2500], ["c", *['"3"'] * 2500]]
    good = read(write("wide.csv", "\n".join(map(",".join, rows))))
    assert good.rows == ["a", "b", "c"] and good.shape == (3, 2500)
    assert good.X.sum() == 6.5 * 2500
    words = {"short": "2500 cells", "word": "'two'", "quote": "'1,2'", "inf": "infinite"}[spoil]
    rows.insert(3, list(rows[1]))
    rows[3][0] = "d"
    rows[3][7] = {"word": "two", "quote": '"1,2"', "inf": "inf"}.get(spoil, "1")
    rows[3] = rows[3][:-1] if spoil == "short" else rows[3]
    with pytest.raises(ReadError, match=f"line 4: .*{words}"):
        read(write("wide.csv", "\n".join(map(",".join, rows))))


def test_float32_and_packed(write, rng):
    X = rng.normal(size=(50, 4))
    text = io.BytesIO()
    np.savetxt(text, X, delimiter=",", fmt="%.17g")
    path = write("a.csv.gz", gzip.compress(text.getvalue()))
    np.testing.assert_array_equal(read(path).X, X)
    single = read(path, dtype="float32").X
    assert single.dtype == np.float32 and single.flags.c_contiguous
    np.testing.assert_array_equal(single, X.astype(np.float32))
    with pytest.raises(ReadError, match="infinite or too large"):
        read(write("b.csv", "1,2\n3,1e39\n"), dtype="float32")


@pytest.mark.parametrize("size", [5, 64, 1000])
def test_chunks_join_to_the_same_table(write, rng, monkeypatch, size):
    X = np.where(rng.random((200, 3)) < 0.1, nan, rng.normal(size=(200, 3)))
    cells = [["" if np.isnan(v) else repr(float(v)) for v in row] for row in X]
    text = "a,b,c,d\n" + "".join(f'"r,\n{i}",' + ",".join(row) + "\n" for i, row in enumerate(cells))
    whole = read(write("a.csv", text))
    dense(whole, X)
    monkeypatch.setattr(csv_reader, "chunks", lambda source, skip: chunks(source, skip, size))
    parts = read(write("a.csv", text))
    dense(parts, X)
    assert parts.rows == whole.rows == [f"r,\n{i}" for i in range(200)]


def test_chunks_keep_count_of_lines(write):
    path = write("a.csv", 'h\n"a\nb",1\nc,2\nd,3\n')
    found = list(chunks(Source(path), skip=1, size=8))
    assert b"\n".join(chunk.data for chunk in found) == b'"a\nb",1\nc,2\nd,3'
    assert [line for chunk in found for line, raw in chunk.records()] == [2, 4, 5]
    assert list(Chunk(b'"open\nend', 4).records()) == [(4, b'"open\nend')]


cell = st.one_of(st.floats(allow_nan=False, allow_infinity=False, width=64), st.none())


@settings(max_examples=60)
@given(
    rows=st.integers(1, 4).flatmap(lambda m: st.lists(st.lists(cell, min_size=m, max_size=m), min_size=1, max_size=12)),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    end=st.sampled_from(["\n", "\r\n"]),
    quoted=st.booleans(),
)
def test_numbers_come_back_to_the_bit(rows, delimiter, end, quoted, tmp_path_factory):
    def written(value):
        text = "" if value is None else repr(value)
        return f'"{text}"' if quoted else text

    names = delimiter.join(f"x{j}" for j in range(len(rows[0])))
    lines = [names, *(delimiter.join(map(written, row)) for row in rows)]
    path = tmp_path_factory.mktemp("bits") / "a.csv"
    path.write_bytes((end.join(lines) + end).encode())
    expected = np.array([[nan if value is None else value for value in row] for row in rows])
    if len(rows[0]) == 1 and not quoted:
        while len(expected) and np.isnan(expected[-1, 0]):
            expected = expected[:-1]  # blank lines at the end of one column are no rows
    if len(expected) == 0:
        with pytest.raises(ReadError):
            read(path, delimiter=delimiter, header=True)
        return
    np.testing.assert_array_equal(read(path, delimiter=delimiter, header=True).X, expected)


SEEDS = [
    b"name,x,y\nann,1,2.5\nbob,,NA\n",
    b'"a";"b"\r\n"1,5";2\r\n3;4\r\n',
    b"1 2 3\n4 5 6\n",
    b"x\ty\tz\n1\ttrue\tred\n2\tfalse\tblue\n",
    "\ufeffé,b\n1,2\n".encode(),
    "a,b\n1,2\n".encode("utf-16"),
    gzip.compress(b"x,y\n1,2\n3,4\n"),
]


@settings(max_examples=100)
@given(broken(*SEEDS))
@example(b'"')
@example(b",")
@example(b"\x00")
@example(b"a\n\x1f1\n")
def test_spoiled_files_are_read_or_refused(data):
    for format in ("csv", "tsv", "auto"):
        if data:
            reads_or_refuses(data, format)


def test_words_among_numbers_are_a_slip_or_meant(write):
    many = "doors,x\n" + "".join(f"{'5more' if i % 4 == 0 else 2 + i % 3},{i}\n" for i in range(40))
    assert set(read(write("cars.csv", many)).X["doors"]) == {"2", "3", "4", "5more"}
    few = "x,y\n" + "".join(f"{'abc' if i == 30 else i},{i}\n" for i in range(40))
    with pytest.raises(ReadError, match="line 32: 'abc' in the column 'x' of numbers"):
        read(write("few.csv", few.replace("x,y", "y,x").replace("abc,30", "30,abc")))
    blank = "y,x\n" + "".join(f"{i},{'-' if i % 4 == 0 else i}\n" for i in range(40))
    with pytest.raises(ReadError, match="leave it empty if the value is missing"):
        read(write("blank.csv", blank))


def test_money_and_percent_are_numbers_whatever_the_rest_of_the_column_is(write):
    table = read(write("a.csv", 'item,price,share\nn1,"$1,200.50",5%\nn2,$8,12 %\nn3,,0.5%\n'))
    np.testing.assert_array_equal(table.X, [[1200.5, 5], [8, 12], [np.nan, 0.5]])
    assert table.rows == ["n1", "n2", "n3"] and any("amounts in $" in note for note in table.notes)
    mixed = read(write("b.csv", 'x,y\n1,950\n2,"1,234"\n3,12\n'))
    np.testing.assert_array_equal(mixed.X[:, 1], [950, 1234, 12])
    euros = read(write("c.csv", "x;y\n1;950\n2;1.234,50\n3;12,5\n"))
    np.testing.assert_array_equal(euros.X[:, 1], [950, 1234.5, 12.5])
    late = "x,y\n" + "".join(f"{i},{i}\n" for i in range(9000)) + '9000,"1,234.5"\n'
    assert read(write("d.csv", late)).X[-1, 1] == 1234.5
    first = read(write("e.csv", "price,x\n$5,1\n$6,2\n$9,3\n"))
    assert first.rows is None and first.X[:, 0].tolist() == [5, 6, 9]


def test_years_in_a_header_name_columns(write):
    table = read(write("a.csv", "country,code,1960,1961,1962\nAruba,ABW,4.8,4.6,4.4\nAngola,AGO,7.4,7.3,\n"))
    assert table.columns == ["code", "1960", "1961", "1962"] and table.rows == ["Aruba", "Angola"]
