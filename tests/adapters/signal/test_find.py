"""What proves that a message was sent: receipts, and a reaction that nobody sees."""

import asyncio

import pytest

from adapters.abilities import KnownElsewhere
from adapters.errors import Unreachable, Unsure
from tests.adapters.signal.rig import Rig, running
from tests.emulators.signal import SignalEmulator
from tests.patience import until


async def doubt(rig: Rig, fault: str, text: str = "in doubt") -> None:
    rig.daemon.fail("send", fault)  # type: ignore[arg-type]
    with pytest.raises(Unsure):
        await rig.adapter.send(rig.say(text))


async def test_a_confirmed_time_that_no_send_explains_is_the_message(rig: Rig) -> None:
    known = [await rig.adapter.send(rig.say("before"))]
    await doubt(rig, "lose")
    found = await rig.adapter.find(rig.say("in doubt"), known)
    assert found == str(rig.daemon.world.sent[-1].sent_at)


async def test_a_confirmed_probe_proves_that_nothing_was_sent_and_shows_nothing(rig: Rig) -> None:
    known = [await rig.adapter.send(rig.say("before"))]
    await doubt(rig, "drop")
    assert await rig.adapter.find(rig.say("in doubt"), known) is None
    assert [one.text for one in rig.daemon.world.sent] == ["before"]
    assert not any(rig.daemon.world.reactions.values())


@pytest.mark.parametrize("fault", ["lose", "drop"])
async def test_nobody_knows_while_the_phone_is_off(rig: Rig, fault: str) -> None:
    """The residual: after four looks, the message is sent again, marked as a possible repeat."""
    known = [await rig.adapter.send(rig.say("before"))]
    rig.anna.is_online = False
    await doubt(rig, fault)
    with pytest.raises(Unsure, match="online"):
        await rig.adapter.find(rig.say("in doubt"), known)
    rig.anna.is_online = True
    rig.daemon.world.confirm(rig.anna)
    found = await rig.adapter.find(rig.say("in doubt"), known)
    assert (found is not None) == (fault == "lose")


async def test_a_message_to_a_group_is_not_taken_for_a_direct_one(rig: Rig) -> None:
    world = rig.daemon.world
    bert = world.person("+4915122222222", "Bert")
    group = world.group("Family", [rig.anna, bert])
    known = [await rig.adapter.send(rig.say("before"))]
    rig.daemon.fail("send", "lose")
    with pytest.raises(Unsure):
        await rig.adapter.send(rig.say("to all", to=group))
    assert await rig.adapter.find(rig.say("in doubt"), known) is None
    found = await rig.adapter.find(rig.say("to all", to=group), known)
    assert found == str(world.sent[-1].sent_at)


async def test_a_recorded_message_of_an_earlier_process_is_not_taken_for_another(
    daemon: SignalEmulator,
) -> None:
    """Anna alone confirms what went to the group; only the gateway knows that it did."""
    async with running(daemon) as rig:
        alone = daemon.world.group("Only Anna", [rig.anna])
        known = [await rig.adapter.send(rig.say("before"))]
        shared = [await rig.adapter.send(rig.say("to all", to=alone))]
    async with running(daemon, rig.inlet) as again:
        await doubt(again, "drop")
        again.adapter.note_elsewhere(
            KnownElsewhere(sent=[*known, *shared], doubtful=[again.say("").address])
        )
        assert await again.adapter.find(again.say("in doubt"), known) is None
    assert [one.text for one in daemon.world.sent] == ["before", "to all"]


@pytest.mark.parametrize("to_group", [True, False])
async def test_of_two_messages_in_doubt_nobody_knows_which_one_device_confirms(
    rig: Rig, to_group: bool
) -> None:
    alone = rig.daemon.world.group("Only Anna", [rig.anna])
    known = [await rig.adapter.send(rig.say("before"))]
    in_group = [await rig.adapter.send(rig.say("before", to=alone))]
    group, direct = rig.say("to all", to=alone), rig.say("in doubt")
    for message, fault in ((group, "lose"), (direct, "drop")):
        rig.daemon.fail("send", fault if to_group else {"lose": "drop", "drop": "lose"}[fault])
        with pytest.raises(Unsure):
            await rig.adapter.send(message)
    rig.adapter.note_elsewhere(
        KnownElsewhere(sent=[*known, *in_group], doubtful=[group.address, direct.address])
    )
    with pytest.raises(Unsure, match="another chat"):
        await rig.adapter.find(direct, known)
    with pytest.raises(Unsure, match="another chat"):
        await rig.adapter.find(group, in_group)


async def test_two_messages_in_doubt_are_told_apart_by_who_confirms_them(rig: Rig) -> None:
    world = rig.daemon.world
    family = world.group("Family", [rig.anna, world.person("+4915122222222", "Bert")])
    known = [await rig.adapter.send(rig.say("before"))]
    group, direct = rig.say("to all", to=family), rig.say("in doubt")
    for message, fault in ((group, "lose"), (direct, "drop")):
        rig.daemon.fail("send", fault)
        with pytest.raises(Unsure):
            await rig.adapter.send(message)
    rig.adapter.note_elsewhere(KnownElsewhere(sent=known, doubtful=[group.address, direct.address]))
    assert await rig.adapter.find(direct, known) is None
    assert await rig.adapter.find(group, known) == str(world.sent[-1].sent_at)


