"""The work that is measured, one file a kind."""

from __future__ import annotations

from importlib import import_module

from benchmarks.harness import Row

# In the order of the printed table.
FILES = [
    "pca",
    "pca_sparse",
    "pca_stream",
    "svd_sparse",
    "ica",
    "coding",
    "cp",
    "nmf_dense",
    "nmf_text",
    "nmf_kl",
    "nonneg",
    "kmeans_high",
    "kmeans_low",
    "kmeans_found",
    "kmeans_best",
    "kmeans_number",
    "coreset",
    "bfr",
    "gmm",
    "hmm",
    "linkage",
    "silhouette",
    "room",
    "words",
    "lda",
    "plsa",
    "lsa",
    "als",
    "movielens",
    "implicit",
    "ranking",
    "ranking_sets",
    "soft_impute",
    "imputer",
    "front_door",
]
# Long, and of the clusters some need Java or dask-ml: run by name, they stand in the table once they were measured.
APART = [
    "scale",
    "scale_dask",
    "scale_spark",
    "roles",
    "embed_words",
    "embed_pairs",
    "embed_near",
    "strings",
    "splice",
    "kernel_logistic",
    "predict",
]


def rows() -> dict[str, Row]:
    """Every row that `make bench` runs, by its name."""
    return _rows(FILES)


def all_rows() -> dict[str, Row]:
    """These and those that are run by name alone."""
    return _rows([*FILES, *APART])


def _rows(files: list[str]) -> dict[str, Row]:
    found = [row for file in files for row in import_module(f"benchmarks.rows.{file}").ROWS]
    return {row.name: row for row in found}
