"""Run the ``unweave`` command line.

Verbs load what they need themselves, so ``unweave --help`` and ``--version`` answer at once. Exit codes: 0 done, 1 the
work failed, 2 wrong usage, 130 ended by Ctrl-C. Errors are one sentence on stderr; ``--debug`` shows where they come
from.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command named in `arguments` (default: those of the process); the exit code."""
    from unweave.cli.interrupt import EXIT, NOTHING, end_at_once

    if arguments is None:  # this process is ours
        end_at_once()
        from unweave.cli.first_use import import_later

        import_later("scipy.stats")
    from unweave.cli.app import run

    asked = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in asked
    try:
        return run([word for word in asked if word != "--debug"])
    except KeyboardInterrupt:
        return _fail(NOTHING, EXIT)
    except BrokenPipeError:  # the reader of our output has gone away, which is not our failure
        sys.stderr.close()
        return 0
    except MemoryError as error:
        return _fail(f"not enough memory ({error}); use fewer columns or rows, or --dtype float32")
    except Exception as error:
        if debug:
            raise
        return _fail(sentence(error))


def sentence(error: Exception) -> str:
    """Write an exception as one readable line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    from unweave.cli.say import as_typed

    text = as_typed(" ".join(str(error).split()))
    if isinstance(error, ValueError | TypeError | ImportError | OSError):
        return text
    return f"{type(error).__name__}: {text} (this is a defect of unweave; --debug shows where)"


def _fail(message: str, code: int = 1) -> int:
    print(f"unweave: {message}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
