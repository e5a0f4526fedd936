"""``python -m tests.scale.driver``: fit a model to blocks in files, here or on workers of its own, in a process that
others may kill. Says on stdout which processes are its workers, and each iteration that is done."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np

import unweave
from tests.scale.sources import Files
from unweave.solve.checkpoint import Checkpoint

MODELS = {
    "NMF": lambda **more: unweave.NMF(3, max_iter=25, tol=0, random_state=0, **more),
    "KMeans": lambda **more: unweave.KMeans(
        8, repair=False, init=np.random.default_rng(1).random((8, 12)), max_iter=40, tol=0, **more
    ),
    "MatrixCompletion": lambda **more: unweave.MatrixCompletion(
        2, ridge=0.1, max_iter=10, tol=0, random_state=0, **more
    ),
}


def tell(progress) -> None:
    print("iteration", progress.iteration, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("blocks", type=Path, nargs="+")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--checkpoint")
    parser.add_argument("--out")
    options = parser.parse_args()
    Checkpoint.offer = Checkpoint.write  # after every iteration
    if options.workers:
        from unweave.scale.cluster import start_cluster

        cluster = start_cluster(options.workers)
    else:
        cluster = nullcontext()
    with cluster as client, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        if client is not None:
            print("workers", *client.run(os.getpid).values(), flush=True)
        source = Files(tuple(map(str, options.blocks)), options.seconds)
        model = MODELS[options.model](checkpoint=options.checkpoint, callback=tell).fit(source, client=client)
        print("codes", model.transform(source).shape[0], flush=True)
    print("heard", *(str(warning.message) for warning in heard), flush=True)
    if options.out:
        np.savez(options.out, components=model.components_, objective=model.objective_, n_iter=model.n_iter_)


class Driver:
    """Such a process, started by a test, in a session of its own so that all of it can be sent a signal."""

    def __init__(self, model: str, source: Files, **options):
        more = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        command = [sys.executable, "-m", "tests.scale.driver", model, *source.paths, *more]
        root = Path(__file__).resolve().parents[2]
        self.process = subprocess.Popen(
            command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.workers: list[int] = []
        self.said: list[str] = []
        self._watch = threading.Timer(120, self.kill)  # rather than wait for ever
        self._watch.start()

    def until(self, word: str) -> None:
        """Wait until it has said something that begins so."""
        for line in self.process.stdout:
            self.said.append(line.strip())
            if line.startswith("workers"):
                self.workers = [int(pid) for pid in line.split()[1:]]
            if line.startswith(word):
                return
        raise AssertionError(f"ended before {word!r}: {self.said[-3:]}\n{self.process.stderr.read()}")

    def kill(self) -> None:
        """Kill it alone, not its workers."""
        self.process.send_signal(signal.SIGKILL)

    def interrupt(self) -> None:
        """Press Ctrl-C in its terminal: every process there is told."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self) -> tuple[int, str]:
        """Wait for its end; its code, and what it said on stderr."""
        out, err = self.process.communicate()
        self._watch.cancel()
        self.said += out.splitlines()
        return self.process.returncode, err


if __name__ == "__main__":
    main()
