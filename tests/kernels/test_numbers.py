"""Numbers out of bytes, against Python's float() to the bit."""

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.reference.numbers import read_rows as slow
from unweave.kernels.numbers import read_rows


def run(data, width, *, separator=",", point=".", named=False, room=1000):
    """What the kernel finds: bits, lines, first bad byte, empty cells, listed cells and labels."""
    bits, unsure = np.zeros(len(data) + 1, np.uint64), np.full((room, 3), -1, np.int64)
    labels = np.zeros(len(data) + 1 if named else 0, np.uint8)
    lines, wrong, holes, listed, end = read_rows(
        np.frombuffer(data, np.uint8),
        np.frombuffer(data, np.uint64, count=len(data) // 8),
        width,
        ord(separator),
        ord(point),
        bits,
        labels,
        unsure,
    )
    return bits[: lines * width], lines, wrong, holes, unsure[:listed], labels[:end].tobytes()


def same_as_float(cells):
    """Check every cell that is certain; the number of those that are not. Twice: words by eights, and byte by byte."""
    tails = ["", "0\n" * 40]  # bytes near the end are read one by one
    for tail in tails:
        data = ("\n".join(cells) + "\n" + tail).encode()
        bits, _, wrong, _, unsure, _ = run(data, 1)
        assert wrong == -1
        expected = np.array(slow(data, 1, ",", "."))
        sure = np.ones(len(expected), bool)
        sure[unsure[:, 0]] = False
        np.testing.assert_array_equal(bits[sure], expected.view(np.uint64)[sure])
        for k, begin, end in unsure:
            assert data[begin:end].decode() == cells[k]
    return len(unsure)


finite = st.floats(allow_nan=False, allow_infinity=False)
digits = st.text("0123456789", min_size=1, max_size=45)
spelled = st.builds(
    lambda sign, whole, fraction, power: sign + whole + fraction + power,
    st.sampled_from(["", "-", "+"]),
    digits,
    st.one_of(st.just(""), st.just("."), digits.map(lambda d: "." + d)),
    st.one_of(st.just(""), st.builds("{}{:d}".format, st.sampled_from("eE"), st.integers(-420, 420))),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(finite, min_size=1, max_size=30), st.sampled_from(["r", ".17g", ".16e", ".3f", ".25g", ".18e"]))
@example([5e-324, -0.0, sys.float_info.max, sys.float_info.min, 2.0**-1022 - 2.0**-1074, 9007199254740993.0], "r")
def test_written_doubles_come_back(values, form):
    cells = [repr(v) if form == "r" else format(v, form) for v in values]
    unsure = same_as_float(cells)
    if form == "r":
        assert unsure <= sum(not 1e-300 < abs(v) < 1e300 for v in values if v)


@settings(max_examples=100, deadline=None)
@given(st.lists(spelled, min_size=1, max_size=30))
@example(["1e400", "-1e-400", "0e999999999999", "0." + "0" * 400 + "1", "1" * 400, "0" * 40 + "1", ".5", "-.5e1", "1."])
@example(["9007199254740993", "9007199254740992.5", "18446744073709551615", "18446744073709551616", "9" * 19, "9" * 20])
def test_any_spelling(cells):
    same_as_float(cells)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1 << 52, (1 << 53) - 1), st.integers(-140, 100)), min_size=1, max_size=20))
