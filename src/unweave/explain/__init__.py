"""Explain: parts and topics."""

from unweave.explain.convex_nmf import ConvexNMF
from unweave.explain.lda import LDA
from unweave.explain.lsa import LSA
from unweave.explain.nmf import NMF
from unweave.explain.orthogonal_nmf import OrthogonalNMF
from unweave.explain.plsa import PLSA
from unweave.explain.semi_nmf import SemiNMF
from unweave.explain.simplex_topics import SimplexTopics
from unweave.explain.symmetric_nmf import SymmetricNMF
from unweave.explain.text_table import TextTable

__all__ = [
    "NMF",
    "SemiNMF",
    "ConvexNMF",
    "OrthogonalNMF",
    "SymmetricNMF",
    "TextTable",
    "LSA",
    "LDA",
    "PLSA",
    "SimplexTopics",
]
