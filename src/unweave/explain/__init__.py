"""Explain: parts and topics."""

from .nmf import NMF

__all__ = ["NMF"]
