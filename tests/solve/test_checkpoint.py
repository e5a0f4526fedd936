"""Checkpoints: killed and resumed for real, refused when damaged or foreign."""

import errno
import os
import signal
import subprocess
import sys
import tempfile
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import unweave
from unweave.data import container
from unweave.solve.checkpoint import Checkpoint
from unweave.solve.history import History

MODELS = {
    "nmf": lambda path, **more: unweave.NMF(5, max_iter=30, tol=0, random_state=3, checkpoint=path, **more),
    "kl": lambda path, **more: unweave.NMF(5, loss="kl", max_iter=15, tol=0, checkpoint=path, **more),
    "kmeans": lambda path, **more: unweave.KMeans(40, max_iter=12, tol=0, random_state=1, checkpoint=path, **more),
    "lloyd": lambda path, **more: unweave.KMeans(9, repair=False, max_iter=12, tol=0, random_state=1, checkpoint=path,
                                                 **more),
    "ratings": lambda path, **more: unweave.MatrixCompletion(3, ridge=1.0, max_iter=9, tol=0, checkpoint=path, **more),
    "huber": lambda path, **more: unweave.Factorization(3, loss="huber", max_iter=9, tol=0, checkpoint=path, **more),
    "hull": lambda path, **more: unweave.Factorization(3, codes="simplex", components="hull", max_iter=9, tol=0,
                                                       checkpoint=path, **more),
    "krylov": lambda path, **more: unweave.TruncatedSVD(6, max_iter=9, tol=0, checkpoint=path, **more),
    "krylov-pca": lambda path, **more: unweave.PCA(6, max_iter=9, tol=0, checkpoint=path, **more),
    "power": lambda path, **more: unweave.Factorization(9, solver="power", checkpoint=path, **more),
}  # fmt: skip


