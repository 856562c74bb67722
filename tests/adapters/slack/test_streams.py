"""Answers stream by Slack's own API where possible, and by edits elsewhere."""

import pytest

from adapters.errors import Unreachable, Unsure
from adapters.ids import PlatformMessageId
from adapters.messages import Button, OutboundMessage, Step, StepState
from adapters.slack.adapter import SlackAdapter
from tests.adapters.slack.rig import ANNA, Rig, read, running, settings_for, to
from tests.emulators import slack_faults as faults
from tests.emulators.slack import SlackEmulator, SlackMessage
from tests.fakes.inlet import FakeInlet
from tests.patience import until

STATES: tuple[StepState, ...] = ("running", "failed", "done")
YES = Button(key="yes", label="Yes")


async def asked(rig: Rig) -> OutboundMessage:
    """A message that answers Anna's question to the agent."""
    await rig.slack.says(ANNA, "How much is it?")
    (event,) = await rig.inlet.receives(1)
    address = read(event).address
    assert address.thread_id
    return to("", "Let me", address=address, is_live=True)


async def begun(rig: Rig) -> tuple[OutboundMessage, PlatformMessageId]:
    """Such a message as it was sent, and its id."""
    message = await asked(rig)
    return message, await rig.adapter.send(message)


def grown(message: OutboundMessage, text: str, **fields: object) -> OutboundMessage:
    known = {"address": message.address, "key": message.key, "is_live": True, "text": text}
    return OutboundMessage(**(known | fields))  # type: ignore[arg-type]


def shown(slack: SlackEmulator) -> list[str]:
    return slack.texts(slack.dm(ANNA))


def answer(rig: Rig) -> SlackMessage:
    """Return the only message of the bot to Anna."""
    (found,) = [m for m in rig.slack.messages(rig.slack.dm(ANNA)) if m.bot]
    return found


def words_sent(slack: SlackEmulator) -> list[str]:
    """Return the text that each call added to a stream."""
    return [
        "".join(chunk.get("text", "") for chunk in parameters.get("chunks") or [])
        for name, parameters in slack.calls
        if name in ("chat.startStream", "chat.appendStream", "chat.stopStream")
    ]


async def test_an_answer_grows_by_what_is_new_and_ends_with_its_key(rig: Rig) -> None:
    message, sent = await begun(rig)
    for text in ("Let me see", "Let me see", "Let me see: **five**"):
        await rig.adapter.edit(grown(message, text), sent)
    streaming = answer(rig)
    assert streaming.is_streaming
    for _ in range(2):
        await rig.adapter.edit(grown(message, "Let me see: **five**.", is_live=False), sent)
    final = answer(rig)
    assert not final.is_streaming
    assert final.shown == "Let me see: **five**."
    assert final.metadata == {"event_type": "talaria", "event_payload": {"key": "key 1"}}
    assert words_sent(rig.slack) == ["Let me", " see", ": **five**", "."]
    # The repeated end changed nothing; new words are an edit of the whole.
    await rig.adapter.edit(grown(message, "Six.", is_live=False), sent)
    assert shown(rig.slack) == ["Six."]


async def test_a_stream_in_a_room_names_its_recipient(slack: SlackEmulator) -> None:
    room = slack.channel("general", members=(ANNA,))
    async with running(slack) as rig:
        await slack.says(ANNA, "well?", channel=room, mention=True)
        (event,) = await rig.inlet.receives(1)
        await rig.adapter.send(to("", "So", address=read(event).address, is_live=True))
        (call,) = slack.called("chat.startStream")
        assert call["recipient_user_id"] == slack.user(ANNA)
        assert call["recipient_team_id"] == slack.team_id


async def test_without_a_recipient_no_stream_is_started(slack: SlackEmulator) -> None:
    room = slack.channel("general", members=(ANNA,))
    root = await slack.says(ANNA, "before the bot came", channel=room)
    slack.holds_seconds = 0
    async with running(slack) as rig:
        await rig.adapter.send(to(room, "Hm", thread=root, is_live=True))
        assert slack.texts(room, root) == ["Hm"]
        assert not slack.called("chat.startStream")


async def test_steps_are_shown_as_slack_shows_tasks(rig: Rig) -> None:
    message = await asked(rig)
    reading = Step(key="1", title="Read the page", state="running")
    sent = await rig.adapter.send(grown(message, "", steps=(reading,)))
    done = Step(key="1", title="Read the page", state="done")
    writing = Step(key="2", title="Write the file", state="failed")
    await rig.adapter.edit(grown(message, "Hm", steps=(done,)), sent)
    await rig.adapter.edit(grown(message, "Hm, no", steps=(done, writing)), sent)
    streaming = answer(rig)
    assert [(t["id"], t["status"]) for t in streaming.tasks] == [
        ("1", "complete"),
        ("2", "error"),
    ]
    assert streaming.shown == "Hm, no"


