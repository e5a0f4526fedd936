"""Predict: what was learned, put to use on a target."""

from __future__ import annotations

from unweave.registry import lazily

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
    "RepresentationClassifier": "learned.model",
    "RepresentationRegressor": "learned.model",
    "bias_variance": "evaluation.bias_variance",
    "calibration": "evaluation.calibration",
    "confusion": "evaluation.confusion",
    "learning_curve": "evaluation.learning_curve",
}

__all__ = list(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
