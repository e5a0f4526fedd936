"""The file itself: written whole or not at all, readable by others, with a header that can be asked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import unweave
from tests.persist import zoo
from unweave import persist
from unweave.data import container


def small():
    return unweave.PCA(2).fit(zoo.numbers())


def run(script: str, *arguments) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_other_readers_of_safetensors_open_the_file(tmp_path):
    from safetensors import safe_open
    from safetensors.numpy import load_file

    model = small()
    path = persist.save(model, tmp_path / "m.unweave")
    arrays = load_file(path)
    assert arrays["_full_components"].tobytes() == model._full_components.tobytes()
    with safe_open(str(path), framework="np") as file:
        assert json.loads(file.metadata()["unweave"])["class"] == "PCA"


def test_files_of_the_writer_before_this_one_are_read(tmp_path):
    """Checkpoints written by safetensors itself, whose header has no digest of its own."""
    from safetensors.numpy import save_file

    a, empty = np.arange(6.0), np.zeros((0, 2), np.float32)
    metadata = {"unweave": '{"v": NaN}', "digests": json.dumps({"a": container.digest(a), "empty": ""})}
    save_file({"a": a, "empty": empty}, tmp_path / "f", metadata=metadata)
    arrays, note = container.read(tmp_path / "f")
    assert np.isnan(note["v"]) and arrays["a"].tolist() == a.tolist() and arrays["empty"].shape == (0, 2)


def test_the_header_tells_all_without_the_arrays(tmp_path):
    import pandas

    X = pandas.DataFrame(zoo.numbers(), columns=list("abcdefg"))
    model = zoo.quiet(unweave.NMF(3, loss="huber", max_iter=4, callback=print), X)
    about = persist.header(persist.save(model, tmp_path / "m.unweave", extra={"rows": ["x"], "codes": np.eye(2)}))
    assert json.loads(json.dumps(about, allow_nan=False)) == about
    assert (about["class"], about["version"], about["format"]) == ("NMF", unweave.__version__, 1)
    assert about["parameters"] == {**model.get_params(), "callback": None}
    assert about["names"] == list("abcdefg") and about["n_features"] == 7
    assert about["history"] == model.history_.as_dict()
    assert about["certificate"] == model.certificate_.as_dict() and about["plan"] == model.plan_.as_dict()
    assert about["attributes"]["components_"] == {"shape": [3, 7]}
    assert about["attributes"]["objective_"] == model.objective_
    assert about["extra"] == {"rows": ["x"], "codes": {"shape": [2, 2]}}
    assert about["bytes"] == (tmp_path / "m.unweave").stat().st_size
    assert about["arrays"]["codes_"] == {"dtype": "float64", "shape": [24, 3], "bytes": 24 * 3 * 8}


def test_extra_comes_back(tmp_path):
    extra = {
        "names": ["a", "b"], "deep": {"x": [1, 2.5, None, True, float("inf")], 3: ("t", np.float32(0.1))},
        "array": np.arange(6).reshape(2, 3), "sparse": sp.csr_array(np.eye(3)), "text": np.array(["é", "long word"]),
        "times": np.array(["2020-01-01", "NaT"], dtype="M8[D]"), "$": "dollar", "": b"\x00\xff",
    }  # fmt: skip
    path = persist.save(small(), tmp_path / "m.unweave", extra=extra)
    again = persist.read_extra(path)
    assert list(again) == list(extra)
    assert again["names"] == extra["names"] and again["deep"] == extra["deep"] and again["$"] == "dollar"
    assert type(again["deep"][3][1]) is np.float32 and again[""] == b"\x00\xff"
    for key in ("array", "text", "times"):
        np.testing.assert_array_equal(again[key], extra[key])
        assert again[key].dtype == extra[key].dtype
    assert (again["sparse"] != extra["sparse"]).nnz == 0
    assert persist.read_extra(persist.save(small(), path)) == {}


# -- refusals ---------------------------------------------------------------------------------------------------------


def test_what_cannot_be_saved_is_named(tmp_path):
    class Mine(unweave.PCA):
        pass

    path = tmp_path / "m.unweave"
    with pytest.raises(NotFittedError):
        persist.save(unweave.PCA(2), path)
    with pytest.raises(TypeError, match=r"only estimators of unweave can be saved.*Mine"):
        persist.save(Mine(2).fit(zoo.numbers()), path)
    with pytest.raises(TypeError, match=r"extra\['x'\]\[1\] holds a builtins.set"):
        persist.save(small(), path, extra={"x": [1, {2}]})
    with pytest.raises(TypeError, match=r"extra\['c'\] is an array of complex128"):
        persist.save(small(), path, extra={"c": np.ones(2, complex)})
    loop: dict = {}
    model = small()
    model.plan_.reasons = [model.plan_]
    with pytest.raises(TypeError, match=r"plan_.reasons\[0\] refers to an object that holds it"):
        persist.save(model, path, extra=loop)
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_where_nothing_can_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot save the model to .*there is no folder .*nowhere; make it"):
        persist.save(small(), tmp_path / "nowhere" / "m.unweave")
    with pytest.raises(OSError, match=r"cannot save the model to .*it is a folder; give the name of a file"):
        persist.save(small(), tmp_path)
    with pytest.raises(OSError, match=r"cannot save the model to .*device"):
        persist.save(small(), "/dev/null")
    assert os.path.exists("/dev/null") and not os.path.isfile("/dev/null")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs Unix users")
def test_a_folder_one_may_not_write_to_and_a_file_one_may_not_read(tmp_path):
    """Root may do everything, so the work is done as nobody."""
    path = persist.save(small(), tmp_path / "m.unweave")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o755)
    script = """
        import os, sys
        sys.dont_write_bytecode = True
        from unweave import persist
        model = persist.load(sys.argv[1])
        os.chmod(sys.argv[1], 0o000)
        os.chmod(sys.argv[2], 0o555)
        if os.geteuid() == 0:
            os.setegid(65534), os.seteuid(65534)
        for call in (lambda: persist.load(sys.argv[1]), lambda: persist.save(model, sys.argv[2] + "/m.unweave")):
            try:
                call()
            except PermissionError as error:
                print(error)
    """
    if os.geteuid() == 0:
        for folder in (tmp_path, *tmp_path.parents[:2]):  # pytest closes its folders to others
            folder.chmod(0o755)
    said = run(script, path, closed)
    assert f"cannot read {path}: permission denied" in said.stdout, said.stderr
    assert f"cannot save the model to {closed / 'm.unweave'}: permission denied" in said.stdout


def test_permissions_follow_the_umask_and_links_are_followed(tmp_path):
    real = tmp_path / "real.unweave"
    former = os.umask(0o027)
    try:
        persist.save(small(), real)
    finally:
        os.umask(former)
    assert real.stat().st_mode & 0o777 == 0o640
    link = tmp_path / "link.unweave"
    link.symlink_to(real)
    persist.save(unweave.PCA(3).fit(zoo.numbers()), link)
    assert link.is_symlink() and persist.load(real).n_components == 3


# -- accidents --------------------------------------------------------------------------------------------------------

LARGE = """
    import sys
    import numpy as np
    import unweave
    from unweave import persist

    def large(value, n=3_000_000):
        model = unweave.PCA(1).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
        model.n_features_in_, model._full_components = n, np.full((2, n), value)
        model._publish(model._sentence, model._full_components)
        return model
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_disk_that_is_full_leaves_the_old_file_whole(tmp_path):
    path = persist.save(small(), tmp_path / "m.unweave")
    before = path.read_bytes()
    script = (
        LARGE
        + """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))
    try:
        persist.save(large(1.0), sys.argv[1])
    except OSError as error:
        print(error)
    """
    )
    said = run(script, path)
    assert f"cannot save the model to {path}: file too large" in said.stdout, said.stderr
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["m.unweave"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs leave to mount a small disk")
def test_a_real_small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=False).returncode:
        pytest.skip("may not mount a disk here")
    try:
        path = persist.save(small(), disk / "m.unweave")
        before = path.read_bytes()
        said = run(LARGE + "    persist.save(large(1.0), sys.argv[1])", path)
        assert "no space left on device; nothing was changed" in said.stderr
        assert path.read_bytes() == before and [p.name for p in disk.iterdir()] == ["m.unweave"]
        assert persist.load(path).n_components == 2
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs kill -9")
def test_kill_9_leaves_the_old_file_or_the_new(tmp_path):
    path, rng = tmp_path / "m.unweave", np.random.default_rng(0)
    script = (
        LARGE
        + """
    models = [large(float(value)) for value in (1, 2)]
    persist.save(models[0], sys.argv[1])
    print("ready", flush=True)
    while True:
        for model in reversed(models):
            persist.save(model, sys.argv[1])
    """
    )
    cut_short = 0
    for _ in range(8):
        child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script), path], stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"ready\n"
        time.sleep(rng.uniform(0.0, 0.15))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        values = np.unique(persist.load(path, check=True).components_)
        assert values.tolist() in ([1.0], [2.0])
        for part in tmp_path.glob("*.part"):
            cut_short += 1
            part.unlink()
    assert cut_short, "no write was cut short, so nothing was shown"
