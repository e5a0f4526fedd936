"""Count how often ``HiddenMarkov("auto")`` finds the number of states of made chains of symbols.

    python -m benchmarks.tune.hidden_states [set|reported] [steps ...]

The price of a parameter was set on the kinds of ``SET`` (400, 1200 and 4000 steps, seeds from 100); the kinds of
``REPORTED`` (500, 1500 and 4000 steps, seeds 200 to 204) were looked at once, after that.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

Kind = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


def staying(rng: np.random.Generator, k: int, stay: float) -> np.ndarray:
    """Random moves of states that stay."""
    return (1 - stay) * rng.dirichlet(np.ones(k), k) + stay * np.eye(k)


def even(k: int, stay: float) -> np.ndarray:
    """States that stay, or go to any other as often."""
    return np.full((k, k), (1 - stay) / (k - 1)) * (1 - np.eye(k)) + stay * np.eye(k)


def circle(k: int, stay: float, go: float) -> np.ndarray:
    """States that stay, or go on to the next."""
    moves = stay * np.eye(k) + go * np.roll(np.eye(k), 1, axis=1)
    return moves + (1 - stay - go) / k


def symbols(k: int, n: int, weight: float) -> Callable[[np.random.Generator], np.ndarray]:
    """Random symbols of k states; the larger the weight, the more alike."""
    return lambda rng: rng.dirichlet(np.full(n, weight), k)


COIN = np.array([[0.95, 0.05], [0.1, 0.9]])
SET: dict[str, Kind] = {
    "3 that stay": lambda rng: (staying(rng, 3, 0.9), symbols(3, 8, 0.7)(rng)),
    "4 that stay": lambda rng: (staying(rng, 4, 0.9), symbols(4, 8, 0.7)(rng)),
    "coins": lambda rng: (COIN, np.array([[0.5, 0.5], [0.9, 0.1]])),
    "3 alike": lambda rng: (even(3, 0.92), symbols(3, 12, 1.0)(rng)),
    "5 alike": lambda rng: (even(5, 0.95), symbols(5, 12, 1.0)(rng)),
    "4 with noise": lambda rng: (even(4, 0.9), 0.5 * np.eye(4, 6) + 0.5 / 6),
    "1": lambda rng: (np.ones((1, 1)), symbols(1, 6, 1.0)(rng)),
    "3 fast": lambda rng: (rng.dirichlet(np.full(3, 0.5), 3), symbols(3, 7, 0.3)(rng)),
    "1 of 15 symbols": lambda rng: (np.ones((1, 1)), symbols(1, 15, 1.0)(rng)),
    "2 of 25 symbols": lambda rng: (even(2, 0.9), symbols(2, 25, 0.5)(rng)),
    "3 clear": lambda rng: (even(3, 0.8), 0.8 * np.eye(3, 9) + 0.2 / 9),
    "3 in a slow circle": lambda rng: (circle(3, 0.98, 0.02), symbols(3, 6, 1.0)(rng)),
}
REPORTED: dict[str, Kind] = {
    "4 in a circle": lambda rng: (circle(4, 0.0, 0.92), symbols(4, 5, 0.5)(rng)),
    "2 in turn": lambda rng: (even(2, 0.1), np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])),
    "dice": lambda rng: (COIN, np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]])),
    "6 in a circle": lambda rng: (circle(6, 0.85, 0.15), symbols(6, 10, 0.5)(rng)),
    "2 rare of 3": lambda rng: (
        np.array([[0.97, 0.02, 0.01], [0.1, 0.9, 0.0], [0.1, 0.05, 0.85]]),
        symbols(3, 9, 0.6)(rng),
    ),
    "5 that overlap": lambda rng: (even(5, 0.93), np.hstack([0.6 * np.eye(5), np.full((5, 5), 0.08)])),
    "2 much alike": lambda rng: (even(2, 0.97), symbols(2, 10, 2.0)(rng)),
    "1 of 20 symbols": lambda rng: (np.ones((1, 1)), symbols(1, 20, 1.0)(rng)),
    "4 of 30 symbols": lambda rng: (staying(rng, 4, 0.8), symbols(4, 30, 0.3)(rng)),
}


def draw(rng: np.random.Generator, moves: np.ndarray, shown: np.ndarray, n: int) -> np.ndarray:
    """One column of symbols."""
    k, ends, chance = len(moves), np.cumsum(moves, axis=1), rng.random(n)
    states = np.zeros(n, int)
    states[0] = rng.integers(k)
    for t in range(1, n):
        states[t] = min(k - 1, int(np.searchsorted(ends[states[t - 1]], chance[t])))
    found = (rng.random(n)[:, None] > np.cumsum(shown, axis=1)[states]).sum(axis=1)
    return found.clip(max=shown.shape[1] - 1)[:, None]


def main(which: str = "reported", *steps: str) -> None:
    """Print the numbers found for every kind, and how many are right."""
    from unweave import HiddenMarkov

    warnings.simplefilter("ignore")
    kinds, first = (SET, 100) if which == "set" else (REPORTED, 200)
    right, tried, began = 0, 0, time.process_time()
    for name, make in kinds.items():
        for n in map(int, steps or ("500", "1500", "4000")):
            found = []
            for seed in range(first, first + 5):
                rng = np.random.default_rng([seed, n])
                moves, shown = make(rng)
                X = draw(rng, moves, shown, n)
                found.append(HiddenMarkov("auto", emission="discrete").fit(X).n_components_)
            right, tried = right + found.count(len(moves)), tried + len(found)
            print(f"{name}, {n} steps: {len(moves)} -> {found}", flush=True)
    print(f"{right} of {tried} right, {time.process_time() - began:.0f} CPU s")


if __name__ == "__main__":
    main(*sys.argv[1:])
