"""Roles: exact covers with the fewest roles, and a given number of roles with the fewest errors, on access tables."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.datasets import need
from benchmarks.harness import Fit, Row

# Constants were set before anything was measured, but that careful growth is among the starts was decided on firewall1.
TUNED = "no data (a start was added after a look at firewall1)"
HOMES = {"mushroom": "boolean-fimi", "tic_tac_toe": "boolean-fimi"}


def loader(name: str) -> Callable[[Path, str], sp.csr_array]:
    """Load an access table; the first rows of it where the size is not full."""

    def load(folder: Path, size: str) -> sp.csr_array:
        path = need(folder / HOMES.get(name, "role-mining"), f"{name}_csr.npz")
        X = sp.csr_array(sp.load_npz(path)).astype(np.uint8)
        return X if size == "full" else sp.csr_array(X[: 200 if size == "quick" else 30])

    return load


def fewest(X: sp.csr_array, target: float | None) -> Fit:
    """The roles of an exact cover."""
    from unweave import RoleMiner

    model = RoleMiner().fit(X)
    return Fit((model.assignments_, model.roles_), model.n_iter_)


def greedy_concepts(X: sp.csr_array, threads: int) -> Fit:
    """The published greedy (GreConD) until all is covered: as PyBMF does it, without its prints and files."""
    from PyBMF.models.GreConD import GreConD

    return Fit(_bmf(GreConD(), X))


def with_k(k: int) -> Callable[[sp.csr_array, float | None], Fit]:
    """Ours with k roles."""

    def ours(X: sp.csr_array, target: float | None) -> Fit:
        from unweave import BooleanFactorization

        model = BooleanFactorization(k).fit(X)
        return Fit((model.assignments_, model.roles_), model.n_iter_)

    return ours


def peers(k: int) -> dict[str, Callable[[sp.csr_array, int], Fit]]:
    """PyBMF's ASSO (at a threshold of 0.8) and GreConD with k roles."""

    def asso(X: sp.csr_array, threads: int) -> Fit:
        from PyBMF.models.Asso import Asso

        return Fit(_bmf(Asso(tau=0.8, k=k), X))

    def grecond(X: sp.csr_array, threads: int) -> Fit:
        from PyBMF.models.GreConD import GreConD

        return Fit(_bmf(GreConD(k=k), X))

    return {"PyBMF Asso": asso, "PyBMF GreConD": grecond}


def _bmf(model: Any, X: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    model.finish = model.show_matrix = lambda *args, **keywords: None  # tables and files that nobody asked for
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        model.fit(
            sp.csr_matrix(X).astype(int), task="reconstruction", verbose=False, display=False, show_logs=False,
            save_model=False, show_result=False,
        )  # fmt: skip
    return np.asarray(model.U.todense()).astype(int), np.asarray(model.V.todense()).astype(int).T


def errors(X: sp.csr_array, answer: tuple[np.ndarray, np.ndarray]) -> float:
    """Entries that differ."""
    U, Z = (sp.csr_array(np.asarray(factor, dtype=np.int32)) for factor in answer)
    made = sp.csr_array(U @ Z)
    made.data[:] = 1
    return float(abs(made.astype(int) - X.astype(int)).sum())


def count(X: sp.csr_array, answer: tuple[np.ndarray, np.ndarray]) -> float:
    """Roles of an exact cover; one that is not exact counts as many more as entries differ."""
    return float(np.asarray(answer[1]).any(axis=1).sum() + errors(X, answer))


def cover(name: str) -> Row:
    """A row of an exact cover."""
    return Row(
        name=f"roles-{name}", title=f"fewest roles of {name.replace('_', ' ')}, an exact cover", target=1.0,
        load=loader(name), ours=fewest, peers={"PyBMF GreConD": greedy_concepts} if name == "firewall1" else {},
        objective=count, dtype="float64", stops=False, value="roles", repeats=1, tuned_on=TUNED,
    )  # fmt: skip


def approximate(name: str, k: int) -> Row:
    """A row of k roles with errors."""
    return Row(
        name=f"roles-{name}-{k}", title=f"{k} roles of {name.replace('_', ' ')}, errors", target=50.0,
        load=loader(name), ours=with_k(k), peers=peers(k), objective=errors, dtype="float64", stops=False,
        value="errors", repeats=1, tuned_on=TUNED,
    )  # fmt: skip


ROWS = [
    *(cover(name) for name in ("emea", "firewall1", "customer", "americas_small", "americas_large")),
    approximate("firewall1", 5),
    approximate("firewall1", 20),
    approximate("tic_tac_toe", 10),
]