async def test_the_final_text_leaves_no_step_running(rig: Rig) -> None:
    message = await asked(rig)
    steps = tuple(
        Step(key=str(number), title="Read", state=state) for number, state in enumerate(STATES)
    )
    sent = await rig.adapter.send(grown(message, "", steps=steps))
    await rig.adapter.edit(grown(message, "Done.", is_live=False), sent)
    final = answer(rig)
    assert [task["status"] for task in final.tasks] == ["complete", "error", "complete"]


async def test_changed_text_ends_the_stream_and_edits_the_message(rig: Rig) -> None:
    message, sent = await begun(rig)
    await rig.adapter.edit(grown(message, "No: it is"), sent)
    assert shown(rig.slack) == ["No: it is"]
    await rig.adapter.edit(grown(message, "No: it is five.", is_live=False), sent)
    assert shown(rig.slack) == ["No: it is five."]
    assert len(rig.slack.called("chat.update")) == 2


async def test_a_stream_ended_by_slack_continues_as_edits(rig: Rig) -> None:
    message, sent = await begun(rig)
    rig.slack.world.stream_seconds = 0
    await rig.adapter.edit(grown(message, "Let me see"), sent)
    await rig.adapter.edit(grown(message, "Let me see: five.", is_live=False), sent)
    assert shown(rig.slack) == ["Let me see: five."]


async def test_a_stream_stopped_by_the_person_gets_the_final_text_as_an_edit(rig: Rig) -> None:
    message, sent = await begun(rig)
    await rig.slack.stops_session(ANNA, rig.slack.dm(ANNA), message.address.thread_id or "")
    await rig.adapter.edit(grown(message, "Let me… (stopped)", is_live=False), sent)
    assert shown(rig.slack) == ["Let me… (stopped)"]


