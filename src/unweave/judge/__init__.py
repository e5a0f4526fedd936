"""Judge: split ratings, measure predictions and lists, and set a model beside baselines."""

from unweave.judge.area import auc
from unweave.judge.baselines import Biases, Mean, MeanImputedSVD, Popularity
from unweave.judge.errors import mae, rmse
from unweave.judge.ranking import coverage, map_at, ndcg_at, precision_at, recall_at, relevant_items
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
