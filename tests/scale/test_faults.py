"""Workers, drivers and schedulers that die, blocks that cannot be read, and what a user hears of it."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from tests.scale.driver import MODELS, Driver
from tests.scale.sources import Files, cut

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from unweave.scale import cluster as scale  # noqa: E402
from unweave.scale.cluster import Cluster, start_cluster  # noqa: E402
from unweave.solve.checkpoint import Checkpoint  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore::UserWarning"), pytest.mark.slow]


def table(model: str):
    rng = np.random.default_rng(3)
    if model == "MatrixCompletion":
        X = 3 + rng.normal(size=(120, 2)) @ rng.normal(size=(2, 30))
        return sp.csr_array(np.where(rng.random(X.shape) < 0.4, X, 0))
    return rng.random((240, 12))


def source(folder, model: str, **more) -> Files:
    return Files.of(folder / "blocks", cut(table(model), 6), **more)


def assert_same(one, other) -> None:
    np.testing.assert_array_equal(one.components_, other.components_)
    assert one.objective_ == other.objective_ and one.n_iter_ == other.n_iter_
    np.testing.assert_array_equal(one.history_.objective, other.history_.objective)


def both(client) -> None:
    """Wait until both workers are there, also after one was killed."""
    client.wait_for_workers(2, timeout=60)


def gone(pids, seconds: float = 20.0) -> bool:
    """Whether none of these processes is left, soon."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if not any(os.path.exists(f"/proc/{pid}") for pid in pids):
            return True
        time.sleep(0.1)
    return False


# -- workers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "at"), [("NMF", 16), ("KMeans", 13), ("MatrixCompletion", 4)])
def test_a_worker_killed_between_two_passes_costs_nothing_but_time(model, at, client, tmp_path):
    both(client)
    files = source(tmp_path, model)
    here = MODELS[model]().fit(files)
    before = files.readings()
    victim = next(iter(client.run(os.getpid).values()))

    def kill(progress):
        if progress.iteration == at:
            os.kill(victim, signal.SIGKILL)

    there = MODELS[model](callback=kill).fit(files, client=client)
    assert_same(here, there)
    assert here.n_iter_ > at, "killed in mid-fit"
    again = max(now - 2 * first for now, first in zip(files.readings(), before, strict=True))
    assert again <= scale._DURABLE + 2, "made anew from what was written down, not from the first pass"


@pytest.mark.parametrize("model", ["KMeans", "MatrixCompletion"])
def test_a_worker_killed_while_it_reads_costs_nothing_but_time(model, client, tmp_path):
    both(client)
    here = MODELS[model]().fit(source(tmp_path / "here", model))
    files = source(tmp_path, model, deadly=((3, 5),))
    victims = set(client.run(os.getpid).values())
    assert_same(here, MODELS[model]().fit(files, client=client))
    both(client)
    assert set(client.run(os.getpid).values()) != victims


def test_a_block_that_cannot_be_read_is_named(client, tmp_path, capfd):
    both(client)
    files = source(tmp_path, "NMF")

    def spoil(progress):
        if progress.iteration == 3:
            os.unlink(files.paths[4])

    with pytest.raises(OSError, match=r"^block 4 of X could not be read: .*No such file.*4\.npy'$"):
        MODELS["NMF"](callback=spoil).fit(files, client=client)
    assert capfd.readouterr().err == ""


def test_a_worker_short_of_memory_says_so(tmp_path, capfd):
    files = source(tmp_path, "NMF")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        start_cluster(1, memory="600MB") as client,
        pytest.raises(MemoryError, match=r"workers died 1 times over one block.*\(572.20 MiB a worker\): give smaller"),
    ):
        MODELS["NMF"]().fit(Greedy(files.paths), client=client)
    assert capfd.readouterr().err == ""


class Greedy(Files):
    """The second block takes more memory than a worker may have."""

    def fetch(self, i):
        return grab if i == 1 else super().fetch(i)


def grab():
    block = np.ones((50_000, 1_000))
    time.sleep(5)
    return block


