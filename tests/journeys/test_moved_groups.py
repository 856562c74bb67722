"""Groups that get a new id: jobs, conversations and waiting messages follow."""

from typing import Any

import pytest

from tests.emulators.telegram_cast import ANNA, GROUP
from tests.emulators.telegram_texts import Refusal
from tests.integration.clock import Clock
from tests.journeys.identities import claim
from tests.journeys.stage import Harness, Stage, call, calls, heard

NEW = -1001000000077
START = (2026, 11, 23, 12, 0, 20)
UPGRADED = Refusal(
    400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=NEW
)


async def make_reminder(harness: Harness) -> Clock:
    """Have an owner's reminder made for the group."""
    stage, anna = harness.stage, harness.stage.account("telegram", ANNA)
    stage.telegram.group(GROUP, "Friends")
    clock = stage.now
    assert isinstance(clock, Clock)
    await claim(harness)
    wish = call("schedule", action="create", kind="message", text="Bring cake.", in_minutes=60)
    stage.plan(calls(wish), "In an hour.")
    await harness.notes(anna.says("remind us in an hour", room=str(GROUP)))
    await harness.at_rest()
    return clock


def upgrade(stage: Stage) -> None:
    stage.telegram.group(NEW, "Friends")
    stage.telegram.close_chat(GROUP, UPGRADED)


@pytest.mark.parametrize("signal", ["error", "last message", "first message"])
async def test_a_reminder_reaches_the_group_under_its_new_id(stage: Stage, signal: str) -> None:
    stage.now = Clock(*START)
    async with stage.open() as harness:
        clock = await make_reminder(harness)
        upgrade(stage)
        moved: dict[str, tuple[int, dict[str, Any]]] = {
            "last message": (GROUP, {"migrate_to_chat_id": NEW}),
            "first message": (NEW, {"migrate_from_chat_id": GROUP}),
        }
        if signal in moved:
            chat, fields = moved[signal]
            await stage.telegram.says(ANNA, None, chat=chat, **fields)
            await harness.at_rest()
        clock.move(harness, hours=1)
        await harness.sees(NEW, "Bring cake.")
        await harness.at_rest()
        assert not any("cake" in text for text in stage.telegram.texts(ANNA))
        assert await harness.count("unreachable_chats", "TRUE") == 0


async def test_a_conversation_and_its_settings_go_on_under_the_new_id(stage: Stage) -> None:
    stage.telegram.group(GROUP, "Friends")
    async with stage.open() as harness:
        await harness.ask(ANNA, "@talaria_bot the code word is plum", chat=GROUP)
        upgrade(stage)
        await stage.telegram.says(ANNA, None, chat=GROUP, migrate_to_chat_id=NEW)
        await harness.at_rest()
        await harness.ask(ANNA, "@talaria_bot which word?", chat=NEW)
        assert heard(stage.turns[-1]) == ["the code word is plum", "which word?"]
        assert await harness.count("rooms", "platform = 'telegram'") == 1


async def test_an_answer_that_is_under_way_reaches_the_new_id(stage: Stage) -> None:
    stage.telegram.group(GROUP, "Friends")
    async with stage.open() as harness:
        await harness.ask(ANNA, "@talaria_bot hello", chat=GROUP)
        upgrade(stage)
        await stage.telegram.says(ANNA, "@talaria_bot and now?", chat=GROUP)
        await harness.sees(NEW, "echo: and now?")


async def test_a_text_for_a_lost_group_says_where_it_was_meant_for(stage: Stage) -> None:
    stage.now = Clock(*START)
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello")
        clock = await make_reminder(harness)
        stage.telegram.close_chat(GROUP, Refusal(403, "Forbidden: bot was kicked from the group"))
        clock.move(harness, hours=1)
        shown = await harness.sees(ANNA, "Bring cake.")
        assert "meant for “Friends”" in shown.text
