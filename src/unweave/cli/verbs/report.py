"""Run ``unweave report``: write the page of a saved model anew."""

from __future__ import annotations

from unweave.cli.options import Settings
from unweave.cli.output import open_model, write_text
from unweave.cli.place import file_for
from unweave.cli.say import Speaker


def run(settings: Settings) -> int:
    from unweave import report

    speaker = Speaker(settings)
    page = settings.model.parent / "report.html"
    # The page beside the model is its own, which this verb is there to make anew.
    target = page if settings.out is None else file_for(settings.out, page, settings.force)
    model, _, extra = open_model(settings.model)
    facts = extra.get("facts") or report.gather(model)
    write_text(target, report.render(facts))
    speaker.line(f"{target}: {target.stat().st_size / 1e3:.0f} KB")
    speaker.result({"verb": "report", "model": str(settings.model), "out": str(target)})
    return 0
