"""Embed: words and other symbols as vectors, near each other where they are used alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.registry import lazily

if TYPE_CHECKING:
    from unweave.embed.alignment import align as align
    from unweave.embed.cooccurrence import Cooccurrence as Cooccurrence
    from unweave.embed.corpus import read_corpus as read_corpus
    from unweave.embed.evaluate import evaluate_analogies as evaluate_analogies
    from unweave.embed.evaluate import evaluate_similarity as evaluate_similarity
    from unweave.embed.glove import GloVe as GloVe
    from unweave.embed.log_bilinear import LogBilinear as LogBilinear
    from unweave.embed.pmi import PMIEmbedding as PMIEmbedding
    from unweave.embed.skipgram.model import CBOW as CBOW
    from unweave.embed.skipgram.model import SkipGram as SkipGram
    from unweave.embed.vectors import Vectors as Vectors

# Each name is imported when it is asked for: looking words up needs nothing of what learning vectors needs.
_HOMES: dict[str, str] = {
    "CBOW": "skipgram.model",
    "Cooccurrence": "cooccurrence",
    "GloVe": "glove",
    "LogBilinear": "log_bilinear",
    "PMIEmbedding": "pmi",
    "read_corpus": "corpus",
    "SkipGram": "skipgram.model",
    "Vectors": "vectors",
    "align": "alignment",
    "evaluate_analogies": "evaluate",
    "evaluate_similarity": "evaluate",
}

__all__ = list(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
