"""Predictions of pairs, new users, reasons, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from unweave import MatrixCompletion
from unweave.complete.recommending.asked import NewUser

ITEMS = 25


class Slow(MatrixCompletion):
    """The same model without the short cut for one row."""

    _ridge_rows = False


def position(ids, wanted):
    return ids.tolist().index(wanted)


# -- predict -------------------------------------------------------------------------------------------------------


def test_predict_pairs(model, plain):
    scores = model.codes_ @ model.components_
    users, items = [model.user_ids_[3], model.user_ids_[0]], [model.item_ids_[2], model.item_ids_[9]]
    assert np.allclose(model.predict(users, items), [scores[3, 2], scores[0, 9]])
    assert np.allclose(plain.predict([3, 0], [2, 9]), [scores[3, 2], scores[0, 9]])
    assert np.allclose(model.predict(np.array([3, 0]), np.array([2, 9]), rows=True), [scores[3, 2], scores[0, 9]])
    one = model.predict(users[0], items[0])
    assert isinstance(one, float) and np.isclose(one, scores[3, 2])
    assert np.allclose(model.predict(users[0], items), scores[3, [2, 9]]), "one user goes with all items"
    many = np.random.default_rng(0).integers(0, ITEMS, 40_000)
    assert np.allclose(plain.predict(many % len(scores), many), scores[many % len(scores), many])


def test_unknown_ids(model):
    user, item, bias = model.user_ids_[3], model.item_ids_[2], model.components_[-1, 2]
    with pytest.raises(ValueError, match="does not know the user 'nobody'"):
        model.predict(["nobody"], [item])
    with pytest.raises(ValueError, match="does not know the item 'nothing'"):
        model.predict([user], ["nothing"])
    found = model.predict(["nobody", user, "nobody"], [item, "nothing", "nothing"], unknown="mean")
    assert np.allclose(found, [bias, model.mean_ + model.codes_[3, 3], model.mean_])
    assert model.predict([10**6], [0], rows=True, unknown="mean").shape == (1,)


def test_predict_of_a_table_is_the_completed_table(model, plain, table):
    scores = plain.codes_ @ plain.components_
    dense = np.where(table.X.toarray() == 0, np.nan, table.X.toarray())
    for X in (table.X, sp.csr_matrix(table.X), dense):
        assert np.allclose(plain.complete(X), scores)
    assert np.allclose(model.complete(table), scores) and np.allclose(model.complete(table.X[:2]), scores[:2])
    for sparse in (table, table.X):
        with pytest.raises(ValueError, match=r"not a sparse table: complete\(X\)"):
            model.predict(sparse)
    with pytest.raises(TypeError, match="predict needs items"):
        model.predict("ann")


# -- new users -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [MatrixCompletion, Slow])
def test_a_known_user_folded_in_is_the_same_user(table, kind):
    model = kind(3, ridge=2.0, tol=1e-9, max_iter=500).fit(table)
    for row in (0, 11):
        entries = table.X[[row]]
        given = dict(zip(model.item_ids_[entries.indices], entries.data, strict=True))
        for form in (given, list(given.items()), entries, sp.csr_matrix(entries), table.X[row]):
            person = model.fold_in(form)
            assert np.allclose(person.code, model.codes_[row], atol=1e-6)
            assert model.recommend(person, 5)[0].tolist() == model.recommend(model.user_ids_[row], 5)[0].tolist()
            assert not set(model.recommend(person, ITEMS)[0]) & set(given)
        assert np.allclose(
            model.predict(person, list(model.item_ids_)), model.codes_[row] @ model.components_, atol=1e-6
        )


def test_several_new_users_at_once(model):
    people = [model.fold_in({"item 1": 5}), model.fold_in({}), model.fold_in([("item 2", 1), ("item 1", 2)])]
    ids, scores = model.recommend(people, 3)
    assert ids.shape == (3, 3) and ids[2].tolist() == model.recommend(people[2], 3)[0].tolist()
    assert "item 1" not in ids[0] and repr(people[2]) == "NewUser(2 ratings)"
    assert isinstance(people[0], NewUser) and np.isfinite(scores).all()


def test_unknown_items_of_a_new_user(model):
    with pytest.raises(ValueError, match="does not know the item 'nothing'"):
        model.fold_in({"nothing": 3})
    assert len(model.fold_in({"nothing": 3, "item 1": 2}, unknown="ignore").items) == 1


# -- explain -------------------------------------------------------------------------------------------------------


def test_contributions_add_up_to_the_score(model):
    for user in model.user_ids_[:5]:
        for item in ("item 0", "item 7"):
            told = model.explain(user, item, ITEMS)
            assert np.isclose(told.score, model.predict(user, item))
            assert np.isclose(told.baseline + told.contributions.sum(), told.score, atol=1e-6)
            assert abs(told.rest) < 1e-6
            assert (np.diff(np.abs(told.contributions)) <= 0).all()


def test_a_contribution_is_the_effect_of_the_rating(model, table):
    row = table.X[[6]]
    told = model.explain(model.user_ids_[6], "item 0", ITEMS)
    place = position(model.item_ids_, told.items[0])
    changed = row.copy()
    changed.data[row.indices == place] += 1
    effect = model.predict(model.fold_in(changed), "item 0") - told.score
    centred = told.ratings[0] - model.components_[-1, place]
    assert np.isclose(effect, told.contributions[0] / centred, atol=1e-6)


def test_an_explanation_is_short_and_reads_well(model):
    told = model.explain(model.user_ids_[0], "item 3", 2)
    assert len(told.items) == len(told.ratings) == len(told.contributions) == 2
    assert np.isclose(told.baseline + told.contributions.sum() + told.rest, told.score)
    assert "baseline" in str(told) and "other ratings" in str(told)
    new = model.explain(model.fold_in({"item 1": 5.0}), "item 3")
    assert new.items.tolist() == ["item 1"] and new.ratings.tolist() == [5]
    assert len(model.explain(model.fold_in({}), "item 3").items) == 0


def test_a_model_that_cannot_explain_says_so(table):
    with pytest.raises(NotImplementedError, match="Slow cannot tell"):
        Slow(2, ridge=1.0).fit(table).explain(table.user_ids[0], "item 1")


# -- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m: m.recommend("nobody"), ValueError, "does not know the user 'nobody'; fold_in"),
        (lambda m: m.recommend(0, 0), ValueError, "n must be at least 1"),
        (lambda m: m.recommend(m.user_ids_[0], 2.5), TypeError, "n must be a whole number"),
        (lambda m: m.recommend(10**6, rows=True), ValueError, "does not know the user 1000000"),
        (lambda m: m.recommend(-1, rows=True), ValueError, "whole numbers from 0"),
        (lambda m: m.recommend("x", rows=True), TypeError, "whole numbers from 0"),
        (lambda m: m.recommend({"item 1": 3}), TypeError, "fold_in"),
        (lambda m: m.recommend({"a", "b"}), TypeError, "as a list"),
        (lambda m: m.recommend([[1, 2]]), TypeError, "hashable"),
        (lambda m: m.recommend(sp.csr_array((1, 3))), ValueError, "X has 3 columns, but the model knows"),
        (lambda m: m.recommend(np.ones((1, 3))), ValueError, "X has 3 columns"),
        (lambda m: m.recommend([m.fold_in({}), "a"]), TypeError, "mixes"),
        (lambda m: m.recommend(m.user_ids_[0], items=["nothing"]), ValueError, "leave it out of items="),
        (lambda m: m.similar("nothing"), ValueError, "does not know the item 'nothing'"),
        (lambda m: m.predict([m.user_ids_[0]] * 3, ["item 1"] * 2), ValueError, "equally many, got 3 and 2"),
        (lambda m: m.predict([m.user_ids_[0]], ["item 1"], unknown="guess"), ValueError, "unknown='guess'"),
        (lambda m: m.fold_in({"item 1": float("nan")}), ValueError, "item 'item 1' is NaN"),
        (lambda m: m.fold_in({"item 1": "good"}), TypeError, "not a number"),
        (lambda m: m.fold_in(["item 1", "item 2"]), TypeError, "dict.fromkeys"),
        (lambda m: m.fold_in("item 1"), TypeError, "must be a dict"),
        (lambda m: m.fold_in([("item 1", 1), ("item 1", 2)]), ValueError, "twice"),
        (lambda m: m.fold_in({}, unknown="guess"), ValueError, "unknown='guess'"),
        (lambda m: m.fold_in(m.seen_[:2]), ValueError, "one user, got a table with 2 rows"),
        (lambda m: m.explain(m.user_ids_[:2], "item 1"), ValueError, "one user and one item, got 2 and 1"),
    ],
)
def test_bad_input(model, call, error, words):
    with pytest.raises(error, match=words):
        call(model)


@given(
    st.one_of(
        st.none(),
        st.booleans(),
        st.floats(),
        st.text(max_size=3),
        st.lists(st.integers(), max_size=3),
        st.binary(max_size=2),
    )
)
def test_any_user_gives_an_answer_or_a_clear_error(model, user):
    try:
        _, scores = model.recommend(user, 2)
    except (ValueError, TypeError) as error:
        assert "user" in str(error)
    else:
        assert not np.isnan(scores).any()


@given(st.dictionaries(st.sampled_from([f"item {j}" for j in range(ITEMS)]), st.floats(-1e3, 1e3), max_size=6))
def test_any_ratings_give_finite_scores_and_no_rated_item(model, given_ratings):
    ids, scores = model.recommend(model.fold_in(given_ratings), ITEMS)
    assert not set(ids) & set(given_ratings)
    assert not np.isnan(scores).any() and np.isfinite(scores[[i is not None for i in ids]]).all()


def test_predictions_are_kept_in_range_on_request(rng):
    rows, columns = np.nonzero(rng.random((60, 30)) < 0.4)
    values = np.clip(3 + 2 * rng.normal(size=(60, 1)) + 2 * rng.normal(size=30), 1, 5)[rows, columns]
    times = rng.random(len(rows))
    X = sp.csr_array((values, (rows, columns)), shape=(60, 30))
    model = MatrixCompletion(2, ridge=0.01, time_bins=2, tol=1e-2).fit(X, timestamps=times)
    users, items = np.divmod(np.arange(1800), 30)
    free, kept = model.predict(users, items), model.predict(users, items, clip=True)
    assert free.max() > 5 and free.min() < 1
    np.testing.assert_array_equal(kept, np.clip(free, 1, 5))
    np.testing.assert_array_equal(model.complete(X, clip=True), np.clip(model.complete(X), 1, 5))
    timed = model.predict(users, items, timestamps=0.5)
    np.testing.assert_array_equal(model.predict(users, items, timestamps=0.5, clip=True), np.clip(timed, 1, 5))
    one = model.predict(int(users[free.argmax()]), int(items[free.argmax()]), clip=True)
    assert isinstance(one, float) and one == 5.0


def test_a_rating_that_is_text_is_refused(table):
    model = MatrixCompletion(2, ridge=1.0, tol=1e-2).fit(table)
    for ratings in ({"item 1": "5"}, [("item 1", b"5")]):
        with pytest.raises(TypeError, match="rating of item 'item 1' is the text"):
            model.fold_in(ratings)


def test_a_frame_of_triples_points_to_ratings(rng):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pairs = sorted({(int(u), int(i)) for u, i in rng.integers(0, 20, (200, 2))})
    columns = {"user": [u for u, _ in pairs], "item": [i for _, i in pairs], "stars": rng.random(len(pairs)).tolist()}
    texts = {**columns, "user": [f"u{u}" for u in columns["user"]]}
    for triples in (columns, texts):
        for frame in (pandas.DataFrame(triples), polars.DataFrame(triples), triples):
            with pytest.raises(ValueError, match=r"unweave\.ratings"):
                MatrixCompletion(1).fit(frame)
    wide = pandas.DataFrame(rng.normal(size=(30, 4)), columns=list("abcd")).mask(rng.random((30, 4)) < 0.2)
    assert MatrixCompletion(1, ridge=1.0, tol=1e-2).fit(wide).components_.shape == (3, 4)
    stars = pandas.DataFrame(rng.integers(1, 6, size=(30, 4)), columns=list("abcd"))
    assert MatrixCompletion(1, ridge=1.0, tol=1e-2).fit(stars).components_.shape == (3, 4)
