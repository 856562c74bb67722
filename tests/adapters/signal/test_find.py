"""A message in doubt is shown once: what devices confirm and nobody knows is deleted first."""

import asyncio
from collections.abc import Sequence

import pytest

from adapters.errors import Unreachable, Unsure
from adapters.ids import PlatformMessageId
from adapters.messages import OutboundMessage
from tests.adapters.signal.rig import Rig, running
from tests.emulators.signal import SignalEmulator
from tests.patience import until

Known = Sequence[PlatformMessageId]
FAULTS = pytest.mark.parametrize("fault", ["lose", "drop"])
"""The message arrived, or it did not; nobody was told either way."""


async def lose(rig: Rig, message: OutboundMessage, fault: str) -> None:
    rig.daemon.fail("send", fault)  # type: ignore[arg-type]
    with pytest.raises(Unsure):
        await rig.adapter.send(message)


async def settle(rig: Rig, message: OutboundMessage, known: Known) -> None:
    """Do as the gateway does with a message in doubt, in a process that knows what is on record."""
    rig.adapter.note_known(known)
    assert await rig.adapter.find(message, known) is None
    await rig.adapter.send(message)


def left(daemon: SignalEmulator) -> list[str]:
    return sorted(one.text for one in daemon.world.sent if not one.is_deleted)


def deletions(daemon: SignalEmulator) -> int:
    return sum(name == "remoteDelete" for name, _ in daemon.calls)


@FAULTS
async def test_a_message_in_doubt_is_shown_once(rig: Rig, fault: str) -> None:
    message = rig.say("in doubt")
    known = [await rig.adapter.send(rig.say("before"))]
    await lose(rig, message, fault)
    await settle(rig, message, known)
    assert left(rig.daemon) == ["before", "in doubt"]
    assert deletions(rig.daemon) == (fault == "lose")
    assert not any(rig.daemon.world.reactions.values())


@FAULTS
async def test_nobody_knows_while_the_phone_is_off(rig: Rig, fault: str) -> None:
    """The residual: after four looks, the message is sent again, marked as a possible repeat."""
    message = rig.say("in doubt")
    known = [await rig.adapter.send(rig.say("before"))]
    rig.anna.is_online = False
    await lose(rig, message, fault)
    with pytest.raises(Unsure, match="online"):
        await rig.adapter.find(message, known)
    rig.anna.is_online = True
    rig.daemon.world.confirm(rig.anna)
    await settle(rig, message, known)
    assert left(rig.daemon) == ["before", "in doubt"]


async def test_a_first_message_in_doubt_has_nothing_to_react_to(rig: Rig) -> None:
    await lose(rig, rig.say("in doubt"), "drop")
    with pytest.raises(Unsure, match="No message of this chat"):
        await rig.adapter.find(rig.say("in doubt"), [])


async def test_what_is_too_old_to_be_deleted_is_left_in_doubt(rig: Rig) -> None:
    yesterday = rig.daemon.world.now() - 2 * 86_400_000
    known = [PlatformMessageId(str(yesterday - 1000))]
    rig.daemon.world.says(rig.anna, "hello")
    rig.daemon.arrive(rig.daemon.world.envelope(rig.anna, yesterday - 2000, typingMessage={}))
    rig.daemon.world.confirm(rig.anna, yesterday)
    with pytest.raises(Unsure, match="a day only"):
        await rig.adapter.find(rig.say("in doubt"), known)
    assert deletions(rig.daemon) == 0


@pytest.mark.parametrize("arrived", ["direct", "group", "both", "none"])
@pytest.mark.parametrize("is_killed", [True, False])
async def test_chats_in_doubt_do_not_hold_each_other_up(
    daemon: SignalEmulator, arrived: str, is_killed: bool
) -> None:
    """One phone confirms both."""
    async with running(daemon) as rig:
        alone = daemon.world.group("Only Anna", [rig.anna])
        direct, group = rig.say("direct"), rig.say("group", to=alone)
        first = [await rig.adapter.send(rig.say("before"))]
        second = [await rig.adapter.send(rig.say("before all", to=alone))]
        await lose(rig, direct, "lose" if arrived in ("direct", "both") else "drop")
        await lose(rig, group, "lose" if arrived in ("group", "both") else "drop")

        async def settle_both(one: Rig) -> None:
            one.adapter.note_known([*first, *second])
            await asyncio.gather(settle(one, direct, first), settle(one, group, second))

        if not is_killed:
            await settle_both(rig)
    if is_killed:
        async with running(daemon, rig.inlet) as again:
            await settle_both(again)
    assert left(daemon) == ["before", "before all", "direct", "group"]