def table(name=""):
    rng = np.random.default_rng(0)
    if name.startswith("krylov"):  # too large to decompose at once
        return sp.random_array((1500, 1300), density=0.02, rng=rng, format="csr")
    return rng.random((400, 6)) @ rng.random((6, 30)) + 0.1 * rng.random((400, 30))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_killed_fit_goes_on_to_the_same_answer(name, tmp_path):
    path = tmp_path / "run.ckpt"
    script = f"""
        import os, signal, sys
        sys.path.insert(0, {str(os.path.dirname(__file__))!r})
        import test_checkpoint as t
        def die(progress):
            if progress.iteration == 5:
                os.kill(os.getpid(), signal.SIGKILL)
        t.MODELS[{name!r}]({str(path)!r}, callback=die).fit(t.table({name!r}))
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert ended.returncode == -signal.SIGKILL
    done = container.read(path)[1]["history"]["seconds"]
    assert 1 <= len(done) <= 5
    heard = []
    resumed = MODELS[name](path, callback=lambda p: heard.append(p.iteration) and None).fit(table(name))
    plain = MODELS[name](None).fit(table(name))
    assert heard == [*range(len(done), plain.n_iter_ + 1)], "the callback is asked about the state that was loaded, too"
    assert resumed.history_.seconds[: len(done)].tolist() == done, "the fit went on from there"
    assert not path.exists(), "removed when the fit ended"
    assert resumed.n_iter_ == plain.n_iter_
    np.testing.assert_array_equal(resumed.components_, plain.components_)
    assert resumed.history_.objective.tolist() == plain.history_.objective.tolist()


def half_done(path, X=None):
    """A checkpoint left behind by a fit whose callback failed."""

    class Stop(Exception):
        pass

    def fail(progress):
        if progress.iteration == 3:
            raise Stop

    with pytest.raises(Stop):
        MODELS["nmf"](path, callback=fail).fit(table() if X is None else X)
    assert path.exists()


def test_a_checkpoint_of_other_data_is_refused(tmp_path):
    half_done(tmp_path / "run.ckpt")
    with pytest.raises(ValueError, match="belongs to another fit"):
        MODELS["nmf"](tmp_path / "run.ckpt").fit(table() + 1e-3)
    assert (tmp_path / "run.ckpt").exists()


def test_a_checkpoint_of_other_parameters_is_refused(tmp_path):
    half_done(tmp_path / "run.ckpt")
    with pytest.raises(ValueError, match="belongs to another fit"):
        MODELS["nmf"](tmp_path / "run.ckpt").set_params(n_components=4).fit(table())


def test_limits_and_listeners_do_not_make_a_checkpoint_foreign(tmp_path):
    half_done(tmp_path / "run.ckpt")
    model = MODELS["nmf"](tmp_path / "run.ckpt").set_params(max_iter=8, verbose=False).fit(table())
    assert model.n_iter_ == 8


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "foreign"])
def test_a_damaged_checkpoint_is_refused_with_a_clear_error(damage, tmp_path):
    path = tmp_path / "run.ckpt"
    half_done(path)
    whole = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(whole[: len(whole) // 2])
    elif damage == "flip":
        whole[-9] ^= 0xFF
        path.write_bytes(whole)
    else:
        path.write_bytes(b"" if damage == "empty" else b"not one of ours" * 100)
    with pytest.raises(ValueError, match="checkpoint"):
        MODELS["nmf"](path).fit(table())


def test_state_with_generator_and_scalars_round_trips(tmp_path):
    rng = np.random.default_rng(5)
    rng.random(3)
    state = {"a": np.arange(6.0).reshape(2, 3), "n": 4, "x": 0.5, "rng": rng, "labels": np.arange(3, dtype=np.int32)}
    checkpoint = Checkpoint(tmp_path / "c", "id")
    history = History()
    history.add(1.0, 1.0, 0.1)
    checkpoint.write(state, history)
    again, record = Checkpoint(tmp_path / "c", "id").load()
    np.testing.assert_array_equal(again["a"], state["a"])
    assert (again["n"], again["x"], again["labels"].dtype) == (4, 0.5, np.int32)
    assert again["rng"].random() == rng.random()
    assert record.objective.tolist() == [1.0]


def test_writing_is_atomic_when_the_disk_refuses(tmp_path, monkeypatch):
    container.write(tmp_path / "f", {"a": np.ones(3)}, {"v": 1})

    def refuse(*args):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="no space"):
        container.write(tmp_path / "f", {"a": np.zeros(3)}, {"v": 2})
    arrays, note = container.read(tmp_path / "f")
    assert (note["v"], arrays["a"].tolist()) == (1, [1, 1, 1])
    assert [p.name for p in tmp_path.iterdir()] == ["f"], "no half-written file is left"


IMPATIENT = {
    "NMF": lambda **more: unweave.NMF(2, **more),
    "KMeans, auto": lambda **more: unweave.KMeans("auto", **more),
    "SpectralClustering": lambda **more: unweave.SpectralClustering(2, **more),
    "MatrixCompletion": lambda **more: unweave.MatrixCompletion(2, **more),
    "GaussianMixture": lambda **more: unweave.GaussianMixture(2, **more),
}


@pytest.mark.parametrize("name", IMPATIENT)
def test_a_place_where_nothing_can_be_written_is_noticed_before_the_fit(name, tmp_path, monkeypatch):
    heard = []
    for place, kind in ((tmp_path / "nowhere" / "c", FileNotFoundError), (tmp_path, IsADirectoryError)):
        model = IMPATIENT[name](checkpoint=place, callback=lambda p: heard.append(p.iteration))
        with pytest.raises(kind, match=r"cannot write the checkpoint .*(make it first|name of a file in it)"):
            model.fit(table()[:40])

    def read_only(**how):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(tempfile, "TemporaryFile", read_only)
    with pytest.raises(OSError, match=r"cannot write the checkpoint .*read-only.*choose another place"):
        IMPATIENT[name](checkpoint=tmp_path / "c", callback=lambda p: heard.append(p.iteration)).fit(table()[:40])
    assert heard == []


def test_a_full_disk_is_named_with_the_file_and_what_to_do(tmp_path, full_disk):
    path = tmp_path / "run.ckpt"
    half_done(path)
    before = path.read_bytes()
    checkpoint = Checkpoint(path, "id")
    with full_disk(), pytest.raises(OSError, match=r"cannot write the checkpoint .*run\.ckpt: .*; .*free some space"):
        checkpoint.write({"codes": np.ones(10_000)}, History())
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["run.ckpt"]


def test_writes_are_rare_and_never_more_than_a_twentieth_of_the_time(tmp_path):
    checkpoint = Checkpoint(tmp_path / "c", "id", every=10.0)
    written = []
    checkpoint.write = lambda state, history: (written.append(1), setattr(checkpoint, "_written", 0.0))
    checkpoint.offer({}, History())
    assert written == [1], "after the first iteration"
    import unweave.solve.checkpoint as module

    clock = {"now": 9.0}
    module_time = module.time
    try:
        module.time = type("T", (), {"perf_counter": staticmethod(lambda: clock["now"])})
        checkpoint.offer({}, History())
        assert len(written) == 1
        clock["now"] = 10.5
        checkpoint.offer({}, History())
        assert len(written) == 2
        checkpoint._cost, clock["now"] = 1.0, 19.0
        checkpoint.offer({}, History())
        assert len(written) == 2, "a write that takes a second waits twenty"
    finally:
        module.time = module_time


def test_sparse_fits_resume_too(tmp_path):
    X = sp.random_array((200, 40), density=0.2, rng=np.random.default_rng(0), format="csr")
    half_done(tmp_path / "run.ckpt", X)
    np.testing.assert_array_equal(
        MODELS["nmf"](tmp_path / "run.ckpt").fit(X).components_, MODELS["nmf"](None).fit(X).components_
    )


@pytest.mark.parametrize("name", ["krylov", "krylov-pca", "power"])
def test_a_search_heeds_the_callback_and_keeps_what_it_was_told(name):
    """The objective that the callback hears is that of the model it gets by stopping there."""
    heard = []

    def stop(progress):
        heard.append(progress.objective)
        return progress.iteration == 4

    X = table(name)
    model = MODELS[name](None, callback=stop).fit(X)
    assert model.n_iter_ == 4 and "callback" in model.history_.stopped
    assert all(np.diff(heard) <= 0)
    assert model.objective_ <= heard[-1] * (1 + 1e-9)
    if name != "power":  # its components still to be found are any directions, which can only help
        np.testing.assert_allclose(model.objective_, heard[-1], rtol=1e-9)
    assert np.isfinite(model.transform(X)).all()
    gram = model.components_ @ model.components_.T
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-8)


def test_a_decomposition_killed_after_its_only_step_still_resumes(tmp_path):
    """The state of a closed form is all that the answer needs."""

    class Stop(Exception):
        pass

    def fail(progress):
        raise Stop

    X, path = table(), tmp_path / "run.ckpt"
    for model in (unweave.PCA(3), unweave.TruncatedSVD(3), unweave.Factorization(3, codes="ridge", components="ridge")):
        with pytest.raises(Stop):
            model.set_params(checkpoint=path, callback=fail).fit(X)
        assert path.exists()
        resumed = clone(model).set_params(callback=None).fit(X)
        plain = clone(model).set_params(callback=None, checkpoint=None).fit(X)
        np.testing.assert_array_equal(resumed.components_, plain.components_)
        assert resumed.objective_ == plain.objective_ and not path.exists()
