"""The process that compiles the kernels and the one that loads them from disk give the same bits."""

import os
import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
    import hashlib
    import numpy as np
    import scipy.sparse as sp
    import unweave

    rng = np.random.default_rng(0)
    X = rng.random((400, 6)) @ rng.random((6, 30)) + 0.1 * rng.random((400, 30))
    ratings = sp.csr_array(np.where(rng.random(X.shape) < 0.3, X, 0))
    models = {
        "kl": (unweave.NMF(5, loss="kl", max_iter=15, tol=0), X),
        "coordinate": (unweave.NMF(5, max_iter=15, tol=0), X),
        "lloyd": (unweave.KMeans(9, max_iter=5, tol=0, random_state=1), X),
        "ratings": (unweave.MatrixCompletion(3, ridge=1.0, max_iter=5, tol=0), ratings),
        "implicit": (unweave.ImplicitALS(5, max_iter=3, tol=0), ratings),
    }
    for name, (model, table) in models.items():
        model.fit(table)
        print(name, hashlib.sha256(model.components_.tobytes()).hexdigest(), model.history_.objective.tolist())
"""


@pytest.mark.slow
def test_compiled_here_or_loaded_from_disk_the_bits_are_the_same(tmp_path):
    place = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def fit_in_a_new_process():
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", textwrap.dedent(SCRIPT)],
            env=place, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done

    compiled, loaded = fit_in_a_new_process(), fit_in_a_new_process()
    assert "compiling" in compiled.stderr and "compiling" not in loaded.stderr
    assert compiled.stdout.count("\n") == 5
    assert compiled.stdout == loaded.stdout
