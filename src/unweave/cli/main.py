"""``unweave``: the command line.

Commands load what they need themselves, so ``unweave --help`` and ``--version`` answer at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from unweave import __version__


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(prog="unweave", description="Matrix factorisations X ≈ U·Z under any loss.")
    top.add_argument("--version", action="version", version=f"unweave {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    warmup = commands.add_parser(
        "warmup",
        help="compile every kernel once and keep it on disk",
        description="Fits every estimator on tiny tables (float32 and float64; dense, sparse, with missing entries) so "
        "that every kernel is compiled and cached on disk. A later process then starts without compiling.",
    )
    warmup.add_argument("--quiet", action="store_true", help="say only what failed, and the total")
    warmup.set_defaults(run=_warmup)
    return top


def _warmup(options: argparse.Namespace) -> int:
    from unweave.cli.warmup import warmup

    return warmup(quiet=options.quiet)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command named in `arguments` (default: those of the process); the exit code."""
    top = parser()
    options = top.parse_args(arguments)
    if not hasattr(options, "run"):
        top.print_help()
        return 2
    return options.run(options)


if __name__ == "__main__":
    sys.exit(main())
