"""Explain: what rows of a table are made of, as parts, topics, roles or points in a space of meaning.

`parts` holds the non-negative factorisations, `topics` LDA and its relatives, `roles` who may do what, `search` latent
semantic analysis, `text` what makes tables of texts.
"""

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
