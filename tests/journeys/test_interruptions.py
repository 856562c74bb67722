"""What comes in between: a restart while an answer is written, second thoughts, steering."""

from gateway.texts import people
from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.accounts import Account, texts
from tests.journeys.stage import Stage, call, calls, heard, results
from tests.journeys.test_buttons import QUESTION, everywhere
from tests.journeys.test_going_on_elsewhere import TALE
from tests.journeys.test_one_person import join, make_code
from tests.journeys.test_people import claim
from tests.journeys.test_servers_and_channels import both, make_room
from tests.journeys.test_signs import Oven

AT_ONCE = "0"


def count(account: Account, words: str, room: str | None = None) -> int:
    """How many messages there hold these words."""
    return sum(words in text for text in texts(account, room))


@everywhere
async def test_an_answer_that_was_cut_off_by_a_restart_is_there_once(
    town: Stage, platform: str
) -> None:
    anna = town.account(platform, ANNA)
    async with town.open(TALARIA_TURNS__DRAIN_SECONDS=AT_ONCE) as house:
        town.model.pace, town.model.deltas = 0.04, 100
        town.plan(TALE)
        await house.notes(anna.says("tell me a tale"))
        await house.until(lambda: count(anna, "word3"))
    town.model.pace = 0.0
    town.plan(TALE)
    async with town.open() as house:
        await house.until(lambda: texts(anna) == [TALE])
        await house.at_rest()
        assert texts(anna) == [TALE]


@both
async def test_an_answer_in_a_room_that_was_cut_off_by_a_restart_is_there_once(
    town: Stage, platform: str
) -> None:
    room, oven = make_room(town, platform), Oven()
    async with town.open(TALARIA_TURNS__DRAIN_SECONDS=AT_ONCE, tools=(oven,)) as house:
        town.plan(calls({"type": "text", "text": "Let me bake."}, call("bake")))
        await house.notes(room.anna.says("bake bread", room=room.id))
        await house.until(lambda: count(room.anna, "Let me bake.", room.id))
    oven.done.set()
    town.plan("Here is your bread.")
    async with town.open(tools=(oven,)) as house:
        await house.until(lambda: count(room.anna, "Here is your bread.", room.id))
        await house.at_rest()
        assert len(texts(room.anna, room.id)) == 1


async def test_an_answer_that_was_moved_goes_on_in_its_new_place_after_a_restart(
    town: Stage,
) -> None:
    telegram, discord, _ = town.accounts(ANNA)
    async with town.open() as house:
        await join(house, telegram, discord)
        town.plan(calls(QUESTION))
        await house.notes(telegram.says("paint my room"))
        await house.asks(telegram, "Blue")
        await house.notes(discord.says("/here"))
        await house.asks(discord, "Blue")
    async with town.open() as house:
        town.plan("Blue it is.")
        await house.press(discord, "Blue")
        assert results(town.turns[-1]) == ["They chose: Blue"]
        assert (count(telegram, "Blue it is."), count(discord, "Blue it is.")) == (0, 1)


@everywhere
async def test_second_thoughts_about_a_message_that_waits_are_what_the_model_reads(
    town: Stage, platform: str
) -> None:
    anna = town.account(platform, ANNA)
    async with town.open() as house:
        released = town.hold()
        await house.notes(anna.says("make tea"))
        await house.until(lambda: len(town.turns) == 1)
        steer = await house.notes(anna.says("with mlik"))
        await house.notes(anna.edits(steer, "with milk"))
        await house.until(house.gateway.router.is_idle)
        released.set()
        await house.at_rest()
        assert heard(town.turns[-1]) == ["make tea", "with milk"]


@everywhere
async def test_what_is_said_meanwhile_steers_and_what_is_queued_waits(
    town: Stage, platform: str
) -> None:
    anna = town.account(platform, ANNA)
    async with town.open() as house:
        released = town.hold()
        await house.notes(anna.says("make tea"))
        await house.until(lambda: len(town.turns) == 1)
        await house.notes(anna.says("/queue and coffee"))
        await house.until(lambda: count(anna, "I'll start on that when"))
        released.set()
        await house.at_rest()
        assert [heard(body) for body in town.turns] == [["make tea"], ["make tea", "and coffee"]]
        assert texts(anna)[-1] == "echo: and coffee"


async def test_nobody_is_joined_in_the_middle_of_a_turn(town: Stage) -> None:
    telegram, discord, _ = town.accounts(ANNA)
    async with town.open() as house:
        code = await make_code(house, telegram)
        await house.hears(discord, f"/link {code}")
        released = town.hold()
        await house.notes(discord.says("a long one"))
        await house.until(lambda: len(town.turns) == 1)
        await house.notes(telegram.holds(people.YES())())
        await house.until(lambda: texts(telegram)[-1] == people.BUSY())
        released.set()
        await house.at_rest()
        await house.press(telegram, people.YES())
        await house.hears(telegram, "hello")
        assert heard(town.turns[-1]) == ["a long one", "hello"]


@both
async def test_strangers_get_silence_in_rooms_and_one_sentence_when_they_write_alone(
    town: Stage, platform: str
) -> None:
    room = make_room(town, platform)
    async with town.open(allow="") as house:
        await claim(house)
        await join(house, town.account("telegram", ANNA), room.anna)
        assert await house.hears(room.ben, "hello", room=room.id) == ""
        assert await house.hears(room.ben, "/status", room=room.id) == ""
        assert town.turns == []
        told = await house.hears(room.ben, "hello")
        assert "I don't know you yet" in told
        assert await house.hears(room.ben, "hello?") == ""
        code = told.split("/approve ")[1].split()[0]
        assert "can now talk to me" in await house.hears(room.anna, f"/approve {code}")
        assert await house.hears(room.ben, "hello", room=room.id) == "echo: hello"
        assert town.account("telegram", BEN).seen() == []


@everywhere
async def test_two_questions_at_once_are_answered_in_any_order(town: Stage, platform: str) -> None:
    anna = town.account(platform, ANNA)
    first = call("ask", question="Which colour?", options=["Red", "Blue"])
    second = call("ask", question="Which room?", options=["Bath", "Hall"])
    async with town.open() as house:
        town.plan(calls(first, second), "So be it.")
        await house.notes(anna.says("paint my house"))
        await house.until(lambda: sum(bool(one.labels) for one in anna.seen()) == 2)
        await house.notes(anna.holds("Hall")())
        await house.press(anna, "Red")
        assert results(town.turns[-1]) == ["They chose: Red", "They chose: Hall"]
        assert texts(anna)[-1] == "So be it."
