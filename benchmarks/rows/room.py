"""Twenty SIPU and FCPS sets, the number of clusters given: how good is the model that is chosen without the truth?

Ours is ``unweave.select.best_model`` over six models. scikit-learn's counterparts are chosen by the silhouette, the
only tool it has for that, and, as a second contender, by our rule. ``python -m benchmarks.rows.room --data FOLDER``
prints every set, with the best that either room could have chosen.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Fit, Row, quiet
from benchmarks.room_data import SETS, Labelled, labelled, made

Sets = dict[str, Labelled]
QUICK = ("fcps/atom", "fcps/hepta", "fcps/lsun", "sipu/flame", "sipu/jain", "sipu/r15")


def load(folder: Path, size: str) -> Sets:
    if size == "tiny":
        return {"made": made()}
    return {name: labelled(folder, name) for name in (SETS if size == "full" else QUICK)}


def library() -> dict[str, Any]:
    import unweave

    return {
        "k-means": unweave.KMeans(random_state=0),
        "mixture": unweave.GaussianMixture(n_init=5, random_state=0),
        "single": unweave.Agglomerative(linkage="single"),
        "average": unweave.Agglomerative(linkage="average"),
        "ward": unweave.Agglomerative(linkage="ward"),
        "spectral": unweave.SpectralClustering(random_state=0),
    }


def scikit() -> dict[str, Any]:
    from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
    from sklearn.mixture import GaussianMixture

    return {
        "k-means": KMeans(n_init=10, random_state=0),
        "mixture": GaussianMixture(n_init=5, random_state=0),
        "single": AgglomerativeClustering(linkage="single"),
        "average": AgglomerativeClustering(linkage="average"),
        "ward": AgglomerativeClustering(linkage="ward"),
        "spectral": SpectralClustering(affinity="nearest_neighbors", random_state=0),
    }


def with_number(model: Any, k: int) -> Any:
    return model.set_params(**{"n_clusters" if "n_clusters" in model.get_params() else "n_components": k})


def by_rule(one: Labelled, models: dict[str, Any]) -> tuple[str, np.ndarray]:
    """The model that ours would take, and its labels."""
    from unweave.select import best_model
    from unweave.select.trial import labels_of

    choice = best_model(models, one.X, one.k)
    return choice.best, labels_of(choice.best_estimator, one.X)


def by_silhouette(one: Labelled, models: dict[str, Any]) -> tuple[str, np.ndarray]:
    """The model with the highest silhouette, and its labels."""
    from sklearn.metrics import silhouette_score

    found = {name: with_number(model, one.k).fit_predict(one.X) for name, model in models.items()}
    split = {name: labels for name, labels in found.items() if len(np.unique(labels)) > 1}
    best = max(split, key=lambda name: silhouette_score(one.X, split[name]))
    return best, split[best]


def ours(sets: Sets, target: float | None) -> Fit:
    return Fit([by_rule(one, library())[1] for one in sets.values()])


def peer(sets: Sets, threads: int, *, choose: Any) -> Fit:
    return Fit([choose(one, scikit())[1] for one in sets.values()])


def objective(sets: Sets, answers: Any) -> float:
    """Minus the mean adjusted Rand index."""
    return -float(np.mean([one.rand_index(labels) for one, labels in zip(sets.values(), answers, strict=True)]))


ROWS = [
    Row(
        name="room",
        tuned_on="not written down when it was set",
        title="20 SIPU and FCPS sets, the best model of the room by `select`: minus the mean adjusted Rand index",
        target=0.0,
        load=load,
        ours=ours,
        peers={
            "sklearn, silhouette": partial(peer, choose=by_silhouette),
            "sklearn, our rule": partial(peer, choose=by_rule),
        },
        objective=objective,
        dtype="float64",
        aim="below",
        stops=False,
        value="minus ARI",
        repeats=1,
    )
]


def every_model(one: Labelled, models: dict[str, Any]) -> dict[str, float]:
    return {name: one.rand_index(with_number(model, one.k).fit_predict(one.X)) for name, model in models.items()}


def main() -> None:
    """The Rand index of each choice on every set, and of the best model of either room."""
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("sets", nargs="*", default=SETS)
    given = options.parse_args()
    contenders = ((by_rule, library), (by_silhouette, scikit), (by_rule, scikit))
    print(f"{'set':18}{'ours':>17}{'sklearn, silh.':>17}{'sklearn, rule':>17}{'best ours':>17}{'best sklearn':>17}")
    rows = []
    for name in given.sets:
        one = labelled(given.data, name)
        with quiet():
            picked = [choose(one, room()) for choose, room in contenders]
            known = [every_model(one, room()) for room in (library, scikit)]
        words = [(model, one.rand_index(labels)) for model, labels in picked]
        words += [max(scores.items(), key=lambda pair: pair[1]) for scores in known]
        rows.append([value for _, value in words])
        print(f"{name:18}" + "".join(f"{f'{model} {value:.3f}':>17}" for model, value in words), flush=True)
    print(f"{'mean':18}" + "".join(f"{value:>17.4f}" for value in np.mean(rows, axis=0)))


if __name__ == "__main__":
    main()
