"""Judge: split ratings, measure predictions and lists, and set a model beside baselines.

``split.py`` deals known ratings into parts, by :mod:`unweave.data.hold_out`. ``answers.py`` asks any fitted model for
ratings, lists and scores, ``matching.py`` puts ids of one table in the places of another. ``errors.py`` and
``ranking.py`` turn the answers into measures, and ``verdict.py`` sets a model beside ``baselines.py`` on the same test
part (:func:`judge`). This room is handed models and imports none.
"""

from unweave.judge.baselines import Biases, Mean, MeanImputedSVD, Popularity
from unweave.judge.errors import mae, rmse
from unweave.judge.ranking import auc, coverage, map_at, ndcg_at, precision_at, recall_at, relevant_items
from unweave.judge.split import split_ratings, split_users, strangers
from unweave.judge.verdict import Verdict, judge

__all__ = [
    "split_ratings",
    "split_users",
    "strangers",
    "rmse",
    "mae",
    "precision_at",
    "recall_at",
    "map_at",
    "ndcg_at",
    "auc",
    "coverage",
    "relevant_items",
    "Mean",
    "Biases",
    "MeanImputedSVD",
    "Popularity",
    "judge",
    "Verdict",
]
