"""Run ``unweave embed``: learn a vector for each word of a corpus, and draw a map of the words."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave import compiling
from unweave.cli.interrupt import EXIT, Ending, end_by_exception
from unweave.cli.options import Settings
from unweave.cli.place import folder_for
from unweave.cli.say import Speaker, as_typed

if TYPE_CHECKING:
    from unweave.embed.corpus import Corpus

MAP = "words.html"
FILES = {
    "auto": "vectors.unweave",
    "unweave": "vectors.unweave",
    "word2vec": "vectors.txt",
    "word2vec-binary": "vectors.bin",
    "glove": "vectors.glove.txt",
    "fasttext": "vectors.vec",
}
MODELS = {"pmi": "PMIEmbedding", "skip-gram": "SkipGram", "cbow": "CBOW", "glove": "GloVe"}
_USUAL = 100  # components, as word2vec has it
# Counted pairs give the better vectors of a small corpus, and skip-gram's time does not grow with the pairs (Levy,
# Goldberg and Dagan 2015, whose corpora have billions of words; they name no border: this one is a choice).
_LARGE = 5_000_000
_FEW, _RARE = 1_000_000, (2, 5)  # bytes from which on a word must occur five times, not twice
_SUFFIXES = (".txt", ".text", ".md")


def run(settings: Settings) -> int:
    from unweave.embed.layout import map_facts
    from unweave.report.answer import answer
    from unweave.report.word_page import write_word_map

    speaker = Speaker(settings)
    if settings.format not in FILES:
        raise ValueError(f"--format {settings.format!r} is not known; use one of {', '.join(FILES)}")
    folder = folder_for(settings)
    began = compiling.clock()
    corpus = _corpus(settings, speaker)
    seconds = max(compiling.clock() - began, 1e-9)
    speaker.line(
        f"{settings.file}: {corpus.n_tokens:,} words, {len(corpus.vocabulary):,} different ones often enough "
        f"({corpus.n_tokens / seconds:,.0f} words/s)"
    )
    name = _model_name(settings, corpus)
    model = _model(name, settings, corpus)
    began = compiling.clock()
    ending = Ending("interrupted before there were vectors: nothing was written")
    model.set_params(checkpoint=settings.checkpoint, verbose=_on_screen(settings), callback=ending.heard)
    with speaker.hearing(), ending:
        model.fit(corpus)
    end_by_exception()
    seconds = max(compiling.clock() - began, 1e-9)
    vectors = model.vectors_
    rate = corpus.n_tokens * getattr(model, "epochs", 1) / seconds
    stopped = as_typed(model.history_.stopped)
    speaker.line(f"{type(model).__name__}, {seconds:.2f} s, {rate:,.0f} words/s: {stopped}")
    found = answer(vectors)
    speaker.answer(asdict(found))
    folder.mkdir(parents=True, exist_ok=True)
    target = vectors.write(folder / FILES[settings.format], settings.format)
    page = write_word_map(map_facts(vectors, settings.most, settings.file.name), folder / MAP)
    speaker.line(f"{folder}/ has {target.name}, {page.name} (a map to look at)")
    speaker.line(f"ask: unweave similar {target} {found.rows[0][0]}")
    if ending.asked:
        speaker.note(f"interrupted: {folder}/ has what was reached")
    speaker.result({
        "verb": "embed", "file": str(settings.file), "words": corpus.n_tokens, "vocabulary": len(vectors),
        "model": type(model).__name__, "components": vectors.n_components, "seconds": round(seconds, 4),
        "words_per_second": round(rate), "stopped": model.history_.stopped, "out": str(folder),
        "files": [target.name, page.name], "headline": found.headline,
        **found.data,
    })  # fmt: skip
    return EXIT if ending.asked else 0


def _corpus(settings: Settings, speaker: Speaker) -> Corpus:
    """Read texts: files and folders as lines of words, tables by their column of prose."""
    from unweave.embed.corpus import read_corpus

    texts: Any = settings.files
    if not all(path.is_dir() or _is_text(path) for path in settings.files):
        texts = _column(settings, speaker)
    least = settings.min_count or _RARE[_bytes(texts) >= _FEW]
    with _reading(settings) as heard:
        return read_corpus(texts, min_count=least, encoding=settings.encoding, callback=heard)


@contextmanager
def _reading(settings: Settings) -> Iterator[Callable[[int], None] | None]:
    """Show on a terminal how many words were read, and how many a second, in a line that goes away."""
    if not _on_screen(settings):
        yield None
        return
    began = compiling.clock()

    def heard(words: int) -> None:
        pace = words / max(compiling.clock() - began, 1e-9)
        print(f"\r\x1b[Kreading: {words:,} words, {pace:,.0f} words/s", end="", file=sys.stderr, flush=True)

    try:
        yield heard
    finally:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _on_screen(settings: Settings) -> bool:
    return not settings.quiet and not settings.as_json and sys.stderr.isatty()


def _bytes(texts: list[Any]) -> int:
    """About how many bytes the texts have, packed files four times as many as on the disk."""
    total = 0
    for one in texts:
        if not isinstance(one, Path):
            total += len(one)
            continue
        for path in one.rglob("*") if one.is_dir() else [one]:
            total += path.stat().st_size * (1 if path.suffix.lower() in _SUFFIXES else 4) if path.is_file() else 0
    return total


def _is_text(path: Path) -> bool:
    from unweave.data.readers.detect import detect_format
    from unweave.data.readers.source import Source

    source = Source(path)
    return source.inner_name.lower().endswith(_SUFFIXES) or detect_format(source) == "text"


def _column(settings: Settings, speaker: Speaker) -> list[str]:
    """The texts of a column: the one asked for, or the one of prose."""
    from unweave.data.readers import read

    what = settings.files if len(settings.files) > 1 else settings.file
    table = read(what, encoding=settings.encoding, limit=settings.limit, delimiter=settings.delimiter or None)
    prose = [name for name, kind in settings.kinds.items() if kind == "prose"] or settings.columns
    name = prose[0] if prose else table.prose
    if name is None or table.columns is None or name not in table.columns or table.numeric:
        there = f"there is no column {name!r}" if name else "there is no column of texts"
        raise ValueError(f"{settings.file}: {there}; name one by --columns NAME, or give a text file")
    speaker.note(f"the texts are those of the column {name!r}")
    return [text for text in table.X[name].cast(str).to_list() if text]


def _model_name(settings: Settings, corpus: Corpus) -> str:
    if settings.way not in ("", "auto", *MODELS):
        raise ValueError(f"--model {settings.way!r} is not known; use one of auto, {', '.join(MODELS)}")
    if settings.way in MODELS:
        return settings.way
    return "skip-gram" if corpus.n_tokens >= _LARGE else "pmi"


def _model(name: str, settings: Settings, corpus: Corpus) -> Any:
    from unweave.registry import find, takes

    if settings.k == "auto":
        raise ValueError("-k auto: nothing tells the number of components of words; give a number, 100 to 300 is usual")
    k = int(settings.k) if settings.k else _USUAL if name != "pmi" else min(_USUAL, len(corpus.vocabulary) - 1)
    kind, known = find(MODELS[name]), takes(MODELS[name])
    given = {"window": settings.window, "epochs": settings.epochs, "max_iter": settings.max_iter}
    more = {key: value for key, value in given.items() if value is not None and key in known}
    return kind(max(1, k), min_count=1, random_state=settings.seed, **more)
