"""Group: rows that belong together."""

from .kmeans import KMeans

__all__ = ["KMeans"]
