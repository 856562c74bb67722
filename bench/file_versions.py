"""The time that earlier versions of files add to a command, in a workspace of 10,000 files."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from agent_core.execution.file_changes import FileChanges, Moment
from agent_core.execution.file_states import Watched
from bench.figures import Figure

_FOLDERS, _FILES = 100, 100
_MOMENT = Moment(turn=1, at=0, row=0)


async def measure(*, rounds: int) -> list[Figure]:
    """Return medians; the look at unchanged files happens before and after each command."""
    with TemporaryDirectory(prefix="talaria-bench-") as folder:
        place = Path(folder, "work")
        for number in range(_FOLDERS):
            (place / str(number)).mkdir(parents=True)
            for name in range(_FILES):
                (place / str(number) / f"{name}.txt").write_text(f"{number} {name}\n" * 20)
        await asyncio.sleep(0.1)  # files that changed right before a look are read again
        changes = FileChanges(Path(folder, "store"), Watched(place, frozenset()), lambda _: True)
        first = _time(lambda: changes.begin(_MOMENT))
        pairs = [
            (_time(lambda: changes.begin(_MOMENT)), _time(lambda: _list(place)))
            for _ in range(rounds)
        ]
        same, bare = (median(times) for times in zip(*pairs, strict=True))
        used = median([_time(lambda: changes.begin(_MOMENT), time.thread_time) for _ in pairs])
        one = []
        for number in range(rounds):
            (place / "0" / "0.txt").write_text(str(number))
            one.append(_time(lambda: changes.begin(_MOMENT)))
        undo = [_time_undo(place, changes, number) for number in range(rounds)]
    return [
        Figure(
            name="a look at 10,000 unchanged files", unit="ms", value=same, bare=bare, at_most=3
        ),
        Figure(name="CPU of that look", unit="ms", value=used, at_most=100),
        Figure(name="a look that finds one changed file", unit="ms", value=median(one)),
        Figure(name="to take one changed file back", unit="ms", value=median(undo)),
        Figure(name="the first look, which copies all", unit="ms", value=first),
    ]


def _list(place: Path) -> int:
    """Ask for the state of every file, and do nothing with it."""
    count = 0
    for folder, _, names, descriptor in os.fwalk(place):
        count += sum(bool(os.stat(name, dir_fd=descriptor)) for name in names) + len(folder)
    return count


def _time_undo(place: Path, changes: FileChanges, number: int) -> float:
    (place / "0" / "0.txt").write_text(f"{number} more")
    changes.begin(Moment(turn=number + 2, at=0, row=0))
    newest = changes.list_changes()[0].number
    return _time(lambda: changes.undo(newest, _MOMENT, str(newest)))


def _time(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    started = clock()
    work()
    return 1000 * (clock() - started)