def test_a_cluster_without_workers_says_so(tmp_path):
    with start_cluster(0) as client, pytest.raises(RuntimeError, match=r"at tls://.* has no workers \(waited 0.5 s\)"):
        MODELS["NMF"]().fit(cut(table("NMF"), 3), client=Cluster(client, patience=0.5))


# -- drivers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "workers", "at"), [("NMF", 0, 7), ("MatrixCompletion", 0, 3), ("KMeans", 2, 12)])
def test_a_killed_driver_goes_on_from_its_checkpoint(model, workers, at, tmp_path, request):
    client = request.getfixturevalue("client") if workers else None
    files, path = source(tmp_path, model), tmp_path / "run.ckpt"
    driver = Driver(model, files, workers=workers, checkpoint=path, seconds=0.01)
    driver.until(f"iteration {at}")
    driver.kill()
    code, err = driver.end()
    assert code == -signal.SIGKILL and "Traceback" not in err
    assert path.exists()
    assert len(driver.workers) == workers and gone(driver.workers), "workers do not outlive their driver"
    heard = []
    resumed = MODELS[model](checkpoint=path, callback=lambda p: heard.append(p.iteration) and None)
    resumed.fit(files, client=client)
    assert at <= heard[0] <= at + 1
    assert_same(MODELS[model]().fit(files), resumed)
    assert [one.name for one in tmp_path.iterdir()] == ["blocks"], "nothing is left beside"


def test_workers_that_see_no_folder_of_the_driver_go_on_from_a_checkpoint_too(client, tmp_path):
    class Apart(Cluster):
        """Workers as on other machines."""

        def sees(self, folder):
            return False

    both(client)
    files, path = source(tmp_path, "NMF"), tmp_path / "run.ckpt"

    class Stop(Exception):
        pass

    def stop(progress):
        if progress.iteration == 11:
            raise Stop

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stop), pytest.warns(UserWarning, match="do not see the"):
        patch.setattr(Checkpoint, "offer", Checkpoint.write)
        MODELS["NMF"](checkpoint=path, callback=stop).fit(files, client=Apart(client))
    resumed = MODELS["NMF"](checkpoint=path).fit(files, client=Apart(client))
    assert_same(MODELS["NMF"]().fit(files), resumed)


def test_ctrl_c_keeps_the_best_state_and_the_workers(tmp_path):
    files, path = source(tmp_path, "NMF"), tmp_path / "run.ckpt"
    driver = Driver("NMF", files, workers=2, seconds=0.05, out=tmp_path / "out.npz", checkpoint=path)
    driver.until("iteration 3")
    time.sleep(0.1)  # somewhere in a pass
    driver.interrupt()
    code, err = driver.end()
    assert (code, err) == (0, "")
    assert "codes 240" in driver.said, "the model is usable, and so are the workers"
    assert any("the best state so far is kept" in line for line in driver.said)
    done = int(np.load(tmp_path / "out.npz")["n_iter"])
    assert 3 <= done < 25
    assert gone(driver.workers)
    resumed = MODELS["NMF"](checkpoint=path).fit(files)
    assert_same(MODELS["NMF"]().fit(files), resumed)


def test_ctrl_c_between_two_blocks_keeps_the_state_before_the_pass(tmp_path):
    class Interrupting(Files):
        def __getitem__(self, i):
            if i == 4 and self.readings()[4] == 6:
                os.kill(os.getpid(), signal.SIGINT)
            return super().__getitem__(i)

    files = source(tmp_path, "NMF")
    with pytest.warns(UserWarning, match="interrupted after .* the best state so far is kept"):
        model = MODELS["NMF"]().fit(Interrupting(files.paths))
    assert 1 <= model.n_iter_ <= 6 and model.history_.stopped == "interrupted"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = MODELS["NMF"]().set_params(max_iter=model.n_iter_).fit(files)
    np.testing.assert_array_equal(model.components_, expected.components_)
    assert model.transform(files).shape == (240, 3)


# -- schedulers --------------------------------------------------------------------------------------------------------


