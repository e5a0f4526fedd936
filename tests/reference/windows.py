"""Slow, obvious twin of `unweave.kernels.windows`: every token, every neighbour."""

import numpy as np


def count_windows(sequences, size, before, after):
    """The table of pairs: row i counts what stands d + 1 places before (`before[d]`) and behind (`after[d]`) i."""
    table = np.zeros((size, size))
    for sequence in sequences:
        for place, i in enumerate(sequence):
            for d, weight in enumerate(before, 1):
                if place - d >= 0:
                    table[i, sequence[place - d]] += weight
            for d, weight in enumerate(after, 1):
                if place + d < len(sequence):
                    table[i, sequence[place + d]] += weight
    return table
