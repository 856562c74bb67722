"""What people write without having read anything: words in place of buttons and numbers."""

import pytest

from tests.emulators.telegram_cast import ANNA
from tests.journeys.platforms import everywhere
from tests.journeys.stage import Stage, call, calls


@everywhere
@pytest.mark.parametrize("words", ["Nothing, never mind", "Vergiss es.", "cancel"])
async def test_never_mind_answers_a_question_before_deleting(
    deployment: Stage, platform: str, words: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        deployment.plan(calls(call("memory", action="add", target="user", text="Likes tea")), "Ok.")
        await harness.hears(anna, "remember that I like tea")
        if words.startswith("V"):
            await harness.hears(anna, "/language German")
        await harness.hears(anna, "/forget tea")
        await harness.takes(anna.says(words))
        kept = "Ich habe nichts gelöscht." if words.startswith("V") else "I've deleted nothing."
        assert anna.seen()[-1].text.endswith(kept)
        assert "Likes tea" in await harness.hears(anna, "/memory")


@everywhere
async def test_memory_is_searched_and_forgotten_by_words_and_buttons(
    deployment: Stage, platform: str
) -> None:
    anna = deployment.account(platform, ANNA)
    async with deployment.open() as harness:
        for text in ("Has a dog, Rex", "The dog likes bones"):
            deployment.plan(calls(call("memory", action="add", target="user", text=text)), "Ok.")
            await harness.hears(anna, f"remember: {text}")
        assert "bones" not in await harness.hears(anna, "/memory rex")
        assert await harness.hears(anna, "/memory zebra") == (
            "I have no note with “zebra”. /memory lists them all."
        )
        await harness.hears(anna, "/memory dog")
        assert set(anna.seen()[-1].labels) == {"Has a dog, Rex", "The dog likes bones"}
        await harness.press(anna, "Has a dog, Rex")
        assert list(anna.seen()[-1].labels) == ["Why?", "Delete", "All notes"]
        await harness.press(anna, "Why?")
        assert "Where it comes from" in anna.seen()[-1].text
        assert "Which" not in await harness.hears(anna, "/memory forget bones")
        assert "bones" not in await harness.hears(anna, "/memory")
