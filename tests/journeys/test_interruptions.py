"""Interruptions: a restart during an answer, edits of queued messages, steering."""

from gateway.texts import people
from tests.emulators.telegram_cast import ANNA, BEN
from tests.integration.accounts import code_in
from tests.journeys.accounts import Account, texts
from tests.journeys.identities import claim, join, make_code
from tests.journeys.model_answers import QUESTION, TALE
from tests.journeys.oven import Oven
from tests.journeys.platforms import both, everywhere
from tests.journeys.rooms import make_room
from tests.journeys.stage import AT_ONCE, Stage, call, calls, heard, results

BAKING = "Let me bake. " + "It takes a while, because the dough has to rest before it goes in. " * 2


def count(account: Account, words: str, room: str | None = None) -> int:
    """Count the messages there with these words."""
    return sum(words in text for text in texts(account, room))


@everywhere
async def test_an_answer_interrupted_by_a_restart_appears_once(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open(TALARIA_TURNS__DRAIN_SECONDS=AT_ONCE) as harness:
        deployment.model.pace, deployment.model.deltas = 0.04, 100
        deployment.plan(TALE)
        await harness.notes(anna.says("tell me a tale"))
        await harness.until(lambda: count(anna, "word3"))
    deployment.model.pace = 0.0
    deployment.plan(TALE)
    async with deployment.open() as harness:
        await harness.until(lambda: texts(anna) == [TALE])
        await harness.at_rest()
        assert texts(anna) == [TALE]


@both
async def test_a_room_answer_interrupted_by_a_restart_appears_once(
    deployment: Stage, platform: str
) -> None:
    room, oven = make_room(deployment, platform), Oven()
    async with deployment.open(TALARIA_TURNS__DRAIN_SECONDS=AT_ONCE, tools=(oven,)) as harness:
        deployment.plan(calls({"type": "text", "text": BAKING}, call("bake")))
        await harness.notes(room.anna.says("bake bread", room=room.id))
        await harness.until(lambda: count(room.anna, "Let me bake.", room.id))
    oven.done.set()
    deployment.plan("Here is your bread.")
    async with deployment.open(tools=(oven,)) as harness:
        await harness.until(lambda: count(room.anna, "Here is your bread.", room.id))
        await harness.at_rest()
        assert len(texts(room.anna, room.id)) == 1


async def test_a_moved_answer_continues_in_its_new_place_after_a_restart(
    deployment: Stage,
) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await join(harness, telegram, discord)
        deployment.plan(calls(QUESTION))
        await harness.notes(telegram.says("paint my room"))
        await harness.asks(telegram, "Blue")
        await harness.notes(discord.says("/here"))
        await harness.asks(discord, "Blue")
    async with deployment.open() as harness:
        deployment.plan("Blue it is.")
        await harness.press(discord, "Blue")
        assert results(deployment.turns[-1]) == ["They chose: Blue"]
        assert (count(telegram, "Blue it is."), count(discord, "Blue it is.")) == (0, 1)


@everywhere
async def test_the_model_reads_the_edited_text_of_a_queued_message(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        released = deployment.hold()
        await harness.notes(anna.says("make tea"))
        await harness.until(lambda: len(deployment.turns) == 1)
        steer = await harness.notes(anna.says("with mlik"))
        await harness.notes(anna.edits(steer, "with milk"))
        await harness.until(harness.gateway.router.is_idle)
        released.set()
        await harness.at_rest()
        assert heard(deployment.turns[-1]) == ["make tea", "with milk"]


@everywhere
async def test_a_message_during_a_turn_steers_and_a_queued_one_waits(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        released = deployment.hold()
        await harness.notes(anna.says("make tea"))
        await harness.until(lambda: len(deployment.turns) == 1)
        await harness.notes(anna.says("/queue and coffee"))
        await harness.until(lambda: count(anna, "I'll start on that when"))
        released.set()
        await harness.at_rest()
        assert [heard(body) for body in deployment.turns] == [
            ["make tea"],
            ["make tea", "and coffee"],
        ]
        assert texts(anna)[-1] == "echo: and coffee"


async def test_accounts_are_not_linked_during_a_turn(deployment: Stage) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        code = await make_code(harness, telegram)
        await harness.hears(discord, f"/link {code}")
        released = deployment.hold()
        await harness.notes(discord.says("a long one"))
        await harness.until(lambda: len(deployment.turns) == 1)
        await harness.notes(telegram.holds(people.YES())())
        await harness.until(lambda: texts(telegram)[-1] == people.BUSY())
        released.set()
        await harness.at_rest()
        await harness.press(telegram, people.YES())
        await harness.hears(telegram, "hello")
        assert heard(deployment.turns[-1]) == ["a long one", "hello"]


@both
async def test_strangers_get_silence_in_rooms_and_one_sentence_in_direct_chats(
    deployment: Stage, platform: str
) -> None:
    room = make_room(deployment, platform)
    async with deployment.open(allow="") as harness:
        await claim(harness)
        await join(harness, deployment.account("telegram", ANNA), room.anna)
        assert await harness.hears(room.ben, "hello", room=room.id) == ""
        assert await harness.hears(room.ben, "/status", room=room.id) == ""
        assert deployment.turns == []
        reported = await harness.hears(room.ben, "hello")
        assert "I don't know you yet" in reported
        assert await harness.hears(room.ben, "hello?") == ""
        code = code_in(reported)
        assert "can now talk to me" in await harness.hears(room.anna, f"/approve {code}")
        assert await harness.hears(room.ben, "hello", room=room.id) == "echo: hello"
        assert deployment.account("telegram", BEN).seen() == []


@everywhere
async def test_two_questions_at_once_are_answered_in_any_order(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    first = call("ask", question="Which colour?", options=["Red", "Blue"])
    second = call("ask", question="Which room?", options=["Bath", "Hall"])
    async with deployment.open() as harness:
        deployment.plan(calls(first, second), "So be it.")
        await harness.notes(anna.says("paint my house"))
        await harness.until(lambda: sum(bool(one.labels) for one in anna.seen()) == 2)
        await harness.notes(anna.holds("Hall")())
        await harness.press(anna, "Red")
        assert results(deployment.turns[-1]) == ["They chose: Red", "They chose: Hall"]
        assert texts(anna)[-1] == "So be it."
