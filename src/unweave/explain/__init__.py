"""Explain: parts and topics."""

from unweave.explain.convex_nmf import ConvexNMF
from unweave.explain.lsa import LSA
from unweave.explain.nmf import NMF
from unweave.explain.orthogonal_nmf import OrthogonalNMF
from unweave.explain.semi_nmf import SemiNMF
from unweave.explain.symmetric_nmf import SymmetricNMF
from unweave.explain.text_table import TextTable
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
    "LSA",
    "LDA",
    "PLSA",
    "SimplexTopics",
]
