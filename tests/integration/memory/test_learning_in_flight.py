"""Words that are deleted while a review waits for its model: nothing of them comes back."""

import json
from pathlib import Path

from tests.fakes.model import Gate, ask, call, say
from tests.integration.accounts import count
from tests.integration.harness import Harness
from tests.integration.memory.conclusions import REVIEW, SAID, conclude
from tests.integration.memory.learning import (
    NOTE,
    TWICE,
    answering,
    converse,
    learning,
    remember,
    reviewed,
)


async def forget(harness: Harness, word: str, choice: str) -> None:
    await harness.chat.says(f"/forget {word}")
    await harness.chat.sees_text("What should I delete?")
    await harness.chat.press(choice)
    await harness.chat.sees_text("Deleted:")


async def test_a_claim_about_deleted_words_is_not_asked_about(tmp_path: Path) -> None:
    gate = Gate()
    review = ask(call("memory", remember("Gets up at five", "I get up at five")))
    async with learning(tmp_path, say("Fine."), [gate.hold, *review]) as harness:
        await harness.chat.says(SAID)
        await gate.reached.wait()
        await forget(harness, "five", "Notes and messages")
        gate.open.set()
        await reviewed(harness)
        await harness.chat.says("/learned review")
        await harness.chat.sees_text("No note waits for your yes.")
        assert not await count(harness, "tasks", "payload LIKE '%five%'")


async def test_a_conclusion_from_a_deleted_note_is_not_stored(tmp_path: Path) -> None:
    gate = Gate()
    async with learning(tmp_path, say("Fine."), REVIEW, concludes=True) as harness:
        newest = "SELECT COALESCE(MAX(id), 0) FROM ledger"
        first = await harness.read(lambda c: int(c.execute(newest).fetchone()[0]))
        guess = conclude("Perhaps is up by five each day", first + 1, first + 2)
        harness.model.plays.append([gate.hold, *guess])
        await harness.chat.says(SAID)
        await gate.reached.wait()
        await forget(harness, "five", "Notes only")
        gate.open.set()
        await reviewed(harness)
        assert not await count(harness, "archive")
        assert not await count(harness, "ledger", "evidence LIKE '%five%'")


async def test_a_lesson_from_deleted_words_is_not_asked_about(tmp_path: Path) -> None:
    gate = Gate()
    plays = answering("260 miles.", "418 km.", "850 miles.", "1368 km.")
    lesson = ask(call("note", json.dumps({"text": NOTE})))
    async with learning(tmp_path, *plays, [gate.hold, *lesson]) as harness:
        await converse(harness, *TWICE[:-1])
        await harness.chat.says(TWICE[-1])
        await gate.reached.wait()
        await forget(harness, "Oslo", "Notes and messages")
        gate.open.set()
        await reviewed(harness, len(TWICE))
        await harness.chat.says("/learned review")
        await harness.chat.sees_text("No note waits for your yes.")
