"""Status indicators appear while the bot works, and are removed afterwards."""

import pytest

from adapters.messages import Button
from tests.adapters.slack.rig import ANNA, Rig, read, running, to
from tests.emulators import slack_faults as faults
from tests.emulators.slack import SlackEmulator
from tests.fakes.inlet import FakeInlet

YES = Button(key="yes", label="Yes")
SESSIONS, ASSISTANT = "agents.sessions.setStatus", "assistant.threads.setStatus"


async def test_an_agents_session_is_processing_until_the_answer(slack: SlackEmulator) -> None:
    dialogue = slack.dm(ANNA)
    async with running(slack) as rig:
        said = await slack.says(ANNA, "think")
        (event,) = await rig.inlet.receives(1)
        address = read(event).address
        await rig.adapter.type(address)
        assert slack.status(dialogue, said) == "processing"
        sent = await rig.adapter.send(to("", "Hm", address=address, is_live=True))
        assert slack.status(dialogue, said) == "processing"
        await rig.adapter.send(to("", "Sure?", address=address, buttons=(YES,), key="k2"))
        assert slack.status(dialogue, said) == "suspended"
        await rig.adapter.type(address)
        await rig.adapter.edit(to("", "Hm.", address=address), sent)
        assert slack.status(dialogue, said) == "active"


async def test_an_earlier_processs_status_is_removed_with_the_answer(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    async with running(slack, inlet) as rig:
        said = await slack.says(ANNA, "think")
        address = read((await inlet.receives(1))[0]).address
        await rig.adapter.type(address)
    async with running(slack, inlet) as rig:
        await rig.adapter.send(to("", "There.", address=address))
        assert slack.status(slack.dm(ANNA), said) == "active"


async def test_the_answer_is_sent_even_if_the_status_stays(rig: Rig) -> None:
    await rig.slack.says(ANNA, "think")
    address = read((await rig.inlet.receives(1))[0]).address
    await rig.adapter.type(address)
    rig.slack.fail(SESSIONS, kind=faults.UNWELL)
    await rig.adapter.send(to("", "There.", address=address))
    assert rig.slack.texts(rig.slack.dm(ANNA)) == ["There."]


async def test_an_assistant_app_shows_the_assistants_status(slack: SlackEmulator) -> None:
    slack.is_agent = False
    async with running(slack, streaming=False) as rig:
        root = await slack.says(ANNA, "think")
        await slack.says(ANNA, "harder", thread_ts=root)
        address = read((await rig.inlet.receives(2))[1]).address
        await rig.adapter.type(address)
        assert slack.status(slack.dm(ANNA), root) == "is thinking…"
        sent = await rig.adapter.send(to("", "Hm", address=address, is_live=True))
        await rig.adapter.type(address)
        await rig.adapter.edit(to("", "Hm.", address=address), sent)
        assert slack.status(slack.dm(ANNA), root) == ""
        assert len(slack.called(SESSIONS)) == 1


async def test_a_classic_app_is_tried_once_and_shows_nothing(slack: SlackEmulator) -> None:
    slack.is_agent = slack.is_assistant = False
    async with running(slack) as rig:
        root = await slack.says(ANNA, "think")
        await slack.says(ANNA, "harder", thread_ts=root)
        first, second = [read(event).address for event in await rig.inlet.receives(2)]
        for _ in range(3):
            await rig.adapter.type(first)
            await rig.adapter.type(second)
        assert len(slack.called(SESSIONS)) == len(slack.called(ASSISTANT)) == 1


@pytest.mark.parametrize("is_agent", [True, False])
async def test_the_kind_of_app_decides_whether_a_conversation_is_a_thread(
    slack: SlackEmulator, is_agent: bool
) -> None:
    slack.is_agent = is_agent
    async with running(slack) as rig:
        said = await slack.says(ANNA, "hello")
        address = read((await rig.inlet.receives(1))[0]).address
        assert address.thread_id == (said if is_agent else None)
