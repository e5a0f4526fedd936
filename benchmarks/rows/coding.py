"""Sparse codes on a dictionary, and dictionaries, of patches of photographs: against spams and scikit-learn.

Codes are timed as one call that is handed rows and atoms. Objectives are summed from the answers: ½‖X − U·D‖² + λ‖U‖₁
for the lasso, ‖X − U·D‖² for at most six nonzeros, and for a dictionary the first after exact codes on it, found by one
and the same method for all.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.harness import Fit, Missing, Row

ATOMS, SIZE, NONZEROS = 256, 8, 6
LENGTHS = {"full": 50_000, "quick": 5_000, "tiny": 600}


class Patches(NamedTuple):
    """Rows (their means taken off, all scaled to one rms), the strength, and a dictionary to code on."""

    X: np.ndarray
    strength: float
    atoms: np.ndarray


def _images(folder: Path, which: str) -> np.ndarray:
    """Pictures of one size, as numbers."""
    if which == "fashion":
        file = folder / "fashion-mnist" / "train-images-idx3-ubyte.gz"
        if not file.exists():
            raise Missing(f"{file} is not there")
        with gzip.open(file) as raw:
            return np.frombuffer(raw.read(16 + 784 * 4000)[16:], np.uint8).reshape(-1, 28, 28).astype(float)
    file = folder / "olivetti-faces" / "olivetti_64x64.npz"
    if not file.exists():
        raise Missing(f"{file} is not there")
    with np.load(file) as arrays:
        found = next(arrays[name] for name in arrays.files if arrays[name].size >= 400 * 64 * 64)
    return found.reshape(-1, 64, 64).astype(float)


def _load(which: str):
    def load(folder: Path, size: str) -> Patches:
        images, n, rng = _images(folder, which), LENGTHS[size], np.random.default_rng(0)
        high, wide = images.shape[1] - SIZE + 1, images.shape[2] - SIZE + 1
        places = zip(rng.integers(len(images), size=n), rng.integers(high, size=n), rng.integers(wide, size=n))
        X = np.array([images[i, r : r + SIZE, c : c + SIZE].ravel() for i, r, c in places])
        X -= X.mean(axis=1, keepdims=True)
        X /= np.sqrt(np.square(X).mean())
        # a dictionary that neither side learned: rows of the table themselves, of length one
        lengths = np.linalg.norm(X, axis=1)
        chosen = rng.choice(np.flatnonzero(lengths > np.median(lengths)), ATOMS, replace=False)
        return Patches(np.ascontiguousarray(X), 1.0, X[chosen] / lengths[chosen, None])

    return load


def _lasso_value(data: Patches, codes) -> float:
    U = codes.toarray() if sp.issparse(codes) else codes
    return float(0.5 * np.square(data.X - U @ data.atoms).sum() + data.strength * np.abs(U).sum())


def _error(data: Patches, codes) -> float:
    U = codes.toarray() if sp.issparse(codes) else codes
    assert (np.count_nonzero(U, axis=1) <= NONZEROS).all(), "six nonzeros at most"
    return float(np.square(data.X - U @ data.atoms).sum())


def _ours_lasso(data: Patches, target):
    import unweave

    coder = unweave.SparseCoder(data.atoms, strength=data.strength).fit(data.X[:50])
    return Fit(coder.transform(data.X), 1)


def _ours_pursuit(data: Patches, target):
    import unweave

    coder = unweave.SparseCoder(data.atoms, n_nonzero=NONZEROS).fit(data.X[:50])
    return Fit(coder.transform(data.X), 1)


def _spams_lasso(data: Patches, threads: int):
    import spams

    X, D = np.asfortranarray(data.X.T), np.asfortranarray(data.atoms.T)
    return Fit(spams.lasso(X, D, lambda1=data.strength, numThreads=threads).T, 1)


def _spams_pursuit(data: Patches, threads: int):
    import spams

    X, D = np.asfortranarray(data.X.T), np.asfortranarray(data.atoms.T)
    return Fit(spams.omp(X, D, L=NONZEROS, numThreads=threads).T, 1)


def _sklearn_codes(algorithm: str, **how):
    def call(data: Patches, threads: int) -> Fit:
        from sklearn.decomposition import sparse_encode

        alpha = {"alpha": data.strength} if algorithm == "lasso_cd" else {}
        return Fit(sparse_encode(data.X, data.atoms, algorithm=algorithm, n_jobs=threads, **alpha, **how), 1)

    return call


def _ours_dictionary(data: Patches, target):
    import unweave

    stop = None if target is None else lambda progress: progress.objective <= target
    model = unweave.DictionaryLearning(
        ATOMS, strength=data.strength, max_iter=40, tol=0 if target is not None else 1e-4, random_state=0, callback=stop
    ).fit(data.X)
    return Fit(model.components_, model.n_iter_)


def _spams_dictionary(data: Patches, threads: int):
    import spams

    X = np.asfortranarray(data.X.T)
    passes = 10 * len(data.X) // 512
    D = spams.trainDL(
        X, K=ATOMS, lambda1=data.strength, iter=max(10, passes), batchsize=512, numThreads=threads, verbose=False
    )
    return Fit(np.ascontiguousarray(D.T), passes)


def _dictionary_value(data: Patches, atoms) -> float:
    import unweave

    coder = unweave.SparseCoder(atoms, strength=data.strength).fit(data.X[:50])
    return _lasso_value(data._replace(atoms=atoms), coder.transform(data.X))


def _made(which: str, title: str) -> list[Row]:
    shared = {"load": _load(which), "dtype": "float64", "tuned_on": "patches of china.jpg", "reported_on": title}
    return [
        Row(
            name=f"lasso-codes-{which}", title=f"lasso codes, 50k patches of {title}, 256 atoms", target=1.2,
            ours=_ours_lasso, peers={"spams lasso": _spams_lasso}, objective=_lasso_value, stops=False,
            slack=1e-5, **shared,
        ),
        Row(
            name=f"lasso-codes-{which}-sklearn", title=f"lasso codes, 50k patches of {title}, 256 atoms", target=10.0,
            ours=_ours_lasso, objective=_lasso_value, stops=False, slack=1e-5, repeats=1,
            peers={"scikit-learn lasso_cd": _sklearn_codes("lasso_cd", max_iter=1000)}, **shared,
        ),
        Row(
            name=f"pursuit-{which}", title=f"6 nonzeros, 50k patches of {title}, 256 atoms", target=1.0,
            ours=_ours_pursuit, peers={"spams omp": _spams_pursuit}, objective=_error, stops=False,
            value="squared error", **shared,
        ),
        Row(
            name=f"pursuit-{which}-sklearn", title=f"6 nonzeros, 50k patches of {title}, 256 atoms", target=50.0,
            ours=_ours_pursuit, objective=_error, stops=False, value="squared error", repeats=1,
            peers={"scikit-learn omp": _sklearn_codes("omp", n_nonzero_coefs=NONZEROS)}, **shared,
        ),
        Row(
            name=f"dictionary-{which}", title=f"dictionary of 256 atoms, 50k patches of {title}", target=1.2,
            ours=_ours_dictionary, peers={"spams trainDL": _spams_dictionary}, objective=_dictionary_value,
            slack=1e-4, repeats=1, **shared,
        ),
    ]  # fmt: skip


ROWS = [*_made("faces", "Olivetti faces"), *_made("fashion", "Fashion-MNIST")]
