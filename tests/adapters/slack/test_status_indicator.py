"""Status indicators appear while the bot works, and are removed afterwards."""

import pytest

from adapters.messages import Button
from tests.adapters.slack.rig import ANNA, called, read, running, to
from tests.emulators import slack_faults as faults
from tests.emulators.slack import SlackEmulator
from tests.fakes.inlet import FakeInlet

YES = Button(key="yes", label="Yes")
SESSIONS, ASSISTANT = "agents.sessions.setStatus", "assistant.threads.setStatus"


async def test_an_agents_session_is_processing_until_the_answer(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    dialogue = slack.dm(ANNA)
    async with running(slack, inlet) as adapter:
        said = await slack.says(ANNA, "think")
        (event,) = await inlet.receives(1)
        address = read(event).address
        await adapter.type(address)
        assert slack.status(dialogue, said) == "processing"
        sent = await adapter.send(to("", "Hm", address=address, is_live=True))
        assert slack.status(dialogue, said) == "processing"
        await adapter.send(to("", "Sure?", address=address, buttons=(YES,), key="k2"))
        assert slack.status(dialogue, said) == "suspended"
        await adapter.type(address)
        await adapter.edit(to("", "Hm.", address=address), sent)
        assert slack.status(dialogue, said) == "active"


async def test_an_earlier_processs_status_is_removed_with_the_answer(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    async with running(slack, inlet) as adapter:
        said = await slack.says(ANNA, "think")
        address = read((await inlet.receives(1))[0]).address
        await adapter.type(address)
    async with running(slack, inlet) as adapter:
        await adapter.send(to("", "There.", address=address))
        assert slack.status(slack.dm(ANNA), said) == "active"


async def test_the_answer_is_sent_even_if_the_status_stays(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    async with running(slack, inlet) as adapter:
        await slack.says(ANNA, "think")
        address = read((await inlet.receives(1))[0]).address
        await adapter.type(address)
        slack.fail(SESSIONS, kind=faults.UNWELL)
        await adapter.send(to("", "There.", address=address))
        assert slack.texts(slack.dm(ANNA)) == ["There."]


async def test_an_assistant_app_shows_the_assistants_status(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    slack.is_agent = False
    async with running(slack, inlet, is_streaming=False) as adapter:
        root = await slack.says(ANNA, "think")
        await slack.says(ANNA, "harder", thread_ts=root)
        address = read((await inlet.receives(2))[1]).address
        await adapter.type(address)
        assert slack.status(slack.dm(ANNA), root) == "is thinking…"
        sent = await adapter.send(to("", "Hm", address=address, is_live=True))
        await adapter.type(address)
        await adapter.edit(to("", "Hm.", address=address), sent)
        assert slack.status(slack.dm(ANNA), root) == ""
        assert len(called(slack, SESSIONS)) == 1


async def test_a_classic_app_is_tried_once_and_shows_nothing(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    slack.is_agent = slack.is_assistant = False
    async with running(slack, inlet) as adapter:
        root = await slack.says(ANNA, "think")
        await slack.says(ANNA, "harder", thread_ts=root)
        first, second = [read(event).address for event in await inlet.receives(2)]
        for _ in range(3):
            await adapter.type(first)
            await adapter.type(second)
        assert len(called(slack, SESSIONS)) == len(called(slack, ASSISTANT)) == 1


@pytest.mark.parametrize("is_agent", [True, False])
async def test_the_kind_of_app_decides_whether_a_conversation_is_a_thread(
    slack: SlackEmulator, inlet: FakeInlet, is_agent: bool
) -> None:
    slack.is_agent = is_agent
    async with running(slack, inlet):
        said = await slack.says(ANNA, "hello")
        address = read((await inlet.receives(1))[0]).address
        assert address.thread_id == (said if is_agent else None)
