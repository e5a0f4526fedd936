"""An argument that a model does not have is a TypeError that says what to write instead."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest
from sklearn.base import clone

import unweave


@pytest.mark.parametrize(
    ("name", "argument", "advice"),
    [
        ("KMeans", "n_init", "leave it out: a fit starts once"),
        ("KMeans", "n_components", "write n_clusters"),
        ("GaussianMixture", "n_clusters", "write n_components"),
        ("LDA", "num_topics", "write n_components"),
        ("LDA", "learning_method", "write inference"),
        ("PCA", "svd_solver", "write solver"),
        ("NMF", "beta_loss", "write loss"),
        ("ImplicitALS", "regularization", "write ridge"),
        ("ImplicitALS", "factors", "write n_components"),
        ("NMF", "n_jobs", "unweave.set_num_threads"),
        ("PCA", "whitten", "did you mean whiten?"),
        ("EASE", "blub", "it takes ridge, missing"),
    ],
)
def test_a_foreign_argument_is_answered_by_ours(name, argument, advice):
    with pytest.raises(TypeError) as caught:
        getattr(unweave, name)(**{argument: 10})
    assert str(caught.value).startswith(f"{name} has no argument {argument!r}: ")
    assert advice in str(caught.value)


def test_models_are_still_copied_pickled_and_cloned():
    model = unweave.KMeans(3, random_state=1)
    for again in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert again.get_params() == model.get_params()


def test_the_list_of_public_names_loads_nothing():
    code = "import sys, unweave; names = dir(unweave); print('KMeans' in names, 'numpy' in sys.modules, *names)"
    words = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert words[:2] == ["True", "False"]
    assert set(words[2:]) == set(unweave.__all__)
