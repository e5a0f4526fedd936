"""Group rows that belong together.

Rooms: `kmeans` (k centres, the heart of most others), `soft` (rows that are blends of centres), `trees` (clusters in
clusters), `large` (more rows than fit in memory), `spectral` (clusters of any shape, on a graph), `images`, and the
densities: mixtures and hidden Markov models. `distances` measures whole rows for trees and graphs, `anomaly` scores how
strange rows are to any of these models. Every fit opens its table, chooses a scheme and a plan in words, lets the one
loop run the scheme, and publishes what the last state holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.registry import lazily

if TYPE_CHECKING:
    from unweave.group.anomaly import anomaly_score
    from unweave.group.images import quantize, segment
    from unweave.group.kmeans import KMeans
    from unweave.group.large.bfr import BFR
    from unweave.group.large.coresets import coreset
    from unweave.group.large.cure import CURE
    from unweave.group.markov.model import HiddenMarkov
    from unweave.group.mixtures.bernoulli import BernoulliMixture
    from unweave.group.mixtures.gaussian import GaussianMixture
    from unweave.group.soft import SoftClustering
    from unweave.group.spectral import SpectralClustering
    from unweave.group.trees.agglomerative import Agglomerative
    from unweave.group.trees.divisive import Divisive

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

# One job does not load what another needs: each name is imported when it is asked for.
_HOMES = {
    "KMeans": "kmeans",
    "coreset": "large.coresets",
    "BFR": "large.bfr",
    "CURE": "large.cure",
    "Agglomerative": "trees.agglomerative",
    "Divisive": "trees.divisive",
    "SpectralClustering": "spectral",
    "SoftClustering": "soft",
    "GaussianMixture": "mixtures.gaussian",
    "BernoulliMixture": "mixtures.bernoulli",
    "HiddenMarkov": "markov.model",
    "anomaly_score": "anomaly",
    "segment": "images",
    "quantize": "images",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
