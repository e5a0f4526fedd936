"""Explain: what rows of a table are made of, as parts, topics, roles or points in a space of meaning.

`parts` holds the non-negative factorisations, `topics` LDA and its relatives, `roles` who may do what, `search` latent
semantic analysis, `text` what makes tables of texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.registry import lazily

if TYPE_CHECKING:
    from unweave.explain.parts.convex import ConvexNMF
    from unweave.explain.parts.nmf import NMF
    from unweave.explain.parts.orthogonal import OrthogonalNMF
    from unweave.explain.parts.semi import SemiNMF
    from unweave.explain.parts.symmetric import SymmetricNMF
    from unweave.explain.search.lsa import LSA
    from unweave.explain.text.in_blocks import TextBlocks
    from unweave.explain.text.table import TextTable
    from unweave.explain.topics.lda import LDA
    from unweave.explain.topics.plsa import PLSA
    from unweave.explain.topics.simplex import SimplexTopics

__all__ = [
    "NMF",
    "SemiNMF",
    "ConvexNMF",
    "OrthogonalNMF",
    "SymmetricNMF",
    "TextTable",
    "TextBlocks",
    "LSA",
    "LDA",
    "PLSA",
    "SimplexTopics",
]

# One job does not load what another needs: each name is imported when it is asked for.
_HOMES = {
    "NMF": "parts.nmf",
    "SemiNMF": "parts.semi",
    "ConvexNMF": "parts.convex",
    "OrthogonalNMF": "parts.orthogonal",
    "SymmetricNMF": "parts.symmetric",
    "TextTable": "text.table",
    "TextBlocks": "text.in_blocks",
    "LSA": "search.lsa",
    "LDA": "topics.lda",
    "PLSA": "topics.plsa",
    "SimplexTopics": "topics.simplex",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
