"""Which messages notify and which only change: questions, drafts, short texts, notes."""

from itertools import pairwise

from adapters.messages import OutboundFile
from tests.emulators.telegram_cast import ANNA
from tests.journeys.accounts import ringing, texts
from tests.journeys.model_answers import QUESTION
from tests.journeys.oven import Oven
from tests.journeys.platforms import everywhere
from tests.journeys.stage import Stage, call, calls

LONG = ("I'm looking at your calendar now. " * 4).strip()
ANSWER = ("You have two appointments on Tuesday, and both of them are in the morning. " * 3).strip()
SECRET = OutboundFile(name="all.bin", media_type="application/x-secret", data=b"\x00\x01" * 50)


@everywhere
async def test_a_further_message_gets_eyes_and_an_answer_that_notifies(
    deployment: Stage, platform: str
) -> None:
    anna, oven = deployment.account(platform, ANNA), Oven()
    async with deployment.open(tools=(oven,)) as harness:
        deployment.plan(calls({"type": "text", "text": LONG}, call("bake")), "Two on Tuesday.")
        await harness.notes(anna.says("what is on this week?"))
        await harness.until(lambda: any("your calendar" in text for text in texts(anna)))
        steer = await harness.notes(anna.says("and on Tuesday?"))
        await harness.until(lambda: anna.indicators(steer))
        oven.done.set()
        await harness.at_rest()
        await harness.until(lambda: not anna.indicators(steer))
        assert texts(anna) == [LONG, "Two on Tuesday."]
        assert ringing(anna)[-1] == "Two on Tuesday."


@everywhere
async def test_the_answer_to_a_further_message_does_not_repeat_the_first(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        deployment.model.pace, deployment.model.deltas = 0.03, 60
        deployment.plan(ANSWER, "At nine.")
        await harness.notes(anna.says("what is on Tuesday?"))
        await harness.until(lambda: any("appointments" in text for text in texts(anna)))
        await harness.notes(anna.says("when is the first?"))
        await harness.at_rest()
        assert texts(anna) == [ANSWER, "At nine."]


@everywhere
async def test_no_indicators_are_shown_while_a_question_is_open(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        released = deployment.hold()
        deployment.plan(calls(QUESTION), "Blue it is.")
        said = await anna.says("paint my room")
        await harness.until(lambda: anna.indicators(said))
        released.set()
        await harness.asks(anna, "Blue")
        await harness.until(lambda: not anna.indicators(said))
        released.clear()
        await anna.holds("Blue")()
        await harness.until(lambda: anna.indicators(said))
        released.set()
        await harness.until(lambda: texts(anna)[-1] == "Blue it is.")
        await harness.until(lambda: not anna.indicators(said))


@everywhere
async def test_a_short_answer_shows_no_edits(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        deployment.model.pace, deployment.model.deltas = 0.2, 8
        deployment.plan("It will rain, so take a coat with you.")
        await harness.hears(anna, "weather?")
        (answer,) = anna.seen()
        assert len(answer.history) == 1


@everywhere
async def test_no_message_is_edited_without_a_change(deployment: Stage, platform: str) -> None:
    anna = deployment.account(platform, ANNA)
    deployment.slack.can_stream = False
    async with deployment.open() as harness:
        deployment.model.pace, deployment.model.deltas = 0.03, 60
        deployment.plan(ANSWER)
        await harness.hears(anna, "what is on Tuesday?")
        (answer,) = anna.seen()
        assert len(answer.history) > 1
        assert [a for a, b in pairwise(answer.history) if a == b] == []


@everywhere
async def test_an_unreadable_file_with_a_caption_is_answered_in_one_message(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        deployment.plan("Sure.")
        await harness.hears(anna, "help me", files=[SECRET])
        (answer,) = texts(anna)
        assert answer.endswith("Sure.")
        assert "all.bin" in answer


async def test_in_a_direct_chat_telegram_shows_drafts_and_one_message(deployment: Stage) -> None:
    anna = deployment.account("telegram", ANNA)
    deployment.telegram.has_drafts = True
    async with deployment.open() as harness:
        deployment.model.pace, deployment.model.deltas = 0.03, 60
        deployment.plan(ANSWER)
        await harness.hears(anna, "what is on Tuesday?")
        (answer,) = anna.seen()
        assert answer.history == (answer.text,) == (ANSWER,)
        assert answer.rings
        (((chat, _), shown),) = deployment.telegram.drafts.items()
        assert chat == ANNA
        assert shown
        assert all(answer.text.startswith(text) for text in shown)


async def test_a_draft_above_a_question_becomes_a_message(deployment: Stage) -> None:
    anna = deployment.account("telegram", ANNA)
    deployment.telegram.has_drafts = True
    async with deployment.open() as harness:
        deployment.model.pace, deployment.model.deltas = 0.03, 60
        deployment.plan(calls({"type": "text", "text": ANSWER}, QUESTION), "Blue it is.")
        await harness.notes(anna.says("what is on Tuesday?"))
        await harness.asks(anna, "Blue")
        assert texts(anna)[0] == ANSWER
        await harness.press(anna, "Blue")
        assert len(texts(anna)) == 3
        assert texts(anna)[-1] == "Blue it is."
