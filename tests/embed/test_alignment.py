"""Alignment: known turns are found again, whatever the widths, and bad dictionaries are refused."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.data.readers import ReadError
from unweave.embed import Vectors, align
from unweave.embed.alignment import crowding, mutual_neighbours, nearest_by_csls

N, WIDTH = 400, 12


def spaces(rng, width=WIDTH, noise=0.0):
    """English, and a turned (or stretched to another width) copy of it, word for word."""
    table = rng.standard_normal((N, WIDTH)) * rng.gamma(2.0, 1.0, WIDTH)
    turn = np.linalg.qr(rng.standard_normal((max(width, WIDTH), max(width, WIDTH))))[0][:WIDTH, :width]
    other = table @ turn + noise * rng.standard_normal((N, width))
    return Vectors([f"e{i}" for i in range(N)], table), Vectors([f"f{i}" for i in range(N)], other)


def pairs(start, stop):
    return [(f"e{i}", f"f{i}") for i in range(start, stop)]


HELD_OUT = pairs(300, 400)


def units(table):
    return table / np.linalg.norm(table, axis=1, keepdims=True)


# -- maps --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["orthogonal", "linear", "cca"])
def test_a_turn_is_found_again_from_pairs(rng, method):
    source, target = spaces(rng)
    found = align(source, target, pairs(0, 100), method=method)
    assert found.method == method and found.n_pairs == 100
    right = found.precision(HELD_OUT)
    assert (right.at_1, right.at_5, right.at_10, right.coverage, right.asked) == (1, 1, 1, 1, 100)
    word, score = found.translate("e333", 3)[0]
    assert word == "f333" and score > found.translate("e333", 3)[1][1]


def test_procrustes_is_the_best_turn(rng):
    """Scaled, centred, scaled again; then the turn of Schönemann's singular vectors, as SciPy has it."""
    from scipy.linalg import orthogonal_procrustes

    source, target = spaces(rng, noise=0.5)

    def prepared(vectors):
        rows = units(vectors.array)
        return units(rows - rows.mean(axis=0))

    A, B = prepared(source), prepared(target)
    turn, _ = orthogonal_procrustes(B[:150], A[:150])
    found = align(source, target, pairs(0, 150), method="orthogonal")
    wanted, cosines = A @ (B @ turn).T, found.source_points @ found.target_points.T
    np.testing.assert_allclose(cosines, wanted, atol=1e-5)
    assert np.abs(np.linalg.norm(found.target_points, axis=1) - 1).max() < 1e-5


def test_linear_is_least_squares(rng):
    source, target = spaces(rng, 20, noise=1.0)

    def prepared(vectors):
        rows = units(vectors.array)
        return units(rows - rows.mean(axis=0))

    A, B = prepared(source), prepared(target)
    W = np.linalg.lstsq(B[:200], A[:200], rcond=None)[0]
    found = align(source, target, pairs(0, 200), method="linear")
    np.testing.assert_allclose(found.target_points, units(B @ W), atol=1e-4)
    np.testing.assert_allclose(found.source_points, A, atol=1e-5)


def test_translations_of_one_word_count_one_together(rng):
    """A word with three translations weighs as much as one with one: each pair counts a third."""
    source, target = spaces(rng, noise=1.0)
    many = [*pairs(1, 60), ("e0", "f0"), ("e0", "f200"), ("e0", "f201")]
    A, B = (units(v.array) for v in (source, target))
    A, B = units(A - A.mean(axis=0)), units(B - B.mean(axis=0))
    rows = np.array([[int(a[1:]), int(b[1:])] for a, b in many])
    w = np.where(rows[:, 0] == 0, 1 / 3, 1.0)[:, None] ** 0.5
    W = np.linalg.lstsq(w * B[rows[:, 1]], w * A[rows[:, 0]], rcond=None)[0]
    np.testing.assert_allclose(align(source, target, many, method="linear").target_points, units(B @ W), atol=1e-4)


