"""The adapter and the Bot API: inbound, outbound, and faults."""

import asyncio
from dataclasses import replace

import aiohttp
import pytest

from adapters.abilities import CanShowMenu, MenuEntry
from adapters.errors import (
    AdapterError,
    AdapterStopped,
    ChatGone,
    MessageGone,
    RateLimited,
    Rejected,
    Unreachable,
    Unsure,
)
from adapters.ids import PlatformMessageId
from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.settings import TelegramSettings
from tests.adapters.telegram.rig import ANNA, ROOM, Rig, running, settings_for, to
from tests.emulators import telegram_faults as faults
from tests.emulators.telegram import TelegramEmulator
from tests.emulators.telegram_faults import Fault
from tests.emulators.telegram_texts import Refusal
from tests.fakes.inlet import FakeInlet
from tests.patience import PATIENCE, until

# Inbound


async def test_an_update_is_confirmed_after_it_is_stored(api: TelegramEmulator) -> None:
    async with running(api) as rig:
        rig.inlet.refusals = 3
        await api.says(ANNA, "hello")
        await rig.inlet.is_offered(3)
        assert len(api.pending) == 1
        await rig.inlet.receives(1)
        await api.wait_for(lambda: not api.pending)
    assert len(rig.inlet.handed_over) == 4


async def test_a_malformed_update_is_stored_and_stops_nothing(rig: Rig) -> None:
    rig.api.push({"message": "garbage"})
    rig.api.push({"message": {"message_id": [], "chat": 3}})
    await rig.api.says(ANNA, "still here?")
    events = await rig.inlet.receives(3)
    for poison in events[:2]:
        with pytest.raises(ValueError):
            rig.adapter.receive(poison)
    found = rig.adapter.receive(events[2])
    assert found is not None
    assert found.text == "still here?"
    await rig.api.wait_for(lambda: not rig.api.pending)


async def test_updates_without_numbers_cause_no_busy_loop(api: TelegramEmulator) -> None:
    async with running(api, longest_pause=0.3, poll_timeout=1) as rig:
        api.world.updates.append({"message": "no number"})
        await api.says(ANNA, "wakes the poller")
        await rig.inlet.receives(1)
        await until(lambda: rig.adapter.health().state == "disconnected")
        polls = api.calls["getUpdates"]
        api.world.updates.clear()
        await until(lambda: rig.adapter.health().state == "connected")
        assert api.calls["getUpdates"] - polls < 10


async def test_a_group_in_a_topic_is_answered_there(rig: Rig) -> None:
    thread = rig.api.topic(ROOM, ANNA)
    asked = await rig.api.says(ANNA, "@talaria_bot hi", chat=ROOM, thread=thread)
    (event,) = await rig.inlet.receives(1)
    found = rig.adapter.receive(event)
    assert found is not None
    assert (found.text, found.is_addressed, found.quote) == ("hi", True, None)
    reply = replace(to(0, "hello"), address=found.address, reply_to=found.message_id)
    await rig.adapter.send(reply)
    (shown,) = rig.api.messages(ROOM, thread=thread)
    assert (shown.text, shown.reply_to) == ("hello", asked)
    await rig.adapter.type(found.address)
    assert rig.api.actions[-1] == (ROOM, thread, "typing")


# Outbound


async def test_a_message_is_text_with_entities_and_never_a_preview(rig: Rig) -> None:
    queued = to(ANNA, "**Look**: [here](https://example.com/) 👩‍👩‍👧 `x`")
    sent = await rig.adapter.send(replace(queued, is_silent=True))
    (shown,) = rig.api.messages(ANNA)
    assert (shown.text, shown.is_silent) == ("Look: here 👩‍👩‍👧 x", True)
    assert [entity["type"] for entity in shown.entities] == ["bold", "text_link", "code"]
    assert shown.link_preview == {"is_disabled": True}
    await rig.adapter.edit(to(ANNA, "*Gone*: https://example.com/"), sent)
    (shown,) = rig.api.messages(ANNA)
    assert shown.history == ["Look: here 👩‍👩‍👧 x", "Gone: https://example.com/"]
    assert shown.link_preview == {"is_disabled": True}


