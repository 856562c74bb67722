"""Messages from downtime are requested once, in order, and only where needed."""

import pytest

from adapters.messages import RawEvent
from tests.adapters.slack.rig import ANNA, BERT, Rig, read, running, to
from tests.emulators import slack_faults as faults
from tests.emulators.slack import SlackEmulator, SlackMessage
from tests.fakes.inlet import FakeInlet
from tests.patience import until


def said(events: list[RawEvent]) -> list[str]:
    return [read(event).text for event in events]


async def test_threads_are_read_whoever_started_them(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    slack.holds_seconds = 0
    room = slack.channel("general", members=(ANNA, BERT))
    async with running(slack, inlet, sockets=1):
        ours = await slack.says(ANNA, "a", channel=room, mention=True)
        others = await slack.says(BERT, "b", channel=room)
        await slack.says(ANNA, "c", channel=room, thread_ts=others, mention=True)
        quiet = await slack.says(BERT, "d", channel=room)
        await inlet.receives(4)
    await slack.says(ANNA, "e", channel=room, thread_ts=ours)
    await slack.says(BERT, "f", channel=room, thread_ts=others)
    await slack.says(BERT, "g", channel=room, thread_ts=quiet, mention=True)
    new = await slack.says(BERT, "h", channel=room, mention=True)
    await slack.says(BERT, "i", channel=room, thread_ts=new)
    async with running(slack, inlet, sockets=1):
        events = (await inlet.receives(9))[4:]
        assert said(events) == ["e", "f", "g", "h", "i"]
        found = [read(event) for event in events]
        assert [one.is_addressed for one in found] == [True, False, True, True, True]
        assert [one.address.thread_id for one in found] == [ours, others, quiet, new, new]


async def test_every_conversation_with_an_agent_is_caught_up(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    slack.holds_seconds = 0
    async with running(slack, inlet):
        root = await slack.says(ANNA, "a")
        await inlet.receives(1)
    await slack.says(ANNA, "b", thread_ts=root)
    new = await slack.says(ANNA, "c")
    await slack.says(ANNA, "d", thread_ts=new)
    async with running(slack, inlet):
        assert said((await inlet.receives(4))[1:]) == ["b", "c", "d"]


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.3, 1.7])
async def test_a_reply_in_a_not_yet_known_thread_is_read(
    slack: SlackEmulator, inlet: FakeInlet, seconds: float
) -> None:
    slack.holds_seconds = 0
    room = slack.channel("general", members=(ANNA, BERT))
    async with running(slack, inlet):
        root = await slack.says(ANNA, "begin", channel=room, mention=True)
        await inlet.receives(1)
    missed = await slack.says(BERT, "missed", channel=room, mention=True)
    slack.fail("conversations.history", kind=faults.SLOW, seconds=seconds)
    async with running(slack, inlet):
        await slack.says(ANNA, "go on", channel=room, thread_ts=root)
        await slack.says(BERT, "and on", channel=room, thread_ts=missed)
        events = (await inlet.receives(4))[1:]
        assert sorted(said(events)) == ["and on", "go on", "missed"]
        assert all(read(event).is_addressed for event in events)


async def test_many_pages_come_in_order(slack: SlackEmulator, inlet: FakeInlet) -> None:
    slack.holds_seconds = 0
    async with running(slack, inlet):
        await slack.says(ANNA, "begin")
        await inlet.receives(1)
    for number in range(450):
        await slack.says(ANNA, f"number {number}")
    async with running(slack, inlet):
        events = await inlet.receives(451)
        assert said(events[1:]) == [f"number {n}" for n in range(450)]
        positions = [event.position for event in events]
        assert all(positions)
        assert positions == sorted(positions)


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.3, 2.0])
async def test_new_messages_wait_for_missed_ones(
    slack: SlackEmulator, inlet: FakeInlet, seconds: float
) -> None:
    slack.holds_seconds = 0
    async with running(slack, inlet):
        await slack.says(ANNA, "before")
        await inlet.receives(1)
    await slack.says(ANNA, "missed")
    slack.fail("conversations.history", kind=faults.SLOW, seconds=seconds)
    async with running(slack, inlet):
        await slack.says(ANNA, "live")
        assert said(await inlet.receives(3)) == ["before", "missed", "live"]


