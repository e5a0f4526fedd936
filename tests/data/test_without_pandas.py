"""No path from a file to an answer needs pandas."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
sys.modules["pandas"] = None
import numpy as np
import unweave

rng = np.random.default_rng(0)
with open("t.csv", "w") as file:
    file.write("id,when,price,town,x\\n")
    for i in range(60):
        x = rng.normal()
        town = "" if i % 11 == 0 else "Ulm" if x > 0 else "Bern"
        price = "" if i % 7 == 0 else f'"$1,{round(500 + 100 * x)}"'
        file.write(f"{900 + i},2024-01-{1 + i % 28:02d},{price},{town},{x:.3f}\\n")
table = unweave.read("t.csv")
ready, recipe = unweave.prepare(table)
model = unweave.KMeans(2, random_state=0, missing="nan").fit(ready)
print(recipe.frame(model.components_).columns)
frame = table.X.select("price", "town", "x")
filled = unweave.TableImputer(1, random_state=0).fit(frame).transform(frame)
print(filled.null_count().row(0), type(filled).__module__.split(".")[0])
"""


def test_reading_preparing_grouping_and_imputing_without_pandas(tmp_path):
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == ["['when', 'price', 'town', 'x']", "(0, 0, 0) polars"]
