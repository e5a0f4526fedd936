"""Fitted models of every kind, small: what a saved file must be able to hold."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import unweave
from unweave.losses import LOSSES, Huber, Weighted
from unweave.penalties import L1, PENALTIES, ElasticNet, Fixed, Sparse

ROWS, COLUMNS, K = 24, 7, 3


def numbers(dtype=np.float64) -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.random((ROWS, K)) @ rng.random((K, COLUMNS)) + 0.1 * rng.random((ROWS, COLUMNS))).astype(dtype)


def holes() -> np.ndarray:
    X = numbers()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    return X


def table_for(loss: str) -> np.ndarray:
    """A table in the domain of a loss."""
    X = numbers()
    if loss in ("logistic", "hinge"):
        return (np.median(X, axis=0) < X).astype(float)
    return np.round(2 * X).clip(0, 3) if loss in ("ordinal", "categorical") else X


def frame(kind: str):
    X = numbers()
    columns = {
        "age": X[:, 0],
        "smokes": (X[:, 1] > np.median(X[:, 1])).astype(int),
        "stars": np.clip(np.round(3 * X[:, 2]), 1, 5),
        "town": np.where(X[:, 3] > np.median(X[:, 3]), "Bath", "Übermühl\u2028"),
        "count": np.round(4 * X[:, 4]),
        "true": X[:, 5] > np.median(X[:, 5]),
    }
    if kind == "polars":
        import polars

        return polars.DataFrame({name: values.tolist() for name, values in columns.items()})
    import pandas

    return pandas.DataFrame(columns)


FRAME_LOSSES = {"age": Huber(0.5), "smokes": "logistic", "stars": "ordinal", "town": "categorical", "count": "absolute",
                "true": "categorical"}  # fmt: skip


def ratings() -> sp.coo_array:
    X = holes()
    known = ~np.isnan(X)
    return sp.coo_array((X[known], np.nonzero(known)), shape=X.shape)


def quiet(model, X, **more):
    """Fit without the warnings that a fit of two iterations deserves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, **more)


def in_parts(model, X, parts: int = 3):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in np.array_split(X, parts) if isinstance(X, np.ndarray) else [X[:9], X[9:]]:
            model.partial_fit(block)
    return model


