"""Select: how many components, clusters or states, and which of several models.

:func:`choose` and :func:`auto_count` (behind ``n_clusters="auto"``, see ``auto.py``) fit copies of an estimator with
several numbers of components: ``trial.py`` makes and fits the copies, a criterion scores each, and the answer is a
:class:`Choice`. ``criteria.py`` finds a criterion by name; the criteria themselves are in a file for each kind:
``silhouette.py``, ``separation.py`` (groups that stand apart), ``stability.py``, ``information.py`` (AIC, BIC, ICL),
``held_out.py`` (entries, blocks, words or rows hidden from the fit) and ``curves.py`` (elbow and knee).
:func:`best_model` (``models.py``) compares models with the same number of clusters. This room is handed estimators and
imports none.
"""

from unweave.select.auto import auto_count
from unweave.select.choose import Choice, choose, stability
from unweave.select.curves import Elbow, Knee, elbow, knee
from unweave.select.held_out import BiCrossValidation, Completion, CrossValidation, HeldOut, held_out_entries
from unweave.select.information import AIC, BIC, ICL, aic, bic, icl
from unweave.select.models import ModelChoice, best_model
from unweave.select.separation import GaussianGap, Groups, Separation
from unweave.select.silhouette import Silhouette, silhouette, silhouette_rows
from unweave.select.stability import Stability, clustering_distance

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
