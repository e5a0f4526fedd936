"""Two frames of ratings: judged by id, whatever the order and whoever is in only one of them."""

import numpy as np
import pytest

import unweave
from unweave.judge import judge, mae, rmse, split_users

FRAME = ("who", "what", "stars")


@pytest.fixture(scope="module")
def frames():
    """Ratings of 60 × 30 with taste, as a frame to fit and one to judge by, in another order and with strangers."""
    rng = np.random.default_rng(0)
    truth = 3 + rng.normal(size=(60, 2)) @ rng.normal(size=(2, 30)) + rng.normal(size=30)
    rows, columns = np.nonzero(rng.random(truth.shape) < 0.5)
    order, out = rng.permutation(len(rows)), rng.random(len(rows)) < 0.2
    whole = {"who": [f"u{i}" for i in rows], "what": columns.tolist(), "stars": truth[rows, columns].round(2).tolist()}
    train = {name: [whole[name][k] for k in order if not out[k]] for name in FRAME}
    test = {name: [whole[name][k] for k in order[::-1] if out[k]] for name in FRAME}
    known = set(train["who"]), set(train["what"])
    assert set(test["who"]) <= known[0] and set(test["what"]) <= known[1]
    return train, test


def table(frame, **more):
    full = {name: [*frame[name], *more.get(name, [])] for name in FRAME}
    return unweave.ratings(full, user="who", item="what", value="stars")


STRANGERS = {"who": ["nobody", "u3", "nobody"], "what": [5, 999, 7], "stars": [1.0, 2.0, 3.0]}


def test_frames_are_matched_by_id(frames):
    train, test = table(frames[0]), table(frames[1])
    model = unweave.MatrixCompletion(2, ridge=0.3, tol=1e-3).fit(train)
    found = judge(model, train, test)
    expected = model.predict(frames[1]["who"], frames[1]["what"]) - np.array(frames[1]["stars"])
    assert found.scores["MatrixCompletion"]["RMSE"] == pytest.approx(np.sqrt(np.mean(expected**2)))
    assert found.scores["MatrixCompletion"]["RMSE"] < 0.7 * found.scores["Biases"]["RMSE"]
    assert rmse(model, test) == pytest.approx(np.sqrt(np.mean(expected**2)))
    ranked = judge(model, train, test, kind="ranking", at_least=4.0)
    assert ranked.scores["MatrixCompletion"]["AUC"] > 0.7 > ranked.scores["Popularity"]["AUC"]


def test_strangers_are_left_out_and_counted(frames):
    train, test, more = table(frames[0]), table(frames[1]), table(frames[1], **STRANGERS)
    model = unweave.MatrixCompletion(2, ridge=0.3, tol=1e-3).fit(train)
    plain, found = judge(model, train, test), judge(model, train, more)
    assert found.scores == plain.scores and found.test == plain.test
    assert "3 ratings are left out: train does not know 1 of their users and 1 of their items" in found.notes
    with pytest.warns(UserWarning, match="3 ratings are left out: the model does not know"):
        assert mae(model, more) == mae(model, test)


def test_score_takes_a_frame_with_other_items(frames):
    train, test, more = table(frames[0]), table(frames[1]), table(frames[1], what=[999], who=["u3"], stars=[2.0])
    model = unweave.MatrixCompletion(2, ridge=0.3, tol=1e-3).fit(train)
    predicted = model.complete(test)  # in the order of the model's items
    places = {item: place for place, item in enumerate(model.item_ids_)}
    users = {user: place for place, user in enumerate(test.user_ids)}
    guess = [predicted[users[who], places[what]] for who, what in zip(frames[1]["who"], frames[1]["what"], strict=True)]
    assert model.score(test) == pytest.approx(-0.5 * np.mean((np.array(guess) - frames[1]["stars"]) ** 2))
    with pytest.warns(UserWarning, match="does not know 0 of their users and 1 of their items"):
        assert model.score(more) == pytest.approx(model.score(test))


def test_users_who_come_later_are_matched_by_item(frames):
    whole = table({name: [*frames[0][name], *frames[1][name]] for name in FRAME})
    train, given, hidden = split_users(whole, test=0.3)
    model = unweave.MatrixCompletion(2, ridge=0.3, tol=1e-3).fit(train)
    plain = judge(model, train, hidden, given=given)
    order = np.random.default_rng(1).permutation(whole.shape[1])
    moved = [
        part.with_(
            X=part.X[:, order], columns=[part.columns[j] for j in order], item_ids=part.item_ids[order], times=None
        )
        for part in (given, hidden)
    ]
    found = judge(model, train, moved[1], given=moved[0])
    assert found.scores["MatrixCompletion"]["RMSE"] == pytest.approx(plain.scores["MatrixCompletion"]["RMSE"])
