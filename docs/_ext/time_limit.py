"""Cut examples of the gallery that take too long: a page that nobody builds twice is not read twice."""

from __future__ import annotations

import signal

SECONDS = 20


def too_long(signum, frame) -> None:
    """End the example under way; the build then names it and fails."""
    raise TimeoutError(f"this example takes more than {SECONDS} seconds: make its table smaller")


def limit(gallery_conf: dict, fname: str, when: str) -> None:
    """Start the clock before an example, and stop it afterwards; called by sphinx-gallery."""
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS if when == "before" else 0)
