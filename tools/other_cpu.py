"""Run a command as if this were another processor: `python tools/other_cpu.py haswell python -m pytest tests/laws`.

Answers differ between processors in their last digits, because sums are added in another order; promises must hold on
all. Kernels (numba), products (OpenBLAS) and loops (NumPy) are each told to use the instructions of the processor that
is named, in an environment of the command's own and with a kernel cache of its own (``.cache/cpu``). A processor whose
instructions this one lacks is left out, with a word.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Processor:
    """What a processor is called, and which instructions it has."""

    numba: str
    openblas: str
    needs: tuple[str, ...] = ()  # as /proc/cpuinfo spells them
    lacks: tuple[str, ...] = ()  # of what NumPy chooses from while it runs


_BEYOND_HASWELL = ("V4", "512")
PROCESSORS = {
    # NumPy itself is compiled for no less than Nehalem (x86-64-v2).
    "generic": Processor("generic", "Nehalem", lacks=("AVX", "FMA", "F16C", "XOP", "V3", *_BEYOND_HASWELL)),
    "haswell": Processor("haswell", "Haswell", ("avx2", "fma", "bmi2"), _BEYOND_HASWELL),
    "skylake": Processor("skylake-avx512", "SkylakeX", ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
}


def environment(name: str) -> dict[str, str]:
    """The variables that make a process take this processor for another."""
    processor = PROCESSORS[name]
    root = Path(__file__).resolve().parent.parent
    return {
        "NUMBA_CPU_NAME": processor.numba,
        "NUMBA_CPU_FEATURES": "",  # those of the name, not of the host
        "NUMBA_CACHE_DIR": str(root / ".cache" / "cpu" / name),
        "OPENBLAS_CORETYPE": processor.openblas,
        "NPY_DISABLE_CPU_FEATURES": " ".join(without(processor)),
    }


def without(processor: Processor) -> list[str]:
    """The features of NumPy, by the names its version gives them, that the processor has not."""
    from numpy._core._multiarray_umath import __cpu_dispatch__

    return [name for name in __cpu_dispatch__ if any(part in name for part in processor.lacks)]


def missing(processor: Processor) -> list[str]:
    """Instructions that the processor has and this one has not."""
    try:
        flags = next(
            line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags")
        ).split()
    except (OSError, StopIteration):
        return list(processor.needs)
    return [flag for flag in processor.needs if flag not in flags]


def main(name: str, *command: str) -> int:
    if name not in PROCESSORS or not command:
        print(f"{__doc__}\nknown: {', '.join(PROCESSORS)}", file=sys.stderr)
        return 2
    if lost := missing(PROCESSORS[name]):
        print(f"{name}: left out, this processor lacks {', '.join(lost)}")
        return 0
    print(f"{name}: {' '.join(f'{key}={value!r}' for key, value in environment(name).items())}", flush=True)
    os.execvpe(command[0], command, {**os.environ, **environment(name)})


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
