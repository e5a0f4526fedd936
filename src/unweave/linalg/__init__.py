"""Dense and sparse products, deterministic on any number of threads."""