async def test_a_stream_of_an_earlier_process_is_ended_by_the_next(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    async with running(slack, inlet) as rig:
        message, sent = await begun(rig)
    async with running(slack, inlet) as rig:
        for _ in range(2):
            await rig.adapter.edit(grown(message, "Let me see: five.", is_live=False), sent)
        final = answer(rig)
        assert (final.shown, final.is_streaming) == ("Let me see: five.", False)


async def test_a_stream_of_an_earlier_process_can_be_deleted(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    async with running(slack, inlet) as rig:
        message, sent = await begun(rig)
    async with running(slack, inlet) as rig:
        for _ in range(2):
            await rig.adapter.delete(message.address, sent)
        assert shown(slack) == []


@pytest.mark.parametrize("kind", [faults.LOSE, faults.DROP])
@pytest.mark.parametrize("method", ["chat.appendStream", "chat.stopStream"])
async def test_an_append_with_unknown_delivery_is_not_repeated(
    rig: Rig, kind: faults.FaultKind, method: str
) -> None:
    message, sent = await begun(rig)
    rig.slack.fail(method, kind=kind)
    queued = grown(message, "Let me see", is_live=method == "chat.appendStream")
    with pytest.raises(Unsure):
        await rig.adapter.edit(queued, sent)
    await rig.adapter.edit(queued, sent)
    await rig.adapter.edit(grown(message, "Let me see: five.", is_live=False), sent)
    final = answer(rig)
    assert (final.shown, final.is_streaming) == ("Let me see: five.", False)


@pytest.mark.parametrize("kind", [faults.LOSE, faults.DROP])
async def test_a_stream_start_with_unknown_delivery_is_found_by_its_text(
    rig: Rig, kind: faults.FaultKind
) -> None:
    message = await asked(rig)
    rig.slack.fail("chat.startStream", kind=kind)
    newest = rig.adapter.newest(message.address)
    assert newest is not None
    with pytest.raises(Unsure):
        await rig.adapter.send(message)
    found = await rig.adapter.find(message, [newest])
    assert (found is not None) == (kind is faults.LOSE)
    sent = found or await rig.adapter.send(message)
    await rig.adapter.edit(grown(message, "Let me see: five.", is_live=False), sent)
    assert shown(rig.slack) == ["Let me see: five."]


@pytest.mark.parametrize("kind", [faults.LOSE, faults.DROP])
async def test_a_found_stream_that_cannot_be_ended_yet_is_not_in_doubt(
    rig: Rig, kind: faults.FaultKind
) -> None:
    """Else it would count as one that can't be found, and be sent again."""
    message = await asked(rig)
    newest = rig.adapter.newest(message.address)
    assert newest is not None
    rig.slack.fail("chat.startStream", kind=faults.LOSE)
    with pytest.raises(Unsure):
        await rig.adapter.send(message)
    rig.slack.fail("chat.stopStream", kind=kind)
    with pytest.raises(Unreachable):
        await rig.adapter.find(message, [newest])
    assert await rig.adapter.find(message, [newest]) is not None


async def test_buttons_come_with_the_end_of_a_stream(rig: Rig) -> None:
    message, sent = await begun(rig)
    await rig.adapter.edit(grown(message, "Let me do it?", buttons=(YES,)), sent)
    asking = answer(rig)
    assert (asking.shown, list(asking.buttons)) == ("Let me do it?", ["t:yes"])
    await rig.adapter.edit(grown(message, "Done.", is_live=False), sent)
    done = answer(rig)
    assert (done.shown, done.buttons) == ("Done.", {})


async def test_a_final_with_buttons_ends_its_stream_with_them(rig: Rig) -> None:
    message, sent = await begun(rig)
    queued = grown(message, "Let me. More?", is_live=False, buttons=(YES,))
    for _ in range(2):
        await rig.adapter.edit(queued, sent)
    final = answer(rig)
    assert (final.shown, list(final.buttons)) == ("Let me. More?", ["t:yes"])


async def test_a_workspace_without_streaming_is_asked_once(slack: SlackEmulator) -> None:
    slack.can_stream = False
    async with running(slack) as rig:
        message = await asked(rig)
        for number in range(2):
            sent = await rig.adapter.send(grown(message, "Let me", key=f"k{number}"))
            await rig.adapter.edit(
                grown(message, "Let me see.", key=f"k{number}", is_live=False), sent
            )
        assert shown(slack) == ["Let me see."] * 2
        assert len(slack.called("chat.startStream")) == 1


async def test_too_many_streams_at_once_are_posts(rig: Rig) -> None:
    message = await asked(rig)
    rig.slack.fail("chat.startStream", kind=faults.LIMIT, retry_after=30)
    sent = await rig.adapter.send(message)
    await rig.adapter.edit(grown(message, "Let me see.", is_live=False), sent)
    assert shown(rig.slack) == ["Let me see."]


@pytest.mark.parametrize("code", ["streaming_state_conflict", "message_not_found"])
async def test_if_no_stream_can_start_the_text_is_posted(rig: Rig, code: str) -> None:
    message = await asked(rig)
    rig.slack.fail("chat.startStream", kind=faults.ERROR, code=code)
    await rig.adapter.send(message)
    assert shown(rig.slack)[-1] == "Let me"


async def test_streaming_that_is_turned_off_is_never_tried(slack: SlackEmulator) -> None:
    async with running(slack, streaming=False) as rig:
        message, sent = await begun(rig)
        await rig.adapter.edit(grown(message, "Let me see"), sent)
        assert shown(slack) == ["Let me see"]
        assert not slack.called("chat.startStream")


async def test_a_streamed_message_that_is_deleted_is_reported(rig: Rig) -> None:
    message, sent = await begun(rig)
    for _ in range(2):
        await rig.adapter.delete(message.address, sent)
    assert shown(rig.slack) == []


async def test_steps_are_lines_where_nothing_streams(slack: SlackEmulator) -> None:
    assert SlackAdapter(settings_for(slack)).shows_steps
    async with running(slack, streaming=False) as rig:
        message = await asked(rig)
        step = Step(key="1", title="Read the page", state="running")
        sent: PlatformMessageId = await rig.adapter.send(grown(message, "", steps=(step,)))
        assert shown(slack) == ["_⏳ Read the page_"]
        await rig.adapter.edit(grown(message, "Five.", steps=(step,), is_live=False), sent)
        await until(lambda: shown(slack) == ["Five."])


async def test_a_split_channel_mention_pings_nobody(rig: Rig) -> None:
    message = await asked(rig)
    sent = await rig.adapter.send(grown(message, "hey <!cha"))
    await rig.adapter.edit(grown(message, "hey <!channel>"), sent)
    await rig.adapter.edit(grown(message, "hey <!channel>!", is_live=False), sent)
    final = answer(rig)
    assert not any("<!channel>" in text for text in final.history)
    assert final.shown == "hey <\u200b!channel>!"


async def test_a_complete_answer_found_as_a_stream_is_ended(
    slack: SlackEmulator, inlet: FakeInlet
) -> None:
    """A process started it, got no response and died; the answer was complete."""
    async with running(slack, inlet) as rig:
        message = await asked(rig)
        newest = rig.adapter.newest(message.address)
        assert newest
        slack.fail("chat.startStream", kind=faults.LOSE)
        with pytest.raises(Unsure):
            await rig.adapter.send(message)
    async with running(slack, inlet) as rig:
        assert await rig.adapter.find(grown(message, "Let me", is_live=False), [newest])
        found = answer(rig)
        assert (found.shown, found.is_streaming) == ("Let me", False)
