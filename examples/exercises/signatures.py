"""Exercise 5: files that hold any of several signatures, found by the kernel of common substrings.

    python examples/exercises/signatures.py --out PICTURES

The kernel of common substrings has a feature for every substring, one if it is there and zero if not. One signature is
one weight and a threshold. How is *any* of a set of viruses found? By an OR, and an OR of features that are zero or one
is still one weight vector: w has 1 for each signature and 0 elsewhere, and the threshold is ½; the sum over those that
are there is at least 1 if there is any. So the same kernel represents it, with margin ½ and ‖w‖² = the number of
signatures: how many rows it takes to learn grows with that number. (All of them at once, an AND, is the same weights
with the threshold one half below their number.) The row "the OR itself" is that vector on the new files; "found" is
how many signatures are among as many substrings with the largest weights that the machine has learned.

What it is held against are the counts of single letters under a Gaussian kernel, in which no signature can be seen.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from telling import Found, tell

from unweave.predict import KernelTable, Substrings

LETTERS, LENGTH, SIGNATURE, SETS, NEW, C = "acgt", 60, 6, (1, 2, 4, 8), 400, 10.0
KERNEL = Substrings(SIGNATURE)


def files(n: int, signatures: list[str], rng: np.random.Generator) -> tuple[list[str], np.ndarray]:
    """Random texts; in half of them one of the signatures is written, in the others none is by chance."""
    texts, ill = [], np.arange(n) % 2 == 1
    for has in ill:
        while True:
            text = "".join(rng.choice(list(LETTERS), LENGTH))
            if not any(one in text for one in signatures):
                break
        if has:
            at, one = int(rng.integers(LENGTH - SIGNATURE)), signatures[int(rng.integers(len(signatures)))]
            text = text[:at] + one + text[at + SIGNATURE :]
        texts.append(text)
    return texts, ill


def weights(model, texts: list[str]) -> dict[str, float]:
    """The weight of each substring as long as a signature: Σ α_i over the texts that hold it."""
    found: dict[str, float] = {}
    for i, alpha in zip(model.support_, model.dual_coef_[0]):
        for one in {texts[i][j : j + SIGNATURE] for j in range(LENGTH - SIGNATURE + 1)}:
            found[one] = found.get(one, 0.0) + float(alpha)
    return found


def letters(texts: list[str]) -> np.ndarray:
    """How often each letter is in each text."""
    return np.array([[text.count(letter) for letter in LETTERS] for text in texts], dtype=float)


def measure(size: int = 600) -> Found:
    """Accuracy on new files after `size`, by the number of signatures."""
    rows, drawn = [], None
    for many in SETS:
        rng = np.random.default_rng(many)
        signatures = ["".join(rng.choice(list(LETTERS), SIGNATURE)) for _ in range(many)]
        (known, ill), (new, wanted) = files(size, signatures, rng), files(NEW, signatures, rng)
        machine = make_pipeline(KernelTable(KERNEL), SVC(kernel="precomputed", C=C)).fit(known, ill)
        w = weights(machine[-1], known)
        top = sorted(w, key=w.get, reverse=True)
        plain = make_pipeline(StandardScaler(), SVC()).fit(letters(known), ill)
        exactly = np.array([sum(one in text for one in signatures) > 0.5 for text in new])
        rows.append({
            "signatures": many, "the OR itself": _percent(exactly, wanted),
            "substrings": _percent(machine.predict(new), wanted),
            "counts of letters": _percent(plain.predict(letters(new)), wanted),
            "found": f"{len(set(top[:many]) & set(signatures))} of {many}",
        })  # fmt: skip
        if many == SETS[2]:
            drawn = ([(one, w[one], one in signatures) for one in top[:16]], np.array(list(w.values())))
    return Found(f"files with any of some signatures: {size} known, {NEW} new, {LENGTH} letters each", rows, drawn)


def _percent(said: np.ndarray, wanted: np.ndarray) -> str:
    return f"{100 * np.mean(said == wanted):.1f} %"


def draw(found: Found):
    """Accuracy by the number of signatures, and the heaviest substrings of four signatures."""
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    many = [row["signatures"] for row in found.rows]
    for name in ("the OR itself", "substrings", "counts of letters"):
        left.plot(many, [float(row[name].split()[0]) for row in found.rows], "o-", label=name)
    left.set(xlabel="signatures", ylabel="right, %", xticks=many)
    left.legend()
    top, every = found.drawn
    colours = ["tab:red" if is_one else "0.7" for _, _, is_one in top]
    right.barh(range(len(top)), [weight for _, weight, _ in top], color=colours)
    right.set_yticks(range(len(top)), [text for text, _, _ in top], fontsize=7, family="monospace")
    right.invert_yaxis()
    right.set(xlabel=f"weight learned of {len(every):,}; red: a signature")
    return figure


def main(arguments: list[str] | None = None) -> Path:
    """Say the table and draw the picture; where it is."""
    return tell("signatures", __doc__, measure, draw, 600, arguments, means="known files")


if __name__ == "__main__":
    main()
