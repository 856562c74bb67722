"""Every command that README and docs print works, except a list with reasons."""

import asyncio
import re
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from agent_core.execution.local import find_bubblewrap
from gateway.interfaces import subcommands
from tests.architecture.source import ROOT
from tests.integration.printed_commands import (
    EXCEPTIONS,
    LIVE,
    Printed,
    list_inline,
    list_printed,
)
from tests.integration.printed_house import House, open_house
from tests.integration.printed_walks import NOTHING, STOP, WALKS
from tests.integration.processes import running
from tests.tables import check_each

pytestmark = [pytest.mark.thorough, pytest.mark.process]

PRINTED = list_printed()
_PARTS = 16
"""Parts of the commands, so that no test takes minutes."""
_MARK = "= = = ="
"""Stands between what a command says and what shows its deed."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    async with open_house(tmp_path_factory.mktemp("u")) as built:
        yield built


def check(house: House, printed: Printed) -> None:
    """Do what a reader does with a command; its deed must show. CI has bubblewrap."""
    walk = WALKS.get(printed.command, NOTHING)
    if walk.is_walled and not find_bubblewrap():
        return
    lines = ["set -eo pipefail", *(["{", walk.first, "} >/dev/null"] if walk.first else [])]
    lines += [printed.command, *([f"echo '{_MARK}'", walk.then] if walk.then else [])]
    script = "\n".join(lines)
    done = house.run_at_terminal(script, walk.types) if walk.types else house.run(script)
    told = f"{printed.page}:\n{script}\n{done.out[-800:]}\n{done.err[-800:]}\n{done.code}"
    is_stopped = any(answer == STOP for _, answer in walk.types)
    assert done.code in ((0, 130, -signal.SIGINT) if is_stopped else (0,)), told
    assert "Traceback" not in done.out + done.err, told
    shown = done.out.rpartition(f"{_MARK}\n")[2]
    assert re.search(walk.says, shown, re.MULTILINE), f"{walk.says}: {told}"


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("part", range(_PARTS))
async def test_each_command_for_a_home_works(house: House, tmp_path: Path, part: int) -> None:
    rows = [one for one in PRINTED if not one.reason and not LIVE.search(one.command)][part::_PARTS]

    def check_copied(row: tuple[int, Printed]) -> None:
        copied = house.copy(tmp_path / str(row[0]))
        check(copied, row[1])
        shutil.rmtree(copied.user)

    await asyncio.to_thread(check_each, list(enumerate(rows)), check_copied)


@pytest.mark.asyncio(loop_scope="module")
async def test_each_command_for_a_gateway_works(house: House, tmp_path: Path) -> None:
    rows = [one for one in PRINTED if not one.reason and LIVE.search(one.command)]
    rows.sort(key=lambda one: "stop" in one.command)
    copied = house.copy(tmp_path / "u")
    given = {name: given for name, given in copied.variables.items() if name != "TALARIA_HOME"}
    async with running(copied.user / ".talaria", **given) as gateway:
        served = copied.at(gateway.port)
        await asyncio.to_thread(check_each, rows, lambda one: check(served, one))


def test_each_exception_is_needed() -> None:
    unused = [
        pattern
        for pattern in EXCEPTIONS
        if not any(re.search(pattern, one.command) for one in PRINTED)
    ]
    assert unused == []
    named = [path for why in EXCEPTIONS.values() for path in re.findall(r"[\w.]+/[\w./]+", why)]
    assert [path for path in named if not ROOT.joinpath(path).exists()] == []
    runs = {one.command for one in PRINTED if not one.reason}
    assert [command for command in WALKS if command not in runs] == []


def test_each_command_in_a_sentence_exists() -> None:
    """The words before a name in capitals or dots are a command and a verb."""
    for command in list_inline():
        _, word, *rest = command.split()
        assert word in subcommands.SUBCOMMANDS, command
        verbs = subcommands.make_parser(word).list_verbs()
        if verbs and rest and re.fullmatch(r"[a-z][a-z-]*", rest[0]):
            assert rest[0] in verbs, command
