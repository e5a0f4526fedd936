"""Run the verbs of the command line, one file per verb; each has ``run(settings) -> exit code``."""
