"""Cluster the nodes of a graph of likeness: rows that hang together, whatever shape they make.

`graph` measures who is like whom and finds the smoothest functions on the graph; `model` is the estimator, which
clusters rows by those functions with k-means and places new rows among them.
"""

from unweave.group.spectral.model import SpectralClustering

__all__ = ["SpectralClustering"]
