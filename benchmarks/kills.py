"""``python -m benchmarks.kills``: fits whose workers or whose driver are killed at random moments end in the same bits.

First every model is fitted in this process to blocks in files. Then come fits on two workers, one of which is killed
(SIGKILL) at a random moment, and fits in a process of their own that is killed and started again from its checkpoint,
by turns in that process and on two workers of its own. Each must end in the bits of the undisturbed fit. Blocks take
a while to read, so that a fit lasts a few seconds whatever the processor. The exit code is 1 if any fit failed or ended
in other bits. What takes longer than ``--longest`` counts as a hang: on a machine that is busy otherwise, give it more.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

import unweave
from unweave.solve.checkpoint import Checkpoint

BLOCKS, DELAY = 12, 0.02  # seconds that a block takes to read

MODELS: dict[str, Callable[..., Any]] = {
    "NMF": partial(unweave.NMF, 4, max_iter=15, tol=0, random_state=0),
    "KMeans": partial(
        unweave.KMeans, 12, init=np.random.default_rng(1).random((12, 10)), repair=False, max_iter=15, tol=0
    ),
    "GaussianMixture": partial(unweave.GaussianMixture, 3, max_iter=15, tol=0, random_state=0),
    "LDA": partial(unweave.LDA, 4, max_iter=15, tol=0, random_state=0),
    "MatrixCompletion": partial(unweave.MatrixCompletion, 3, ridge=0.1, max_iter=7, tol=0, random_state=0),
}


# -- data --------------------------------------------------------------------------------------------------------------


def table(name: str) -> Any:
    """A small table for a model."""
    rng = np.random.default_rng(0)
    if name == "LDA":
        return sp.csr_array(rng.poisson(rng.gamma(0.3, 1.0, (480, 4)) @ rng.gamma(0.3, 1.0, (4, 60))).astype(float))
    if name == "MatrixCompletion":
        X = 3 + rng.normal(size=(480, 3)) @ rng.normal(size=(3, 60))
        return sp.csr_array(np.where(rng.random(X.shape) < 0.3, X, 0))
    return rng.random((960, 10))


@dataclass(frozen=True)
class Slowly:
    """Blocks in files, each of which takes a while to read."""

    folder: str

    def __len__(self) -> int:
        return BLOCKS

    def __getitem__(self, i: int) -> Any:
        return self.fetch(i)()

    def fetch(self, i: int) -> Callable[[], Any]:
        """A function that reads block i."""
        return partial(read, f"{self.folder}/{i}.npz")

    def write(self, X: Any) -> None:
        """Cut a table into blocks, and write them."""
        os.makedirs(self.folder)
        edges = np.linspace(0, X.shape[0], BLOCKS + 1).astype(int)
        for i in range(BLOCKS):
            sp.save_npz(f"{self.folder}/{i}.npz", sp.csr_array(X[edges[i] : edges[i + 1]]))


def read(path: str) -> Any:
    """Read a block, late; tables without zeros are arrays."""
    time.sleep(DELAY)
    block = sp.csr_array(sp.load_npz(path))
    return block if block.nnz < block.shape[0] * block.shape[1] else block.toarray()


def bits(model: Any) -> str:
    """A digest of what a fit has learned, and of the objective of every iteration."""
    told = hashlib.blake2b(digest_size=12)
    for array in (model.components_, np.asarray(model.objective_), model.history_.objective):
        told.update(np.ascontiguousarray(array).tobytes())
    return told.hexdigest()


# -- fits --------------------------------------------------------------------------------------------------------------


def fit(name: str, folder: str, client: Any = None, **more: Any) -> Any:
    """Fit one model to its blocks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name](**more).fit(Slowly(folder), client=client)


def undisturbed(name: str, folder: str, client: Any) -> tuple[str, float]:
    """The digest of a fit that nobody disturbs, and its seconds."""
    began = time.perf_counter()
    return bits(fit(name, folder, client)), time.perf_counter() - began


def with_a_death(name: str, folder: str, client: Any, moment: float) -> tuple[str, str]:
    """Fit on workers, one of which is killed after so many seconds; the digest, and when it was."""
    client.wait_for_workers(2, timeout=180)
    victim = next(iter(client.run(os.getpid).values()))
    ended, killed = threading.Event(), threading.Event()

    def kill() -> None:
        if not ended.wait(moment):
            os.kill(victim, signal.SIGKILL)
            killed.set()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = bits(fit(name, folder, client))
    finally:
        ended.set()
        killer.join()
    # One that had ended before was not disturbed: try an earlier moment.
    return (
        (found, f"killed after {moment:.2f} s") if killed.is_set() else with_a_death(name, folder, client, moment / 2)
    )


