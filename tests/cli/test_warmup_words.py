"""After the warm-up nothing is compiled for `unweave embed`."""

from __future__ import annotations

import json
import os
import subprocess
import sys

SCRIPT = """
import json, pathlib, sys
import numpy as np
from unweave.cli import warmup
from unweave.cli.main import main
from unweave.kernels import ALL

names = ("texts", "counting words", "searching documents", "TruncatedSVD")
for dtype in (np.float64, np.float32):
    for name, job in warmup.jobs([dtype]):
        if any(part in name for part in names):
            job()
known = {kernel: set(kernel.signatures) for kernel in ALL}
folder, rng = pathlib.Path(sys.argv[1]), np.random.default_rng(0)
lines = [" ".join(f"w{i}" for i in rng.zipf(1.5, 30) % 300) for _ in range(300)]
(folder / "corpus.txt").write_text("\\n".join(lines))
for model in ("skip-gram", "cbow", "glove", "pmi"):
    code = main(["embed", str(folder / "corpus.txt"), "--model", model, "--out", str(folder / model), "--quiet"])
    assert code == 0, model
new = [kernel.__name__ for kernel in ALL if set(kernel.signatures) - known.get(kernel, set())]
print(json.dumps(new))
"""


def test_embed_finds_all_its_kernels(tmp_path):
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout.splitlines()[-1]) == []
