"""Networks that torch trains: gradients, losses, solvers, dropout, early ends, and what is refused."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

import unweave
from unweave import CNN, MLP, RNN, Autoencoder
from unweave.predict.networks.architecture import ACTIVATIONS, Chance, Coding, Convolutions, Layers, Recurrent
from unweave.predict.networks.problem import FOR_CLASSES, FOR_NUMBERS, Trained, answers
from unweave.solve.optimise import Adam

if os.environ.get("UNWEAVE_NEED_TORCH") == "1":
    import torch
else:
    torch = pytest.importorskip(
        "torch", reason="torch is not installed: make test-neural, or pip install 'unweave[neural]'"
    )
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
FEW = {"max_iter": 20, "random_state": 0}


@parametrize_with_checks([MLP(task="numbers", max_iter=100), RNN(task="numbers", cell="plain"), Autoencoder(prior=0.5)])
def test_other_settings_keep_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def blobs(rng, n=300, d=2):
    y = rng.integers(0, 3, n)
    return 3 * np.eye(3, d)[y] + 0.4 * rng.normal(size=(n, d)), y


# -- gradients and passes, against plain NumPy -----------------------------------------------------------------------


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("loss", [*FOR_CLASSES, *FOR_NUMBERS])
def test_gradients_are_those_of_differences(activation, loss, rng):
    X, layers = rng.normal(size=(9, 3)), Layers((3, 4, 2), activation)
    known = FOR_CLASSES if loss in FOR_CLASSES else FOR_NUMBERS
    y = rng.integers(0, 2, 9) if loss in FOR_CLASSES else 3 * rng.normal(size=(9, 2))
    problem = Trained(torch, layers, (X,), y, known[loss], ridge=0.1, dtype=np.float64)
    x = layers.first_weights(rng) + 0.1 * rng.normal(size=sum(problem.sizes))
    assert_gradient(problem, x)


@pytest.mark.parametrize(
    "architecture, arrays",
    [
        (Convolutions((2, 5, 4), (3, 2), (3, 3), (4, 2), "tanh"), lambda rng: (rng.normal(size=(6, 2, 5, 4)),)),
        (Recurrent(3, 4, 2), lambda rng: (rng.normal(size=(6, 5, 3)), np.array([5, 1, 0, 3, 2, 5]))),
        (Recurrent(3, 4, 2, gated=False), lambda rng: (rng.normal(size=(6, 5, 3)), np.array([5, 1, 0, 3, 2, 5]))),
    ],
)
def test_gradients_of_other_networks(architecture, arrays, rng):
    y = rng.integers(0, 2, 6)
    problem = Trained(torch, architecture, arrays(rng), y, FOR_CLASSES["cross-entropy"], dtype=np.float64)
    assert_gradient(problem, architecture.first_weights(rng))


def assert_gradient(problem, x):
    _, gradient = problem.value_and_gradient(x)
    for i in np.linspace(0, len(x) - 1, 12).astype(int):
        step = np.zeros(len(x))
        step[i] = 1e-6
        slope = (problem.value_and_gradient(x + step)[0] - problem.value_and_gradient(x - step)[0]) / 2e-6
        assert gradient[i] == pytest.approx(slope, abs=2e-7)


def test_layers_are_what_the_formula_says(rng):
    X, layers = rng.normal(size=(7, 3)), Layers((3, 5, 2), "arctan")
    W = layers.named(layers.first_weights(rng) + 0.1)
    found = answers(torch, W, (X,), lambda weights, batch: layers.forward(torch, weights, batch, Chance(torch)))
    hidden = np.arctan(X @ W["weight_0"].T + W["bias_0"])
    np.testing.assert_allclose(found, hidden @ W["weight_1"].T + W["bias_1"], rtol=1e-12)


def test_a_gated_step_is_that_of_torch(rng):
    network = Recurrent(3, 4, 2)
    W = network.named(network.first_weights(rng) + 0.1)
    cell = torch.nn.GRUCell(3, 4).double()
    names = {"weight_ih": "weight_input", "bias_ih": "bias_input", "weight_hh": "loop", "bias_hh": "bias_loop"}
    cell.load_state_dict({theirs: torch.from_numpy(W[ours]) for theirs, ours in names.items()})
    X = torch.from_numpy(rng.normal(size=(5, 6, 3)))
    state = torch.zeros(5, 4, dtype=torch.float64)
    for t in range(6):
        state = cell(X[:, t], state)
    wanted = state.detach().numpy() @ W["weight_0"].T + W["bias_0"]
    lengths = np.full(5, 6)
    found = answers(torch, W, (X.numpy(), lengths), lambda w, batch: network.forward(torch, w, batch, Chance(torch)))
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_a_convolution_sees_its_neighbours(rng):
    network = Convolutions((1, 4, 4), (1,), (3, 3), (1,), "identity")
    W = network.named(np.zeros(sum(int(np.prod(s)) for s in network.shapes().values())))
    W["weight_convolution0"][0, 0, 0, 1] = 1.0  # the pixel above
    W["weight_0"][:] = 1.0
    X = rng.random((3, 1, 4, 4))
    found = answers(torch, W, (X,), lambda w, batch: network.forward(torch, w, batch, Chance(torch)))
    shifted = np.concatenate([np.zeros((3, 1, 4)), X[:, 0, :-1]], axis=1)
    pooled = shifted.reshape(3, 2, 2, 2, 2).max(axis=(2, 4))
    np.testing.assert_allclose(found[:, 0], pooled.sum(axis=(1, 2)), rtol=1e-12)


# -- training --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "solver", ["adam", "sgd", "momentum", "nesterov", "adagrad", "l-bfgs", Adam(step=0.01, decay=0.1)]
)
def test_every_solver_learns(solver, rng):
    X, y = blobs(rng)
    step = 0.01 if solver in ("momentum", "nesterov") else None
    model = MLP((8,), solver=solver, step=step, max_iter=30, random_state=0).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.95
    assert model.history_.objective[-1] < model.history_.objective[0]


@pytest.mark.parametrize("schedule", ["inverse", "exponential", "cosine", lambda epoch, epochs: 0.0])
def test_schedules_shorten_steps(schedule, rng):
    X, y = blobs(rng)
    model = MLP((8,), solver="sgd", schedule=schedule, **FEW).fit(X, y)
    if callable(schedule):  # no step at all
        start = MLP((8,), solver="sgd", step=0.0, **FEW).fit(X, y)
        assert all(np.array_equal(model.weights_[name], start.weights_[name]) for name in model.weights_)
    else:
        assert model.score(X, y) > 0.9


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_and_one_class_less_than_rows(activation, rng):
    X, y = blobs(rng)
    assert MLP((8,), activation=activation, solver="l-bfgs", **FEW).fit(X, y).score(X, y) > 0.95


@pytest.mark.parametrize("loss", FOR_NUMBERS)
def test_amounts(loss, rng):
    X = rng.uniform(-2, 2, size=(400, 1))
    y = 50 + 10 * np.sin(2 * X[:, 0])
    model = MLP((32,), loss=loss, step=0.01, max_iter=120, batch_size=32, activation="tanh", random_state=0)
    assert model.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.95
    both = MLP((16,), solver="l-bfgs", max_iter=200).fit(X, np.column_stack([y, -y]))
    assert both.predict(X).shape == (400, 2) and both.score(X, np.column_stack([y, -y])) > 0.9


def test_weight_decay_shortens_weights_and_dropout_is_only_for_training(rng):
    X, y = blobs(rng)

    def length(model):
        return sum(float((weight**2).sum()) for weight in model.weights_.values())

    for solver in ("adam", "l-bfgs"):
        free = MLP((8,), solver=solver, **FEW).fit(X, y)
        held = MLP((8,), solver=solver, decay=1.0 if solver == "adam" else 0.05, step=None, **FEW).fit(X, y)
        assert length(held) < length(free)
    dropped = MLP((32,), dropout=0.5, max_iter=60, random_state=0).fit(X, y)
    np.testing.assert_array_equal(dropped.predict_proba(X), dropped.predict_proba(X))
    assert dropped.score(X, y) > 0.95
    assert not np.array_equal(
        dropped.weights_["weight_0"], MLP((32,), max_iter=60, random_state=0).fit(X, y).weights_["weight_0"]
    )


def test_dropout_keeps_the_mean():
    chance = Chance(torch, torch.Generator().manual_seed(0), 0.3)
    dropped = chance.drop(torch.ones(1000, 100))
    assert float(dropped.mean()) == pytest.approx(1.0, abs=0.01)
    assert float((dropped == 0).float().mean()) == pytest.approx(0.3, abs=0.01)


def test_training_ends_where_held_out_rows_gain_no_more(rng):
    X = rng.normal(size=(120, 20))
    y = (X[:, 0] > 0) ^ (rng.random(120) < 0.2)
    model = MLP((64,), validation=0.3, patience=3, step=0.01, max_iter=200, random_state=0).fit(X, y)
    assert model.n_iter_ < 200 and model.history_.stopped == "held-out rows are predicted no better any more"
    assert len(model.held_out_loss_) == model.n_iter_
    assert int(model.held_out_loss_.argmin()) == model.n_iter_ - 1 - 3
    assert "36 rows are held out" in str(model.plan_)


def test_the_seed_decides_and_the_generator_of_the_user_is_left_alone(rng):
    X, y = blobs(rng)
    torch.manual_seed(5)
    before = torch.get_rng_state()
    first, again = (MLP((8,), dropout=0.2, **FEW).fit(X, y) for _ in range(2))
    other = MLP((8,), dropout=0.2, max_iter=20, random_state=1).fit(X, y)
    assert torch.equal(before, torch.get_rng_state())
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))
    assert not np.array_equal(first.predict_proba(X), other.predict_proba(X))
    assert torch.get_num_threads() >= 1


# -- pictures --------------------------------------------------------------------------------------------------------


def test_pictures_come_as_arrays_or_rows(rng):
    X, y = load_digits(return_X_y=True)
    rows = CNN((8,), shape=(8, 8), max_iter=12, random_state=0).fit(X[:600], y[:600])
    cubes = CNN((8,), max_iter=12, random_state=0).fit(X[:600].reshape(-1, 8, 8), y[:600])
    colours = CNN((8,), max_iter=12, random_state=0).fit(X[:600].reshape(-1, 8, 8, 1), y[:600])
    np.testing.assert_array_equal(rows.predict_proba(X), cubes.predict_proba(X.reshape(-1, 8, 8)))
    np.testing.assert_array_equal(rows.predict_proba(X), colours.predict_proba(X))
    assert rows.score(X[600:], y[600:]) > 0.8 and rows.image_shape_ == (1, 8, 8)


def test_pictures_of_the_wrong_shape_are_told():
    X, y = np.random.default_rng(0).random((20, 6, 5)), np.arange(20) % 2
    model = CNN((2,), max_iter=1).fit(X, y)
    with pytest.raises(ValueError, match="are 5×6, those of fit were 6×5×1: bring them to one size"):
        model.predict(X.transpose(0, 2, 1))
    with pytest.raises(ValueError, match="means 36 numbers a picture, and rows of X have 30"):
        CNN(shape=(6, 6)).fit(X.reshape(20, 30), y)
    with pytest.raises(ValueError, match="the pictures of X are 6×5, and shape says 5×6"):
        CNN(shape=(5, 6)).fit(X, y)
    with pytest.raises(ValueError, match="kernel_size must be odd"):
        CNN(kernel_size=2).fit(X, y)
    with pytest.raises(ValueError, match=r"shape must be \(height, width\)"):
        CNN(shape=5).fit(X.reshape(20, 30), y)


# -- sequences -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["gru", "plain"])
def test_order_is_learned_whatever_the_length(cell, rng):
    words = ["".join(rng.choice(list("abc"), rng.integers(2, 9))) for _ in range(400)]
    last = [word[-1] for word in words]
    model = RNN(12, cell=cell, max_iter=15, random_state=0).fit(words[:300], last[:300])
    assert model.score(words[300:], last[300:]) > 0.95
    assert "padded" in str(model.plan_) and model.alphabet_ == "abc"
    assert model.predict(["zzzb", "bz"]).shape == (2,)  # a letter that the fit did not see


def test_what_is_padded_says_nothing(rng):
    sequences = [rng.normal(size=(n, 2)) for n in (3, 7, 1, 5) * 10]
    y = [int(one[-1, 0] > 0) for one in sequences]
    model = RNN(8, **FEW).fit(sequences, y)
    alone = np.concatenate([model.predict_proba([one]) for one in sequences])
    np.testing.assert_allclose(model.predict_proba(sequences), alone, atol=1e-12)
    cube = rng.normal(size=(20, 4, 2))
    assert RNN(4, max_iter=2).fit(cube, cube[:, -1, 0] > 0).predict(list(cube)).shape == (20,)


def test_sequences_that_cannot_be_read():
    y = [0, 1]
    for X, words in [
        ([[1.0, 2], ["a", 3]], "sequence 1 of X does not hold numbers"),
        ([np.ones((2, 3)), np.ones((2, 4))], "all steps of X must have as many numbers"),
        ([[1.0], [np.nan, 2]], "sequence 1 of X contains NaN"),
        (["", ""], "every text of X is empty"),
        (np.full((2, 3, 1), np.inf), "contains NaN or infinity"),
    ]:
        with pytest.raises(ValueError, match=words):
            RNN().fit(X, y)
    texts = RNN(2, max_iter=1).fit(["ab", "b"], y)
    with pytest.raises(ValueError, match="fitted to texts, and X holds numbers"):
        texts.predict([[1.0], [2.0]])


# -- autoencoders ----------------------------------------------------------------------------------------------------


def bent(rng, n=400):
    turn = rng.uniform(0, 4, n)
    return np.column_stack([3 * np.sin(turn), 3 * np.cos(turn)]) + 5


def test_one_curved_number_says_what_one_straight_one_cannot(rng):
    X = bent(rng)
    model = Autoencoder(1, hidden_layers=(32,), solver="l-bfgs", max_iter=200, random_state=0).fit(X[:300])
    line = unweave.PCA(1).fit(X[:300])
    assert model.score(X[300:]) > 0.98
    assert model.reconstruction_err_ < 0.3 * line.reconstruction_err_
    np.testing.assert_allclose(model.inverse_transform(model.transform(X[:300])), X[:300], atol=1.0)
    wanted = np.linalg.norm(X[:300] - model.inverse_transform(model.transform(X[:300])))
    assert model.reconstruction_err_ == pytest.approx(wanted)


def test_a_linear_one_is_principal_components(rng):
    X = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 8)) + 0.1 * rng.normal(size=(300, 8))
    model = Autoencoder(3, hidden_layers=(), solver="l-bfgs", max_iter=500, tol=1e-6, random_state=0).fit(X)
    assert model.reconstruction_err_ == pytest.approx(unweave.PCA(3).fit(X).reconstruction_err_, rel=1e-3)


def test_noise_is_taken_out(rng):
    X = bent(rng, 1000)
    noisy = X + 0.5 * rng.normal(size=X.shape)
    model = Autoencoder(1, hidden_layers=(32,), noise=0.3, step=0.01, max_iter=60, random_state=0).fit(X)
    cleaned = model.inverse_transform(model.transform(noisy))
    assert np.square(cleaned - X).mean() < 0.75 * np.square(noisy - X).mean()


def test_codes_that_are_drawn_follow_the_prior_and_make_new_rows(rng):
    X = bent(rng, 1000)
    model = Autoencoder(1, hidden_layers=(32,), prior=0.05, step=0.01, max_iter=80, random_state=0).fit(X)
    codes = model.transform(X)
    assert abs(codes.mean()) < 0.3 and 0.7 < codes.std() < 1.3
    drawn = model.sample(500, random_state=0)
    np.testing.assert_array_equal(drawn, model.sample(500, random_state=0))
    radius = np.linalg.norm(drawn - 5, axis=1)
    assert np.abs(radius - 3).mean() < 0.5
    with pytest.raises(ValueError, match="fit with prior"):
        Autoencoder(1, max_iter=1).fit(X).sample()
    with pytest.raises(ValueError, match="U must have 1 columns"):
        model.inverse_transform(np.ones((2, 3)))


def test_the_distance_to_the_prior_is_that_of_gaussians(rng):
    from unweave.predict.networks.autoencoder import _loss

    mean, spread = torch.from_numpy(rng.normal(size=(1, 1))), torch.from_numpy(rng.normal(size=(1, 1)))
    zero = torch.zeros(1, 1)
    found = float(_loss(1.0)(torch, (zero, mean, spread), zero))
    one = torch.distributions.Normal(mean, (0.5 * spread).exp())
    wanted = torch.distributions.kl_divergence(one, torch.distributions.Normal(0.0, 1.0))
    assert found == pytest.approx(float(wanted))
    coding = Coding(Layers((2, 2), name="e"), Layers((1, 2), name="d"), draws=True)
    assert list(coding.shapes()) == ["weight_e0", "bias_e0", "weight_d0", "bias_d0"]


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, words",
    [
        ({"solver": "newton"}, "solver='newton' is not known"),
        ({"activation": "step"}, "activation='step' is not known"),
        ({"schedule": "soon"}, "schedule='soon' is not known"),
        ({"loss": "squared"}, "is not for classes"),
        ({"dropout": 1.0}, "dropout must lie between 0 and 1"),
        ({"solver": "l-bfgs", "dropout": 0.1}, "one function of all rows"),
        ({"solver": "l-bfgs", "validation": 0.1}, "one function of all rows"),
        ({"solver": "l-bfgs", "step": 0.1}, "step is not for"),
        ({"hidden_layers": "many"}, "hidden_layers must be whole numbers"),
        ({"hidden_layers": (0,)}, "hidden_layers must be at least 1"),
        ({"validation": 0.01}, "leaves none"),
        ({"solver": "sgd", "step": 1e30}, "led to infinity: give a smaller step="),
        ({"task": "words"}, "task must be"),
    ],
)
def test_what_is_refused_names_the_argument(change, words, rng):
    X, y = blobs(rng, 40)
    with pytest.raises(ValueError, match=words), np.errstate(all="ignore"):
        MLP(**{"max_iter": 5, **change}).fit(X, y)


def test_targets_that_are_refused(rng):
    X, y = blobs(rng, 40)
    for made, Z in ((MLP(), X), (CNN(), X), (RNN(), X)):
        with pytest.raises(ValueError, match="one class only"):
            made.fit(Z, np.zeros(40, dtype=int))
        with pytest.raises(ValueError, match="leave out the rows without a target"):
            made.fit(Z, np.where(y == 0, np.nan, y))
    many = MLP(max_iter=1).fit(X, np.arange(40))  # as many classes as rows
    assert many.predict_proba(X).shape == (40, 40)


def test_a_file_whose_weights_do_not_fit_is_refused(tmp_path, rng):
    X, y = blobs(rng)
    model = MLP((4,), max_iter=1).fit(X, y)
    model.weights_["weight_0"] = model.weights_["weight_0"][:, :1]
    with pytest.raises(ValueError, match="should be an array of the shape"):
        unweave.load(model.save(tmp_path / "broken.unweave"))
