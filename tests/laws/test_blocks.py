"""A table in row blocks is the same table: every model fits what it fits in memory, or says in words that it cannot."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from tests.laws.test_every_model import every_model, model, table
from tests.laws.test_objectives import ALL_LOSSES, MIXED
from tests.laws.test_objectives import table as table_for
from unweave.losses import get_loss
from unweave.losses.base import Pieces

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

K = 3
_TURNS = ("Factorization", "NMF", "SemiNMF", "SoftClustering")  # their way depends on where they begin
_SEQUENCES = ("HiddenMarkov",)  # a list is a list of sequences
# LDA draws few documents in memory and sweeps them in blocks; a linear autoencoder ends in any basis of its subspace.
_OWN_WAY = ("LDA", "LinearAutoencoder")
_SIGNLESS = ("ImplicitALS",)  # a factor and its code may change sign together


def cut(X, *at: int) -> list:
    """Row blocks of X."""
    return [X[a:b] for a, b in zip((0, *at), (*at, X.shape[0]), strict=True)]


def begun(name: str, X: np.ndarray):
    """A model that runs to its end from a start that does not ask how the table is stored."""
    made = model(name)
    long = {"max_iter": 500, "tol": 1e-10}
    made.set_params(**{key: value for key, value in long.items() if key in made.get_params()})
    if name in _TURNS:
        Z = X[[0, 25, 45]] + 0.1
        made.set_params(init=Z if name == "SoftClustering" else (np.full((len(X), K), 0.5), Z))
    return made


@every_model
def test_a_model_fits_blocks_as_it_fits_the_table_or_says_what_to_do(name):
    X = table(name)
    blocks = cut(X, 7, 8, 30)
    try:
        fitted = begun(name, X).fit(blocks)
    except ValueError as error:
        said = str(error)
        assert name in said and "blocks" in said and ("stack" in said or "partial_fit" in said), said
        assert "sequence." not in said and "inhomogeneous" not in said, said
        return
    whole = begun(name, X)
    whole.fit(X, lengths=[len(block) for block in blocks]) if name in _SEQUENCES else whole.fit(X)
    if name in _OWN_WAY:
        assert fitted.objective_ <= whole.objective_ * 1.02
        return
    assert fitted.objective_ == pytest.approx(whole.objective_, rel=1e-4)
    for part in ("components_", "cluster_centers_", "means_"):
        if hasattr(whole, part) and hasattr(fitted, part):
            one, other = getattr(fitted, part), getattr(whole, part)
            if name in _SIGNLESS:
                one, other = np.abs(one), np.abs(other)
            np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-3)


def data_of(name: str, holes: bool, dtype) -> np.ndarray:
    """Rows in order of their first column, so that no block knows all levels and the blocks differ in spread."""
    rng = np.random.default_rng(0)
    X = table_for(name, rng)
    X = X[np.argsort(X[:, 0], kind="stable")]
    if holes:
        X[rng.random(X.shape) < 0.15] = np.nan
        X[0] = table_for(name, rng, 1)[0]
    return X.astype(dtype)


def factorization(name: str, X, columns: int, init=None):
    rng, most = np.random.default_rng(1), 400 if init is None else 12
    loss = MIXED if name == "columns" else name
    side = "nonnegative" if name in ("kl", "itakura-saito") else "ridge"
    init = init or tuple(np.abs(rng.standard_normal(shape)) + 0.1 for shape in ((len(X), 2), (2, columns)))
    missing = "nan" if np.isnan(X).any() else None
    # An iteration on blocks bounds a loss that is not quadratic once, in memory several times: both run to their end.
    return unweave.Factorization(
        2, loss=loss, codes=side, components=side, init=init, missing=missing, max_iter=most, tol=1e-8
    )


def ended(name: str, X, columns: int) -> tuple:
    """Where a fit in memory ends, to begin there: on losses with corners, and for Newton steps, ways lead elsewhere."""
    fitted = factorization(name, X, columns).fit(X)
    return fitted.codes_, fitted.components_


@pytest.mark.parametrize("holes", [False, True], ids=["whole", "holes"])
@pytest.mark.parametrize("name", ALL_LOSSES)
def test_every_loss_fits_blocks_as_it_fits_the_table_or_says_what_to_do(name, holes):
    X = data_of(name, holes, np.float64)
    blocks, init = cut(X, 9), None
    ready = get_loss(MIXED if name == "columns" else name).prepare(X)
    columns = ready.prediction_columns(X.shape[1])
    if name in ("kl", "absolute", "hinge"):
        init = ended(name, X, columns)
    try:
        fitted = factorization(name, X, columns, init).fit(blocks)
    except ValueError as error:
        assert name in ("weighted", "columns") and "Factorization" in str(error) and "stack" in str(error)
        return
    whole = factorization(name, X, columns, init).fit(X)
    assert fitted.objective_ == pytest.approx(whole.objective_, rel=1e-3)
    codes = fitted.transform(X)
    np.testing.assert_allclose(fitted.transform(blocks), codes, atol=1e-5 * np.abs(codes).max())


@pytest.mark.parametrize("name", [name for name in ALL_LOSSES if name not in ("weighted", "columns")])
@pytest.mark.parametrize("storage", ["blocks", "sparse", "sparse blocks"])
def test_what_a_loss_learns_does_not_depend_on_the_storage(name, storage, dtype):
    """Levels and scales: from every block, and from zeros that are not stored as from those that are."""
    X = data_of(name, False, dtype)
    parts = [X] if storage == "sparse" else cut(X, 0, 1, 9)
    if "sparse" in storage:
        pieces = Pieces(lambda: ((part[part != 0], int((part == 0).sum())) for part in parts))
    else:
        pieces = Pieces(lambda: ((part, 0) for part in parts))
    one, other = (vars(ready) for ready in (get_loss(name).prepare(X), get_loss(name).prepare_from(pieces)))
    assert one.keys() == other.keys()
    for key in one:
        np.testing.assert_allclose(other[key], one[key], rtol=1e-6 if dtype == np.float32 else 1e-12)


def test_a_block_may_have_nothing_observed():
    X = data_of("squared", True, np.float64)
    X[:5] = np.nan
    whole, fitted = (factorization("squared", X, X.shape[1]).fit(data) for data in (X, cut(X, 4, 5)))
    assert fitted.objective_ == pytest.approx(whole.objective_, rel=1e-3)
    with pytest.raises(ValueError, match="no observed entry"):
        factorization("squared", X, X.shape[1]).fit([np.full((2, 3), np.nan), np.full((2, 3), np.nan)])


@pytest.mark.parametrize("name", ["squared", "absolute", "logistic"])
def test_blocks_may_be_empty_of_one_row_or_sparse(name):
    X = data_of(name, False, np.float64)
    init = ended(name, X, X.shape[1])
    whole = factorization(name, X, X.shape[1], init).fit(X)
    odd = [X[:0].astype(np.float32), X[:1], X[1:], X[:0]]
    for blocks in (odd, [sp.csr_array(block) for block in cut(X, 9)]):
        fitted = factorization(name, X, X.shape[1], init).fit(blocks)
        assert fitted.objective_ == pytest.approx(whole.objective_, rel=1e-3)
        assert fitted.codes_ is None
