"""Explain: parts and topics."""

from unweave.explain.lda import LDA
from unweave.explain.lsa import LSA
from unweave.explain.nmf import NMF
from unweave.explain.plsa import PLSA
from unweave.explain.simplex_topics import SimplexTopics
from unweave.explain.text_table import TextTable

__all__ = ["NMF", "TextTable", "LSA", "LDA", "PLSA", "SimplexTopics"]
