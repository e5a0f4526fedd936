"""`choose` for every estimator of the library: an answer, or an error that names what would work."""

import inspect
import re

import numpy as np
import pytest

from unweave.persist.registry import ESTIMATORS, find_estimator
from unweave.registry import small_table
from unweave.select import Choice, choose
from unweave.select.criteria import CRITERIA
from unweave.select.trial import COUNTS

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

_FEW = {"max_iter": 4, "random_state": 0, "ridge": 0.5}
COUNTED = [
    name
    for name in ESTIMATORS
    if name != "CP"
    and (ESTIMATORS[name].explains or name == "TextTable")
    and set(COUNTS) & set(inspect.signature(find_estimator(name)).parameters)
]
# Another number than three suits these too: fewer directions about a mean, more atoms, roles of the tails of groups.
RIGHT = {"TableImputer", "HiddenMarkov", "BernoulliMixture", "LDA", "PLSA", "PCA", "ICA", "LinearAutoencoder"}
RIGHT |= {"SparsePCA", "DictionaryLearning", "BooleanFactorization", "MultiAssignmentClustering"}


def model(name):
    kind = find_estimator(name)
    known = inspect.signature(kind).parameters
    return kind(**{key: value for key, value in _FEW.items() if key in known})


@pytest.mark.parametrize("name", [name for name in COUNTED if name not in ("ImplicitALS", "TextTable")])
def test_a_number_is_chosen_without_being_told_how(name):
    choice = choose(model(name), small_table(name, 40), [1, 2, 3, 4])
    assert list(choice.scores) == [1, 2, 3, 4] and np.isfinite(list(choice.scores.values())).all()
    assert choice.best == 3 or name in RIGHT
    assert choice.best_estimator.get_params()[choice.name] == choice.best


@pytest.mark.parametrize("by", [by for by in CRITERIA if by != "stability"])
@pytest.mark.parametrize("name", [name for name in COUNTED if name != "TextTable"])
def test_every_criterion_has_an_answer_or_names_another(name, by):
    try:
        choice = choose(model(name), small_table(name, 40), [1, 2, 3], by=by)
    except TypeError as error:
        assert re.search(r"choose by ('[a-z-]+'|ranking)", str(error)), str(error)
    else:
        assert isinstance(choice, Choice) and choice.by == by and choice.best in (1, 2, 3)


@pytest.mark.parametrize("name", ["MatrixCompletion", "ImplicitALS", "PCA", "SymmetricNMF"])
def test_stability_needs_labels_of_rows(name):
    with pytest.raises(TypeError, match="choose by"):
        choose(model(name), small_table(name, 40), [2, 3], by="stability")


def test_a_model_of_tensors_chooses_by_itself():
    with pytest.raises(TypeError, match=r"CP takes tensors: leave the number to CP\(n_components='auto'\)"):
        choose(model("CP"), small_table("CP"), [1, 2])


def test_implicit_feedback_is_judged_by_ranking():
    with pytest.raises(TypeError, match="choose by ranking"):
        choose(model("ImplicitALS"), small_table("ImplicitALS", 40), [1, 2])
