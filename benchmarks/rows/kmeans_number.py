"""How many clusters: on how many tables is the number right that nobody gave?

Tuned on: FCPS and SIPU (without the three of 100,000 rows) and 42 planted tables. Reported on: Graves's and the "other"
sets of the clustering suite, three tables of scikit-learn and 42 planted tables of other seeds. A table with several
labellings counts if one of their numbers is found. Everybody sees the same 1500 rows at most, spread evenly, and tries
the same numbers, 1 to 20 or half as many again as there are. ``python -m benchmarks.rows.kmeans_number --data FOLDER``
prints every table.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.grouping_data import Labelled, bundled, standardised, suite, suite_names, thinned
from benchmarks.harness import Fit, Row

KINDS = ("equal", "imbalance", "spread", "stretched", "square", "tails", "near")
SEEDS = {"tuned on": range(42), "reported on": range(1000, 1042)}
FAMILIES = {"tuned on": ("fcps", "sipu"), "reported on": ("graves", "other")}
BUNDLED = ("breast_cancer", "digits", "wine")
ROWS_SEEN = 1500


def planted(seed: int) -> Labelled:
    """Clusters of one of seven kinds, 2 to 12 of them, in 2 to 20 columns."""
    rng, kind = np.random.default_rng(seed), KINDS[seed % 7]
    d, k, n = int(rng.choice([2, 2, 3, 5, 10, 20])), int(rng.integers(2, 13)), int(rng.choice([200, 400, 800, 1200]))
    apart = rng.uniform(2.5, 3.5) if kind == "near" else rng.uniform(3.5, 6)
    least = apart * (1.6 if kind in ("stretched", "spread") else 1)
    middles: list[np.ndarray] = []
    while len(middles) < k:
        scale = apart * (k ** (1 / min(d, 3))) * rng.uniform(0.6, 1.2)
        middle = rng.normal(size=d) * scale / np.sqrt(min(d, 3))
        if all(np.linalg.norm(middle - other) >= least for other in middles):
            middles.append(middle)
    shares = rng.dirichlet(np.full(k, 1.5)) * 0.8 + 0.2 / k if kind == "imbalance" else np.full(k, 1 / k)
    own = rng.choice(k, n, p=shares)
    own[: 3 * k] = np.repeat(np.arange(k), 3)
    return Labelled(np.array(middles)[own] + _spread(kind, own, (n, d), k, rng), [k])


def _spread(kind: str, own: np.ndarray, shape: tuple[int, int], k: int, rng: np.random.Generator) -> np.ndarray:
    noise = rng.normal(size=shape)
    if kind == "square":
        noise = rng.uniform(-1.7, 1.7, size=shape)
    if kind == "tails":
        noise = rng.standard_t(5, size=shape)
    if kind == "spread":
        noise = noise * rng.uniform(0.4, 1.3, size=k)[own][:, None]
    if kind == "stretched":
        d = shape[1]
        for j in range(k):
            turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
            noise[own == j] = noise[own == j] * rng.uniform(0.3, 1.6, size=d) @ turn
    return noise


def named(folder: Path, half: str) -> Iterator[tuple[str, Labelled]]:
    """The tables of one half."""
    for family in FAMILIES[half]:
        for name in suite_names(folder, family):
            table = suite(folder, family, name)
            yield f"{family}/{name}", Labelled(thinned(table.X, ROWS_SEEN), table.counts)
    if half == "reported on":
        for name in BUNDLED:
            table = bundled(name)
            yield f"sklearn/{name}", Labelled(thinned(standardised(table.X), ROWS_SEEN), table.counts)
    for seed in SEEDS[half]:
        yield f"planted/{seed}", planted(seed)


def numbers(table: Labelled) -> range:
    return range(1, 1 + min(max(20, 3 * max(table.counts) // 2), len(table.X) // 3))


def chosen(table: Labelled, by: str = "auto") -> int:
    import unweave

    return unweave.select.choose(unweave.KMeans(), table.X, numbers(table), by).best


def automatic(table: Labelled) -> int:
    import unweave

    return unweave.KMeans("auto").fit(table.X).choice_.best


def scikit_silhouette(table: Labelled) -> int:
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score

    ks = numbers(table)[1:]
    return max(ks, key=lambda k: silhouette_score(table.X, KMeans(k, n_init=10, random_state=0).fit(table.X).labels_))


def scikit_bic(table: Labelled) -> int:
    from sklearn.mixture import GaussianMixture

    return min(numbers(table), key=lambda k: GaussianMixture(k, random_state=0).fit(table.X).bic(table.X))


CONTENDERS: dict[str, Callable[[Labelled], int]] = {
    "KMeans('auto')": automatic,
    "by='silhouette'": lambda table: chosen(table, "silhouette"),
    "by='stability'": lambda table: chosen(table, "stability"),
    "sklearn, silhouette": scikit_silhouette,
    "sklearn, mixture by BIC": scikit_bic,
}


def load(folder: Path, size: str) -> list[Labelled]:
    tables = [table for _, table in named(folder, "reported on")]
    return tables[: {"full": None, "quick": 6, "tiny": 1}[size]]


def wrong(tables: list[Labelled], find: Callable[[Labelled], int]) -> int:
    return sum(find(table) not in table.counts for table in tables)


def ours(data: list[Labelled], target: float | None) -> Fit:
    return Fit(wrong(data, automatic))


def peer(find: Callable[[Labelled], int]) -> Callable[[list[Labelled], int], Fit]:
    return lambda data, threads: Fit(wrong(data, find))


def objective(data: list[Labelled], answer: Any) -> float:
    return float(answer)


ROWS = [
    Row(
        name="kmeans-number",
        tuned_on="FCPS, SIPU, 42 planted tables",
        reported_on="Graves, other, scikit-learn's, 42 planted tables",
        title="k-means, 63 tables not tuned on, number not given: how often it is wrong",
        target=1.0,
        load=load,
        ours=ours,
        peers={"sklearn, silhouette": peer(scikit_silhouette), "sklearn, mixture by BIC": peer(scikit_bic)},
        objective=objective,
        dtype="float64",
        aim="below",
        stops=False,
        value="wrong",
        repeats=1,
    )
]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--half", choices=list(SEEDS), default="reported on")
    options.add_argument("--only", nargs="*", default=list(CONTENDERS))
    given = options.parse_args()
    warnings.simplefilter("ignore")
    right: dict[tuple[str, str], int] = {}
    spent = dict.fromkeys(given.only, 0.0)
    for name, table in named(given.data, given.half):
        words = []
        for who in given.only:
            began = time.process_time()
            found = CONTENDERS[who](table)
            spent[who] += time.process_time() - began
            family = name.split("/")[0]
            right[family, who] = right.get((family, who), 0) + (found in table.counts)
            words.append(f"{who} {found}")
        print(f"{name:24} {table.counts}:", ", ".join(words), flush=True)
    for who in given.only:
        parts = {family: count for (family, other), count in right.items() if other == who}
        print(f"{who:24} right {sum(parts.values())} {parts}, {spent[who]:.1f} CPU s")


if __name__ == "__main__":
    main()