async def test_a_reply_to_a_deleted_message_is_sent(rig: Rig) -> None:
    queued = replace(to(ANNA, "answer"), reply_to=PlatformMessageId("999"))
    await rig.adapter.send(queued)
    assert rig.api.texts(ANNA) == ["answer"]


async def test_an_empty_message_is_never_sent(rig: Rig) -> None:
    for text in ("", " \n", "\x1b"):
        with pytest.raises(Rejected):
            await rig.adapter.send(to(ANNA, text))
    assert rig.api.calls["sendMessage"] == 0


async def test_the_menu_is_published(api: TelegramEmulator) -> None:
    async with running(api) as rig:
        assert isinstance(rig.adapter, CanShowMenu)
        await rig.adapter.show_menu(
            [
                MenuEntry(name="claim", description="For owners", is_listed=False),
                MenuEntry(name="new", description="Begin afresh"),
                MenuEntry(name="long", description="x" * 300),
            ]
        )
    assert api.menu("")[0] == {"command": "new", "description": "Begin afresh"}
    assert api.menu("")[1]["description"] == "x" * 256


async def test_the_rate_limit_is_telegrams_unless_disabled(api: TelegramEmulator) -> None:
    settings = TelegramSettings(token=api.token, base_url=api.base_url)
    pace = TelegramAdapter(settings).pace
    assert pace.per_second == 30
    assert (pace.chat_interval, pace.room_interval, pace.burst) == (1.05, 3.05, 5)
    faster = settings.model_copy(update={"messages_per_second": 0, "edit_interval": 0.2})
    lifted = TelegramAdapter(faster).pace
    assert (lifted.per_second, lifted.chat_interval, lifted.room_interval) == (0, 0, 0)
    assert lifted.edit_interval == 0.2


# Faults


@pytest.mark.parametrize(
    ("fault", "on_send", "on_edit", "on_type"),
    [
        (faults.retry_after(3), RateLimited, RateLimited, RateLimited),
        (faults.http(502), Unsure, Unreachable, Unreachable),
        (faults.internal(500), Unsure, Unreachable, Unreachable),
        (faults.DROP, Unsure, Unsure, Unreachable),
        (faults.LOSE, Unsure, Unsure, Unreachable),
        (faults.garbage(), Unsure, Unsure, Unreachable),
        (faults.blocked(), ChatGone, ChatGone, ChatGone),
        (faults.refused("Bad Request: chat not found"), ChatGone, ChatGone, ChatGone),
        (faults.refused("Bad Request: message thread not found"), ChatGone, ChatGone, ChatGone),
        (faults.refused("Forbidden: user is deactivated", 403), ChatGone, ChatGone, ChatGone),
        (faults.refused("Bad Request: message is too long"), Rejected, Rejected, Rejected),
        (faults.refused("Unauthorized", 401), AdapterStopped, AdapterStopped, AdapterStopped),
    ],
)
async def test_every_failure_is_mapped(
    rig: Rig,
    fault: Fault,
    on_send: type[AdapterError],
    on_edit: type[AdapterError],
    on_type: type[AdapterError],
) -> None:
    sent = await rig.adapter.send(to(ANNA, "first"))
    for method in ("sendMessage", "editMessageText", "sendChatAction"):
        rig.api.fail(method, kind=fault)
    for expected, call in (
        (on_send, rig.adapter.send(to(ANNA, "x"))),
        (on_edit, rig.adapter.edit(to(ANNA, "y"), sent)),
        (on_type, rig.adapter.type(to(ANNA, "").address)),
    ):
        with pytest.raises(AdapterError) as caught:
            await call
        assert type(caught.value) is expected
        assert rig.api.token.partition(":")[2] not in str(caught.value)


async def test_a_rate_limit_has_telegrams_length_in_one_chat(rig: Rig) -> None:
    rig.api.user(8)
    rig.api.fail("sendMessage", kind=faults.retry_after(17), chat_id=ANNA)
    with pytest.raises(RateLimited) as caught:
        await rig.adapter.send(to(ANNA, "slow"))
    assert caught.value.retry_after == 17
    await rig.adapter.send(to(8, "fast"))
    assert rig.api.texts(8) == ["fast"]


