"""Gap-weighted common subsequences of a range of strings with a few others side by side.

Level i of ``ahead`` holds, for every prefix of b and the part of a that was read, the common subsequences of i letters,
each weighted by ``decay`` to the power of all letters from its first one to the ends of both (Lodhi et al., 2002). The
few strings b lie in lanes, letter k of lane t in ``letters[k, t]``, so that one instruction serves several of them and
several such chains are under way at once. Letters are numbers in float64 like the weights beside them (no conversion),
and those past the end of a string are -1.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel

# 16 chains hide the latency of the recurrence; 64 were a fifth faster and do twice the work on short lists (splice)
LANES = 16


@kernel
def subsequences(texts, ends, letters, decay, longest, shortest, ahead, values, start, stop):
    """``values[i - start, t]``: weights of common subsequences of `shortest` to `longest` letters of i and lane t.

    String i of `texts` begins where the one before ends. `ahead` (longest x positions x LANES) is scratch; its first
    level is never written and must be 1.
    """
    square, positions = decay * decay, letters.shape[0]
    found, run = np.empty(LANES), np.empty(LANES)
    for i in range(start, stop):
        for t in range(LANES):
            found[t] = 0.0
        for level in range(1, longest):
            for k in range(positions):
                for t in range(LANES):
                    ahead[level, k, t] = 0.0
        for j in range(ends[i - 1] if i > 0 else 0, ends[i]):
            letter = texts[j]
            # from the longest down: a level reads the one below as it was before this letter
            for level in range(longest - 1, -1, -1):
                below = ahead[level]
                counts = 1.0 if level + 1 >= shortest else 0.0
                if level == longest - 1:
                    for k in range(positions):
                        for t in range(LANES):
                            if letters[k, t] == letter:
                                found[t] += below[k, t]
                    continue
                above = ahead[level + 1]
                for t in range(LANES):
                    run[t] = 0.0
                for k in range(positions):
                    for t in range(LANES):
                        met = below[k, t] if letters[k, t] == letter else 0.0
                        found[t] += counts * met
                        if k + 1 < positions:
                            run[t] = decay * run[t] + square * met
                            above[k + 1, t] = decay * above[k + 1, t] + run[t]
        for t in range(LANES):
            values[i - start, t] = square * found[t]