def test_halfway_between_doubles(places):
    cells = []
    for mantissa, exponent in places:
        middle = Fraction(2 * mantissa + 1) * Fraction(2) ** (exponent - 1)
        scale = max(0, 1 - exponent)
        exact = str(middle.numerator * 10**scale // middle.denominator)
        near = [exact, exact + "0", exact + "1", str(int(exact) - 1), exact[:19], exact[:20], exact[:18]]
        cells += [f"{number}e-{scale}" for number in near]
    same_as_float(cells)


def test_halves_of_few_digits_go_to_the_even_one():
    cells = [str((1 << 53) + odd) for odd in range(1, 2000, 2)] + [f"{(1 << 53) + odd}.0e0" for odd in range(1, 99, 2)]
    cells += [f"{((1 << 54) + 2 * odd + 1) * 5**p}e-{p}" for odd in range(50) for p in (1, 2, 3, 4)]
    assert same_as_float(cells) == 0


def test_many_ordinary_numbers_are_all_certain(rng):
    values = rng.standard_normal(20_000) * 10.0 ** rng.integers(-290, 290, 20_000)
    assert sum(same_as_float([repr(float(v)) for v in part]) for part in values.reshape(20, -1)) == 0


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_lines_of_cells(end, separator):
    data = (end.join(separator.join(row) for row in [["1", "", "-2.5"], ["", "", ""], ["3e2", "4", ""]]) + end).encode()
    bits, lines, wrong, holes, _, _ = run(data, 3, separator=separator)
    assert (lines, wrong, holes) == (3, -1, 5)
    np.testing.assert_array_equal(bits.view(float), slow(data, 3, separator, "."))


def test_decimal_comma_and_one_column_with_blank_lines():
    assert run(b"1,5;2\n;,25\n", 2, separator=";", point=",")[0].view(float).tolist()[::3] == [1.5, 0.25]
    np.testing.assert_array_equal(run(b"1\n\n\r\n2\n", 1)[0].view(float), [1, np.nan, np.nan, 2])


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b"1,2\n3\n", 5),
        (b"1,2\n3,4,5\n", 7),
        (b"1,2\n\n", 4),
        (b"1,NA\n", 2),
        (b"1,inf\n", 2),
        (b"1, 2\n", 2),
        (b"1,2 \n", 3),
        (b'"1",2\n', 0),
        (b"0x1,2\n", 1),
        (b"1_0,2\n", 1),
        (b"1e,2\n", 0),
        (b"1e+,2\n", 0),
        (b"-,2\n", 0),
        (b".,2\n", 0),
        (b"--1,2\n", 0),
        (b"-+1,2\n", 0),
        (b"1,2\r3,4\n", 4),
        (b"1,2\n3,\xff\n", 6),
    ],
)
def test_the_first_byte_that_is_not_understood(data, wrong):
    assert run(data, 2)[2] == wrong
    padded = b"7,8\n" * 8 + data + b"7,8\n" * 8
    assert run(padded, 2)[2] == wrong + 32


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([*"0123456789+-eE., ,\n\r\n", "12345678", "1,2\n", "x", "é"]), max_size=60))
def test_what_is_read_is_what_python_reads(parts):
    data = ("".join(parts) + "\n").encode()
    for width in (1, 2):
        expected = slow(data, width, ",", ".")
        bits, _, wrong, _, unsure, _ = run(data, width)
        assert (wrong == -1) == (expected is not None)
        if expected is not None:
            sure = np.setdiff1d(np.arange(len(expected)), unsure[:, 0])
            np.testing.assert_array_equal(bits.view(float)[sure], np.array(expected)[sure])


def test_labels_stand_before_the_numbers():
    bits, lines, wrong, _, _, labels = run("né e,1\n,2\nNA,3\n".encode(), 1, named=True)
    assert (lines, wrong, labels.decode()) == (3, -1, "né e\n\nNA\n")
    np.testing.assert_array_equal(bits.view(float), [1, 2, 3])
    for data, where in ((b'a,1\n"b",2\n', 4), (b"a,1\nb\n", 5), (b"a,1\n\n", 4), (b"a\rb,1\n", 1)):
        assert run(data, 1, named=True)[2] == where


def test_no_more_cells_are_listed_than_there_is_room_for():
    data = b"1e-320\n" * 5
    assert len(run(data, 1, room=5)[4]) == 5
    _, lines, wrong, _, unsure, _ = run(data, 1, room=3)
    assert (lines, wrong, len(unsure)) == (3, 21, 3)