async def test_the_newest_known_time_may_be_that_of_another_chat_in_doubt(
    daemon: SignalEmulator,
) -> None:
    """Being before one message in doubt, it is still a message in doubt."""
    async with running(daemon) as rig:
        alone = daemon.world.group("Only Anna", [rig.anna])
        direct, group = rig.say("direct"), rig.say("group", to=alone)
        first = [await rig.adapter.send(rig.say("before"))]
        second = [await rig.adapter.send(rig.say("before all", to=alone))]
        await lose(rig, direct, "lose")
        in_doubt = daemon.world.sent[-1].sent_at
        await until(lambda: rig.adapter.newest(group.address) == str(in_doubt))
        anchor = rig.adapter.newest(group.address)
        assert anchor
        await lose(rig, group, "lose")
    async with running(daemon, rig.inlet) as again:
        again.adapter.note_known([*first, *second])
        assert await again.adapter.find(group, [*second, anchor]) is None
        await again.adapter.send(group)
        await settle(again, direct, first)
    assert left(daemon) == ["before", "before all", "direct", "group"]


@FAULTS
async def test_what_is_on_record_is_never_deleted(daemon: SignalEmulator, fault: str) -> None:
    """Anna alone confirms what went to the group; only the gateway knows that it did."""
    async with running(daemon) as rig:
        alone = daemon.world.group("Only Anna", [rig.anna])
        message = rig.say("in doubt")
        known = [await rig.adapter.send(rig.say("before"))]
        await lose(rig, message, fault)
        shared = await rig.adapter.send(rig.say("to all", to=alone))
        await rig.adapter.edit(rig.say("to everyone", to=alone), shared)
        version = rig.adapter.version_of(shared)
        assert version
    async with running(daemon, rig.inlet) as again:
        again.adapter.note_known([shared, version])
        await settle(again, message, known)
    assert left(daemon) == ["before", "in doubt", "to everyone"]


async def test_a_message_that_was_not_edited_has_no_version(rig: Rig) -> None:
    sent = await rig.adapter.send(rig.say("once"))
    assert rig.adapter.version_of(sent) is None


async def test_what_was_written_by_hand_is_not_deleted(daemon: SignalEmulator) -> None:
    """The phone of the account tells its other devices; that was before this process began."""
    by_hand = daemon.world.now()
    daemon.forget_events()
    async with running(daemon) as rig:
        message = rig.say("in doubt")
        daemon.world.says(rig.anna, "hello")
        heard = await rig.hears()
        daemon.world.confirm(rig.anna, by_hand)
        await lose(rig, message, "lose")
        with pytest.raises(Unsure, match="kept"):
            await rig.adapter.find(message, [heard.message_id])
    deleted = [one["targetTimestamp"] for name, one in daemon.calls if name == "remoteDelete"]
    assert deleted == [daemon.world.sent[-1].sent_at]


@FAULTS
@pytest.mark.parametrize("what", ["eyes", "look here", "look elsewhere", "deletion", "eyes cut"])
async def test_the_time_of_a_call_that_only_a_killed_process_knew_is_no_message(
    daemon: SignalEmulator, what: str, fault: str
) -> None:
    """It was taken for the message, which was lost so."""
    async with running(daemon) as rig:
        alone = daemon.world.group("Only Anna", [rig.anna])
        known = [await rig.adapter.send(rig.say("before"))]
        shared = [await rig.adapter.send(rig.say("before all", to=alone))]
        message, group = rig.say("in doubt"), rig.say("group", to=alone)
        daemon.world.says(rig.anna, "hello")
        heard = await rig.hears()
        if what == "eyes cut":  # sent just before the message, whose row was written already
            daemon.fail("sendReaction", "lose")
            with pytest.raises(Unreachable):
                await rig.adapter.react(heard.address, heard.message_id, seen=True)
        await lose(rig, message, fault)
        if what == "eyes":
            await rig.adapter.react(heard.address, heard.message_id, seen=True)
        if what == "look here":
            rig.anna.is_online = False
            with pytest.raises(Unsure):
                await rig.adapter.find(message, known)
            rig.anna.is_online = True
        if what == "look elsewhere":
            await lose(rig, group, "drop")
            await rig.adapter.find(group, shared)
        if what == "deletion":
            await rig.adapter.delete(group.address, shared[0])
    async with running(daemon, rig.inlet) as again:
        again.adapter.note_known([*known, *shared])
        daemon.world.confirm(again.anna)
        await settle(again, message, known)
    assert [one for one in left(daemon) if one != "before all"] == ["before", "in doubt"]


@FAULTS
@pytest.mark.parametrize("method", ["sendReaction", "remoteDelete"])
async def test_a_look_that_was_cut_off_is_made_again(rig: Rig, method: str, fault: str) -> None:
    message = rig.say("in doubt")
    known = [await rig.adapter.send(rig.say("before"))]
    await lose(rig, message, "lose")
    rig.daemon.fail(method, fault)  # type: ignore[arg-type]
    with pytest.raises(Unreachable):
        await rig.adapter.find(message, known)
    await settle(rig, message, known)
    assert left(rig.daemon) == ["before", "in doubt"]