async def test_what_went_to_a_larger_group_is_not_taken_for_a_message_to_a_smaller(
    rig: Rig,
) -> None:
    """Both groups' members confirm it; so does somebody whom the smaller one lacks."""
    world = rig.daemon.world
    pair = [rig.anna, world.person("+4915122222222", "Bert")]
    family = world.group("Family", [*pair, world.person("+4915133333333", "Carl")])
    couple = world.group("Couple", pair)
    known = [await rig.adapter.send(rig.say("before", to=couple))]
    for message, fault in (
        (rig.say("to all", to=family), "lose"),
        (rig.say("to two", to=couple), "drop"),
    ):
        rig.daemon.fail("send", fault)  # type: ignore[arg-type]
        with pytest.raises(Unsure):
            await rig.adapter.send(message)
    assert await rig.adapter.find(rig.say("to two", to=couple), known) is None
    assert [one.text for one in world.sent if not one.is_deleted] == ["before", "to all"]


async def test_a_message_on_its_way_to_a_group_is_not_taken_for_a_direct_one(rig: Rig) -> None:
    """Its receipt comes before signal-cli's answer, so its time is not known yet."""
    alone = rig.daemon.world.group("Only Anna", [rig.anna])
    known = [await rig.adapter.send(rig.say("before"))]
    await doubt(rig, "drop")
    rig.daemon.fail("send", "late")
    sending = asyncio.create_task(rig.adapter.send(rig.say("to all", to=alone)))
    await until(lambda: len(rig.daemon.world.sent) == 2)
    with pytest.raises(Unsure, match="another chat"):
        await rig.adapter.find(rig.say("in doubt"), known)
    rig.daemon.let_go()
    await sending
    assert await rig.adapter.find(rig.say("in doubt"), known) is None


async def test_a_first_message_in_doubt_has_nothing_to_probe(rig: Rig) -> None:
    await doubt(rig, "drop")
    with pytest.raises(Unsure, match="No message of this chat"):
        await rig.adapter.find(rig.say("in doubt"), [])


async def test_a_look_that_was_cut_off_is_not_taken_for_the_message(rig: Rig) -> None:
    known = [await rig.adapter.send(rig.say("before"))]
    await doubt(rig, "drop")
    rig.daemon.fail("sendReaction", "lose")
    with pytest.raises(Unreachable):
        await rig.adapter.find(rig.say("in doubt"), known)
    assert await rig.adapter.find(rig.say("in doubt"), known) is None
    assert [one.text for one in rig.daemon.world.sent] == ["before"]


async def test_what_may_be_the_message_after_a_cut_look_is_deleted_and_sent_again(
    rig: Rig,
) -> None:
    known = [await rig.adapter.send(rig.say("before"))]
    rig.anna.is_online = False
    await doubt(rig, "lose")
    rig.daemon.fail("sendReaction", "lose")
    with pytest.raises(Unreachable):
        await rig.adapter.find(rig.say("in doubt"), known)
    rig.anna.is_online = True
    assert await rig.adapter.find(rig.say("in doubt"), known) is None
    await rig.adapter.send(rig.say("in doubt"))
    left = [one.text for one in rig.daemon.world.sent if not one.is_deleted]
    assert left == ["before", "in doubt"]


async def test_a_sign_that_an_earlier_process_left_is_not_taken_for_the_message(
    daemon: SignalEmulator,
) -> None:
    """What is confirmed before a send is not that send."""
    async with running(daemon) as rig:
        daemon.world.says(rig.anna, "well?")
        heard = await rig.hears()
        daemon.fail("sendReaction", "lose")
        with pytest.raises(Unreachable):
            await rig.adapter.react(heard.address, heard.message_id, seen=True)
    async with running(daemon, rig.inlet) as again:
        await until(lambda: again.adapter.newest(heard.address) is not None)
        newest = again.adapter.newest(heard.address)
        assert newest
        await doubt(again, "drop", "yes")
        message = again.say("yes", reply_to=heard.message_id)
        assert await again.adapter.find(message, [newest, heard.message_id]) is None


async def test_what_the_person_wrote_meanwhile_explains_no_message(rig: Rig) -> None:
    known = [await rig.adapter.send(rig.say("before"))]
    await doubt(rig, "drop")
    rig.daemon.world.says(rig.anna, "are you there?")
    heard = await rig.hears()
    found = await rig.adapter.find(rig.say("in doubt"), [*known, heard.message_id])
    assert found is None


async def test_receipts_that_an_earlier_process_read_are_asked_for_again(
    daemon: SignalEmulator,
) -> None:
    async with running(daemon) as rig:
        known = [await rig.adapter.send(rig.say("before"))]
        await doubt(rig, "lose")
        daemon.world.says(rig.anna, "and now?")
        await rig.inlet.receives(1)
    async with running(daemon, rig.inlet) as again:
        await until(lambda: len(daemon.headers) > 1)
        found = await again.adapter.find(again.say("in doubt"), known)
        assert found == str(daemon.world.sent[-1].sent_at)


@pytest.mark.parametrize("fault", ["lose", "drop"])
async def test_a_look_that_was_cut_by_a_kill_is_not_taken_for_the_message(
    daemon: SignalEmulator, fault: str
) -> None:
    """The reaction of the first look arrived, and its time died with the process."""
    async with running(daemon) as rig:
        known = [await rig.adapter.send(rig.say("before"))]
        rig.anna.is_online = False
        await doubt(rig, fault)
        rig.daemon.fail("sendReaction", "lose")
        with pytest.raises(Unreachable):
            await rig.adapter.find(rig.say("in doubt"), known)
    async with running(daemon, rig.inlet) as again:
        here = again.say("").address
        again.adapter.note_elsewhere(KnownElsewhere(sent=known, doubtful=[here], cut=[here]))
        again.anna.is_online = True
        daemon.world.confirm(again.anna)
        assert await again.adapter.find(again.say("in doubt"), known) is None
    left = [one.text for one in daemon.world.sent if not one.is_deleted]
    assert left == ["before"]
