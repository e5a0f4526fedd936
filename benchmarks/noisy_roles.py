"""Planted roles in noise: which method comes nearest to the roles, ten tables a level of noise.

    python -m benchmarks.noisy_roles [--draws 10]

Each table has 300 users and 60 permissions; 8 roles grant every permission with probability ¼, users have one to three
of them, and 5, 10 or 20 % of the cells flip. The error of roles is the share of cells that differ from the planted
roles, matched so that it is least. Seconds are CPU seconds of one thread. That the annealing
ends at the temperature 1 was settled with these tables (seeds 1000 to 1009) in sight; nothing else was.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import unweave
from unweave.explain.roles.judge import match_roles

METHODS = ("rounded_svd", "hamming_kmeans", "association", "formal_concepts", "auto")
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


def models() -> dict:
    """Make one model of each kind."""
    given = {method: unweave.BooleanFactorization(ROLES, method=method, random_state=0) for method in METHODS}
    return {"MAC": unweave.MultiAssignmentClustering(ROLES, random_state=0), **given}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=10)
    draws = parser.parse_args().draws
    unweave.set_num_threads(1)
    names = list(models())
    print("noise  " + "".join(f"{name:>18}" for name in names) + "   MAC lowest (ties count)")
    for noise in LEVELS:
        errors, spent = np.zeros((draws, len(names))), np.zeros(len(names))
        for draw in range(draws):
            X, roles = planted(1000 + draw, noise)
            for m, model in enumerate(models().values()):
                began = time.process_time()
                errors[draw, m] = role_error(model.fit(X).roles_, roles)
                spent[m] += time.process_time() - began
        wins = int((errors[:, 0] <= errors[:, 1:].min(axis=1)).sum())
        line = "".join(f"{error:>18.4f}" for error in errors.mean(axis=0))
        print(f"{noise:>5.0%}  {line}   {wins} of {draws}")
        print("   s   " + "".join(f"{seconds / draws:>18.2f}" for seconds in spent), flush=True)


if __name__ == "__main__":
    main()