async def test_a_look_waits_for_what_is_on_its_way_elsewhere(rig: Rig) -> None:
    """Its receipt comes before signal-cli's answer, so its time is not known yet."""
    alone = rig.daemon.world.group("Only Anna", [rig.anna])
    message = rig.say("in doubt", to=alone)
    known = [await rig.adapter.send(rig.say("before", to=alone))]
    await lose(rig, message, "drop")
    rig.daemon.fail("send", "late")
    sending = asyncio.create_task(rig.adapter.send(rig.say("to her")))
    await until(lambda: len(rig.daemon.world.sent) == 2)
    settling = asyncio.create_task(settle(rig, message, known))
    await until(lambda: rig.daemon.calls[-1][0] == "listGroups")
    rig.daemon.let_go()
    await asyncio.gather(sending, settling)
    assert left(rig.daemon) == ["before", "in doubt", "to her"]
    assert deletions(rig.daemon) == 0


async def test_what_the_person_wrote_meanwhile_explains_no_message(rig: Rig) -> None:
    message = rig.say("in doubt")
    known = [await rig.adapter.send(rig.say("before"))]
    await lose(rig, message, "drop")
    rig.daemon.world.says(rig.anna, "are you there?")
    heard = await rig.hears()
    assert await rig.adapter.find(message, [*known, heard.message_id]) is None
    assert deletions(rig.daemon) == 0


async def test_a_doubt_is_settled_however_much_was_confirmed_since(daemon: SignalEmulator) -> None:
    """The receipt was more than 500 events ago, so the message counted as never sent."""
    async with running(daemon) as rig:
        message = rig.say("in doubt")
        known = [await rig.adapter.send(rig.say("before"))]
        await lose(rig, message, "lose")
        bert = daemon.world.person("+4915122222222", "Bert")
        for _ in range(600):
            daemon.world.confirm(bert, daemon.world.now())
        daemon.world.says(rig.anna, "and now?")
        await rig.inlet.receives(1)
    async with running(daemon, rig.inlet) as again:
        await until(lambda: len(daemon.headers) > 1)
        await settle(again, message, known)
    assert left(daemon) == ["before", "in doubt"]


@FAULTS
@pytest.mark.parametrize("is_late", [True, False])
async def test_nobody_knows_once_signal_cli_has_forgotten_the_receipts(
    daemon: SignalEmulator, fault: str, is_late: bool
) -> None:
    """A phone that comes online late, and confirms what is older, proves nothing."""
    async with running(daemon) as rig:
        message = rig.say("in doubt")
        daemon.world.says(rig.anna, "hello")
        await rig.inlet.receives(1)
        known = [await rig.adapter.send(rig.say("before"))]
        await lose(rig, message, fault)
    daemon.forget_events()
    if is_late:
        bert = daemon.world.person("+4915122222222", "Bert")
        daemon.world.confirm(bert, int(known[0]) - 1000)
    async with running(daemon, rig.inlet) as again:
        with pytest.raises(Unsure, match="kept"):
            await again.adapter.find(message, known)


async def test_what_is_confirmed_is_deleted_even_if_nobody_is_online_any_more(rig: Rig) -> None:
    """signal-cli may have forgotten it by the next look."""
    message = rig.say("in doubt")
    known = [await rig.adapter.send(rig.say("before"))]
    await lose(rig, message, "lose")
    rig.anna.is_online = False
    with pytest.raises(Unsure, match="online"):
        await rig.adapter.find(message, known)
    assert left(rig.daemon) == ["before"]


async def test_a_new_connection_reads_on_where_the_last_one_ended(rig: Rig) -> None:
    message = rig.say("in doubt")
    known = [await rig.adapter.send(rig.say("before"))]
    await lose(rig, message, "lose")
    await rig.daemon.break_connections()
    await until(lambda: len(rig.daemon.headers) > 1 and rig.daemon.is_connected)
    await settle(rig, message, known)
    assert left(rig.daemon) == ["before", "in doubt"]


@FAULTS
async def test_over_a_socket_nobody_knows_what_was_confirmed_to_an_earlier_process(
    daemon: SignalEmulator, fault: str
) -> None:
    """It replays nothing; a message that had arrived counted as never sent."""
    socket = f"tcp://127.0.0.1:{daemon.tcp_port}"
    async with running(daemon, rpc_url=socket) as rig:
        message = rig.say("in doubt")
        known = [await rig.adapter.send(rig.say("before"))]
        await lose(rig, message, fault)
    async with running(daemon, rig.inlet, rpc_url=socket) as again:
        with pytest.raises(Unsure, match="kept"):
            await again.adapter.find(message, known)
