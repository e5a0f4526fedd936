"""Select: how many components, clusters or states; criteria one by one, and one function that tries them all."""

from unweave.select.auto_search import auto_count
from unweave.select.bi_cross import BiCrossValidation
from unweave.select.choose import choose, stability
from unweave.select.chosen import Choice
from unweave.select.completion import Completion
from unweave.select.criteria import AIC, BIC, ICL, CrossValidation, Elbow, HeldOut, Knee, Silhouette, Stability
from unweave.select.distance import clustering_distance
from unweave.select.elbow import elbow
from unweave.select.groups import Groups
from unweave.select.held_out import held_out_entries
from unweave.select.information import aic, bic, icl
from unweave.select.knee import knee
from unweave.select.models import ModelChoice, best_model
from unweave.select.separation import GaussianGap, Separation
from unweave.select.silhouette import silhouette, silhouette_rows

__all__ = [
    "choose",
    "Choice",
    "best_model",
    "ModelChoice",
    "elbow",
    "knee",
    "silhouette",
    "silhouette_rows",
    "aic",
    "bic",
    "icl",
    "stability",
    "clustering_distance",
    "held_out_entries",
    "auto_count",
    "Groups",
    "Stability",
    "Silhouette",
    "BIC",
    "AIC",
    "ICL",
    "HeldOut",
    "BiCrossValidation",
    "Completion",
    "CrossValidation",
    "Elbow",
    "Knee",
    "Separation",
    "GaussianGap",
]
