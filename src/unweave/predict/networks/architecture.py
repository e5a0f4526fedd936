"""What networks are made of: named weights, and what a batch becomes on its way through layers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# name → (torch function by its name in torch or torch.nn.functional, factor of the spread of first weights).
# He's factor for units that are silent half of the time, Glorot's for the others.
ACTIVATIONS: Mapping[str, tuple[str, float]] = {
    "identity": ("", 1.0),
    "logistic": ("sigmoid", 1.0),
    "tanh": ("tanh", 1.0),
    "arctan": ("atan", 1.0),
    "softsign": ("softsign", 1.0),
    "relu": ("relu", 2.0),
}


def check_activation(name) -> str:
    """Return the name, or raise an error that lists those there are."""
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise ValueError(f"activation={name!r} is not known; use one of {', '.join(ACTIVATIONS)}")
    return name


def activate(torch: Any, name: str, x: Any) -> Any:
    """σ(x), entry by entry."""
    word = ACTIVATIONS[name][0]
    if not word:
        return x
    return getattr(torch, word)(x) if hasattr(torch, word) else getattr(torch.nn.functional, word)(x)


@dataclass
class Chance:
    """Where a pass through a network draws random numbers: dropout and noise. Without a generator nothing is drawn."""

    torch: Any
    generator: Any = None
    share: float = 0.0

    def drop(self, x: Any) -> Any:
        """Silence a share of the units, and raise the others so that the mean stays."""
        if self.generator is None or not self.share:
            return x
        kept = self.torch.rand(x.shape, generator=self.generator, dtype=x.dtype) >= self.share
        return x * kept / (1.0 - self.share)

    def noise(self, x: Any) -> Any:
        """Standard Gaussian numbers of the shape of x; zeros where nothing is drawn."""
        if self.generator is None:
            return self.torch.zeros_like(x)
        return self.torch.randn(x.shape, generator=self.generator, dtype=x.dtype)


class Architecture(ABC):
    """A network without its weights."""

    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the weights; names of biases begin with ``bias``, of loops with ``loop``."""

    @abstractmethod
    def forward(self, torch: Any, W: Mapping[str, Any], batch: tuple, chance: Chance) -> Any:
        """What the network makes of a batch: tensors whose first side are the rows."""

    @property
    def factor(self) -> float:
        """Of the spread of the first weights."""
        return 1.0

    def first_weights(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Random weights to begin with, as one flat array: none of them grows or fades from layer to layer."""
        parts = []
        for name, shape in self.shapes().items():
            if name.startswith("bias"):
                parts.append(np.zeros(int(np.prod(shape))))
            elif name.startswith("loop"):  # square blocks, which turn a state and leave its length
                blocks = rng.normal(size=(shape[0] // shape[1], shape[1], shape[1]))
                parts.append(np.linalg.qr(blocks)[0].ravel())
            else:
                into, out = int(np.prod(shape[1:])), shape[0] * int(np.prod(shape[2:]))
                bound = np.sqrt(3.0 * self.factor * (1.0 / into if self.factor > 1 else 2.0 / (into + out)))
                parts.append(rng.uniform(-bound, bound, int(np.prod(shape))))
        return np.concatenate(parts)

    def named(self, flat: NDArray) -> dict[str, NDArray]:
        """The flat array taken apart."""
        parts, at = {}, 0
        for name, shape in self.shapes().items():
            size = int(np.prod(shape))
            parts[name] = flat[at : at + size].reshape(shape).copy()
            at += size
        return parts


@dataclass(frozen=True)
class Layers(Architecture):
    """Fully connected layers: x → σ(W·x + b), the last without σ.

    Attributes
    ----------
    sizes : tuple of int
        Inputs, units of each hidden layer, outputs.
    activation : str
    name : str
        Tells apart the weights of several such parts of one network.
    """

    sizes: tuple[int, ...]
    activation: str = "relu"
    name: str = ""

    def shapes(self):
        found: dict[str, tuple[int, ...]] = {}
        for i, (into, out) in enumerate(zip(self.sizes[:-1], self.sizes[1:], strict=True)):
            found[f"weight_{self.name}{i}"] = (out, into)
            found[f"bias_{self.name}{i}"] = (out,)
        return found

    @property
    def factor(self):
        return ACTIVATIONS[self.activation][1]

    def forward(self, torch, W, batch, chance):
        x, last = batch[0], len(self.sizes) - 2
        for i in range(last + 1):
            x = torch.nn.functional.linear(x, W[f"weight_{self.name}{i}"], W[f"bias_{self.name}{i}"])
            if i < last:
                x = chance.drop(activate(torch, self.activation, x))
        return x


@dataclass(frozen=True)
class Convolutions(Architecture):
    """Convolutions with pooling by maxima, each of which halves the picture, then fully connected layers.

    Attributes
    ----------
    shape : (channels, height, width)
        Of a picture.
    channels : tuple of int
        Of each convolution.
    kernel : (height, width)
        Odd numbers.
    sizes : tuple of int
        Hidden units and outputs of what follows.
    """

    shape: tuple[int, int, int]
    channels: tuple[int, ...]
    kernel: tuple[int, int]
    sizes: tuple[int, ...]
    activation: str = "relu"

    def shapes(self):
        found: dict[str, tuple[int, ...]] = {}
        into = self.shape[0]
        for i, out in enumerate(self.channels):
            found[f"weight_convolution{i}"] = (out, into, *self.kernel)
            found[f"bias_convolution{i}"] = (out,)
            into = out
        return {**found, **self._rest().shapes()}

    @property
    def factor(self):
        return ACTIVATIONS[self.activation][1]

    def _rest(self) -> Layers:
        _, h, w = self.shape
        for _ in self.channels:
            h, w = -(-h // 2), -(-w // 2)
        last = self.channels[-1] if self.channels else self.shape[0]
        return Layers((last * h * w, *self.sizes), self.activation)

    def forward(self, torch, W, batch, chance):
        x, functional = batch[0], torch.nn.functional
        padding = (self.kernel[0] // 2, self.kernel[1] // 2)
        for i in range(len(self.channels)):
            x = functional.conv2d(x, W[f"weight_convolution{i}"], W[f"bias_convolution{i}"], padding=padding)
            size = (min(2, x.shape[2]), min(2, x.shape[3]))
            x = activate(torch, self.activation, functional.max_pool2d(x, size, ceil_mode=True))
        return self._rest().forward(torch, W, (chance.drop(x.flatten(1)),), chance)


@dataclass(frozen=True)
class Recurrent(Architecture):
    """A state that is carried from step to step of a sequence, and answers after the last.

    Attributes
    ----------
    inputs, units, outputs : int
        Numbers a step, of the state, and of the answer.
    gated : bool
        Whether the state is a gated recurrent unit's (GRU), otherwise tanh(W·x + V·state + b).
    """

    inputs: int
    units: int
    outputs: int
    gated: bool = True

    def shapes(self):
        n = (3 if self.gated else 1) * self.units
        return {
            "weight_input": (n, self.inputs), "bias_input": (n,), "loop": (n, self.units), "bias_loop": (n,),
            **self._rest().shapes(),
        }  # fmt: skip

    def _rest(self) -> Layers:
        return Layers((self.units, self.outputs), "tanh")

    def forward(self, torch, W, batch, chance):
        x, lengths = batch
        linear = torch.nn.functional.linear
        driven = linear(x, W["weight_input"], W["bias_input"])
        state = x.new_zeros((len(x), self.units))
        for t in range(x.shape[1]):
            looped = linear(state, W["loop"], W["bias_loop"])
            new = self._step(torch, driven[:, t], looped, state)
            # A sequence that has ended keeps its state: what it was padded with says nothing.
            state = torch.where((t < lengths)[:, None], new, state)
        return self._rest().forward(torch, W, (chance.drop(state),), chance)

    def _step(self, torch, driven, looped, state):
        if not self.gated:
            return torch.tanh(driven + looped)
        forget_x, keep_x, new_x = driven.chunk(3, dim=1)
        forget_s, keep_s, new_s = looped.chunk(3, dim=1)
        keep = torch.sigmoid(keep_x + keep_s)
        new = torch.tanh(new_x + torch.sigmoid(forget_x + forget_s) * new_s)
        return keep * state + (1 - keep) * new


@dataclass(frozen=True)
class Coding(Architecture):
    """An encoder to a few numbers, and a decoder back; as mean and spread of codes where these are drawn.

    What `forward` gives is (reconstruction, means of codes, logarithms of their variances or None).
    """

    encoder: Layers
    decoder: Layers
    draws: bool = False
    noise: float = 0.0

    def shapes(self):
        return {**self.encoder.shapes(), **self.decoder.shapes()}

    @property
    def factor(self):
        return self.encoder.factor

    def forward(self, torch, W, batch, chance):
        x = batch[0]
        mean, spread = self.encode(torch, W, x + self.noise * chance.noise(x) if self.noise else x, chance)
        code = mean if spread is None else mean + torch.exp(0.5 * spread) * chance.noise(mean)
        return self.decoder.forward(torch, W, (code,), chance), mean, spread

    def encode(self, torch, W, x, chance):
        """Means of codes, and logarithms of their variances or None."""
        found = self.encoder.forward(torch, W, (x,), chance)
        if not self.draws:
            return found, None
        mean, spread = found.chunk(2, dim=1)
        return mean, spread.clamp(-20.0, 20.0)
