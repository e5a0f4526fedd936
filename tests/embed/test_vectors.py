"""What is near, what is not known, what is left out; and that every way of finding gives the same answer."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import unweave
from unweave.embed import Vectors
from unweave.embed.names import UnknownSymbolError
from unweave.embed.nearest import Nearest

WORDS = ["king", "queen", "man", "woman", "apple", "pear", "plum"]


@pytest.fixture
def vectors():
    """Royal, female, fruit."""
    table = [[2, 0, 0], [2, 1, 0], [0.5, 0, 0.1], [0.5, 1, 0.1], [0, 0, 2], [0, 0.1, 2], [0.1, 0, 2]]
    return Vectors(WORDS, np.array(table, dtype=np.float32), np.arange(7, 0, -1))


def many(n=500, width=70, seed=0):
    rng = np.random.default_rng(seed)
    return Vectors([f"w{i}" for i in range(n)], rng.standard_normal((n, width)) * rng.gamma(0.5, 1, width))


def slow(vectors, point, n, left_out=()):
    units = vectors.array / np.linalg.norm(vectors.array, axis=1, keepdims=True)
    scores = units @ (point / np.linalg.norm(point))
    order = [i for i in np.argsort(-scores, kind="stable") if i not in left_out][:n]
    return [(vectors.symbols[i], scores[i]) for i in order]


def alike(found, wanted):
    assert [word for word, _ in found] == [word for word, _ in wanted]
    np.testing.assert_allclose([score for _, score in found], [score for _, score in wanted], atol=1e-6)


def test_the_nearest_are_those_of_a_plain_search():
    vectors = many()
    alike(vectors.most_similar("w3", 7), slow(vectors, vectors["w3"], 7, {3}))
    alike(vectors.most_similar(vectors["w3"], 7), slow(vectors, vectors["w3"], 7))
    units = vectors.array / np.linalg.norm(vectors.array, axis=1, keepdims=True)
    alike(vectors.most_similar(["w3", "w4"], 5), slow(vectors, units[3] + units[4], 5, {3, 4}))
    far = vectors.most_similar("w3", 5, without=["w5", "w6"])
    alike(far, slow(vectors, units[3] - units[5] - units[6], 5, {3, 5, 6}))
    places, scores = vectors.nearest(vectors.array[:9], 4)
    assert places[:, 0].tolist() == list(range(9)) and np.allclose(scores[:, 0], 1, atol=1e-6)


def test_every_exact_way_gives_the_same_bits(monkeypatch):
    from unweave.embed import nearest

    monkeypatch.setattr(nearest, "_ROWS", 100)
    vectors = many(3000)
    asked = [f"w{i}" for i in range(0, 3000, 150)]
    before = [vectors.most_similar(word, 10) for word in asked[:10]]
    assert vectors._near._way is None
    vectors.use_index("bytes")
    assert [vectors.most_similar(word, 10) for word in asked[:10]] == before
    again = many(3000)
    found = [again.most_similar(word, 10) for word in asked]  # makes the copy in bytes by itself
    assert again._near._way is not None and found[:10] == before
    plain = many(3000).use_index(None)  # asked for by name: no copy, however much is asked
    assert [plain.most_similar(word, 10) for word in asked] == found and plain._near._way is None
    former = unweave.set_num_threads(3)
    try:
        assert [many(3000).most_similar(word, 10) for word in asked[:2]] == before[:2]
    finally:
        unweave.set_num_threads(former)


def test_equal_rows_come_in_their_order_however_many():
    near = Nearest(np.repeat(np.eye(3), 100, axis=0))
    places, scores = near.top(np.array([0, 1.0, 0]), 5)
    near.use("bytes")
    again, _ = near.top(np.array([0, 1.0, 0]), 5)
    assert places.tolist() == again.tolist() == [100, 101, 102, 103, 104] and (scores == 1).all()


@pytest.mark.parametrize("kind", ["hnswlib", "faiss"])
def test_a_graph_of_another_library_finds_nearly_all(kind):
    pytest.importorskip(kind)
    vectors = many(2000, 20)
    wanted = [{word for word, _ in vectors.most_similar(f"w{i}", 10)} for i in range(20)]
    vectors.use_index(kind)
    found = [{word for word, _ in vectors.most_similar(f"w{i}", 10)} for i in range(20)]
    assert sum(len(a & b) for a, b in zip(wanted, found, strict=True)) >= 190


def test_analogies(vectors):
    for method in ("add", "mul"):
        found = vectors.analogy("man", "king", "woman", 3, method=method)
        assert found[0][0] == "queen" and len(found) == 3
        assert not {"man", "king", "woman"} & {word for word, _ in found}
    one, two, three = (vectors.similarity("queen", word) for word in ("man", "king", "woman"))
    score = dict(vectors.analogy("man", "king", "woman", 4, method="mul"))["queen"]
    assert score == pytest.approx((1 + two) / 2 * (1 + three) / 2 / ((1 + one) / 2 + 1e-3), rel=1e-5)
    assert len(vectors.analogy("man", "king", "woman", 100)) == len(WORDS) - 3
    with pytest.raises(ValueError, match="method='sub'"):
        vectors.analogy("man", "king", "woman", method="sub")


def test_similarity_and_what_does_not_match(vectors):
    assert vectors.similarity("apple", "apple") == pytest.approx(1)
    assert vectors.similarity("king", "apple") == 0
    assert vectors.doesnt_match(["apple", "pear", "king"]) == "king"
    with pytest.raises(ValueError, match="at least three"):
        vectors.doesnt_match(["apple", "pear"])


def test_clusters(vectors):
    groups = vectors.cluster(3, random_state=0)
    assert sorted(map(sorted, groups)) == sorted(map(sorted, [WORDS[:2], WORDS[2:4], WORDS[4:]])) or {
        frozenset(group) for group in groups
    } >= {frozenset(WORDS[4:])}
    assert sorted(word for group in groups for word in group) == sorted(WORDS)


def test_plot(vectors):
    pytest.importorskip("matplotlib").use("Agg")
    figure = vectors.plot(["king", "queen", "apple"])
    assert {text.get_text() for text in figure.axes[0].texts} == {"king", "queen", "apple"}


def test_unknown_symbols(vectors):
    with pytest.raises(UnknownSymbolError, match="'aple' is not among the 7 known words; did you mean 'apple'"):
        vectors.most_similar("aple")
    with pytest.raises(KeyError):
        vectors["aple"]
    assert "aple" not in vectors and "apple" in vectors
    assert vectors.most_similar(["king", "zzz"], 2, unknown="skip") == vectors.most_similar(["king"], 2)
    for bad in (["zzz"], ["king", "zzz"]):
        with pytest.raises(UnknownSymbolError):
            vectors.most_similar(bad, unknown="error")
    with pytest.raises(UnknownSymbolError):
        vectors.most_similar(["zzz"], unknown="skip")
    with pytest.raises(ValueError, match="unknown='perhaps'"):
        vectors.most_similar("king", unknown="perhaps")
    error = pickle.loads(pickle.dumps(UnknownSymbolError("aple", ["apple"])))
    assert str(error).endswith("did you mean 'apple'?")


def test_bad_arguments(vectors):
    for bad, words in (
        (lambda: Vectors(["a"], np.ones((2, 2))), "a row for each of the 1 symbols"),
        (lambda: Vectors(["a", "a"], np.ones((2, 2))), "'a' twice"),
        (lambda: Vectors(["a"], np.array([[np.nan]])), "NaN"),
        (lambda: Vectors(["a"], np.array([["x"]])), "real numbers"),
        (lambda: Vectors(["a"], np.ones((1, 2)), np.ones(2)), "counts"),
        (lambda: vectors.most_similar(np.ones(2)), "3 numbers"),
        (lambda: vectors.most_similar(np.array([1, np.inf, 0])), "finite"),
        (lambda: vectors.most_similar([]), "empty list"),
        (lambda: vectors.most_similar("king", 0), "n must be"),
        (lambda: vectors.nearest(np.ones((2, 2))), "3 columns"),
        (lambda: vectors.use_index("tree"), "kind='tree'"),
    ):
        with pytest.raises(ValueError, match=words):
            bad()


def test_other_symbols_and_zero_vectors():
    songs = Vectors([(1, "a"), 7, frozenset("x")], np.array([[1, 0], [0.9, 0.1], [0, 0]]))
    assert songs.most_similar((1, "a"), 1)[0][0] == 7 and songs.similarity(7, frozenset("x")) == 0
    assert songs.cluster(1, random_state=0) == [[7, (1, "a")]] or songs.cluster(1, random_state=0) == [[(1, "a"), 7]]
    huge = Vectors(["a", "b"], np.array([[1e200, 0], [1e200, 1e200]]))
    assert huge.similarity("a", "b") == pytest.approx(0.5**0.5)


def test_copies_hold_what_was_given_alone(vectors):
    vectors.most_similar("king")
    for again in (copy.deepcopy(vectors), pickle.loads(pickle.dumps(vectors))):
        assert set(vars(again)) == {"symbols", "array", "counts"}
        assert again.most_similar("king", 3) == vectors.most_similar("king", 3)


def test_vectors_are_part_of_a_saved_model(vectors, tmp_path):
    from unweave.persist.codec import Decoder, Encoder

    encoder = Encoder()
    told = encoder.encode(vectors, "vectors_")
    again = Decoder(encoder.finish().__getitem__).decode(told)
    assert again.symbols == WORDS and (again.array == vectors.array).all() and (again.counts == vectors.counts).all()
    assert again.most_similar("king", 2) == vectors.most_similar("king", 2)
