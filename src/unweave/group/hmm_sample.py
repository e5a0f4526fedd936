"""Drawing sequences from a chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.group.hmm_chain import Chain
from unweave.kernels.markov import walk


def draw(chain: Chain, n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Rows of one sequence of `n` steps and its states."""
    states = np.empty(n, np.int64)
    ends = np.cumsum(chain.transition, axis=1)
    walk(np.cumsum(chain.start) / chain.start.sum(), ends / ends[:, -1:], rng.random(n), states)
    return chain.emission.draw(states, rng), states
