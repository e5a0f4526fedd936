"""Predict: what was learned, put to use on a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.registry import lazily

if TYPE_CHECKING:
    from unweave.predict.kernels.base import check_psd
    from unweave.predict.kernels.strings import Spectrum, Substrings, WeightedDegree
    from unweave.predict.kernels.subsequences import Subsequences
    from unweave.predict.kernels.transformers import KernelFeatures, KernelTable
    from unweave.predict.kernels.trees import Trees
    from unweave.predict.kernels.vectors import Gaussian, Linear, Polynomial
    from unweave.predict.machines.logistic import KernelLogistic
    from unweave.predict.networks import CNN, MLP, RNN, Autoencoder
    from unweave.predict.radial import RBFNetwork
    from unweave.predict.threshold import parity_network, threshold_network
    from unweave.predict.trees import DecisionTree

# Each name is imported when it is asked for: a kernel needs nothing of what networks need.
_HOMES: dict[str, str] = {
    # kernels and kernel machines
    "Linear": "kernels",
    "Polynomial": "kernels",
    "Gaussian": "kernels",
    "Substrings": "kernels",
    "Subsequences": "kernels",
    "Spectrum": "kernels",
    "WeightedDegree": "kernels",
    "Trees": "kernels",
    "check_psd": "kernels",
    "KernelTable": "kernels",
    "KernelFeatures": "kernels",
    "KernelLogistic": "machines",
    # trees and networks
    "DecisionTree": "trees",
    "RBFNetwork": "radial",
    "threshold_network": "threshold",
    "parity_network": "threshold",
    "MLP": "networks",
    "CNN": "networks",
    "RNN": "networks",
    "Autoencoder": "networks",
}

__all__ = list(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
