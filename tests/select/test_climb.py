"""Which numbers are tried: few of them, and the bottom of a valley among them."""

import pytest

from unweave.select import Choice
from unweave.select.auto import climb, widen
from unweave.select.criteria import BIC


class Curve:
    """Scores from a function, in place of fits."""

    name, title, larger_is_better = "curve", "cost", False

    def __init__(self, cost):
        self.cost, self.asked = cost, []

    def __call__(self, ks):
        from unweave.solve.history import History

        self.asked += ks
        history = History("every number was tried")
        for k in ks:
            history.add(self.cost(k), 1.0, 1.0)
        scores = {k: float(self.cost(k)) for k in ks}
        return Choice(min(scores, key=scores.get), scores, {}, "curve", "cost", "n_components", False, history=history)


@pytest.mark.parametrize("truth", [1, 2, 3, 5, 8, 13, 21, 34, 60, 100, 150])
@pytest.mark.parametrize("steep", [0.3, 3.0])
def test_a_valley_is_found_in_few_steps(truth, steep):
    curve = Curve(lambda k: 1 + (truth / k - 1 if k < truth else steep * (k / truth - 1) / 10))
    choice = climb(curve, 160, BIC())
    assert abs(choice.best - truth) <= max(0, truth // 20) + (truth > 20)
    assert len(curve.asked) == len(set(curve.asked)) <= 20
    assert list(choice.scores) == sorted(choice.scores)
    assert len(choice.history) == len(curve.asked)


@pytest.mark.parametrize("most", [1, 2, 3, 7])
def test_few_rows_leave_few_numbers(most):
    curve = Curve(lambda k: -k)
    assert climb(curve, most, BIC()).best == most and max(curve.asked) == most
    assert widen(Curve(lambda k: -k), most, BIC()).best == most


def test_an_interruption_ends_the_search():
    curve = Curve(lambda k: -k)

    def interrupted(ks):
        found = curve(ks)
        found.history.stopped = "interrupted"
        return found

    assert climb(interrupted, 160, BIC()).best == 4
    assert len(curve.asked) == 3
    curve.asked.clear()
    assert widen(interrupted, 160, BIC()).best == 20 and len(curve.asked) == 20
