"""Run ``unweave similar``: the words nearest to a word, or to several, in a file of vectors."""

from __future__ import annotations

from pathlib import Path

from unweave.cli.options import Settings
from unweave.cli.say import Speaker


def run(settings: Settings) -> int:
    speaker = Speaker(settings)
    with speaker.hearing():
        vectors = vectors_of(settings)
    words = [known(word, vectors, speaker) for word in settings.words]
    without = [known(word, vectors, speaker) for word in settings.without]
    found = vectors.most_similar(words, settings.n, without=without, unknown=settings.unknown)
    for word in [*words, *without] if settings.unknown == "skip" else []:
        if word not in vectors:
            speaker.note(f"{word!r} has no vector and is passed over")
    told = " + ".join(map(str, words)) + "".join(f" − {word}" for word in without)
    say(speaker, told, found)
    speaker.result({"verb": "similar", "file": str(settings.file), "words": words, "without": without, "found": found})
    return 0


def vectors_of(settings: Settings):
    """Read the vectors of a file, or of a folder that `unweave embed` made."""
    from unweave.cli.verbs.embed import FILES
    from unweave.embed.vectors import Vectors

    path: Path = settings.file
    if path.is_dir():
        there = [path / name for name in dict.fromkeys(FILES.values()) if (path / name).is_file()]
        if not there:
            raise ValueError(f"{path} is a folder without vectors; name a file, or make them by `unweave embed`")
        path = there[0]
    return Vectors.read(path, encoding=settings.encoding, limit=settings.limit)


def known(word: str, vectors, speaker: Speaker) -> str:
    """The word as the file has it: as typed, or in lower case."""
    if word in vectors:
        return word
    if word.lower() in vectors:
        speaker.note(f"{word!r} is there as {word.lower()!r}")
        return word.lower()
    return word


def say(speaker: Speaker, title: str, found: list) -> None:
    """List what was found: on stderr as a table, and on stdout a word a line where that goes on to a program."""
    import sys

    if not speaker.as_json and not sys.stdout.isatty():
        for word, score in found:
            print(f"{word}\t{score:.4f}")
        return
    speaker.table(title, ["word", "score"], [[str(word), f"{score:.3f}"] for word, score in found])
