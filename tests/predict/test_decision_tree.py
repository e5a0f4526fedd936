"""DecisionTree: the worked numbers, holes and new levels, pruning, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas
import polars
import pytest

import unweave
from unweave import DecisionTree
from unweave.predict.trees.gains import split_amounts, split_kinds

STUDENTS = {
    "Gender": ["Male", "Female", "Male", "Female", "Female", "Male", "Male", "Female"],
    "Major": ["Math", "History", "CS", "Math", "Math", "CS", "History", "Math"],
}
LIKES = ["Yes", "No", "Yes", "No", "No", "Yes", "No", "Yes"]
# Outlook, temperature, humidity and wind of fourteen days.
DAYS = """
Sunny Hot High Weak, Sunny Hot High Strong, Overcast Hot High Weak, Rain Mild High Weak, Rain Cool Normal Weak,
Rain Cool Normal Strong, Overcast Cool Normal Strong, Sunny Mild High Weak, Sunny Cool Normal Weak,
Rain Mild Normal Weak, Sunny Mild Normal Strong, Overcast Mild High Strong, Overcast Hot Normal Weak,
Rain Mild High Strong"""
_COLUMNS = zip(*(day.split() for day in DAYS.split(",")), strict=True)
TENNIS = dict(zip(("Outlook", "Temperature", "Humidity", "Wind"), map(list, _COLUMNS), strict=True))
PLAY = [{"N": "No", "Y": "Yes"}[letter] for letter in "NNYYYNYNYYYYYN"]


def entropy(y) -> float:
    _, n = np.unique(y, return_counts=True)
    return float(-(n / n.sum() * np.log2(n / n.sum())).sum())


def gain(split, y) -> float:
    """The definition, group by group."""
    split, y = np.asarray(split), np.asarray(y)
    return entropy(y) - sum((split == b).mean() * entropy(y[split == b]) for b in np.unique(split))


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_eight_students(frame):
    tree = DecisionTree().fit(frame(STUDENTS), LIKES)
    assert tree.gains_["Gender"] == pytest.approx(0.1887, abs=1e-4)
    assert tree.gains_["Major"] == pytest.approx(0.5)
    assert str(tree).splitlines()[0] == "Major" and "= Math: Gender" in str(tree)
    assert tree.predict(frame({"Gender": ["Female"], "Major": ["CS"]})).tolist() == ["Yes"]


def test_play_tennis():
    tree = DecisionTree().fit(pandas.DataFrame(TENNIS), PLAY)
    wanted = {"Outlook": 0.2467, "Temperature": 0.0292, "Humidity": 0.1518, "Wind": 0.0481}
    assert {name: round(value, 4) for name, value in tree.gains_.items()} == wanted
    assert tree.score(pandas.DataFrame(TENNIS), PLAY) == 1 and (tree.n_leaves_, tree.depth_) == (5, 2)
    assert tree.history_.objective[-1] == 0 and (np.diff(tree.history_.objective) <= 0).all()
    assert tree.feature_importances_.sum() == pytest.approx(1)


def test_gains_are_those_of_the_definition(rng):
    node, y = rng.integers(0, 3, 90), rng.integers(0, 3, 90)
    counts = np.bincount(node * 3 + y, minlength=9).reshape(3, 3)
    for levels in (4, 5000):  # the second has more cells than rows
        code = rng.integers(0, levels, 90)
        found = split_kinds(code, levels, node, y, counts, 1)
        for one in range(3):
            at = node == one
            assert found.gain[one] == pytest.approx(gain(code[at], y[at]), abs=1e-12)
            assert found.spread[one] == pytest.approx(entropy(code[at]), abs=1e-12)


def test_thresholds_are_the_best_of_all(rng):
    node, y = rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    value = rng.integers(0, 8, 60).astype(float)
    value[rng.random(60) < 0.2] = np.nan
    counts = np.bincount(node * 2 + y, minlength=6).reshape(3, 2)
    order = np.lexsort((value, node))
    found = split_amounts(value[order], node[order], y[order], counts, 1)
    for one in range(3):
        at = node == one
        cuts = np.unique(value[at & ~np.isnan(value)])
        middles = 0.5 * (cuts[1:] + cuts[:-1])
        branches = [np.where(np.isnan(value[at]), 2, value[at] > cut) for cut in middles]
        gains = [gain(branch, y[at]) for branch in branches]
        best = int(np.argmax(gains))
        assert found.gain[one] == pytest.approx(gains[best], abs=1e-12)
        assert gain(np.where(np.isnan(value[at]), 2, value[at] > found.threshold[one]), y[at]) == pytest.approx(
            max(gains), abs=1e-12
        )


def test_gain_ratio_does_not_fall_for_numbers_of_rows():
    frame = pandas.DataFrame({**TENNIS, "day": [f"D{i}" for i in range(14)]})
    assert str(DecisionTree().fit(frame, PLAY)).startswith("day")
    ratio = DecisionTree("gain-ratio").fit(pandas.DataFrame(TENNIS), PLAY)
    assert str(ratio).startswith("Outlook")


def test_holes_are_a_branch_and_what_was_not_seen_is_answered_by_the_node():
    X = pandas.DataFrame({"colour": ["red", "red", None, None, "blue", "blue"], "size": [1.0, 1, 2, np.nan, 3, 4]})
    y = ["a", "a", "b", "b", "c", "c"]
    tree = DecisionTree().fit(X, y)
    assert tree.predict(X).tolist() == y and "is empty" in str(tree)
    new = pandas.DataFrame({"colour": ["green"], "size": [9.0]})
    np.testing.assert_allclose(tree.predict_proba(new), 1 / 3)
    numbers = DecisionTree().fit([[1.0], [2.0]], ["a", "b"])
    np.testing.assert_allclose(numbers.predict_proba([[np.nan]]), 0.5)


def test_mixed_columns_pandas_polars_and_lists_agree():
    data = {"town": ["A", "B", "A", "B", "C"], "rooms": [1, 2, 3, 4, 5], "new": [True, False, True, True, False]}
    y = [0, 1, 0, 1, 1]
    frames = [pandas.DataFrame(data), polars.DataFrame(data)]
    frames.append(pandas.DataFrame(data).astype({"town": "category", "rooms": "Int64"}))
    texts = {str(DecisionTree().fit(frame, y)) for frame in frames}
    rows = [list(row) for row in zip(*data.values(), strict=True)]
    texts.add(str(DecisionTree().fit(rows, y)).replace("x0", "town"))
    assert len(texts) == 1
    kinds = DecisionTree(categorical=["rooms"]).fit(frames[0][["rooms"]], y)
    assert kinds.n_leaves_ == 5 and "= 3" in str(kinds)


@pytest.mark.parametrize("pruning", ["reduced-error", "pessimistic", "cost-complexity"])
def test_pruning_removes_what_noise_grew(pruning, rng):
    X = rng.integers(0, 3, size=(400, 6)).astype(str)
    truth = np.where(X[:, 0] == "0", "a", "b")
    y = np.where(rng.random(400) < 0.15, "c", truth)
    full, cut = DecisionTree().fit(X, y), DecisionTree(pruning=pruning).fit(X, y)
    assert cut.n_leaves_ < 0.5 * full.n_leaves_
    assert str(cut).startswith("x0")
    new = rng.integers(0, 3, size=(400, 6)).astype(str)
    right = np.where(new[:, 0] == "0", "a", "b")
    assert cut.score(new, right) > full.score(new, right) and cut.score(new, right) > 0.95
    cut.tree_.check(cut.layout_, 3)


def test_limits_are_kept(rng):
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    tree = DecisionTree(max_depth=3, min_leaf=5).fit(X, y)
    assert tree.depth_ == 3
    assert tree.tree_.counts[tree.tree_.is_leaf()].sum(axis=1).min() >= 5
    np.testing.assert_array_equal(np.bincount(tree.apply(X), minlength=len(tree.tree_)) > 0, tree.tree_.is_leaf())


def test_a_long_chain_can_be_printed_saved_and_loaded(tmp_path):
    X, y = np.arange(600.0)[:, None], np.arange(600) % 2
    tree = DecisionTree().fit(X, y)
    assert str(tree).count("\n") > 600 and tree.score(X, y) == 1
    loaded = unweave.load(tree.save(tmp_path / "tree.unweave"))
    assert str(loaded) == str(tree)


def test_a_picture(rng):
    tree = DecisionTree().fit(pandas.DataFrame(TENNIS), PLAY)
    words = [text.get_text() for text in tree.plot().axes[0].texts]
    assert {"Outlook", "Wind", "Humidity", "= Rain", "Yes (4)"} <= set(words)
    with pytest.raises(ValueError, match="max_depth or pruning"):
        DecisionTree().fit(rng.normal(size=(600, 2)), rng.integers(0, 2, 600)).plot()


@pytest.mark.parametrize(
    "change, words",
    [
        ({"criterion": "gini"}, "criterion must be"),
        ({"pruning": "hard"}, "pruning='hard' is not known"),
        ({"pruning": "pessimistic", "confidence": 2}, "between 0 and 1"),
        ({"pruning": "reduced-error", "holdout": 1}, "leaves none"),
        ({"categorical": ["nothing"]}, "must name columns"),
        ({"max_depth": 0}, "at least 1"),
    ],
)
def test_what_is_refused_names_the_argument(change, words):
    with pytest.raises(ValueError, match=words):
        DecisionTree(**change).fit(pandas.DataFrame(TENNIS), PLAY)


def test_targets():
    X = pandas.DataFrame(TENNIS)
    assert str(DecisionTree().fit(X, ["Yes"] * 14)) == "always Yes (14)"
    many = DecisionTree().fit(X.iloc[:3], ["a", "b", "c"])  # as many classes as rows
    assert many.classes_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="leave out the rows without a target"):
        DecisionTree().fit(X, [np.nan, *range(13)])
    with pytest.raises(ValueError, match="leave out the rows without a target"):
        DecisionTree().fit(X, [None, *PLAY[1:]])
    with pytest.raises(ValueError, match=r"Unknown label type: continuous.*cut them into ranges first"):
        DecisionTree().fit(X, np.linspace(0, 1, 14) ** 2)
    with pytest.raises(ValueError, match="14 rows, y has 3"):
        DecisionTree().fit(X, PLAY[:3])


def test_columns_that_changed_are_told():
    X = pandas.DataFrame(TENNIS)
    tree = DecisionTree().fit(X, PLAY)
    with pytest.raises(ValueError, match="feature names"):
        tree.predict(X.rename(columns={"Wind": "Storm"}))
    numbers = DecisionTree().fit(pandas.DataFrame({"a": [1.0, 2.0]}), [0, 1])
    with pytest.raises(ValueError, match="column 'a' was a column of numbers"):
        numbers.predict(pandas.DataFrame({"a": ["one"]}))
