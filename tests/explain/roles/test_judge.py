"""The five criteria of role mining, by hand on small tables, and side by side on planted ones."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave.explain.roles.judge import MEASURES, assign, judge_roles, match_roles, similarity

ROLES = np.repeat(np.eye(3, dtype=int), 4, axis=1)


def table(n=60, seed=0):
    return np.random.default_rng(seed).integers(0, 2, (n, 3)) @ ROLES


def fitted(X, roles, assignments):
    """A model whose roles are given."""
    model = unweave.MultiAssignmentClustering(len(roles)).fit(X)
    model.roles_, model.assignments_ = np.asarray(roles), np.asarray(assignments)
    return model


def test_reconstruction_and_size_by_hand():
    X = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]])
    model = fitted(X, [[1, 1, 0]], [[1], [0], [1]])
    found = judge_roles(model, X, n_folds=0, n_resamples=0).scores["MultiAssignmentClustering"]
    assert found["false_grants"] == 1 and found["false_denials"] == 2 and found["error"] == pytest.approx(3 / 9)
    assert found["roles"] == 1 and found["user_roles"] == 2 and found["role_permissions"] == 2
    assert found["role_error"] is None and found["new_error"] is None and found["stability"] is None


def test_roles_are_compared_with_planted_ones_whatever_their_order_and_number():
    X = table()
    planted = ROLES[[2, 0, 1]]
    exact = judge_roles(unweave.RoleMiner(), X, planted=planted, n_folds=0, n_resamples=0).scores["RoleMiner"]
    assert exact["role_error"] == 0 and exact["roles_found"] == 3
    model = fitted(X, ROLES[:2], np.zeros((60, 2), int))
    fewer = judge_roles(model, X, planted=planted, n_folds=0, n_resamples=0).scores["MultiAssignmentClustering"]
    assert fewer["roles_found"] == 2 and fewer["role_error"] == pytest.approx(4 / 36)  # the third role's permissions


def test_new_users_are_predicted_from_a_part_and_roles_come_back():
    models = {"exact": unweave.RoleMiner(), "noisy": unweave.MultiAssignmentClustering(3, random_state=0)}
    verdict = judge_roles(models, table(), planted=ROLES, n_folds=3, n_resamples=3, random_state=1)
    for scores in verdict.scores.values():
        assert scores["stability"] == 1 and scores["new_error"] < 0.06
        assert list(scores) == list(MEASURES)
    again = judge_roles(models, sp.csr_array(table()), planted=ROLES, n_folds=3, n_resamples=3, random_state=1)
    assert again.scores == verdict.scores


def test_noise_hurts_exact_roles_and_hardly_a_model_of_noise():
    rng = np.random.default_rng(0)
    X = (table(150) ^ (rng.random((150, 12)) < 0.08)).astype(float)
    models = {"exact": unweave.RoleMiner(), "noisy": unweave.MultiAssignmentClustering(3, random_state=0)}
    verdict = judge_roles(models, X, planted=ROLES, n_folds=3, n_resamples=2)
    exact, noisy = verdict.scores["exact"], verdict.scores["noisy"]
    assert exact["error"] == 0 and noisy["error"] > 0.04  # one copies the accidents
    assert noisy["new_error"] < exact["new_error"] and noisy["stability"] == 1
    assert noisy["role_error"] == 0 < exact["role_error"] and noisy["user_roles"] < exact["user_roles"]


def test_a_verdict_is_a_table_a_text_and_json():
    verdict = judge_roles({"a": unweave.RoleMiner()}, table(), n_folds=2, n_resamples=0)
    assert verdict.frame().shape == (1, 1 + len(MEASURES))
    text = str(verdict)
    assert "false_grants" in text and "stability" not in text and "60 users × 12 permissions" in text
    assert json.loads(json.dumps(verdict.as_dict()))["scores"]["a"]["roles"] == 3
    assert "to grant them nothing would be wrong" in verdict.notes[0]


def test_the_pieces_by_hand():
    i, j = match_roles(ROLES, ROLES[[1, 2, 0]])
    np.testing.assert_array_equal(ROLES[i], ROLES[[1, 2, 0]][j])
    assert similarity(ROLES, ROLES[::-1]) == 1 and similarity(ROLES, ROLES[:1]) == pytest.approx(1 / 3)
    half = np.where(np.arange(12) < 2, 1.0, np.nan)[None, :]
    assert assign(ROLES, half).tolist() == [[1, 0, 0]]
    assert assign(ROLES, np.zeros((1, 12))).tolist() == [[0, 0, 0]]


@pytest.mark.parametrize(
    "models, X, more, error, words",
    [
        (unweave.RoleMiner(), np.full((4, 3), 2.0), {}, ValueError, "zeros and ones"),
        (unweave.RoleMiner(), np.eye(4), {"planted": np.eye(3)}, ValueError, "planted"),
        (unweave.RoleMiner(), np.eye(4), {"given": 1.0}, ValueError, "given"),
        (unweave.RoleMiner(), np.eye(4), {"n_folds": 9}, ValueError, "n_folds"),
        ({}, np.eye(4), {}, ValueError, "models is empty"),
        ("miner", np.eye(4), {}, TypeError, "estimators"),
    ],
)
def test_bad_arguments_are_named(models, X, more, error, words):
    with pytest.raises(error, match=words):
        judge_roles(models, X, **more)
