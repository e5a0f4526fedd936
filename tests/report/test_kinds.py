"""What a page calls the components of a model is told by what the model has, not by its name."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import unweave
from tests.report.pages import blobs, read, topics
from unweave import report
from unweave.data.named import NamedTable
from unweave.report.svg import tick_captions
from unweave.report.view import strength_words, strengths
from unweave.report.words import called, noun

NAMED = NamedTable(blobs(), columns=list("abcdef"), rows=[f"row {i}" for i in range(60)])


def page_of(model, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        facts = report.gather(model.fit(data), data)
    return facts, " ".join(read(report.render(facts)).text)


@pytest.mark.parametrize(
    "model",
    [
        unweave.KMeans(3),
        unweave.Agglomerative(3),
        unweave.Divisive(3),
        unweave.SpectralClustering(3),
        unweave.BFR(3),
        unweave.CURE(3),
        unweave.GaussianMixture(3),
        unweave.SoftClustering(3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_clustering_has_the_words_of_groups(model):
    facts, text = page_of(model, NAMED)
    assert text.strip().startswith("60 rows in 3 groups: ") and "Rows in each group" in text and "The centres" in text
    assert "could not be made" not in text and "component 1" not in text.lower()
    assert sum(facts["groups"]["sizes"]) == 60


def test_a_model_of_tomorrow_is_known_by_what_it_has():
    assert called(SimpleNamespace(labels_=0)) == "group" and called(SimpleNamespace(topics_=0, labels_=0)) == "topic"
    assert called(SimpleNamespace(transition_matrix_=0, labels_=0)) == "state"
    assert noun({"groups": {"sizes": [1]}}) == "group" and noun({}, 2) == "components"  # facts of an older version


def test_states_and_topics():
    _, text = page_of(unweave.HiddenMarkov(3), NAMED)
    assert "Rows in each state" in text and "States in the order of the rows" in text
    assert "could not be made" not in text
    facts, text = page_of(unweave.LDA(3), topics())
    assert "Topic 0" in text and "Topic 3" not in text and "of all words" in text
    assert "could not be made" not in text and "Not measured" not in text
    assert all(part["top"][-1][1] > 0.01 * part["top"][0][1] for part in facts["factors"]["parts"])


def test_groups_of_documents_show_words():
    _, text = page_of(unweave.KMeans(3), topics())
    assert "Group 1" in text and "The words with the largest share of each group." in text
    assert "standard deviations" not in text


def test_a_kernel_has_weights_of_rows_instead_of_components():
    facts, text = page_of(unweave.ConvexNMF(3, kernel="rbf"), NAMED)
    assert facts["components"] == 3 and facts["factors"]["drawn"] == "bars"
    model = unweave.ConvexNMF(3, kernel="rbf").fit(NAMED)
    first = facts["factors"]["parts"][0]["top"][0]
    heaviest = int(np.argmax(model.row_weights_[0]))
    assert first[0] == f"row {heaviest}" and first[1] == pytest.approx(model.row_weights_[0].max())
    assert "feature space of the kernel" in text and "could not be made" not in text
    assert facts["factors"]["parts"][0]["bars"][0] == heaviest
    bare = report.gather(model)
    assert bare["factors"]["parts"][0]["top"][0][0].startswith("row ")
    model.plot(NAMED)


def test_what_has_no_components_says_so():
    with pytest.raises(ValueError, match="TextTable has no components to draw"):
        report.gather(unweave.TextTable().fit(["cat dog"]))
    with pytest.raises(ValueError, match="KMeans is not fitted: call fit"):
        report.gather(unweave.KMeans(2))


def test_ticks_near_each_other_are_told_apart():
    labels, _ = tick_captions([520.58573, 520.585732, 520.585734])
    assert len(set(labels)) == 3


@pytest.mark.parametrize(
    "model", [unweave.GaussianMixture(4), unweave.KMeans(4)], ids=lambda model: type(model).__name__
)
def test_shares_of_groups_are_those_of_the_rows(model):
    rng = np.random.default_rng(0)
    middles = [(0, 0), (9, 0), (0, 9), (9, 9)]
    X = np.concatenate([rng.normal(m, 0.5, size=(20 * (i + 1), 2)) for i, m in enumerate(middles)])
    model.fit(X)
    np.testing.assert_allclose(np.sort(strengths(model)), [0.1, 0.2, 0.3, 0.4], atol=1e-3)
    assert strength_words(model) == "of the rows"


def test_groups_are_counted_in_whole_numbers_on_the_axis():
    figure = unweave.KMeans(2).fit(blobs()).plot()
    ticks = [tick for axis in figure.axes if axis.get_xlabel() == "group" for tick in axis.get_xticks()]
    assert ticks and all(tick == round(tick) for tick in ticks)
