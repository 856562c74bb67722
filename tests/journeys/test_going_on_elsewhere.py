"""Going on elsewhere: /here moves a running answer, and what it asks, to another platform."""

from gateway.texts import general
from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import Account, texts
from tests.journeys.stage import Stage, call, calls, results
from tests.journeys.test_one_person import join

QUESTION = call("ask", question="Which colour?", options=["Red", "Blue"])
TALE = " ".join(f"word{number}" for number in range(40))


def answers(accounts: tuple[Account, ...], words: str) -> int:
    """How many messages on all these accounts hold these words."""
    return sum(words in text for account in accounts for text in texts(account))


async def test_here_moves_an_answer_that_is_being_written(town: Stage) -> None:
    telegram, discord, slack = accounts = town.accounts(ANNA)
    async with town.open() as house:
        await join(house, telegram, slack)
        await join(house, telegram, discord)
        town.model.pace, town.model.deltas = 0.04, 40
        town.plan(TALE)
        await house.notes(telegram.says("tell me a tale"))
        await house.until(lambda: "word3" in texts(telegram)[-1])
        await house.takes(slack.says("/here"))
        assert texts(slack)[-1] == TALE
        assert texts(telegram)[-1] == general.describe_move("slack")
        assert answers(accounts, "word39") == 1
        assert len(town.turns) == 1


async def test_here_moves_an_open_question_and_its_answer_counts_in_the_new_place(
    town: Stage,
) -> None:
    telegram, discord, slack = accounts = town.accounts(ANNA)
    async with town.open() as house:
        await join(house, telegram, slack)
        await join(house, telegram, discord)
        town.plan(calls({"type": "text", "text": "Let me see."}, QUESTION), "Blue it is.")
        await house.notes(telegram.says("paint my room"))
        await house.asks(telegram, "Blue")
        old = telegram.holds("Red")

        await house.notes(slack.says("/here"))
        await house.asks(slack, "Blue")
        await house.until(lambda: not any(one.labels for one in telegram.seen()))
        assert answers((telegram,), general.QUESTION_MOVED()) == 1
        await house.notes(discord.says("/here"))
        await house.asks(discord, "Blue")
        await house.until(lambda: not any(one.labels for one in slack.seen()))

        await house.press(discord, "Blue")
        assert results(town.turns[-1]) == ["They chose: Blue"]
        assert texts(discord)[-1] == "Blue it is."
        assert answers(accounts, "Blue it is.") == 1
        assert "→ Blue" in "\n".join(texts(discord))
        await house.takes(old())
        assert len(town.turns) == 2


async def test_here_shows_at_once_where_the_answer_will_be(town: Stage) -> None:
    telegram, discord, _ = town.accounts(ANNA)
    async with town.open() as house:
        await join(house, telegram, discord)
        released = town.hold()
        first = await telegram.says("a long one")
        await house.until(lambda: telegram.signs(first))
        here = await discord.says("/here")
        await house.until(discord.typed, timeout=2)
        await house.until(lambda: discord.signs(here), timeout=2)
        await house.until(lambda: not telegram.signs(first))
        released.set()
        await house.until(lambda: texts(discord)[-1] == "echo: a long one")
        assert answers((telegram,), "a long one") == 0


async def test_stop_ends_an_answer_that_is_written_elsewhere_and_says_so(town: Stage) -> None:
    telegram, discord, _ = town.accounts(ANNA)
    async with town.open() as house:
        await join(house, telegram, discord)
        released = town.hold()
        await house.notes(telegram.says("a long one"))
        await house.until(lambda: len(town.turns) == 1)
        await house.takes(discord.says("/stop"))
        assert texts(discord)[-1] == "I've stopped what I was doing on Telegram."
        assert texts(telegram)[-1] == "(Stopped.)"
        released.set()


async def test_here_with_nothing_running_says_so(town: Stage) -> None:
    async with town.open() as house:
        for account in town.accounts(ANNA):
            assert await house.hears(account, "/here") == general.MOVE_NOTHING()
