"""Values to JSON and back, and the table of classes that may be in a file."""

from __future__ import annotations

import inspect
import json
from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator

import unweave
from tests.persist.test_round_trip import assert_identical
from unweave.losses import LOSSES, ColumnLosses, Squared
from unweave.penalties import PENALTIES, Both
from unweave.persist import registry
from unweave.persist.codec import LONG, Decoder, Encoder
from unweave.persist.values import freeze_generator, thaw_generator
from unweave.updates import UPDATES


def through(value):
    """Encoded, written as JSON text, and decoded."""
    encoder = Encoder()
    told = encoder.encode(value, "value")
    arrays = {name: array.copy(order="C") for name, array in encoder.finish().items()}
    return Decoder(arrays.__getitem__).decode(json.loads(json.dumps(told, allow_nan=False)))


dtypes = st.sampled_from(["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "U3", "M8[s]"])
arrays = dtypes.flatmap(lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)))
scalars = st.sampled_from(["?", "i4", "u8", "f2", "f4", "f8"]).flatmap(lambda d: hnp.from_dtype(np.dtype(d)))
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary(max_size=9)
values = st.recursive(
    plain | arrays | scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.integers() | st.text(max_size=3) | st.sampled_from(["$", "items"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(max_examples=200)
@given(value=values)
@example(value=np.array("NaT", "M8[s]"))  # no axis: contiguous must not mean one
def test_any_value_comes_back_bit_for_bit(value):
    assert_identical(value, through(value))


@pytest.mark.parametrize("n", [LONG - 1, LONG, LONG + 1])
def test_long_lists_come_back(n):
    for items in ([0.1] * n, list(range(-5, n - 5)), ["", "\ud800ü✓"] * (n // 2), [1 << 80] * n, [True] * n):
        assert_identical(items, through(items))


def test_arrays_that_share_memory_share_it_again():
    whole = np.arange(24.0).reshape(6, 4)
    top, last, copy, columns = through([whole, whole[:4], whole[-1], whole.copy(), np.asfortranarray(whole)])[1:]
    for array, same in ((top, whole[:4]), (last, whole[-1]), (copy, whole), (columns, whole)):
        np.testing.assert_array_equal(array, same)
    assert columns.flags.f_contiguous and np.shares_memory(*through([whole, whole[2:3]]))
    strided = whole[:, ::2]
    np.testing.assert_array_equal(through(strided), strided)
    encoder = Encoder()
    encoder.encode([whole, whole[1:3], whole[5], whole], "x")
    assert len(encoder.finish()) == 1


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.csc_matrix])
def test_sparse_arrays_come_back(kind):
    value = kind(np.random.default_rng(0).random((9, 5)) * (np.arange(45).reshape(9, 5) % 3 == 0))
    again = through(value)
    assert type(again) is kind and again.shape == value.shape and abs(again - value).nnz == 0


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_generators_go_on_where_they_were(kind):
    for make in (np.random.Generator, np.random.RandomState):
        rng = make(getattr(np.random, kind)(4))
        rng.standard_normal(3)
        again = through(rng)
        assert type(again) is make
        np.testing.assert_array_equal(again.standard_normal(700), rng.standard_normal(700))


def test_a_generator_state_is_checked():
    _, state = freeze_generator(np.random.Generator(np.random.Philox(1)))
    with pytest.raises(ValueError, match="impossible"):
        thaw_generator("Generator", {**state, "buffer_pos": -9})


def test_shared_objects_are_shared_again():
    loss = Squared()
    first, second, other = through([loss, loss, Squared()])
    assert first is second and first is not other


@pytest.mark.parametrize(
    "value", [{1, 2}, object(), lambda: 0, np.ma.array([1]), sp.coo_array(np.eye(2)), 1j, range(3)]
)
def test_what_cannot_be_saved_raises_and_says_where(value):
    with pytest.raises(TypeError, match=r"^place"):
        Encoder().encode(value, "place")


# -- the table ---------------------------------------------------------------------------------------------------------


def test_every_part_is_in_the_table_under_its_own_name():
    parts = [*LOSSES.values(), *PENALTIES.values(), *(type(update) for update in UPDATES), ColumnLosses, Both]
    assert [kind for kind in parts if registry.part_name(kind) != kind.__name__] == []
    for name, (module, attribute) in registry.CLASSES.items():
        assert getattr(import_module(module), attribute) is registry.find_part(name)
        assert module.startswith("unweave.") and not name.startswith("__")


def test_no_two_classes_have_one_name_in_files():
    """Of two rooms that call a part alike, one would be saved as nothing or, worse, loaded as the other."""
    names = [name for listed in registry._PARTS.values() for name in listed.split()] + list(registry._RENAMED)
    assert sorted(names) == sorted(set(names))
    for name, (module, attribute) in registry.CLASSES.items():
        kind = getattr(import_module(module), attribute)
        former = name in {"TableLayout", "Layout", "Centres"}  # in files saved before: read, and never written
        assert former or registry.part_name(kind) == name


def test_every_public_estimator_is_in_the_table():
    public = {
        name
        for name in unweave.__all__
        if inspect.isclass(getattr(unweave, name)) and issubclass(getattr(unweave, name), BaseEstimator)
    }
    assert public == set(registry.ESTIMATORS)
    for name in public:
        assert registry.find_estimator(name) is getattr(unweave, name)


def test_a_name_is_looked_up_and_never_imported():
    for name in ("os", "os.system", "__builtins__", "unweave", "Popen", "PCA.fit", ""):
        with pytest.raises(registry.UnknownClassError):
            registry.find_part(name)
        with pytest.raises(registry.UnknownClassError):
            registry.find_estimator(name)


def test_a_class_of_the_same_name_is_not_taken_for_ours():
    impostor = type("Squared", (), {})
    assert registry.part_name(impostor) is None
