"""Run ``unweave report``: write the page of a saved model anew."""

from __future__ import annotations

from pathlib import Path

from unweave.cli.options import Settings
from unweave.cli.output import is_vectors, open_model, write_text
from unweave.cli.place import file_for
from unweave.cli.say import Speaker
from unweave.cli.verbs.embed import MAP


def run(settings: Settings) -> int:
    speaker = Speaker(settings)
    beside = settings.model.parent / (MAP if is_vectors(settings.model) else "report.html")
    # The page beside the model is its own, which this verb is there to make anew.
    target = beside if settings.out is None else file_for(settings.out, beside, settings.force)
    write_text(target, _page(settings.model))
    speaker.line(f"{target}: {target.stat().st_size / 1e3:.0f} KB")
    speaker.result({"verb": "report", "model": str(settings.model), "out": str(target)})
    return 0


def _page(path: Path) -> str:
    from unweave import report

    if is_vectors(path):
        from unweave.embed.vectors import Vectors

        return _map(Vectors.read(path), path)
    model, _, extra = open_model(path)
    if hasattr(model, "vectors_"):
        return _map(model.vectors_, path)
    return report.render(extra.get("facts") or report.gather(model))


def _map(vectors, path: Path) -> str:
    from unweave.embed.layout import map_facts
    from unweave.report.word_page import render_word_map

    return render_word_map(map_facts(vectors, source=path.name))
