"""Say what to write instead when an estimator is given an argument that it does not have.

People arrive with the words of other libraries. The error names the word that means the same here, or why none is
needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

# What others call it → what it is called here, in the order in which a class is asked for it.
MEANS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("n_clusters", "n_components"), ("n_components", "n_clusters")),
    **dict.fromkeys(
        ("k", "rank", "n_factors", "factors", "num_factors", "n_topics", "num_topics", "n_states", "n_groups"),
        ("n_components", "n_clusters"),
    ),
    **dict.fromkeys(("n_iter", "iterations", "passes", "epochs", "n_epochs", "max_iterations"), ("max_iter",)),
    **dict.fromkeys(("seed", "random_seed"), ("random_state",)),
    **dict.fromkeys(("algorithm", "svd_solver", "learning_method"), ("inference", "solver")),
    **dict.fromkeys(("regularization", "reg", "reg_all", "lambda_", "regularisation"), ("ridge",)),
    **dict.fromkeys(("affinity", "distance"), ("metric",)),
    **dict.fromkeys(("distance_threshold",), ("height",)),
    "beta_loss": ("loss",),
    "doc_topic_prior": ("alpha",),
    "topic_word_prior": ("eta",),
    "chunksize": ("batch_size",),
    "n_mix": ("n_components",),
    "missing_values": ("missing",),
    "init_params": ("init",),
}
# What is not needed here, and what is done or said instead.
INSTEAD: Mapping[str, str] = {
    "n_init": (
        "leave it out: a fit starts once, and k-means repairs a poor start by itself, which finds what many starts "
        "would. For another draw change random_state"
    ),
    "n_jobs": "leave it out: fits use every core. unweave.set_num_threads(n) sets how many",
    "num_threads": "leave it out: fits use every core. unweave.set_num_threads(n) sets how many",
    "workers": "leave it out: fits use every core. unweave.set_num_threads(n) sets how many",
    "use_gpu": "leave it out: fits run on the processor",
    "copy": "leave it out: tables are never changed",
    "copy_x": "leave it out: tables are never changed",
    "warm_start": "leave it out: give the former components_ as init where the model takes an array there",
    "id2word": "leave it out: words are the names of the columns. Give texts with vectorizer=unweave.TextTable()",
    "corpus": "give the texts or the table to fit, as in {name}(…).fit(X)",
}


def check_keywords(kind: type, given: Iterable[str]) -> None:
    """Raise a TypeError that says what to write instead if `kind` takes no argument of a given name.

    >>> class Groups:
    ...     def __init__(self, n_clusters=8, *, max_iter=300): ...
    >>> check_keywords(Groups, ["max_iter"])
    >>> check_keywords(Groups, ["n_topics"])
    Traceback (most recent call last):
    ...
    TypeError: Groups has no argument 'n_topics': write n_clusters
    """
    known = inspect.signature(kind.__init__).parameters  # type: ignore[misc]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
        return
    for name in given:
        if name not in known:
            raise TypeError(
                f"{kind.__name__} has no argument {name!r}: {_advice(kind.__name__, name, list(known)[1:])}"
            )


def _advice(kind: str, name: str, known: list[str]) -> str:
    """Return what to write instead: the word that is used here, or all there are."""
    here = next((word for word in MEANS.get(name, ()) if word in known), None)
    if here is not None:
        return f"write {here}"
    if name in INSTEAD:
        return INSTEAD[name].format(name=kind)
    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"it takes {', '.join(known)}"
