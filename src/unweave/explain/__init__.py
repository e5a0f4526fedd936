"""Explain: parts and topics."""

from unweave.explain.lda import LDA
from unweave.explain.lsa import LSA
from unweave.explain.nmf import NMF
from unweave.explain.plsa import PLSA
from unweave.explain.simplex_topics import SimplexTopics

__all__ = ["NMF", "LSA", "LDA", "PLSA", "SimplexTopics"]
