"""Who waits for a search, a removal or an export sees how far it is, and then only the answer."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.texts import privacy
from tests.fakes.model import FakeModel, say
from tests.integration.accounts import ChatAccount, make_owner
from tests.integration.harness import Harness, quick, running
from tests.integration.privacy.deletions import settled

AT_ONCE = replace(quick(), first_progress=0.0)
LINES = ("I'm working on it", "Searching", "Deleting", "Packing")


async def lines_during(harness: Harness, work: asyncio.Task[object]) -> list[str]:
    """Let the chat answer only once a line waits to be sent; return the lines that came and went.

    Work of a few messages would be over before.
    """
    gate = harness.chat.gate = asyncio.Event()
    dispatcher = harness.gateway.dispatcher
    await harness.until(lambda: not dispatcher.is_idle() or work.done())
    gate.set()
    harness.chat.gate = None
    await work
    return [shown.texts[0] for shown in harness.chat.deleted]


@pytest.mark.process
@pytest.mark.parametrize("command", ["/export", "/forget lisbon"])
async def test_a_command_shows_how_far_it_is(tmp_path: Path, command: str) -> None:
    async with running(tmp_path, FakeModel(say("Nice.")), timings=AT_ONCE) as harness:
        ana = ChatAccount(harness, "4711001", "Ana")
        await ana.says("hello from lisbon")
        work = asyncio.create_task(ana.says(command))
        lines = await lines_during(harness, work)
        assert len(lines) == 1
        assert lines[0].startswith(LINES)
        assert not any(text.startswith(LINES) for text in harness.chat.texts)


async def test_the_removal_shows_how_far_it_is(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel(say("Nice.")), timings=AT_ONCE) as harness:
        ana = ChatAccount(harness, "4711001", "Ana")
        await ana.says("hello from lisbon")
        await make_owner(harness, ana.user)
        await ana.says("/forget lisbon")
        await ana.presses(privacy.FORGET_ALL())
        await settled(harness)
        assert any(shown.texts[0].startswith(LINES) for shown in harness.chat.deleted)
        assert not any(text.startswith(LINES) for text in harness.chat.texts)
        assert harness.chat.texts[-1].startswith("Deleted:")
