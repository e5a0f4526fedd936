"""How much memory there is: on the machine, and for this process by the limits that are set for it."""

from __future__ import annotations

import os
import re
import resource
from pathlib import Path

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_AMOUNT = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*(|[kmgt]i?)b?\s*", re.IGNORECASE)


def bytes_of(amount: int | float | str, name: str = "memory") -> int:
    """Read an amount of memory: a number of bytes, or "64MB", "2 GB", "1.5GiB"; `name` is told in the error.

    >>> bytes_of("2GB"), bytes_of("64 MiB"), bytes_of(1e6)
    (2000000000, 67108864, 1000000)
    """
    found = _AMOUNT.fullmatch(amount) if isinstance(amount, str) else None
    if found is not None:
        amount = float(found[1]) * _UNITS[found[2].lower()]
    if isinstance(amount, bool | str) or not 1 <= amount < 2**63:
        raise ValueError(f"{name}={amount!r} is no amount of memory: give a number of bytes, or text such as '2GB'")
    return int(amount)


def free_memory() -> int:
    """Count the bytes that this process may still use: what the machine has free, and what its limits leave.

    Limits are those of the process (address space, data) and of the control groups that it is in.

    >>> free_memory() > 0
    True
    """
    return max(0, min([_of_machine(), *_left_by_limits(), *_left_by_groups()]))


def larger_than_memory(nbytes: int) -> bool:
    """Tell whether a table of so many bytes is better read in blocks: it is more than half of the free memory."""
    return nbytes > free_memory() // 2


def _of_machine() -> int:
    found = _fields("/proc/meminfo").get("MemAvailable")
    if found is not None:
        return found
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _left_by_limits() -> list[int]:
    used = _fields("/proc/self/status")
    limits = [("VmSize", resource.RLIMIT_AS), ("VmData", resource.RLIMIT_DATA)]
    soft = [(used.get(name, 0), resource.getrlimit(which)[0]) for name, which in limits]
    return [limit - size for size, limit in soft if limit != resource.RLIM_INFINITY]


def _left_by_groups(root: str = "/sys/fs/cgroup", mine: str = "/proc/self/cgroup") -> list[int]:
    """What the control groups leave, from the process's own upwards; pages of files are given back when needed."""
    own = next((line[3:] for line in _lines(mine) if line.startswith("0::")), "/").strip("/")
    folder, left = Path(root, own), []
    while True:
        most, now = _lines(folder / "memory.max"), _lines(folder / "memory.current")
        if most and now and most[0].isdigit():
            files = dict(line.split() for line in _lines(folder / "memory.stat")).get("inactive_file", "0")
            left.append(int(most[0]) - int(now[0]) + int(files))
        if folder == Path(root) or folder == folder.parent:
            return left
        folder = folder.parent


def _fields(path: str) -> dict[str, int]:
    """Lines such as ``MemAvailable:  1024 kB``, as bytes."""
    pairs = (line.partition(":") for line in _lines(path) if line.endswith("kB"))
    return {name: int(rest.removesuffix("kB")) << 10 for name, _, rest in pairs}


def _lines(path: str | Path) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