@pytest.mark.slow
async def test_new_messages_do_not_hide_missed_ones(slack: SlackEmulator, inlet: FakeInlet) -> None:
    """Even once it has waited long enough."""
    slack.holds_seconds = 0
    async with running(slack, inlet, longest_hold=0.0):
        await slack.says(ANNA, "before")
        await inlet.receives(1)
        marks = await inlet.marks()
    await slack.says(ANNA, "missed")
    slack.fail("conversations.history", kind=faults.SLOW, seconds=2.0)
    async with running(slack, inlet, longest_hold=0.0):
        await slack.says(ANNA, "live")
        events = await inlet.receives(2)
        assert (read(events[1]).text, events[1].position) == ("live", "")
        assert await inlet.marks() == marks
        await inlet.receives(3)
        last = await slack.says(ANNA, "after")
        events = await inlet.receives(4)
        assert sorted(said(events)) == ["after", "before", "live", "missed"]
        assert events[3].position == last


async def test_a_channel_that_refuses_is_skipped(slack: SlackEmulator, inlet: FakeInlet) -> None:
    slack.holds_seconds = 0
    room = slack.channel("general", members=(ANNA,))
    async with running(slack, inlet):
        await slack.says(ANNA, "a", channel=room)
        await slack.says(ANNA, "b")
        await inlet.receives(2)
    slack.removes_bot(room)
    await slack.says(ANNA, "c")
    slack.fail("conversations.history", kind=faults.LIMIT, retry_after=0)
    async with running(slack, inlet):
        assert said((await inlet.receives(3))[2:]) == ["c"]


async def test_a_failing_channel_delays_no_other(slack: SlackEmulator, inlet: FakeInlet) -> None:
    slack.holds_seconds = 0
    room = slack.channel("general", members=(ANNA,))
    async with running(slack, inlet):
        await slack.says(ANNA, "before")
        await slack.says(ANNA, "and here", channel=room, mention=True)
        await inlet.receives(2)
    await slack.says(ANNA, "missed")
    slack.fail(
        "conversations.history",
        kind=faults.ERROR,
        code="external_channel_migrating",
        channel=room,
        times=1000,
    )
    async with running(slack, inlet):
        assert said((await inlet.receives(3))[2:]) == ["missed"]
        await slack.says(ANNA, "after", channel=room, mention=True)
        slack.clear_faults()
        await inlet.receives(4)


async def test_unused_channels_are_not_requested(rig: Rig) -> None:
    await rig.adapter.send(to(rig.slack.dm(ANNA), "hello"))
    assert not rig.slack.called("conversations.history")


async def test_a_first_message_from_downtime_is_read(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    slack.holds_seconds = 0
    room = slack.channel("general", members=(ANNA, BERT))
    async with running(slack, inlet):
        await slack.says(ANNA, "a")
        await inlet.receives(1)
    await slack.says(BERT, "b")
    await slack.says(BERT, "c", channel=room, mention=True)
    async with running(slack, inlet):
        found = [read(event) for event in (await inlet.receives(3))[1:]]
        assert {one.text for one in found} == {"b", "c"}
        assert all(one.is_addressed for one in found)
        await slack.drop_sockets()
        await until(lambda: slack.connections_opened == 6)
    assert len(slack.called("users.conversations")) == 1


async def test_a_rate_limit_is_obeyed_without_reading_again(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    slack.holds_seconds = 0
    async with running(slack, inlet):
        roots = [await slack.says(ANNA, f"root {number}") for number in range(3)]
        await inlet.receives(3)
    for number, root in enumerate(roots):
        await slack.says(ANNA, f"answer {number}", thread_ts=root)
    slack.fail("conversations.replies", kind=faults.LIMIT, retry_after=0, times=2)
    before = len(slack.called("conversations.history"))
    async with running(slack, inlet):
        assert said((await inlet.receives(6))[3:]) == [f"answer {n}" for n in range(3)]
        assert len(slack.called("conversations.history")) == before + 1
        assert len(slack.called("conversations.replies")) == 5


async def test_many_pages_are_read_completely_despite_rate_limits(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    slack.holds_seconds = 0
    async with running(slack, inlet):
        await slack.says(ANNA, "begin")
        await inlet.receives(1)
    for number in range(250):
        await slack.says(ANNA, f"number {number}")
    slack.limits["conversations.history"] = (1, 0.9)  # with a pause of a second
    async with running(slack, inlet):
        assert said((await inlet.receives(251))[1:]) == [f"number {n}" for n in range(250)]


async def test_a_message_lost_just_before_the_read_position_is_read(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    slack.holds_seconds = 0
    lost = slack.world.next_ts()
    async with running(slack, inlet):
        await slack.says(ANNA, "marked")
        await inlet.receives(1)
    dialogue = slack.dm(ANNA)
    message = SlackMessage(channel=dialogue, ts=lost, user=slack.user(ANNA), text="lost")
    slack.world.channels[dialogue].messages[lost] = message
    async with running(slack, inlet):
        assert said((await inlet.receives(2))[1:]) == ["lost"]
