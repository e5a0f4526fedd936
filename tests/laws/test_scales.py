"""A table in other units is the same table: `fit(c·X)` is c times `fit(X)`, or it is refused in words.

The factors are powers of two, which change no digit: what differs by more than rounding is a constant in the code that
has a unit.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from tests.laws.test_every_model import answers
from unweave.losses import LOSSES, Absolute, get_loss
from unweave.penalties import L1, Ridge
from unweave.registry import ESTIMATORS, find, takes
from unweave.registry import small_table as table

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

DTYPES = [np.float64, np.float32]
POWERS = {np.float64: (100, -100, 480, -480, 508, -508, 1000, -1000), np.float32: (20, -20, 46, -46, 100, -100)}

# Parameters that have the units of the table, to the power named.
UNITS = {"reg_covar": (1e-6, 2), "strength": (0.1, 1), "ridge": (0.5, 1), "tau": (40.0, 1)}
FEW = {"n_components": 3, "n_clusters": 3, "max_iter": 4, "random_state": 0}

# What these learn from is no measurement, or their strengths are counted in it.
WITHOUT_UNITS = {
    "LDA": "its priors are counts of words",
    "ImplicitALS": "entries are confidences beside a confidence of one",
    "EASE": "entries count as ones, whatever their size",
    **dict.fromkeys(
        ("BernoulliMixture", "BooleanFactorization", "RoleMiner", "MultiAssignmentClustering"), "entries are 0 or 1"
    ),
    "MatrixCompletion": "its ridge is chosen in units of the spread of the table; it has a law of its own",
}
SCALED = [name for name, entry in ESTIMATORS.items() if name not in WITHOUT_UNITS and entry.explains]
# To what power of c each answer grows; codes are told through what they stand for.
GROWS = {"predict": 0, "predict_proba": 0, "document_topics": 0}


def model(name: str, c: float):
    known = takes(name)
    given = {key: value for key, value in FEW.items() if key in known}
    if name == "TableImputer":
        given["n_components"] = "auto"
    units = UNITS if name != "TableImputer" else {}
    given |= {key: value * np.float64(c) ** power for key, (value, power) in units.items() if key in known}
    return find(name)(**given)


def said(name: str, X, c: float) -> dict[str, np.ndarray]:
    """What a model says of its table, in the units of the first: nothing of it may depend on c."""
    fitted = model(name, c).fit(X)
    found = {what: value for what, value in answers(fitted, X).items() if what in GROWS}
    if name == "TableImputer":  # its components are of standardised columns
        found["filled"] = fitted.transform(X).astype(np.float64) / c
    elif hasattr(fitted, "components_") and hasattr(fitted, "codes_") and not hasattr(fitted, "topics_"):
        codes = fitted.transform(X) if fitted.codes_ is None else fitted.codes_
        codes = codes.toarray() if sp.issparse(codes) else codes
        Z = getattr(fitted, "_patterns", fitted.components_)  # of ICA the mixing: its components unmix
        found["table"] = np.asarray(codes, np.float64) @ (Z / X.dtype.type(c)).astype(np.float64)
    for attribute in ("cluster_centers_", "means_"):
        if hasattr(fitted, attribute):
            found[attribute] = np.asarray(getattr(fitted, attribute), np.float64) / c
    for what, value in vars(fitted).items():
        if what.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert what == "uncertainty_" or not np.isnan(value).any(), what
    assert np.isfinite(fitted.objective_)
    assert not np.isnan(fitted.certificate_.gap)
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SCALED)
def test_a_table_in_other_units_is_explained_alike_or_refused(name, dtype):
    X = table(name, 12, 6).astype(dtype)
    if name == "TableImputer":
        X[::5, 2] = np.nan
    wanted = said(name, X, 1.0)
    for power in POWERS[dtype]:
        c = 2.0**power
        if name == "GaussianMixture" and abs(power) > 480:
            continue  # what the user would have to write is no number
        try:
            found = said(name, X * dtype(c), c)
        except ValueError as error:
            counts = name in ("PLSA", "SimplexTopics")  # of words: they have no unit
            assert counts or abs(power) > (100 if dtype == np.float64 else 20), "no refusal of ordinary units"
            assert "rescale X" in str(error), str(error)
            continue
        assert found.keys() == wanted.keys()
        for what, value in found.items():
            size = np.abs(wanted[what]).max()
            close = 1e-6 if dtype == np.float64 else 2e-3
            np.testing.assert_allclose(value, wanted[what], rtol=0, atol=close * size, err_msg=f"{what}, 2^{power}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_says_how_it_grows_with_the_units(loss, dtype):
    degree = get_loss(loss).degree
    if degree is None:
        return
    rng = np.random.default_rng(0)
    x, p = rng.gamma(1, size=(2, 30, 4)).astype(dtype)
    p[0] = x[0]
    for power in (40, -40) if dtype == np.float32 else (400, -400):
        c, close = dtype(2.0**power), 1e-12 if dtype == np.float64 else 1e-5
        small, large = get_loss(loss).prepare(x), get_loss(loss).prepare(c * x)
        wanted = c**degree * small.value(x, p)
        np.testing.assert_allclose(large.value(c * x, c * p), wanted, rtol=close, atol=close * c**degree)
        slope = np.ldexp(small.gradient(x, p), int(power * (degree - 1)))
        np.testing.assert_allclose(large.gradient(c * x, c * p), slope, rtol=close)


PAIRS = [
    ("nonnegative", "nonnegative"),
    ("simplex", "nonnegative"),
    ("one-hot", "nonnegative"),
    (("nonnegative", Ridge(0.1)), ("nonnegative", Ridge(0.1))),
    (("nonnegative", L1(0.1)), ("nonnegative", "l2-ball")),
]


def rescaled(side, power: float, c: float):
    """The same penalty for a table c times as large; a constraint needs nothing."""
    if isinstance(side, str) or isinstance(side[1], str):
        return side
    return side[0], type(side[1])(0.1 * c**power)


@pytest.mark.parametrize("storage", ["dense", "holes", "stored only", "blocks"])
@pytest.mark.parametrize("loss", [name for name in LOSSES if get_loss(name).degree is not None and name != "weighted"])
def test_so_is_every_sentence_whose_loss_has_a_degree(loss, storage):
    rng = np.random.default_rng(1)
    X = rng.gamma(2, size=(12, 3)) @ rng.gamma(2, size=(3, 5)) + 0.1
    hole = rng.random(X.shape) < 0.3
    degree = get_loss(loss).degree
    for codes, components in PAIRS if storage == "dense" else (PAIRS[0], PAIRS[3]):
        fits = []
        for power in (0, 100, -100) if storage == "dense" else (0, -100):
            c = 2.0**power
            Y, missing = {
                "dense": (X, None),
                "holes": (np.where(hole, np.nan, X), "nan"),
                "stored only": (sp.csr_array(np.where(hole, 0, X)), "zeros"),
                "blocks": (X, None),
            }[storage]
            Y = Y * c
            # With a ridge on both sides each takes √c; beside a ball the codes take all of c, and ℓ1 grows as they do.
            sides = rescaled(codes, degree - 1, c), rescaled(components, degree - 1, c)
            fitted = unweave.Factorization(
                2, loss=loss, codes=sides[0], components=sides[1], missing=missing, max_iter=3, tol=0
            ).fit(np.array_split(Y, 3) if storage == "blocks" else Y)
            U = fitted.transform(Y)
            U = U.toarray() if sp.issparse(U) else U
            fits.append((fitted.objective_ / c**degree, U @ fitted.components_ / c))
        for objective, found in fits[1:]:
            assert objective == pytest.approx(fits[0][0], rel=1e-9), (codes, components)
            assert np.abs(found - fits[0][1]).max() <= 1e-7 * np.abs(fits[0][1]).max(), (codes, components)


def test_units_that_once_gave_zeros_nan_or_silence():
    rng = np.random.default_rng(0)
    X = rng.random((30, 8)) + 0.1
    with pytest.raises(ValueError, match=r"too small .* vanish in float64; rescale X"):
        unweave.NMF(3).fit(X * 1e-300)
    with pytest.raises(ValueError, match=r"too small .* vanish in float32; rescale X, or pass it as float64"):
        unweave.TruncatedSVD(3).fit((X * 1e-30).astype(np.float32))
    with pytest.raises(ValueError, match="too small"):
        unweave.PCA(2).fit([X[:10] * 0, X[10:] * 1e-300])
    assert np.isfinite(unweave.PCA(2).fit([X[:10] * 1e-300, X[10:]]).components_).all()
    assert not unweave.NMF(2).fit(0 * X).objective_


@pytest.mark.parametrize("dtype", DTYPES)
def test_itakura_saito_and_groups_with_holes_stay_finite_or_warn(dtype):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = (rng.gamma(0.5, size=(12, 9)) + 0.001).astype(dtype)
        X[rng.random(X.shape) < 0.6] = np.nan
        for components in ("nonnegative", "simplex", ("nonnegative", "l1-ball"), "boolean", ("nonnegative", "sparse")):
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                fitted = unweave.Factorization(
                    9, loss="itakura-saito", codes="one-hot", components=components, missing="nan", max_iter=30
                ).fit(X)
            ruined = any("stands for infinity" in str(warning.message) for warning in heard)
            assert fitted.objective_ < 1e5 or ruined
            if components in ("nonnegative", "simplex", ("nonnegative", "l1-ball")):
                assert not ruined and fitted.objective_ < 1e4


def test_the_width_of_the_absolute_loss_follows_the_units():
    X = np.random.default_rng(0).normal(size=(20, 3))
    assert Absolute().prepare(X * 2.0**300).eps_ == Absolute().prepare(X).eps_ * 2.0**300
