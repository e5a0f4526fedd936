"""
Unmix sounds that were recorded together
========================================

Three microphones hear three sounds at once, each louder in one than in another. ICA finds the sounds from the
recordings alone, and writes each as a wav file. Name recordings of your own (``python unmix_sound.py a.wav b.wav``, one
channel each, of one length) to unmix them instead.
"""

import sys
import tempfile
import wave
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import unweave

RATE = 8000


def sounds(seconds: float = 4.0) -> np.ndarray:
    """A voice (noise in syllables), a chord that is plucked again and again, and a siren."""
    rng = np.random.default_rng(0)
    t = np.arange(int(seconds * RATE)) / RATE
    voice = (
        rng.normal(size=len(t)) * np.maximum(0, np.sin(2 * np.pi * 2.3 * t) + 0.4 * np.sin(2 * np.pi * 0.7 * t)) ** 2
    )
    chord = sum(np.sin(2 * np.pi * pitch * t) for pitch in (220, 277, 330)) * np.exp(-6 * (t % 0.5))
    siren = np.sign(np.sin(2 * np.pi * 500 * t + 60 * np.sin(2 * np.pi * 0.5 * t)))
    return np.column_stack([voice, chord, siren])


def write_wav(path: Path, sound: np.ndarray, rate: int) -> None:
    """One channel of 16 bits, as loud as it may be."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((32000 * sound / np.abs(sound).max()).astype("<i2").tobytes())


folder = Path(tempfile.mkdtemp(prefix="unmixed-"))
given = [name for name in sys.argv[1:] if name.endswith(".wav")]
if not given:
    true = sounds()
    mixed = true @ np.array([[1.0, 0.6, 0.3], [0.5, 1.0, 0.7], [0.4, 0.5, 1.0]])
    for j in range(3):
        write_wav(folder / f"microphone-{j + 1}.wav", mixed[:, j], RATE)
    given = sorted(str(path) for path in folder.glob("microphone-*.wav"))

# %%
# Files of one channel are the columns of one table; the rate is kept beside them.

table = unweave.read(given)
model = unweave.ICA(random_state=0).fit(table)
found = model.transform(table)
for j, sound in enumerate(found.T):
    write_wav(folder / f"source-{j + 1}.wav", sound, int(table.rate))
print("written to", folder)

# %%
# Each recording is a mixture; each source is one of the sounds.

figure, axes = plt.subplots(2, found.shape[1], figsize=(8, 3.6), sharex=True, layout="constrained")
seconds = np.arange(len(found)) / table.rate
for j in range(found.shape[1]):
    for axis, sound, what in ((axes[0, j], table.X[:, j], "microphone"), (axes[1, j], found[:, j], "source")):
        axis.plot(seconds, sound, linewidth=0.3)
        axis.set(title=f"{what} {j + 1}", yticks=[])
axes[1, 0].set_xlabel("seconds")
if len(sys.argv) == 1:
    match = np.abs(np.corrcoef(found.T, true.T)[:3, 3:])
    print("correlation of each sound with its source:", match.max(axis=0).round(4))
