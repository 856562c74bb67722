"""/here moves a running answer and its questions to another platform."""

from gateway.texts import general
from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import Account, texts
from tests.journeys.identities import join
from tests.journeys.model_answers import TALE
from tests.journeys.stage import Stage, call, calls, results

QUESTION = call("ask", question="Which colour?", options=["Red", "Blue"])


def answers(accounts: tuple[Account, ...], words: str) -> int:
    """Count the messages with these words on all these accounts."""
    return sum(words in text for account in accounts for text in texts(account))


async def test_here_moves_a_running_answer(deployment: Stage) -> None:
    telegram, discord, slack = accounts = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await join(harness, telegram, slack)
        await join(harness, telegram, discord)
        deployment.model.pace, deployment.model.deltas = 0.04, 40
        deployment.plan(TALE)
        await harness.notes(telegram.says("tell me a tale"))
        await harness.until(lambda: "word3" in texts(telegram)[-1])
        await harness.takes(slack.says("/here"))
        assert texts(slack)[-1] == TALE
        assert texts(telegram)[-1] == general.describe_move("slack")
        assert answers(accounts, "word39") == 1
        assert len(deployment.turns) == 1


async def test_here_moves_an_open_question_that_is_answered_there(
    deployment: Stage,
) -> None:
    telegram, discord, slack = accounts = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await join(harness, telegram, slack)
        await join(harness, telegram, discord)
        deployment.plan(calls({"type": "text", "text": "Let me see."}, QUESTION), "Blue it is.")
        await harness.notes(telegram.says("paint my room"))
        await harness.asks(telegram, "Blue")
        old = telegram.holds("Red")

        await harness.notes(slack.says("/here"))
        await harness.asks(slack, "Blue")
        await harness.until(lambda: not any(one.labels for one in telegram.seen()))
        assert answers((telegram,), general.QUESTION_MOVED()) == 1
        await harness.notes(discord.says("/here"))
        await harness.asks(discord, "Blue")
        await harness.until(lambda: not any(one.labels for one in slack.seen()))

        await harness.press(discord, "Blue")
        assert results(deployment.turns[-1]) == ["They chose: Blue"]
        assert texts(discord)[-1] == "Blue it is."
        assert answers(accounts, "Blue it is.") == 1
        assert "→ Blue" in "\n".join(texts(discord))
        await harness.takes(old())
        assert len(deployment.turns) == 2


async def test_here_shows_indicators_in_the_new_place_at_once(deployment: Stage) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await join(harness, telegram, discord)
        released = deployment.hold()
        first = await telegram.says("a long one")
        await harness.until(lambda: telegram.indicators(first))
        here = await discord.says("/here")
        await harness.until(discord.typed)
        await harness.until(lambda: discord.indicators(here))
        await harness.until(lambda: not telegram.indicators(first))
        released.set()
        await harness.until(lambda: texts(discord)[-1] == "echo: a long one")
        assert answers((telegram,), "a long one") == 0


async def test_stop_ends_an_answer_on_another_platform(deployment: Stage) -> None:
    telegram, discord, _ = deployment.accounts(ANNA)
    async with deployment.open() as harness:
        await join(harness, telegram, discord)
        released = deployment.hold()
        await harness.notes(telegram.says("a long one"))
        await harness.until(lambda: len(deployment.turns) == 1)
        await harness.takes(discord.says("/stop"))
        assert texts(discord)[-1] == "I've stopped what I was doing on Telegram."
        assert texts(telegram)[-1] == "(Stopped.)"
        released.set()


async def test_here_with_nothing_running_says_so(deployment: Stage) -> None:
    async with deployment.open() as harness:
        for account in deployment.accounts(ANNA):
            assert await harness.hears(account, "/here") == general.MOVE_NOTHING()