def driver(name: str, folder: str, checkpoint: str, workers: int) -> None:
    """Fit in a process that others kill; says when it begins, and the digest at the end."""
    Checkpoint.offer = Checkpoint.write  # type: ignore[method-assign]  # after every iteration, not every ten seconds
    if workers:
        from unweave.scale.cluster import start_cluster

        cluster: Any = start_cluster(workers)
    else:
        cluster = nullcontext()
    with cluster as client:
        print("began", flush=True)
        print(bits(fit(name, folder, client, checkpoint=checkpoint)), flush=True)


def killed_and_resumed(
    name: str, folder: str, checkpoint: str, workers: int, longest: float, moment: float
) -> tuple[str, str]:
    """Fit in a process that is killed after so many seconds, then once more; the digest, and where it went on."""
    options = ["--driver", name, "--folder", folder, "--checkpoint", checkpoint, "--workers", str(workers)]
    command, how = [sys.executable, "-m", "benchmarks.kills", *options], ""
    for last in (False, True):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        late = threading.Event()
        watch = threading.Timer(longest, partial(_end, child, late))
        watch.start()
        assert child.stdout is not None
        child.stdout.readline()
        if not last:
            time.sleep(moment)
            child.kill()
        out, err = child.communicate()
        watch.cancel()
        if late.is_set():
            raise TimeoutError(f"not done after {longest:.0f} s, {'gone on' if last else 'before it was killed'}")
        if last and child.returncode:
            raise RuntimeError((err.strip().splitlines() or ["no answer"])[-1])
        if not last and out:
            return killed_and_resumed(name, folder, checkpoint, workers, longest, moment / 2)
        if not last:
            where = "went on from its checkpoint" if os.path.exists(checkpoint) else "no iteration was done: began anew"
            how = f"killed after {moment:.2f} s, {where}"
    return out.strip(), how


def _end(child: subprocess.Popen, late: threading.Event) -> None:
    late.set()
    child.kill()


# -- the table ---------------------------------------------------------------------------------------------------------


def report(what: str, name: str, call: Callable[[], tuple[str, str]], expected: str) -> bool:
    """Run one fit, and print how it went; whether it ended in the same bits."""
    began, how = time.perf_counter(), ""
    try:
        found, how = call()
        said = "same bits" if found == expected else "OTHER BITS"
    except Exception as error:
        said = f"FAILED: {type(error).__name__}: {error}"
    print(f"| {what} | {name} | {time.perf_counter() - began:.1f} | {how} | {said} |", flush=True)
    return said == "same bits"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=20, help="fits of which a worker is killed")
    parser.add_argument("--drivers", type=int, default=20, help="fits whose driver is killed")
    parser.add_argument("--seed", type=int, default=0, help="of the random moments")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS), help="those to fit, in turns")
    parser.add_argument("--longest", type=float, default=180.0, help="seconds after which a fit counts as a hang")
    parser.add_argument("--driver", choices=MODELS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--checkpoint", help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.driver:
        driver(options.driver, options.folder, options.checkpoint, options.workers)
        return
    from unweave.scale.cluster import start_cluster

    names, rng = options.models, np.random.default_rng(options.seed)
    with tempfile.TemporaryDirectory() as folder, start_cluster(2) as client:
        expected, seconds = {}, {}
        for name in names:
            Slowly(f"{folder}/{name}").write(table(name))
            expected[name], seconds[name, 0] = undisturbed(name, f"{folder}/{name}", None)
            undisturbed(name, f"{folder}/{name}", client)  # workers import what they need
            same, seconds[name, 2] = undisturbed(name, f"{folder}/{name}", client)
            if same != expected[name]:
                sys.exit(f"{name} ends in other bits on workers, also if nobody is killed")
        print("| killed | model | s | | |\n|---|---|---|---|---|")
        workers = drivers = 0
        for i in range(options.kills):
            name = names[i % len(names)]
            moment = rng.uniform(0.02, 0.98) * seconds[name, 2]
            call = partial(with_a_death, name, f"{folder}/{name}", client, moment)
            workers += report("a worker", name, call, expected[name])
        for i in range(options.drivers):
            name, many = names[i % len(names)], 2 * (i // len(names) % 2)
            moment = rng.uniform(0.1, 1.2) * seconds[name, many]  # kernels are loaded first
            where = f"{folder}/{name}", f"{folder}/{i}.ckpt"
            call = partial(killed_and_resumed, name, *where, many, options.longest, moment)
            drivers += report(f"a driver {'of two workers' if many else 'in one process'}", name, call, expected[name])
    print("\nfinished with the same bits:")
    print(f"{workers} of {options.kills} fits of which a worker was killed")
    print(f"{drivers} of {options.drivers} fits whose driver was killed")
    sys.exit(int((workers, drivers) != (options.kills, options.drivers)))


if __name__ == "__main__":
    main()
