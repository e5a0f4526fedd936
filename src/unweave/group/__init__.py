"""Group: rows that belong together."""

from unweave.group.agglomerative import Agglomerative
from unweave.group.anomaly import anomaly_score
from unweave.group.bfr import BFR
from unweave.group.coresets import coreset
from unweave.group.cure import CURE
from unweave.group.divisive import Divisive
from unweave.group.images import quantize, segment
from unweave.group.kmeans import KMeans
from unweave.group.markov.model import HiddenMarkov
from unweave.group.mixtures.bernoulli import BernoulliMixture
from unweave.group.mixtures.gaussian import GaussianMixture
from unweave.group.soft_clustering import SoftClustering
from unweave.group.spectral import SpectralClustering

__all__ = [
    "KMeans",
    "coreset",
    "BFR",
    "CURE",
    "Agglomerative",
    "Divisive",
    "SpectralClustering",
    "SoftClustering",
    "GaussianMixture",
    "BernoulliMixture",
    "HiddenMarkov",
    "anomaly_score",
    "segment",
    "quantize",
]