def variants() -> dict:
    """name → (call that gives a fitted model, table to use it on)."""
    X, N, S = numbers(), holes(), sp.csr_array(np.where(numbers() > 0.8, numbers(), 0))
    F = unweave.Factorization
    few = {"max_iter": 3}
    shared = {
        "random": lambda: quiet(
            F(K, codes="nonnegative", init="random", random_state=np.random.default_rng(3), **few), X
        ),
        "legacy": lambda: quiet(
            F(K, codes="nonnegative", init="random", random_state=np.random.RandomState(3), **few), X
        ),
        "float32": lambda: quiet(F(K, codes="nonnegative", **few), X.astype(np.float32)),
        "pairs": lambda: quiet(F(K, codes=("nonnegative", L1(0.1)), components="l2-ball", **few), X),
        "objects": lambda: quiet(F(K, loss=Huber(0.1), codes=Sparse(2), components="l2-ball", **few), X),
        "elastic": lambda: quiet(F(K, codes=ElasticNet(0.1, 0.3), components="unit-norm", **few), X),
        "fixed": lambda: quiet(F(K, components=Fixed(X[:K]), **few), X),
        "start": lambda: quiet(F(K, codes="nonnegative", init=(X[:, :K].copy(), X[:K].copy()), **few), X),
        "columns-list": lambda: quiet(F(2, loss=["squared"] * 3 + ["huber"] * 4, **few), X),
        "weights": lambda: quiet(F(2, loss="weighted", **few), X, weights=np.ones(X.shape)),
        "by-column": lambda: quiet(F(2, loss=Weighted(np.arange(1.0, COLUMNS + 1)), **few), X),
        "blocks": lambda: quiet(F(K, codes="nonnegative", **few), np.array_split(X, 3)),
        "path": lambda: quiet(F(K, loss="huber", checkpoint=Path("never.ckpt"), callback=print, max_iter=1), X),
        "power": lambda: quiet(F(K, solver="power", **few), X),
        "shrinkage": lambda: quiet(F(K, codes="nuclear", missing="nan", solver="shrinkage", **few), N),
        "stream": lambda: in_parts(F(K, codes="nonnegative", components="nonnegative"), X),
        "stream-huber": lambda: in_parts(F(K, loss="huber"), X),
        "stream-after-fit": lambda: in_parts(quiet(F(K, codes="ridge", components="ridge", **few), X), X),
        "pca": lambda: unweave.PCA(K).fit(X),
        "pca-share": lambda: unweave.PCA(0.9, whiten=True).fit(X),
        "pca-sparse": lambda: unweave.PCA(K).fit(S),
        "pca-stream": lambda: in_parts(unweave.PCA(K), X),
        "pca-blocks": lambda: unweave.PCA(K).fit(np.array_split(X, 3)),
        "svd": lambda: unweave.TruncatedSVD(K).fit(S),
        "svd-stream": lambda: in_parts(unweave.TruncatedSVD(K), X),
        "nmf": lambda: quiet(unweave.NMF(K, alpha_W=0.01, l1_ratio=0.5, **few), X),
        "nmf-kl": lambda: quiet(unweave.NMF(K, loss="kl", **few), S),
        "nmf-stream": lambda: in_parts(unweave.NMF(K), X),
        "kmeans": lambda: unweave.KMeans(K).fit(X),
        "kmeans-weights": lambda: unweave.KMeans(K).fit(X, sample_weight=np.arange(1.0, ROWS + 1)),
        "kmeans-given": lambda: unweave.KMeans(K, init=X[:K]).fit(X),
        "kmeans-sparse": lambda: quiet(unweave.KMeans(K), S),
        "kmeans-stream": lambda: in_parts(unweave.KMeans(K), X),
        "kmeans-stream-after-fit": lambda: in_parts(unweave.KMeans(K).fit(X), X),
        "ratings-fixed": lambda: quiet(unweave.MatrixCompletion(2, ridge=0.1, **few), ratings()),
    }
    told = {name: (call, X) for name, call in shared.items()}
    told |= {
        "mask": (lambda: quiet(F(K, missing=np.isnan(N), **few), X), X),
        "holes": (lambda: quiet(F(K, missing="nan", **few), N), N),
        "zeros": (lambda: quiet(F(K, missing="zeros", codes="ridge", **few), S), S),
        "pca-holes": (lambda: quiet(unweave.PCA(2, missing="nan", **few), N), N),
        "svd-holes": (lambda: quiet(unweave.TruncatedSVD(2, missing="nan", **few), N), N),
        "kmeans-holes": (lambda: quiet(unweave.KMeans(K, missing="nan"), N), N),
        "ratings": (lambda: quiet(unweave.MatrixCompletion(2, **few), ratings()), N),
        "ratings-stream": (lambda: in_parts(unweave.MatrixCompletion(2, ridge=0.1, **few), N, 2), N),
    }
    for kind in ("pandas", "polars"):
        told[f"mixed-{kind}"] = (lambda kind=kind: mixed(frame(kind)), frame(kind))
    return told


def mixed(table):
    sentence = {"loss": FRAME_LOSSES, "codes": "ridge", "components": "ridge", "missing": "nan"}
    return quiet(unweave.Factorization(2, max_iter=3, **sentence), table)


def sentences(loss: str) -> Iterator[tuple[str, object, np.ndarray]]:
    """A fitted model for each penalty on each side that the loss allows; few rows in single precision settle soon."""
    X, k = table_for(loss)[:8, :4].astype(np.float32), 2
    weights = {"weights": np.ones(X.shape)} if loss == "weighted" else {}
    for side in ("codes", "components"):
        for word in PENALTIES:
            penalty = word
            if word == "fixed":
                width = X.shape[1] * (len(np.unique(X)) - 1) if loss == "ordinal" else X.shape[1]
                penalty = Fixed(np.full((len(X), k) if side == "codes" else (k, width), 0.5))
            sides = {"codes": "nonnegative", "components": "nonnegative"} if loss in ("kl", "itakura-saito") else {}
            model = unweave.Factorization(k, loss=loss, max_iter=2, **{**sides, side: penalty})
            try:
                quiet(model, X, **weights)
            except ValueError:  # a sentence that has no meaning, which other tests are about
                continue
            yield f"{side}={word}", model, X


ALL_LOSSES = tuple(LOSSES)
