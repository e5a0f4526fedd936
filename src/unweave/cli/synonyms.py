"""Understand other words for the verbs, and suggest the nearest for words that are none."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from difflib import get_close_matches

# What people call our verbs elsewhere.
OTHER_WORDS = {
    "group": "cluster clusters clustering kmeans k-means segments groups",
    "complete": "impute imputation fill fill-in",
    "compress": "pca svd reduce reduction components",
    "explain": "nmf parts factor factors decompose",
    "topics": "lda topic themes words",
    "describe": "info summary summarise summarize look head",
    "recommend": "recommender recommendations suggest",
    "embed": "word2vec glove fasttext skip-gram skipgram embeddings embedding vectors",
    "similar": "neighbours neighbors most-similar nearest",
    "roles": "rbac mine role-mining access permissions",
    "predict": "classify classifier regress regression forecast",
    "transform": "apply encode project",
    "show": "print inspect",
    "report": "page html",
}
VERB_OF = {word: verb for verb, words in OTHER_WORDS.items() for word in words.split()}


def understood(arguments: list[str]) -> list[str]:
    """Put our verb in the place of another word for it, and say so on stderr unless asked to be quiet.

    >>> understood(["pca", "wine.csv", "--quiet"])
    ['compress', 'wine.csv', '--quiet']
    >>> understood(["group", "pca"])
    ['group', 'pca']
    """
    if not arguments:
        return arguments
    word, rest = arguments[0], arguments[1:]
    verb = VERB_OF.get(word.lower())
    if verb is None:
        return arguments
    if not {"--quiet", "-q"} & set(rest):
        print(f"{word}: running `unweave {verb}`", file=sys.stderr)
    return [verb, *rest]


def suggestion(word: str, verbs: Iterable[str]) -> str | None:
    """Find the verb that an unknown word may stand for, by a slip of the pen in it or in another word for it.

    >>> suggestion("clsuter", ["group", "explain"]), suggestion("group", ["group"]), suggestion("--help", ["group"])
    ('group', None, None)
    """
    known = set(verbs)
    if word in known or word.startswith("-"):
        return None
    near = get_close_matches(word.lower(), [*known, *VERB_OF], n=1, cutoff=0.7)
    return VERB_OF.get(near[0], near[0]) if near else None
