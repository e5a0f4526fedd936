"""Compile every kernel once, so that later processes load the machine code from disk in milliseconds.

Kernels are compiled for the types they meet, so each job is fitted in float32 and float64. A job that fails is
reported and the others still run.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

Table = Any
Job = tuple[str, Callable[[], Any]]

ROWS, COLUMNS = 40, 12


def tables(dtype: type[np.floating]) -> dict[str, Table]:
    """Make tiny tables of each kind that a fit may be handed: ``dense``, ``sparse``, ``nan``, ``binary``, ``counts``,
    ``similar`` and ``similar-sparse``, ``symbols``, ``tensor`` and ``tensor-sparse``, ``tensor-nan``."""
    rng = np.random.default_rng(0)
    dense: np.ndarray = (rng.random((ROWS, 3)) @ rng.random((3, COLUMNS)) + 0.1 * rng.random((ROWS, COLUMNS))).astype(
        dtype
    )
    holes = dense.copy()
    holes[rng.random(dense.shape) < 0.3] = np.nan
    holes[np.arange(ROWS), np.arange(ROWS) % COLUMNS] = 1.0
    sparse = sp.csr_matrix(np.where(rng.random(dense.shape) < 0.4, dense, 0).astype(dtype))
    return {
        "dense": dense,
        "sparse": sparse,
        "nan": holes,
        "binary": (dense > dense.mean()).astype(dtype),
        "counts": rng.poisson(3.0, dense.shape).astype(dtype),
        "similar": dense @ dense.T,
        "similar-sparse": sp.csr_matrix((dense @ dense.T).astype(dtype)),
        **_tensors(rng, dtype),
        "symbols": rng.integers(0, 3, (ROWS, 1)).astype(dtype),
    }


def _tensors(rng: np.random.Generator, dtype: type[np.floating]) -> dict[str, Table]:
    """Make a tensor whole, as coordinates and with holes."""
    from unweave.data.tensor import SparseTensor

    whole = rng.random((COLUMNS, COLUMNS, 5)).astype(dtype)
    hidden = rng.random(whole.shape) < 0.3
    coords = np.argwhere(hidden)
    return {
        "tensor": whole,
        "tensor-sparse": SparseTensor(coords, whole[tuple(coords.T)], whole.shape),
        "tensor-nan": np.where(hidden, dtype(np.nan), whole),
    }


def _fit(make: Callable[[], Any], X: Table, kind: str) -> Callable[[], Any]:
    def job() -> Any:
        model = make()
        if kind.endswith("nan"):  # NaN is refused unless it is said to mean "not observed"
            model.set_params(missing="nan")
        model.fit(X)
        use = model.transform if hasattr(model, "transform") else model.predict
        return use(X if X.shape[0] == X.shape[1] else X[: ROWS // 2])

    return job


def _learn_words(make: Callable[[], Any]) -> Callable[[], Any]:
    """A fit on texts, and a map of the words as the page of `unweave embed` has it."""

    def job() -> Any:
        from unweave.embed.layout import map_facts
        from unweave.registry import small_table

        model = make().fit(small_table("SkipGram"))
        return map_facts(model.vectors_) if hasattr(model, "vectors_") else model.counts_

    return job


def _models() -> Iterator[tuple[str, Callable[[], Any], list[str]]]:
    """What the registry says is to be fitted: name, constructor, tables it is fitted on."""
    from unweave.registry import ESTIMATORS, small_model, takes

    for name, entry in ESTIMATORS.items():
        for given, kinds in entry.warm:
            words = " ".join([name, *(str(value) for value in given.values() if isinstance(value, str))])
            more = {"max_iter": 3, **given} if "max_iter" in takes(name) else given
            yield words, partial(small_model, name, **more), kinds.split()


def _read_numbers() -> Any:
    """Read a file that is just large enough for the compiled reader."""
    import tempfile
    from pathlib import Path

    import unweave.kernels  # noqa: F401  (or the file would have to be larger)
    from unweave.data.readers import read
    from unweave.data.readers.csv import compiled

    row = b"1.5,-2.25,3e-5\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "numbers.csv")
        path.write_bytes(row * (compiled.LARGE // len(row) + 1))
        return read(path)


def _count_words() -> Any:
    from unweave import TextTable

    texts = ["warm up", "é", " ".join(f"word{i}" for i in range(1000))]  # so many that the table of words grows
    runs = [(ngrams, dtype) for ngrams in ((1, 1), (1, 2)) for dtype in ("float32", "float64")]
    return [TextTable(ngrams=ngrams, dtype=dtype).fit_transform(texts) for ngrams, dtype in runs]


def _search_documents() -> Any:
    import unweave

    X = tables(np.float64)["dense"]
    model = unweave.LSA(3, random_state=0).fit(X)
    return model.search(np.ones(X.shape[1]), 3), model.nearest_terms(0, 3)


def _silhouette(X: Table) -> Any:
    from unweave.select import silhouette

    return silhouette(X, np.arange(len(X)) % 3)


def jobs(dtypes: Sequence[type[np.floating]] = (np.float32, np.float64)) -> Iterator[Job]:
    """Every job of the warm-up as (what it is, what to call); what has no type of its own goes with float64."""
    if np.float64 in dtypes:
        yield "reading large files of numbers", _read_numbers
        yield "counting words", _count_words
        yield "searching documents", _search_documents
    made = {dtype: tables(dtype) for dtype in dtypes}
    for dtype, tabs in made.items():
        yield f"silhouette, {dtype.__name__}", partial(_silhouette, tabs["dense"])
    for name, make, kinds in _models():
        for kind in kinds:
            if kind == "texts":  # which have no type of numbers: the process of float64 does them alone
                if np.float64 in dtypes:
                    yield f"{name}, texts", _learn_words(make)
                continue
            for dtype, tabs in made.items():
                yield f"{name}, {kind}, {dtype.__name__}", _fit(make, tabs[kind], kind)


def warmup(*, quiet: bool = False, say: Callable[[str], Any] = print) -> int:
    """Run every job in two processes, saying what they do and the seconds; 1 if any failed, else 0.

    One process fits in float64, the other in float32 and in the other order: they compile different machine code, and
    what both need is on disk before the second comes to it.
    """
    started = time.perf_counter()
    failed: list[bool] = []

    def pass_on(lines: Iterable[str]) -> None:
        for line in lines:
            failed.append(_say(line.rstrip("\n"), quiet, say))

    with subprocess.Popen([sys.executable, "-m", __name__], stdout=subprocess.PIPE, text=True) as other:
        listening = threading.Thread(target=pass_on, args=(other.stdout,))
        listening.start()
        pass_on(attempts(jobs([np.float64])))
        listening.join()
    if other.returncode:
        failed.append(True)
        say(f"the process for float32 ended with code {other.returncode}")
    say(f"{time.perf_counter() - started:7.2f} s  in all" + (f", {sum(failed)} failed" if any(failed) else ""))
    return int(any(failed))


_FAILED = ": failed: "


def attempts(work: Iterable[Job]) -> Iterator[str]:
    """Run jobs; one line each with the seconds, its name, and why it failed if it did."""
    for name, job in work:
        before = time.perf_counter()
        error = _attempt(job)
        why = f"{_FAILED}{type(error).__name__}: {error}" if error is not None else ""
        yield f"{time.perf_counter() - before:7.2f} s  {name}{why}".replace("\n", " ")


def _say(line: str, quiet: bool, say: Callable[[str], Any]) -> bool:
    """Say a line unless it is quiet; whether the job failed, which is always said."""
    failed = _FAILED in line
    if failed or not quiet:
        say(line)
    return failed


def _attempt(job: Callable[[], Any]) -> Exception | None:
    """Run a job; the exception it ended with, if any. Three iterations on a toy do not converge: not worth saying."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            job()
    except Exception as error:
        return error
    return None


if __name__ == "__main__":
    for told in attempts(reversed(list(jobs([np.float32])))):
        print(told, flush=True)
