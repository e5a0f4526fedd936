"""Fits on 100 machines that nobody has run, for ``benchmarks/simulate.py``: the worked plan of ``docs/scale.md``.

A machine has sixteen cores, sixteen workers of one thread, and a link of 10 Gbit/s. Seconds of a visit are those of one
core here, measured on smaller tables of the same kind; bytes are those of ``unweave.scale.families``. What the
scheduler takes for a block is the time of processors that was measured here (the better of two runs); how much of it
comes before the visits, and all about links, disks, stragglers and deaths, is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from benchmarks.simulate import Setting
from unweave.scale.families import FAMILIES, Size

CORES = 16
LINK = 1.25e9  # bytes a second
DISK = 1e9  # bytes a second that a machine reads
AHEAD, AFTER, OWN = 0.4e-3, 0.9e-3, 2.5e-3  # seconds for each block: ``benchmarks/rehearsal.py``
SHARED = 1e10  # bytes a second that the folder which all machines share gives out to all of them together


@dataclass(frozen=True)
class Fit:
    """A fit at a size that is not here.

    Attributes
    ----------
    family : str
    size : Size
    entry : float
        Seconds of one core for each entry.
    stored : float
        Bytes of an entry on disk.
    """

    family: str
    size: Size
    entry: float
    stored: float

    def setting(self, visit: int, common: Setting) -> Setting:
        """One of its visits. Sixteen cores read from one disk, whether they are workers or threads of one worker."""
        sent = FAMILIES[self.family].visits(self.size)[visit]
        seconds = self.size.stored / self.size.blocks * (self.entry + self.stored * CORES / DISK)
        work = [seconds * common.machine / CORES] * self.size.blocks
        return replace(common, work=work, state=sent.state, added=sent.added, listed=sent.listed)

    def cut(self, blocks: int) -> Fit:
        """The same in so many blocks."""
        return replace(self, size=self.size._replace(blocks=blocks))


def imagined() -> dict[str, Setting]:
    """Settings by title, each one visit to all blocks."""
    many = Setting(
        [], machine=CORES, send=LINK, through=1.1e8, shared=SHARED, ahead=AHEAD, after=AFTER, own=OWN, notice=30.0,
        back=60.0, spread=0.1, slow=0.01, deaths=1 / 720,
    )  # fmt: skip
    one = replace(many, machine=1)
    groups = Fit("groups", Size(10**9, 100, 100, 10**11, 4, 8000), 0.54e-6 / 100, 4)
    users = Fit("ratings", Size(10**8, 10**7, 64, 10**9, 4, 1600), 0.24e-6, 8)
    items = replace(users, entry=0.14e-6)
    texts = Fit("topics", Size(10**7, 10**5, 200, 62 * 10**8, 4, 1600), 0.6e-6, 8)
    file = 10**8 * 66 * 4.0  # the vectors of all users: a block of items touches most pages of it
    return {
        "k-means, 10⁹ rows × 100 columns (float32), k = 100, 8,000 blocks": groups.setting(0, many),
        "10⁹ ratings, k = 64, 1,600 blocks: the users": replace(users.setting(0, many), keeps=False),
        "10⁹ ratings: the items": replace(items.setting(1, many), keeps=False, folder=file),
        "10⁹ ratings: the items, one worker of 16 threads a machine, 400 blocks": replace(
            items.cut(400).setting(1, one), keeps=False, folder=file
        ),
        "10⁹ ratings: the users, one worker of 16 threads a machine, 400 blocks": replace(
            users.cut(400).setting(0, one), keeps=False
        ),
        "10⁹ ratings: the users, the same, the state read from a file that machines pass on": replace(
            users.cut(400).setting(0, one), keeps=False, by_tree=True, through=LINK
        ),
        "10¹⁰ tokens, 10⁷ documents × 10⁵ words, 200 topics, 1,600 blocks": texts.setting(0, many),
        "10¹⁰ tokens, one worker of 16 threads a machine, 400 blocks": texts.cut(400).setting(0, one),
    }
