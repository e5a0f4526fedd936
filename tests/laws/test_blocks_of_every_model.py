"""Whatever a model is asked about a table it may be asked about its blocks: the same answer, or what to do instead."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp

from tests.laws.test_blocks import cut
from tests.laws.test_every_model import every_model
from unweave.registry import ESTIMATORS, find, small_model, small_table, takes

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

# Models that the blocks of a table must not stop, and by what they may be fitted to blocks.
FIT_BLOCKS = (
    "Factorization", "PCA", "TruncatedSVD", "ICA", "LinearAutoencoder", "OrthonormalBasis", "NMF", "SemiNMF", "LSA",
    "LDA", "KMeans", "BFR", "CURE", "SoftClustering", "GaussianMixture", "BernoulliMixture", "HiddenMarkov",
    "MatrixCompletion", "ImplicitALS", "SparseCoder", "DictionaryLearning",
)  # fmt: skip
_SEQUENCES = ("HiddenMarkov",)  # for it a list is a list of sequences, which blocks cannot be
_NOT_ASKED = ("fit", "partial_fit", "add_documents", "decode", "imputations", "plot")
AT = (7, 8, 30)


def numbers(name: str, kind: str):
    """A small table for a model, with holes, in single precision, or sparse; None where the model takes no such."""
    X, rng = small_table(name), np.random.default_rng(3)
    if kind == "holes":
        if "missing" not in takes(name) or find(name)().missing == "zeros":
            return None
        X = np.where(rng.random(X.shape) < 0.15, np.nan, X)
    if kind == "float32":
        X = X.astype(np.float32)
    if kind == "sparse" and X.ndim > 2:
        return None  # a list of coordinates has no blocks
    if kind == "sparse":
        similar = ESTIMATORS[name].table == "similarities"
        X = sp.csr_array(X if similar else np.where(np.quantile(X, 0.4) < X, X, 0))
    return X


def blocks_of(X, kind: str) -> list:
    """Cut a table into blocks; some of one row, some of none."""
    return [X[:0], *cut(X, 1, 7, 30), X[:0]] if kind == "float32" else cut(X, *AT)


def make(name: str, kind: str, **more):
    return small_model(name, **({"missing": "nan"} if kind == "holes" else {}), **more)


def needs_one_table(error: Exception) -> bool:
    """Whether an error is the one sentence that says so, and what to do."""
    said = str(error)
    assert isinstance(error, ValueError), f"{type(error).__name__}: {said}"
    assert "needs X as one table in memory, not as a sequence of blocks: " in said, said
    assert any(way in said for way in ("stack", "partial_fit", "use ", "leave them out")), said
    assert "\n" not in said, said
    return True


def questions(fitted, X) -> dict[str, Callable]:
    """Every public method whose first argument is a table, or codes of one, as functions of blocks or a table."""
    found = {}
    for name in sorted(name for name in dir(type(fitted)) if not name.startswith(("_", "set_", "get_"))):
        method = getattr(fitted, name, None)
        if name in _NOT_ASKED or name.startswith("fit_") or not callable(method):
            continue
        first = next(iter(inspect.signature(method).parameters), None)
        if first in ("X", "U"):
            found[name] = method
    if hasattr(fitted, "recommend") and not sp.issparse(X):
        found["predict"] = fitted.predict  # a dense table, in the place of users
    return found


def as_arrays(answer) -> list[np.ndarray]:
    """An answer as arrays that can be compared."""
    if sp.issparse(answer):
        return [answer.toarray()]
    if hasattr(answer, "kind") and hasattr(answer, "objective"):  # a certificate
        bound = answer.lower_bound if answer.lower_bound is not None else 0.0
        return [np.array([answer.objective, bound], dtype=float)]
    return [np.asarray(answer)]


def assert_same(answer, wanted, what: str, dtype) -> None:
    loose = 2e-3 if dtype == np.float32 else 1e-5
    for one, other in zip(as_arrays(answer), as_arrays(wanted), strict=True):
        assert one.shape == other.shape, what
        scale = np.abs(other).max(initial=1.0) if other.dtype.kind == "f" else 0.0
        np.testing.assert_allclose(one, other, rtol=loose, atol=loose * scale, err_msg=what)


@pytest.mark.parametrize("kind", ["plain", "holes", "float32", "sparse"])
@every_model
def test_what_is_asked_of_a_table_is_asked_of_its_blocks(name, kind):
    X = numbers(name, kind)
    if X is None or name in _SEQUENCES:
        return
    try:
        fitted = make(name, kind).fit(X)
    except (TypeError, ValueError) as error:  # no sparse tables, or no holes
        assert kind in ("sparse", "holes"), error
        return
    asked = questions(fitted, X)
    assert asked
    for what, ask in asked.items():
        given = fitted.transform(X) if what == "inverse_transform" and name != "KMeans" else X
        given = fitted.codes_ if what == "inverse_transform" and name == "KMeans" else given
        try:
            answer = ask(blocks_of(given, kind))
        except Exception as error:
            assert needs_one_table(error), what
        else:
            assert_same(answer, ask(given), what, getattr(X, "dtype", None))


@pytest.mark.parametrize("method", ["fit_transform", "fit_predict"])
@every_model
def test_a_fit_that_answers_takes_blocks_as_fit_does(name, method):
    X = small_table(name)
    if not hasattr(find(name), method) or name in _SEQUENCES:
        return
    fitted = small_model(name)
    try:
        answer = getattr(fitted, method)(cut(X, *AT))
    except Exception as error:
        assert needs_one_table(error) and name not in FIT_BLOCKS
        return
    assert name in FIT_BLOCKS
    says = {"fit_transform": "transform", "fit_predict": "predict"}[method]
    assert_same(answer, getattr(fitted, says)(X), method, X.dtype)


@pytest.mark.parametrize("kind", ["plain", "holes", "float32", "sparse"])
@every_model
def test_blocks_of_any_storage_are_fitted_or_refused_in_one_sentence(name, kind):
    X = numbers(name, kind)
    if X is None or (name in _SEQUENCES and kind != "plain"):
        return
    weights = np.random.default_rng(0).integers(0, 3, X.shape[0]).astype(float)
    weighed = "sample_weight" in inspect.signature(find(name).fit).parameters
    given = {"sample_weight": weights} if weighed else {}
    long = {"max_iter": 60} if "max_iter" in takes(name) else {}
    try:
        whole = make(name, kind, **long).fit(X, **given)
    except (TypeError, ValueError):  # no sparse tables, or no holes
        assert kind in ("sparse", "holes")
        return
    try:
        fitted = make(name, kind, **long).fit(blocks_of(X, kind), **given)
    except Exception as error:
        assert needs_one_table(error) and (name not in FIT_BLOCKS or (name, kind) == ("PCA", "holes"))
        return
    assert name in FIT_BLOCKS
    slack = 0.03 * abs(whole.objective_) + 1e-6 * float(np.nansum(np.square(X.data if sp.issparse(X) else X)))
    assert fitted.objective_ <= whole.objective_ + slack


@every_model
def test_pages_and_pictures_are_made_of_blocks(name, tmp_path):
    if name in _SEQUENCES:
        return
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X = small_table(name)
    fitted = small_model(name).fit(X)
    assert fitted.plot(cut(X, *AT)).axes
    pyplot.close("all")
    page = fitted.report(tmp_path / "page.html", cut(X, *AT)).read_text(encoding="utf-8")
    assert "could not be made" not in page
