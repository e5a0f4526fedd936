"""SkipGram and CBOW: what they find, what theory says they find, and what they refuse."""

import numpy as np
import pytest

from unweave import CBOW, SkipGram
from unweave.embed.skipgram.descent import APART_ROUNDS, PARTS, SHARED_ROUNDS
from unweave.embed.skipgram.drawing import Drawing
from unweave.embed.skipgram.inputs import Mean, Spelling
from unweave.parallel import get_num_threads, set_num_threads

BOTH = pytest.mark.parametrize("kind", [SkipGram, CBOW])
WAYS = pytest.mark.parametrize(
    "how",
    [
        {},
        {"biases": True},
        # with one negative: products within a group are to be log 3, with five below zero, and no squared length is
        {"contexts": "shared", "negatives": 1},
        {"subwords": (3, 4), "buckets": 300},
        {"subwords": (3, 4), "buckets": 300, "biases": True},
        {"subwords": (3, 4), "buckets": 300, "contexts": "shared", "negatives": 1},
        {"dynamic_window": False, "subsample": None},
    ],
    ids=str,
)
GROUPS = [[f"{name}{i}" for i in range(12)] for name in ("fish", "bird", "tool")]


def talk(rng, sentences=400, length=12):
    """Sentences of which each keeps to the words of one group."""
    return [list(rng.choice(GROUPS[rng.integers(3)], length)) for _ in range(sentences)]


