"""Explain: parts and topics."""

from unweave.explain.nmf import NMF

__all__ = ["NMF"]