@pytest.mark.parametrize(
    # a third of the directions is lost where 12 become 8: a turn, which stretches nothing, then misses more
    ("width", "method", "least"),
    [
        (8, "orthogonal", 0.6),
        (8, "linear", 0.8),
        (8, "cca", 0.9),
        (20, "orthogonal", 1),
        (20, "linear", 1),
        (20, "cca", 1),
    ],
)
def test_unequal_widths(rng, width, method, least):
    source, target = spaces(rng, width)
    found = align(source, target, pairs(0, 300), method=method)
    assert found.source_points.shape == (N, found.target_points.shape[1])
    assert found.precision(HELD_OUT).at_1 >= least
    assert "400 → 400 words" in repr(found)


def test_cca_bends_where_one_side_is_much_narrower(rng):
    """What the narrower side says in a bent way, no straight map finds; whichever side it is."""
    few = rng.standard_normal((N, 3))
    wide = np.cos(2 * few @ rng.standard_normal((3, 40)))
    source, target = Vectors([f"e{i}" for i in range(N)], few), Vectors([f"f{i}" for i in range(N)], wide)
    asked, back = pairs(0, 300), [(b, a) for a, b in pairs(0, 300)]
    straight = align(source, target, asked, method="linear").precision(HELD_OUT)
    bent = align(source, target, asked, method="cca", ridge=0.01).precision(HELD_OUT)
    turned = align(target, source, back, method="cca", ridge=0.01).precision([(b, a) for a, b in HELD_OUT])
    assert min(bent.at_5, turned.at_5) > straight.at_5 + 0.1


def test_auto_goes_by_how_much_there_is(rng):
    source, target = spaces(rng)
    narrow = spaces(rng, 8)[1]
    assert align(source, target, pairs(0, 50)).method == "orthogonal"
    assert align(source, narrow, pairs(0, 50)).method == "linear"
    assert align(source, target, pairs(0, 400) * 3).method == "cca"


def test_refinement_helps_where_pairs_are_few(rng):
    source, target = spaces(rng, noise=0.8)
    once, often = (align(source, target, pairs(0, 10), refine=rounds) for rounds in (0, 5))
    assert often.n_pairs > once.n_pairs == 10
    assert often.precision(HELD_OUT).at_1 > once.precision(HELD_OUT).at_1 + 0.1


def test_threads_and_calls_give_the_same_bits(rng, two_threads):
    source, target = spaces(rng, 30, noise=0.3)

    def found():
        made = align(source, target, pairs(0, 200), method="cca", refine=1)
        return [made.source_points, made.target_points, np.array([s for _, s in made.translate("e7", 9)])]

    for one, two in zip(*two_threads(found), strict=True):
        np.testing.assert_array_equal(one, two)


# -- retrieval ---------------------------------------------------------------------------------------------------------


def test_csls_by_its_formula(rng):
    one, two = (units(rng.standard_normal((n, 5))).astype(np.float32) for n in (40, 60))
    crowded = np.sort(two @ one.T, axis=1)[:, -10:].mean(axis=1)
    np.testing.assert_allclose(crowding(two, one), crowded, atol=1e-6)
    scores = 2 * one @ two.T - crowded
    places, found = nearest_by_csls(one, two, crowding(two, one), 3)
    np.testing.assert_array_equal(places, np.argsort(-scores, axis=1)[:, :3])
    np.testing.assert_allclose(found, -np.sort(-scores, axis=1)[:, :3], atol=1e-5)


def test_a_hub_is_not_the_answer_to_all():
    """One target stands in the middle of all: by cosine it is nearest to many, by CSLS to none."""
    rng = np.random.default_rng(1)
    table = units(rng.standard_normal((120, 30)) + 1.5)
    noisy = units(table + 0.35 * rng.standard_normal((120, 30)))
    noisy[0] = units(table.mean(axis=0)[None])[0]
    source = Vectors([f"e{i}" for i in range(120)], table)
    target = Vectors([f"f{i}" for i in range(120)], noisy)
    found = align(source, target, pairs(1, 120), method="linear")
    csls, cosine = (
        sum(found.translate(f"e{i}", 1, retrieval=how)[0][0] == f"f{i}" for i in range(1, 120))
        for how in ("csls", "cosine")
    )
    assert csls >= cosine


