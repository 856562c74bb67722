"""What leaves for signal-cli, and what its answers mean."""

from dataclasses import replace

import pytest

from adapters.errors import (
    AdapterError,
    ChatGone,
    MessageLocked,
    NotPermitted,
    RateLimited,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.ids import Address, PlatformMessageId
from adapters.messages import Attachment, OutboundFile
from tests.adapters.signal.rig import Rig
from tests.emulators.signal_world import ACI, Json
from tests.patience import until


async def test_markdown_becomes_text_styles_in_utf16_units(rig: Rig) -> None:
    await rig.adapter.send(rig.say("😀 **bold** and `code` [here](https://example.com)"))
    (sent,) = rig.daemon.world.sent
    assert sent.text == "😀 bold and code here (https://example.com)"
    assert sent.styles == ["3:4:BOLD", "12:4:MONOSPACE"]


async def test_an_answer_quotes_the_message_and_its_author(rig: Rig) -> None:
    rig.daemon.world.says(rig.anna, "well?")
    heard = await rig.hears()
    await rig.adapter.send(rig.say("yes", reply_to=heard.message_id))
    (sent,) = rig.daemon.world.sent
    assert sent.quote == (heard.sent_at, rig.anna.uuid)


async def test_a_voice_note_is_sent_as_one(rig: Rig) -> None:
    speech = OutboundFile(name="a b;ü.ogg", media_type="audio/ogg; codecs=opus", data=b"x")
    await rig.adapter.send(rig.say("", file=speech))
    (sent,) = rig.daemon.world.sent
    assert (sent.files, sent.is_voice) == ([("a b;ü.ogg", b"x", "audio/ogg")], True)


async def test_a_file_that_would_cut_the_connection_does_not_leave(rig: Rig) -> None:
    large = OutboundFile(name="x.bin", media_type="a/b", data=bytes(15_000_000))
    with pytest.raises(Rejected, match="at most 14 MB"):
        await rig.adapter.send(rig.say("", file=large))
    most = OutboundFile(name="x.bin", media_type="a/b", data=bytes(14_000_000))
    await rig.adapter.send(rig.say("", file=most))


async def test_a_note_to_self_arrives_as_if_somebody_else_wrote_it(rig: Rig) -> None:
    own = Address(chat_id=ACI, is_direct=True)
    await rig.adapter.send(replace(rig.say("done"), address=own))
    assert rig.daemon.world.sent[0].notifies_self


@pytest.mark.parametrize(
    ("outcome", "error", "words"),
    [
        ("NETWORK_FAILURE", Unsure, "did not confirm"),
        ("UNREGISTERED_FAILURE", ChatGone, "does not use Signal"),
        ("IDENTITY_FAILURE", NotPermitted, "signal-cli trust"),
        ("RATE_LIMIT_FAILURE", RateLimited, "pause of 30 s"),
    ],
)
async def test_an_outcome_that_nobody_received_is_told(
    rig: Rig, outcome: str, error: type[AdapterError], words: str
) -> None:
    rig.anna.outcome, rig.anna.retry_after = outcome, 30  # type: ignore[assignment]
    with pytest.raises(error, match=words) as caught:
        await rig.adapter.send(rig.say("hello"))
    if isinstance(caught.value, RateLimited):
        assert caught.value.retry_after == 30


async def test_one_member_without_trust_stops_no_group_and_is_told_the_owner(rig: Rig) -> None:
    world = rig.daemon.world
    bert = world.person("+4915122222222", "Bert")
    bert.outcome, bert.is_trusted = "IDENTITY_FAILURE", False
    group = world.group("Family", [rig.anna, bert])
    await rig.adapter.send(rig.say("hello", to=group))
    await until(lambda: bool(rig.adapter.health().concerns))
    (concern,) = rig.adapter.health().concerns
    assert "safety number with +4915122222222" in concern


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        ({"code": -1, "message": "Group not found: x"}, ChatGone, "Group not found"),
        ({"code": -32601, "message": "Method not implemented"}, Rejected, "Update it"),
        ({"code": -5, "message": "Rate limit reached"}, RateLimited, "pause"),
        ({"code": -3, "message": "timeout"}, Unsure, "lost Signal's servers"),
        ({"code": -32603, "message": None}, Rejected, "no reason given"),
        ({"code": -1, "message": "Unregistered user: +1"}, ChatGone, "Unregistered"),
    ],
)
async def test_a_refusal_is_one_sentence(
    rig: Rig, error: Json, kind: type[AdapterError], words: str
) -> None:
    rig.daemon.fail("send", "refuse", error)
    with pytest.raises(kind, match=words):
        await rig.adapter.send(rig.say("hello"))


async def test_edits_follow_the_newest_version_and_end_after_ten(rig: Rig) -> None:
    sent = await rig.adapter.send(rig.say("0"))
    for number in range(1, 11):
        await rig.adapter.edit(rig.say(str(number)), sent)
    assert rig.daemon.world.sent[0].text == "10"
    with pytest.raises(MessageLocked, match="ten edits"):
        await rig.adapter.edit(rig.say("11"), sent)


async def test_what_is_older_than_a_day_is_locked(rig: Rig) -> None:
    old = PlatformMessageId("1600000000000")
    with pytest.raises(MessageLocked, match="for a day"):
        await rig.adapter.edit(rig.say("new"), old)
    with pytest.raises(MessageLocked, match="for a day"):
        await rig.adapter.delete(rig.say("").address, old)


async def test_a_stored_message_is_marked_as_read(rig: Rig) -> None:
    sent_at = rig.daemon.world.says(rig.anna, "hello")
    await until(lambda: rig.daemon.world.read == [(rig.anna.uuid, sent_at)])


async def test_a_file_that_signal_cli_lost_is_told(rig: Rig) -> None:
    gone = Attachment(kind="image", file_id=f"nope {rig.anna.uuid}")
    with pytest.raises(Rejected, match="its disk was full"):
        await rig.adapter.fetch(gone, most_bytes=10)


async def test_what_no_connection_carries_surely_did_not_leave(rig: Rig) -> None:
    await rig.daemon.stop()
    await until(lambda: rig.adapter.health().state == "disconnected")
    with pytest.raises(Unreachable):
        await rig.adapter.send(rig.say("hello"))
    await rig.daemon.start()
