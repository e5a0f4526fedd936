"""Matrix factorisations X ≈ U·Z under any loss and any constraints.

A table X (n×m) is explained by codes U (n×k) and components Z (k×m): a loss says what ≈ means, a penalty on each side
says which U and Z are allowed, and one engine fits every such sentence.

>>> import numpy as np
>>> import unweave
>>> X = np.outer([1.0, 2.0, 3.0], [3.0, 0.0, 1.0])
>>> model = unweave.NMF(1, random_state=0).fit(X)
>>> bool(np.allclose(model.codes_ @ model.components_, X, atol=1e-3))
True

Public names are loaded when first used, so ``import unweave`` itself costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unweave.registry import ESTIMATORS, OTHERS, find

if TYPE_CHECKING:
    from unweave import judge, losses, penalties, select
    from unweave.complete import *
    from unweave.complete.ratings import ratings
    from unweave.complete.ratings.features import features
    from unweave.compress import *
    from unweave.data.named import NamedTable
    from unweave.data.readers import read
    from unweave.data.recipe import prepare
    from unweave.embed import *
    from unweave.explain import *
    from unweave.factorization import Factorization
    from unweave.group import *
    from unweave.judge import split_ratings
    from unweave.parallel import get_num_threads, set_num_threads
    from unweave.persist import load
    from unweave.predict.networks import CNN, MLP, RNN, Autoencoder
    from unweave.predict.radial import RBFNetwork
    from unweave.predict.threshold import parity_network, threshold_network
    from unweave.predict.trees import DecisionTree
    from unweave.scale.files import blocks

__version__ = "0.1.0.dev0"

__all__ = [*ESTIMATORS, *OTHERS, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in ESTIMATORS and name not in OTHERS:
        raise AttributeError(f"module 'unweave' has no attribute {name!r}")
    value = globals()[name] = find(name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)  # names only: nothing is loaded
