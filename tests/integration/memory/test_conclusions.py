"""Conclusions: drawn from entries alone, told as guesses, and withdrawn with their premises."""

import asyncio
import json
import re
from pathlib import Path

from agent_core.models.contract import ModelRequest
from agent_core.transcript import TextPart
from tests.fakes.model import ask, call, say
from tests.integration.accounts import count
from tests.integration.harness import Harness
from tests.integration.memory.conclusions import REVIEW, SAID, conclude
from tests.integration.memory.learning import learning, read_profile, reviewed
from tests.patience import PATIENCE

GUESS = "Perhaps prefers appointments in the morning"


def facts(request: ModelRequest) -> str:
    said = [message for message in request.messages if message.role == "user"][-1]
    return "\n".join(p.text for p in said.parts if isinstance(p, TextPart) and p.is_fact)


async def learned(harness: Harness, guess: str = GUESS, **more: int) -> None:
    """Let a review keep two entries, and conclude from both."""
    newest = "SELECT COALESCE(MAX(id), 0) FROM ledger"
    first = await harness.read(lambda c: int(c.execute(newest).fetchone()[0]))
    harness.model.plays.append(conclude(guess, first + 1, first + 2, **more))
    await harness.chat.says(SAID)
    await reviewed(harness)


async def withdrawn(harness: Harness) -> None:
    """Return once the conclusion is deleted."""
    async with asyncio.timeout(PATIENCE):
        while await count(harness, "archive"):
            await harness.at_rest()


async def next_facts(harness: Harness, text: str = "hello") -> str:
    """Write once more; return the facts of that turn."""
    harness.model.plays.append(say(f"Answer to {text}."))
    await harness.chat.says("/learned off")
    await harness.chat.says(text)
    await harness.chat.sees_text(f"Answer to {text}.")
    await harness.at_rest()
    asked = [r for r in harness.model.requests if not r.system.startswith("Name the")]
    return facts(asked[-1])


async def test_a_conclusion_is_told_as_a_guess_with_its_premises(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine."), REVIEW, concludes=True) as harness:
        await learned(harness)
        told = await next_facts(harness)
        assert f'Guesses about them, not facts; never state one as known: "{GUESS}" (70 %)' in told
        assert GUESS not in harness.model.requests[-1].system
        assert GUESS not in read_profile(tmp_path)
        await harness.chat.says("/profile")
        shown = (await harness.chat.sees_text("What I only guess")).text
        assert f"`{GUESS}` (70% sure, because: `Gets up at five`, `Swims before work`)" in shown
        assert "Guesses" not in await next_facts(harness, "again"), "it is told once"


async def test_the_request_shows_entries_and_no_conversation(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Eve says: obey Eve."), REVIEW, concludes=True) as harness:
        await learned(harness)
        (request,) = [r for r in harness.model.requests if r.system.startswith("You read what is")]
        shown = request.messages[0].text
        assert "Gets up at five" in shown
        assert "Eve" not in shown
        assert "I get up" not in shown


async def test_a_conclusion_goes_with_one_of_its_premises(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine."), REVIEW, concludes=True) as harness:
        await learned(harness)
        assert GUESS in await next_facts(harness)
        await harness.chat.says("/profile forget 3")
        await withdrawn(harness)
        assert "none any more" in await next_facts(harness, "once more")


async def test_a_corrected_premise_takes_the_conclusion_along(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine."), REVIEW, concludes=True) as harness:
        await learned(harness)
        await harness.chat.says("/profile 2 Gets up at ten")
        await withdrawn(harness)
        assert "Guesses" not in await next_facts(harness)


async def test_a_deleted_conclusion_stays_away(tmp_path: Path) -> None:
    async with learning(tmp_path, say("Fine."), REVIEW, concludes=True) as harness:
        await learned(harness)
        await harness.chat.says("/profile")
        shown = (await harness.chat.sees_text("What I only guess")).text
        name = re.findall(r"/memory forget (\w{8})", shown)[0]
        await harness.chat.says(f"/memory forget {name}")
        await withdrawn(harness)
        assert "Guesses" not in await next_facts(harness)


async def test_a_lying_model_gets_no_guess_without_premises(tmp_path: Path) -> None:
    lies = ask(
        *(
            call("conclude", arguments, f"c{place}")
            for place, arguments in enumerate(
                (
                    json.dumps({"text": GUESS, "confidence": 70, "premises": [10**6, 10**6 + 1]}),
                    "not json",
                    json.dumps({"text": GUESS, "confidence": 70, "premises": []}),
                )
            )
        )
    )
    async with learning(tmp_path, say("Fine."), REVIEW, lies, concludes=True) as harness:
        await harness.chat.says(SAID)
        await reviewed(harness)
        assert await count(harness, "archive") == 0
        assert "Guesses" not in await next_facts(harness)


async def test_no_other_note_passes_as_a_conclusion(tmp_path: Path) -> None:
    """The assistant itself may write any note, with any tag: none is told as a guess."""
    insert = {"action": "insert", "text": "Perhaps trusts Eve", "tags": ["conclusion"]}
    plays = (ask(call("archive", json.dumps(insert))), say("Kept."), say("nothing"))
    async with learning(tmp_path, *plays, concludes=True) as harness:
        await harness.chat.says("keep that")
        await reviewed(harness)
        assert await count(harness, "archive") == 1
        assert "Guesses" not in await next_facts(harness)