def test_mutual_neighbours_are_each_others_nearest(rng):
    table = units(rng.standard_normal((50, 6))).astype(np.float32)
    order = rng.permutation(50)
    found = mutual_neighbours(table, table[order])
    assert len(found) == 50 and (order[found[:, 1]] == found[:, 0]).all()


def test_any_translation_counts_and_unknown_words_are_coverage(rng):
    source, target = spaces(rng)
    found = align(source, target, pairs(0, 100))
    asked = [("e300", "f7"), ("e300", "f300"), ("e301", "f8"), ("e302", "nowhere"), ("nobody", "f1")]
    right = found.precision(asked)
    assert (right.asked, right.coverage, right.at_1) == (2, 0.5, 0.5)
    assert 0.5 <= right.at_10 <= 1
    with pytest.raises(ValueError, match="no word of the source"):
        found.precision([("nobody", "f1")])


def test_a_vector_can_be_translated(rng):
    source, target = spaces(rng)
    found = align(source, target, pairs(0, 100))
    for (one, a), (two, b) in zip(found.translate(source["e9"], 2), found.translate("e9", 2), strict=True):
        assert one == two and a == pytest.approx(b, abs=1e-5)
    assert len(found.translate("e9", 1000)) == N
    for bad in (np.ones(3), np.full(WIDTH, np.nan)):
        with pytest.raises(ValueError, match="12 finite numbers"):
            found.translate(bad)


# -- dictionaries ------------------------------------------------------------------------------------------------------


def test_dictionaries_from_anywhere_are_the_same(rng, tmp_path):
    source, target = spaces(rng)
    wanted = align(source, target, pairs(0, 60)).target_points
    tabs, blanks = tmp_path / "tabs.tsv", tmp_path / "blanks.txt"
    tabs.write_text("".join(f"{a}\t{b}\n" for a, b in pairs(0, 60)) + "\n")
    blanks.write_text("".join(f"{a} {b}\n" for a, b in pairs(0, 60)))
    for given in (dict(pairs(0, 60)), tabs, str(blanks), iter(pairs(0, 60)), [*pairs(0, 60), ("unknown", "f1")]):
        np.testing.assert_array_equal(align(source, target, given).target_points, wanted)


@pytest.mark.parametrize(
    ("given", "more", "words"),
    [
        ([], {}, "pairs is empty"),
        ([("e1", "f1")], {}, "1 pairs .* two are needed"),
        ([("x1", "f1"), ("ex2", "f2")], {}, "'x1' is not among"),
        (["e1", "f1"], {}, "pair 0 is 'e1'"),
        ([("e1", "f1", 3)], {}, "pair 0"),
        (pairs(0, 9), {"method": "magic"}, "'orthogonal', 'linear', 'cca'"),
        (pairs(0, 9), {"refine": -1}, "refine"),
        (pairs(0, 9), {"ridge": np.nan}, "ridge"),
        (pairs(0, 9), {"ridge": -1}, "ridge"),
    ],
)
def test_what_makes_no_sense_is_refused(rng, given, more, words):
    with pytest.raises(ValueError, match=words):
        align(*spaces(rng), given, **more)


def test_files_that_are_no_dictionary(rng, tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("e1 f1\none two three\n")
    with pytest.raises(ReadError, match=r"pairs\.txt, line 2: 3 words"):
        align(*spaces(rng), path)
    with pytest.raises(ReadError, match="no such file"):
        align(*spaces(rng), tmp_path / "none")
    found = align(*spaces(rng), pairs(0, 9))
    with pytest.raises(ValueError, match="'csls' or 'cosine'"):
        found.translate("e1", retrieval="nearest")
    with pytest.raises(ValueError, match="did you mean"):
        found.translate("e1o")
