"""Analogies and pairs scored by people: what counts, what cannot be asked, and files that hold neither."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from unweave.data.readers import ReadError
from unweave.embed import Vectors, evaluate_analogies, evaluate_similarity

QUESTIONS = """: capitals
Rome Italy Oslo Norway
Oslo Norway Rome Italy
Rome Italy Oslo Atlantis
: plurals
cat cats dog dogs
dog dogs cat cats
"""


@pytest.fixture(scope="module")
def vectors():
    """Pairs that differ by the same step, and words around them."""
    rng = np.random.default_rng(0)
    base = {word: rng.standard_normal(40) for word in ("rome", "oslo", "cat", "dog")}
    country, plural = 0.8 * rng.standard_normal((2, 40))
    table = {**base, "italy": base["rome"] + country, "norway": base["oslo"] + country}
    table |= {"cats": base["cat"] + plural, "dogs": base["dog"] + plural}
    table |= {f"w{i}": rng.standard_normal(40) for i in range(300)}
    return Vectors(list(table), np.array(list(table.values())))


def slow(vectors, asked, method):
    """The nearest word to b − a + c, and that of the largest cos(b)·cos(c)/cos(a), written out."""
    units = vectors.array / np.linalg.norm(vectors.array, axis=1, keepdims=True)
    right = 0
    for a, b, c, d in asked:
        i, j, k = (vectors.place(word) for word in (a, b, c))
        if method == "add":
            scores = units @ (units[j] - units[i] + units[k])
        else:
            one, two, three = ((1 + units @ units[p]) / 2 for p in (i, j, k))
            scores = two * three / (one + 1e-3)
        scores[[i, j, k]] = -np.inf
        right += vectors.symbols[int(scores.argmax())] == d
    return right


@pytest.mark.parametrize("method", ["add", "mul"])
def test_analogies_of_a_file_by_section(vectors, tmp_path, method):
    path = tmp_path / "questions.txt.gz"
    path.write_bytes(gzip.compress(QUESTIONS.encode()))
    found = evaluate_analogies(vectors, path, method=method)
    assert found.sections == {"capitals": (2, 2, 3), "plurals": (2, 2, 2)}
    assert (found.right, found.asked, found.questions) == (4, 4, 5)
    assert found.accuracy == 1 and found.coverage == 0.8


@pytest.mark.parametrize("method", ["add", "mul"])
def test_analogies_are_those_written_out(vectors, method):
    rng = np.random.default_rng(1)
    asked = [tuple(rng.choice(vectors.symbols, 4, replace=False)) for _ in range(600)]
    asked += [("rome", "italy", "oslo", "norway"), ("cat", "cats", "dog", "dogs"), ("rome", "italy", "rome", "italy")]
    assert evaluate_analogies(vectors, asked, method=method).right == slow(vectors, asked, method) > 0


def test_one_thread_and_two_count_alike(vectors, two_threads):
    rng = np.random.default_rng(2)
    asked = [tuple(rng.choice(vectors.symbols, 4)) for _ in range(900)]
    one, two = two_threads(
        lambda: (evaluate_analogies(vectors, asked), evaluate_analogies(vectors, asked, method="mul"))
    )
    assert one == two


def test_only_the_most_frequent_take_part(vectors):
    asked = [("rome", "italy", "oslo", "norway"), ("cat", "cats", "dog", "dogs")]
    few = evaluate_analogies(vectors, asked, most_frequent=6)
    assert (few.asked, few.coverage) == (1, 0.5)
    assert evaluate_analogies(vectors, asked, most_frequent=None).asked == 2


def test_words_as_they_are_written(vectors):
    asked = [("Rome", "Italy", "Oslo", "Norway")]
    assert evaluate_analogies(vectors, asked).asked == 1
    nothing = evaluate_analogies(vectors, asked, lowercase=False)
    assert (nothing.asked, nothing.accuracy, nothing.coverage) == (0, 0, 0)


@pytest.mark.parametrize(
    ("questions", "more", "words"),
    [
        ([], {}, "questions is empty"),
        ([("a", "b", "c")], {}, "question 0 .* four words"),
        (["abcd"], {}, "question 0"),
        ([("a", "b", "c", "d")], {"method": "sub"}, "'add' or 'mul'"),
        ([("a", "b", "c", "d")], {"most_frequent": 1}, "most_frequent"),
    ],
)
def test_questions_that_make_no_sense(vectors, questions, more, words):
    with pytest.raises(ValueError, match=words):
        evaluate_analogies(vectors, questions, **more)


def test_files_without_questions(vectors, tmp_path):
    path = tmp_path / "q.txt"
    path.write_text(": one\na b c d\na b c\n")
    with pytest.raises(ReadError, match=r"q\.txt, line 3: 3 words where a question has four"):
        evaluate_analogies(vectors, path)
    path.write_text(": only a heading\n")
    with pytest.raises(ValueError, match="empty"):
        evaluate_analogies(vectors, path)
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="empty"):
        evaluate_analogies(vectors, path)


# -- pairs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", [" ", "\t", ","])
def test_pairs_of_a_file(vectors, tmp_path, separator):
    rng = np.random.default_rng(3)
    pairs = [(*rng.choice(vectors.symbols, 2, replace=False), round(rng.random() * 10, 2)) for _ in range(50)]
    lines = [
        "Word 1,Word 2,Human (mean)",
        *(separator.join(map(str, one)) for one in pairs),
        f"unheard{separator}of{separator}3",
    ]
    path = tmp_path / "pairs.txt"
    path.write_text("\n".join(lines) + "\n")
    found = evaluate_similarity(vectors, path)
    cosines = [vectors.similarity(a, b) for a, b, _ in pairs]
    scores = [score for *_, score in pairs]
    assert found.spearman == pytest.approx(spearmanr(cosines, scores).statistic)
    assert found.pearson == pytest.approx(pearsonr(cosines, scores).statistic)
    assert (found.asked, found.pairs) == (50, 51) and found.coverage == pytest.approx(50 / 51)
    assert evaluate_similarity(vectors, [*pairs, ("unheard", "of", 3)]) == found


def test_pairs_of_which_nothing_can_be_said(vectors):
    for pairs in ([("a", "b", 1)], [("rome", "oslo", 5)], [("rome", "oslo", 5), ("cat", "dog", 5)]):
        assert evaluate_similarity(vectors, pairs).spearman == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b 1\na b\n", "line 2: has no two words"),
        ("a b 1\nc d high\n", "line 2"),
        ("a b nan\n", "line 1.*not finite"),
    ],
)
def test_files_without_pairs(vectors, tmp_path, text, words):
    path = tmp_path / "pairs.txt"
    path.write_text(text)
    with pytest.raises(ReadError, match=words):
        evaluate_similarity(vectors, path)
    with pytest.raises(ValueError, match="pairs is empty"):
        evaluate_similarity(vectors, [])
    with pytest.raises(ValueError, match="pair 0"):
        evaluate_similarity(vectors, [("a", "b")])