async def test_a_group_that_moved_says_where(rig: Rig) -> None:
    moved = Refusal(
        400,
        "Bad Request: group chat was upgraded to a supergroup chat",
        migrate_to_chat_id=-100555,
    )
    rig.api.close_chat(ANNA, moved)
    with pytest.raises(ChatGone, match="-100555"):
        await rig.adapter.send(to(ANNA, "anyone?"))


async def test_a_message_that_can_not_be_edited_is_gone(rig: Rig) -> None:
    theirs = await rig.api.says(ANNA, "mine")
    for message_id in (theirs, 99999):
        with pytest.raises(MessageGone):
            await rig.adapter.edit(to(ANNA, "x"), PlatformMessageId(str(message_id)))


async def test_an_invalid_chat_is_rejected(rig: Rig) -> None:
    queued = to(ANNA, "x")
    with pytest.raises(Rejected):
        await rig.adapter.send(replace(queued, address=replace(queued.address, chat_id="@nobody")))


async def test_a_call_before_or_after_the_run_has_no_effect(api: TelegramEmulator) -> None:
    with pytest.raises(Unreachable):
        await TelegramAdapter(settings_for(api)).send(to(ANNA, "early"))
    async with running(api) as rig:
        pass
    with pytest.raises(Unreachable):
        await rig.adapter.send(to(ANNA, "late"))
    assert rig.adapter.health().state == "stopped"


async def test_a_missing_server_is_distinguished_from_a_silent_one(api: TelegramEmulator) -> None:
    async with running(api, answer_timeout=0.2) as rig:
        api.fail("sendMessage", kind=faults.HANG)
        with pytest.raises(Unsure, match="in time"):
            await rig.adapter.send(to(ANNA, "hello?"))
        await api.stop()
        await until(lambda: rig.adapter.health().state == "disconnected")
        with pytest.raises(Unreachable, match="can't be reached"):
            await rig.adapter.send(to(ANNA, "hello?"))


# Health


async def test_a_wrong_token_is_named_plainly(api: TelegramEmulator, inlet: FakeInlet) -> None:
    for token in ("1:wrong", "no-token"):
        adapter = TelegramAdapter(settings_for(api, token=token))
        with pytest.raises(AdapterStopped, match=r"TELEGRAM_BOT_TOKEN.*@BotFather"):
            await adapter.run(inlet)
        assert adapter.health().state == "stopped"
        assert "@BotFather" in adapter.health().detail


async def test_a_token_that_is_revoked_meanwhile_stops_it(
    api: TelegramEmulator, inlet: FakeInlet
) -> None:
    adapter = TelegramAdapter(settings_for(api))
    run = asyncio.create_task(adapter.run(inlet))
    await until(lambda: adapter.health().state == "connected")
    api.token = "123456789:another"
    await api.says(ANNA, "wakes the poller")
    with pytest.raises(AdapterStopped, match="@BotFather"):
        await asyncio.wait_for(run, PATIENCE)


async def test_a_start_without_telegram_waits_for_it(
    api: TelegramEmulator, inlet: FakeInlet
) -> None:
    await api.stop()
    adapter = TelegramAdapter(settings_for(api))
    run = asyncio.create_task(adapter.run(inlet))
    await until(lambda: adapter.health().state == "disconnected")
    assert "can't be reached" in adapter.health().detail
    await api.start()
    await until(lambda: adapter.health().state == "connected")
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run


@pytest.mark.parametrize(
    "fault",
    [faults.http(502), faults.internal(), faults.DROP, faults.LOSE, faults.garbage(),
     faults.retry_after(0), faults.refused("Bad Request: odd"), faults.blocked()],
)  # fmt: skip
async def test_polling_survives_every_failure(api: TelegramEmulator, fault: Fault) -> None:
    async with running(api, poll_timeout=1) as rig:
        api.fail("getUpdates", times=3, kind=fault)
        await api.says(ANNA, "first")
        await until(lambda: rig.adapter.health().state == "disconnected")
        await api.says(ANNA, "second")
        await rig.inlet.receives(2)
        await until(lambda: rig.adapter.health().state == "connected")
    assert len(rig.inlet.taken) == 2