@pytest.fixture
def strangers(tmp_path):
    """A scheduler and a worker that somebody else has started: the process of the first, and its address."""
    note, started = tmp_path / "scheduler.json", []

    def start(program: str, *words: str) -> None:
        command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *words, "--no-dashboard"]
        started.append(subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=tmp_path))

    start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(note))
    ends = time.monotonic() + 60
    while not note.exists() or not note.read_text().endswith("}"):
        assert time.monotonic() < ends
        time.sleep(0.05)
    address = json.loads(note.read_text())["address"]
    start("worker", address, "--nthreads", "1", "--no-nanny", "--death-timeout", "5")
    yield started[0], address
    for process in started:
        process.kill()
        process.wait()


def test_a_scheduler_that_goes_away_ends_a_fit_at_once(strangers, capfd):
    scheduler, address = strangers
    blocks, killed = cut(table("NMF"), 6), []

    def kill(progress):
        if progress.iteration == 3:
            scheduler.kill()
            killed.append(time.monotonic())

    with pytest.raises(ConnectionError, match=f"^the scheduler at {address} was lost in mid-fit: .*checkpoint"):
        MODELS["NMF"](callback=kill).fit(blocks, client=address)
    assert time.monotonic() - killed[0] < 15
    assert capfd.readouterr().err == ""


def test_an_address_where_nobody_answers(monkeypatch, capfd):
    monkeypatch.setattr(scale, "_ANSWER", 1.0)
    began = time.monotonic()
    with pytest.raises(ConnectionError, match=r"client='tcp://127.0.0.1:1': no scheduler of Dask answers there"):
        MODELS["NMF"]().fit(cut(table("NMF"), 3), client="tcp://127.0.0.1:1")
    assert time.monotonic() - began < 10
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "model", [unweave.EASE(), unweave.PLSA(2), unweave.Agglomerative(2), unweave.Divisive(2), unweave.CURE(2)]
)
def test_a_model_that_cannot_use_a_cluster_says_so(model):
    with pytest.raises(ValueError, match=f"{type(model).__name__} cannot use a cluster.*leave out client"):
        model.fit(np.eye(4) + 1, client="tcp://127.0.0.1:1")


def test_what_is_no_client_is_refused():
    with pytest.raises(TypeError, match=r"client must be a distributed.Client or the address of a scheduler, got int"):
        MODELS["NMF"]().fit(cut(table("NMF"), 3), client=3)


# -- clusters that we start --------------------------------------------------------------------------------------------


def is_refused(address: str, **more) -> bool:
    """Tell whether nobody at an address speaks with a client that is made so."""
    try:
        distributed.Client(address, timeout=1, set_as_default=False, **more).close()
        refused = False
    except (OSError, TypeError):
        refused = True
    gc.collect()  # a client that failed must not be collected while another starts: Dask would wait for itself
    return refused


def test_they_speak_in_ciphers_and_refuse_who_has_no_key(client, capfd):
    address = client.scheduler.address
    assert address.startswith("tls://")
    assert all(worker.startswith("tls://") for worker in client.scheduler_info()["workers"])
    assert is_refused(address) and is_refused(address.replace("tls://", "tcp://"))
    assert is_refused(address, security=distributed.Security.temporary())  # a key, but of another cluster
    assert client.submit(sum, [1, 2]).result() == 3


@pytest.mark.parametrize("page", ["info/main/workers.html", "json/identity.json", "health", "metrics", "status"])
def test_they_show_no_pages_to_who_has_no_key(page, client):
    port = client.scheduler_info()["services"]["dashboard"]
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=5)


def test_workers_are_new_processes_of_one_thread(client):
    both(client)
    assert all(worker["nthreads"] == 1 for worker in client.scheduler_info()["workers"].values())
    lines = client.run(lambda: Path("/proc/self/cmdline").read_text())
    assert all("spawn_main" in line for line in lines.values())
    assert set(client.run(lambda: os.environ["OPENBLAS_NUM_THREADS"]).values()) == {"1"}