def is_together(vectors, arrays=None):
    """How often the nearest other word is of the same group."""
    F = vectors[[word for group in GROUPS for word in group]]
    F = F / np.linalg.norm(F, axis=1, keepdims=True)
    near = F @ F.T - 2 * np.eye(36)
    return np.mean(near.argmax(axis=1) // 12 == np.arange(36) // 12)


@BOTH
@WAYS
def test_words_that_keep_the_same_company_get_near_each_other(kind, how, rng):
    more = {"subsample": 0.1, "learning_rate": 0.1, **how}
    model = kind(12, epochs=25, random_state=0, **more).fit(talk(rng))
    assert is_together(model.vectors_) > 0.9
    assert model.objective_ < 0.9 * (1 + model.negatives) * np.log(2), "better than knowing nothing"
    assert (model.biases_ is not None) == bool(how.get("biases"))
    same = how.get("contexts") == "shared" and "subwords" not in how
    assert np.array_equal(model.context_vectors_, model.vectors_.array) == same


@BOTH
@WAYS
def test_the_same_bits_on_one_thread_two_and_three(kind, how, rng):
    texts, found = talk(rng, 60), []
    former = get_num_threads()
    try:
        for threads in (1, 2, 3):
            set_num_threads(threads)
            model = kind(9, epochs=2, random_state=3, **how).fit(texts)
            found.append(model.vectors_.array.tobytes() + model.context_vectors_.tobytes())
    finally:
        set_num_threads(former)
    assert found[0] == found[1] == found[2]


def test_rounds_share_no_row_and_everybody_meets():
    for rounds, rows in ((APART_ROUNDS, lambda i, j: {("in", i), ("out", j)}), (SHARED_ROUNDS, lambda i, j: {i, j})):
        assert sorted(pair for tasks in rounds for task in tasks for pair in task) == [
            (i, j) for i in range(PARTS) for j in range(PARTS)
        ]
        for tasks in rounds:
            used = [set().union(*(rows(i, j) for i, j in task)) for task in tasks]
            assert len(set().union(*used)) == sum(map(len, used)), "two tasks of a round have a row in common"


# -- theory ------------------------------------------------------------------------------------------------------------


def walks(rng, states=6, n=100, length=50):
    chances = rng.dirichlet(np.ones(states), size=states)
    found = []
    for _ in range(n):
        walk = [0]
        while len(walk) < length:
            walk.append(int(rng.choice(states, p=chances[walk[-1]])))
        found.append(walk)
    return found


@pytest.mark.parametrize("how", [{"learning_rate": 0.05}, {"learning_rate": 0.05, "biases": True}], ids=str)
def test_the_optimum_is_pmi_less_the_logarithm_of_the_negatives(rng, how):
    X, window, negatives = walks(rng), 2, 2
    pairs = np.zeros((6, 6))
    for walk in X:
        for i, word in enumerate(walk):
            for near in walk[max(0, i - window) : i] + walk[i + 1 : i + window + 1]:
                pairs[word, near] += 1
    model = SkipGram(
        6, window=window, negatives=negatives, noise_exponent=1, subsample=None, dynamic_window=False, min_count=1,
        epochs=150, random_state=0, **how,
    ).fit(X)  # fmt: skip
    order = model.vocabulary_.places(range(6))
    products = model.vectors_.array[order] @ model.context_vectors_[order].T
    if model.biases:
        products += model.biases_[order][:, None] + model.context_biases_[order]
    noise = np.bincount(np.concatenate(X)) / sum(map(len, X))
    of_words = pairs.sum(axis=1, keepdims=True)
    # log of what occurs over what is drawn: PMI − log k, but that noise is drawn by tokens, not by ends of pairs
    wanted = np.log(pairs / (negatives * of_words * noise))
    pmi = np.log(pairs * pairs.sum() / np.outer(pairs.sum(axis=1), pairs.sum(axis=0)))
    assert np.abs(wanted - (pmi - np.log(negatives))).max() < 0.06  # walks end after 50 steps, so ends of pairs differ
    assert np.abs(products - wanted).mean() < 0.02 and np.abs(products - wanted).max() < 0.15
    # the whole gradient at what was found, for each pair as a share of how often it occurs
    likely = 1 / (1 + np.exp(-products))
    gradient = pairs * (1 - likely) - negatives * of_words * noise * likely
    assert (np.abs(gradient) / pairs).max() < 0.12


def test_sharing_draws_fewer_and_asks_for_the_same(rng):
    X = walks(rng)
    common = {"window": 2, "subsample": None, "min_count": 1, "epochs": 100, "learning_rate": 0.05, "random_state": 0}
    one, three = (SkipGram(6, sharing=n, **common).fit(X) for n in (1, 3))
    products = [m.vectors_.array @ m.context_vectors_.T for m in (one, three)]
    assert np.abs(products[0] - products[1]).mean() < 0.05
    assert one.objective_ == pytest.approx(three.objective_, rel=0.02)


# -- drawing -----------------------------------------------------------------------------------------------------------


def test_windows_end_with_their_sequences_and_reach_over_blocks(rng):
    lengths = [3, 0, 1, 7, 30]
    ids = np.arange(41, dtype=np.int32)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    whole = np.searchsorted(bounds, np.arange(41), side="right")
    drawing = Drawing.of(4, False, np.ones(41, np.int64), 0)
    for size in (41, 7, 1):
        met = {}
        for start in range(0, 41, size):
            block = drawing.block(ids, bounds, start, min(start + size, 41), 5)
            for t in range(block.first, block.last):
                met[int(block.tokens[t])] = set(block.tokens[block.low[t] : block.high[t]].tolist())
        assert met == {i: {j for j in range(41) if abs(i - j) <= 4 and whole[i] == whole[j]} for i in range(41)}, (
            f"blocks of {size}"
        )


def test_frequent_words_are_looked_at_less_and_near_ones_more():
    counts = np.array([90_000, 10_000])
    ids = np.repeat(np.arange(2, dtype=np.int32), counts)
    block = Drawing.of(5, True, counts, 0.1).block(ids, np.array([0, 100_000]), 0, 100_000, 1)
    kept = np.bincount(block.tokens)
    # five standard errors of √(t/f) + t/f
    assert abs(kept[0] / 90_000 - 4 / 9) < 5 * np.sqrt(0.25 / 90_000) and kept[1] == 10_000
    reach = np.bincount((block.high - block.low)[10:-10] // 2)
    assert reach[0] == 0 and (np.abs(reach[1:] / reach.sum() - 0.2) < 0.02).all()


def test_a_line_of_a_million_words(rng):
    line = np.minimum(rng.zipf(1.5, 1_000_000), 500).tolist()
    model = SkipGram(4, epochs=1, window=2, negatives=1, random_state=0).fit([line])
    assert model.n_tokens_ == 1_000_000 and np.isfinite(model.vectors_.array).all()


# -- parts of words ----------------------------------------------------------------------------------------------------


def test_words_never_seen_are_near_those_they_are_spelled_like(rng):
    model = SkipGram(12, epochs=20, subsample=0.1, subwords=(3, 5), buckets=2000, random_state=0).fit(talk(rng))
    F = model.vectors_.array
    cosine = F @ model.vector("fishes") / np.linalg.norm(F, axis=1)
    assert model.vectors_.symbols[int(cosine.argmax())].startswith("fish")
    with pytest.raises(ValueError, match="fish"):
        SkipGram(4, random_state=0, epochs=1).fit(talk(rng, 20)).vector("fish")


def test_the_vector_of_a_word_is_the_mean_of_its_rows(rng):
    model = SkipGram(5, epochs=1, subwords=(2, 3), buckets=50, random_state=0).fit(talk(rng, 30))
    spelling = Spelling(model.vocabulary_.symbols, (2, 3), 50)
    for w, word in enumerate(model.vocabulary_.symbols[:5]):
        rows = [*spelling.grams(word), 50 + w]
        np.testing.assert_allclose(model.vectors_[word], model.input_vectors_[rows].mean(axis=0), atol=1e-6)


def test_means_and_the_way_back(rng):
    members, starts = rng.integers(0, 9, 30), np.array([0, 4, 4, 10, 30])
    F = rng.normal(size=(9, 3)).astype(np.float32)
    mean, moved = Mean(starts, members), rng.normal(size=(4, 3)).astype(np.float32)
    asked = np.zeros((9, 3), np.float32)
    for i in range(4):
        rows = members[starts[i] : starts[i + 1]]
        np.testing.assert_allclose(mean.of(F)[i], F[rows].mean(axis=0) if len(rows) else 0, atol=1e-6)
        np.add.at(asked, rows, moved[i])
    gentle = F.copy()
    mean.back(gentle, moved, np.full(4, 0.01))
    np.testing.assert_allclose(gentle, F + asked, atol=1e-5, err_msg="nobody pulls much: each row moves by the sum")
    hard = F.copy()
    assert mean.back(hard, moved, np.ones(4)).max() <= 1
    assert (np.abs(hard - F) <= np.abs(asked) + 1e-5).all() and not np.allclose(hard, F + asked)


def test_rows_that_all_means_share_carry_none_too_far():
    """Forty means of the same two rows that want one step each, and say so, go one step or two, not forty."""
    F, mean = np.zeros((2, 1), np.float32), Mean(np.arange(0, 82, 2), np.tile([0, 1], 40))
    mean.back(F, np.ones((40, 1), np.float32), np.ones(40))
    assert (mean.of(F) >= 1).all() and (mean.of(F) <= 2 + 1e-5).all()


# -- more texts, and going on ------------------------------------------------------------------------------------------


@BOTH
@WAYS
def test_more_texts_bring_more_words(kind, how, rng):
    texts = talk(rng)
    old = [[word for word in text if not word.startswith("tool")] for text in texts]
    model = kind(12, epochs=15, random_state=0, **{"subsample": 0.1, "learning_rate": 0.05, **how}).fit(old)
    before = model.vocabulary_.symbols
    assert len(before) == 24
    tools = [text for text in texts if text[0].startswith("tool")]
    for _ in range(15):
        model.partial_fit([*tools, ["once", "twice", "twice"]])
    assert model.vocabulary_.symbols[:24] == before and set(model.vocabulary_.symbols[24:]) == set(GROUPS[2])
    assert is_together(model.vectors_) > 0.9
    assert model.vocabulary_.counts.sum() == sum(map(len, old)) + 15 * sum(map(len, tools))


def test_texts_in_turn_without_a_fit_first(rng):
    texts = talk(rng)
    model = SkipGram(12, learning_rate=0.1, subsample=0.1, random_state=0)
    for i in range(20):
        model.partial_fit(texts[i % 2 :: 2])
    assert is_together(model.vectors_) > 0.9


def test_a_fit_that_was_stopped_goes_on_to_the_same_bits(rng, tmp_path):
    texts = talk(rng, 50)
    whole = SkipGram(5, epochs=6, random_state=0).fit(texts)

    def stop(progress):
        if progress.iteration == 3:
            raise RuntimeError("the power went out")

    path = tmp_path / "fit"
    model = SkipGram(5, epochs=6, random_state=0, checkpoint=path)
    with pytest.raises(RuntimeError):
        model.set_params(callback=stop).fit(texts)
    again = model.set_params(callback=None).fit(texts)
    assert np.array_equal(again.vectors_.array, whole.vectors_.array) and again.n_iter_ == 6


def test_a_callback_stops_it(rng):
    model = SkipGram(4, epochs=9, random_state=0, callback=lambda progress: progress.iteration == 2)
    model.fit(talk(rng, 30))
    assert model.n_iter_ == 2 and model.history_.stopped == "the callback said stop"


# -- what is refused ---------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"window": 0}, "window"),
        ({"negatives": 0}, "negatives"),
        ({"epochs": 0}, "epochs"),
        ({"n_components": 0}, "n_components"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"learning_rate": np.nan}, "learning_rate"),
        ({"subsample": -1}, "subsample"),
        ({"noise_exponent": np.inf}, "noise_exponent"),
        ({"contexts": "both"}, "contexts"),
        ({"contexts": "shared", "biases": True}, "biases"),
        ({"subwords": 3}, "subwords"),
        ({"subwords": (4, 3)}, "subwords"),
        ({"subwords": (3, 4), "buckets": 0}, "buckets"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(kind, how, words):
    with pytest.raises(ValueError, match=words):
        kind(**{"n_components": 3, "min_count": 1, **how}).fit(["a b a b"])


@BOTH
@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["a", "b", "a", "b"], "near each other"),
        (["a a a a"], "one symbol"),
        ([["x"], ["y"]], "near each other"),
        ([[]], "no token"),
    ],
    ids=str,
)
def test_a_corpus_of_nothing(kind, texts, words):
    model = kind(3, min_count=1)
    with pytest.raises(ValueError, match=words):
        model.fit(texts)
    assert not hasattr(model, "vectors_")


def test_parts_of_what_is_no_word():
    with pytest.raises(ValueError, match="no text"):
        SkipGram(3, min_count=1, subwords=(2, 3)).fit([[1, 2, 1, 2]])


@BOTH
def test_two_words_are_enough(kind):
    model = kind(3, min_count=1, random_state=0, epochs=2).fit([["a", "b"]])
    assert np.isfinite(model.vectors_.array).all() and len(model.vectors_) == 2
