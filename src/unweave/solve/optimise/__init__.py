"""Optimisers for any smooth problem: SGD, momentum, Nesterov, AdaGrad, Adam, with schedules and weight decay; L-BFGS.

`minimise` takes a function; models take the `schemes` (an epoch of mini-batches, or a step of L-BFGS), which run in the
one loop like everything else. `rules` turn a gradient into a step, `schedules` shorten it, `pairs` is L-BFGS's memory.
"""

from unweave.solve.optimise.minimise import Minimum, minimise
from unweave.solve.optimise.rules import SGD, AdaGrad, Adam, Momentum, Nesterov, Rule
from unweave.solve.optimise.schedules import constant, cosine, exponential, inverse
from unweave.solve.optimise.schemes import Epochs, QuasiNewton, Smooth

__all__ = [
    "SGD",
    "AdaGrad",
    "Adam",
    "Epochs",
    "Minimum",
    "Momentum",
    "Nesterov",
    "QuasiNewton",
    "Rule",
    "Smooth",
    "constant",
    "cosine",
    "exponential",
    "inverse",
    "minimise",
]
