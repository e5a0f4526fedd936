"""Time to the same objective, and peak memory, against the best peers: ``python -m benchmarks``."""
