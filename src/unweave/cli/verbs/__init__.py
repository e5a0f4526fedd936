"""One file a verb; each has ``run(settings) -> exit code``."""