async def test_a_failure_is_logged_once_and_without_the_token(
    api: TelegramEmulator, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(api) as rig:
        api.fail("getUpdates", times=5, kind=faults.http(502))
        await api.says(ANNA, "wakes the poller")
        await until(lambda: rig.adapter.health().state == "disconnected")
        await until(lambda: rig.adapter.health().state == "connected")
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert "502" in warnings[0]
    assert api.token.partition(":")[2] not in caplog.text


async def test_a_dead_connection_shows_in_the_health(api: TelegramEmulator) -> None:
    async with running(api, poll_timeout=6, silence_margin=-5.0) as rig:
        alive_at = rig.adapter.health().alive_at
        assert alive_at is not None
        await until(lambda: rig.adapter.health().state == "disconnected")
        assert "has been silent for" in rig.adapter.health().detail
        await api.says(ANNA, "a sign of life")
        await until(lambda: rig.adapter.health().state == "connected")
        later = rig.adapter.health().alive_at
        assert later is not None
        assert later > alive_at


async def test_a_silent_poll_is_given_up(api: TelegramEmulator) -> None:
    async with running(api, poll_timeout=1, poll_margin=-0.7) as rig:
        api.fail("getUpdates", kind=faults.HANG)
        await api.says(ANNA, "wakes the poller")
        await until(lambda: rig.adapter.health().state == "disconnected")
        assert "in time" in rig.adapter.health().detail
        await rig.inlet.receives(1)


async def poll_as_another(api: TelegramEmulator) -> None:
    """Read updates with the same token, again and again."""
    async with aiohttp.ClientSession() as session:
        while True:
            url = f"{api.base_url}/bot{api.token}/getUpdates?timeout=1"
            async with session.get(url) as response:
                await response.read()


async def test_another_program_on_the_same_token_is_named(
    api: TelegramEmulator, inlet: FakeInlet
) -> None:
    rival = asyncio.create_task(poll_as_another(api))
    adapter = TelegramAdapter(settings_for(api, conflict_patience=0.3))
    with pytest.raises(AdapterStopped, match=r"Another program.*/revoke"):
        await asyncio.wait_for(adapter.run(inlet), PATIENCE)
    rival.cancel()


async def test_two_bots_on_one_token_say_so_once_and_are_quiet(
    api: TelegramEmulator, inlet: FakeInlet, caplog: pytest.LogCaptureFixture
) -> None:
    adapters = [TelegramAdapter(settings_for(api, conflict_patience=6.0)) for _ in range(2)]
    running = [asyncio.create_task(one.run(inlet)) for one in adapters]
    with caplog.at_level("INFO"):
        await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE)
    said = [one for one in caplog.messages if "Another program" in one]
    assert 2 <= len(said) <= 6, caplog.messages
    for one in running:
        one.cancel()
    await asyncio.gather(*running, return_exceptions=True)


async def test_the_last_poll_of_a_killed_process_does_no_harm(api: TelegramEmulator) -> None:
    api.fail(
        "getUpdates",
        times=3,
        kind=faults.refused("Conflict: terminated by other getUpdates request", 409),
    )
    async with running(api, conflict_patience=5.0) as rig:
        await api.says(ANNA, "hello")
        await rig.inlet.receives(1)
        await until(lambda: rig.adapter.health().state == "connected")


async def test_a_webhook_is_taken_down_and_no_update_is_lost(api: TelegramEmulator) -> None:
    api.webhook = "https://example.org/hook"
    await api.says(ANNA, "waiting")
    async with running(api) as rig:
        await rig.inlet.receives(1)
        api.webhook = "https://example.org/hook"
        await api.says(ANNA, "again")
        await rig.inlet.receives(2)
        await api.wait_for(lambda: api.webhook == "")
        await until(lambda: rig.adapter.health().state == "connected")
        await api.says(ANNA, "and again")
        await rig.inlet.receives(3)
