"""``unweave transform``: codes of the rows of another file, under a saved model."""

from __future__ import annotations

import sys
from pathlib import Path

from unweave.cli.models import open_model
from unweave.cli.output import codes_frame, groups_frame, write_frame
from unweave.cli.say import Speaker
from unweave.cli.work import read_table, stem


def run(settings) -> int:
    speaker = Speaker(settings)
    model, recipe, extra = open_model(settings.model)
    table = read_table(settings, speaker)
    if extra.get("verb") == "complete" and table.sparse and table.missing is None:
        table = table.with_(missing="zeros")
    ready = table if recipe is None else recipe.apply(table)
    names = table.rows or [str(i + 1) for i in range(table.shape[0])]
    with speaker.hearing():
        if hasattr(model, "labels_"):
            frame = groups_frame(model, ready, names)
        else:
            frame = codes_frame(model.transform(ready), names)
    if str(settings.out) == "-":
        sys.stdout.write(frame.write_csv())
        return 0
    target = settings.out or Path(f"{stem(settings.file)}-codes.csv")
    write_frame(target, frame)
    speaker.line(f"{target}: {frame.height:,} rows")
    speaker.result({"verb": "transform", "model": str(settings.model), "file": str(settings.file),
                    "rows": frame.height, "out": str(target)})  # fmt: skip
    return 0
