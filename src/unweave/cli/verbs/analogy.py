"""Run ``unweave analogy``: what is to the third word as the second is to the first."""

from __future__ import annotations

from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.verbs.similar import known, say, vectors_of


def run(settings: Settings) -> int:
    speaker = Speaker(settings)
    if len(settings.words) != 3:
        raise ValueError(f"give three words, A B C, to ask what is to C as B is to A; got {len(settings.words)}")
    with speaker.hearing():
        vectors = vectors_of(settings)
    a, b, c = (known(word, vectors, speaker) for word in settings.words)
    found = vectors.analogy(a, b, c, settings.n, method=settings.method)
    say(speaker, f"{a} is to {b} as {c} is to", found)
    speaker.result({"verb": "analogy", "file": str(settings.file), "words": [a, b, c], "found": found})
    return 0
