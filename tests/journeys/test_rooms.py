"""Rooms: only allowed people are answered, only when they address the bot, in their topic."""

import pytest

from tests.emulators.telegram_cast import ANNA, BEN, FORUM, SUPERGROUP
from tests.emulators.telegram_texts import Refusal
from tests.journeys.stage import Stage, call, calls, facts, heard, results, system_of

ONLY_ANNA = f"telegram:{ANNA}"


async def test_a_room_is_answered_after_mentions_replies_and_commands(
    stage: Stage,
) -> None:
    async with stage.open(ONLY_ANNA) as harness:
        assert await harness.ask(ANNA, "good morning all", chat=SUPERGROUP) == ""
        assert await harness.ask(ANNA, "is talaria_bot here?", chat=SUPERGROUP) == ""

        (mentioned,) = await harness.messages_to(ANNA, "@talaria_bot hello", chat=SUPERGROUP)
        assert mentioned.text == "echo: hello"
        assert mentioned.reply_to is not None

        said = await harness.ask(ANNA, "and?", chat=SUPERGROUP, reply_to=mentioned.message_id)
        assert said == "echo: and?"
        assert 'Answers your message: "echo: hello"' in facts(stage.turns[-1])

        for command in ("/help", "/help@talaria_bot"):
            assert "/memory" in await harness.ask(ANNA, command, chat=SUPERGROUP)
        assert await harness.ask(ANNA, "/status@another_bot", chat=SUPERGROUP) == ""
        assert await harness.ask(ANNA, "/help@another_bot @talaria_bot", chat=SUPERGROUP) == ""
        assert len(stage.turns) == 2


async def test_an_answer_in_a_room_shows_which_message_it_answers(stage: Stage) -> None:
    async with stage.open(ONLY_ANNA) as harness:
        asked = await stage.telegram.says(ANNA, "@talaria_bot one", chat=SUPERGROUP)
        await harness.at_rest()
        (answer,) = stage.telegram.messages(SUPERGROUP)
        assert answer.reply_to == asked
        shown = facts(stage.turns[-1])
        assert "room, others can read along" in shown
        assert "Kitchen" not in shown, "anybody in a room may give it a title"
        (direct,) = await harness.messages_to(ANNA, "two")
        assert direct.reply_to is None


async def test_a_stranger_gets_silence_in_a_room(stage: Stage) -> None:
    async with stage.open(ONLY_ANNA) as harness:
        (answer,) = await harness.messages_to(ANNA, "@talaria_bot hello", chat=SUPERGROUP)
        for text in ("@talaria_bot hello", "/status", "/stop"):
            assert await harness.ask(BEN, text, chat=SUPERGROUP) == ""
        assert await harness.ask(BEN, "me too", chat=SUPERGROUP, reply_to=answer.message_id) == ""
        assert len(stage.turns) == 1


async def test_each_topic_is_its_own_conversation(stage: Stage) -> None:
    holidays = stage.telegram.topic(FORUM, ANNA, "Holidays")
    garden = stage.telegram.topic(FORUM, ANNA, "Garden")
    async with stage.open(ONLY_ANNA) as harness:
        await harness.ask(ANNA, "@talaria_bot where to?", chat=FORUM, thread=holidays)
        await harness.ask(ANNA, "@talaria_bot which roses?", chat=FORUM, thread=garden)
        await harness.ask(ANNA, "@talaria_bot in general?", chat=FORUM)
        assert [heard(body) for body in stage.turns] == [
            ["where to?"],
            ["which roses?"],
            ["in general?"],
        ]
        assert [(m.thread_id, m.text) for m in stage.telegram.messages(FORUM)] == [
            (holidays, "echo: where to?"),
            (garden, "echo: which roses?"),
            (None, "echo: in general?"),
        ]
        # Every message in a topic formally replies to its start, and is not for the bot.
        assert await harness.ask(ANNA, "hm", chat=FORUM, thread=garden) == ""


async def test_private_memory_does_not_enter_a_room(stage: Stage) -> None:
    async with stage.open(ONLY_ANNA) as harness:
        stage.plan(calls(call("memory", action="add", target="user", text="Is to be promoted")))
        stage.plan("I keep that to myself.")
        await harness.ask(ANNA, "the promotion is a secret")

        stage.plan(calls(call("recall", query="promotion"), call("memory", action="add")))
        stage.plan("I know of nothing.")
        said = await harness.ask(ANNA, "@talaria_bot what is new?", chat=SUPERGROUP)
        assert said == "I know of nothing."
        asked, answered = stage.turns[-2:]
        assert "promoted" not in system_of(asked)
        assert "everyone in it can see that" in asked["tools"][0]["description"]
        assert "settings" not in [tool["name"] for tool in asked["tools"]]
        assert "Nothing found" in results(answered)[0]
        assert "memory" in results(answered)[1]
        assert "promot" not in str(asked["messages"])


async def test_a_group_of_one_person_and_the_bot_is_private_until_another_joins(
    stage: Stage,
) -> None:
    mine = stage.telegram.group(-77, "Mine")
    stage.telegram.world.members[mine] = 2
    stage.telegram.world.creators[mine] = ANNA
    async with stage.open(ONLY_ANNA) as harness:
        await harness.ask(ANNA, "That's private")
        await harness.ask(ANNA, "/room full", chat=mine)
        await stage.telegram.presses(ANNA, "Yes, continue here", chat=mine)
        await harness.at_rest()
        assert await harness.ask(ANNA, "@talaria_bot here too", chat=mine) == "echo: here too"
        assert heard(stage.turns[-1]) == ["That's private", "here too"]
        stage.telegram.world.members[mine] = 3
        await harness.ask(ANNA, "@talaria_bot and now?", chat=mine)
        assert heard(stage.turns[-1]) == ["and now?"]


@pytest.mark.parametrize("kind", ["group", "supergroup"])
async def test_a_removed_bot_stays_quiet(stage: Stage, kind: str) -> None:
    place = SUPERGROUP if kind == "supergroup" else stage.telegram.group(-88, "Small")
    async with stage.open(ONLY_ANNA) as harness:
        await harness.ask(ANNA, "@talaria_bot hello", chat=place)
        stage.telegram.close_chat(
            place, Refusal(403, "Forbidden: bot was kicked from the group chat")
        )
        assert await harness.ask(ANNA, "@talaria_bot still there?", chat=place) == ""
        assert stage.telegram.calls["sendMessage"] == 2
        assert await harness.ask(ANNA, "here?") == "echo: here?"
