"""`/context`: a conversation's context, in the numbers that the model was sent."""

import re
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta, Usage
from agent_core.models.token_estimate import estimate_input, estimate_messages
from gateway.texts.usage import CONTEXT_EMPTY
from tests.fakes.model import Play, ask, call, say
from tests.integration.harness import Harness, running
from tests.integration.turns.untitled import Talker, dialogue


class Counting(Talker):
    """Counts double the estimate, as a provider may; all but 100 tokens were cached."""

    def __init__(self, *plays: Play) -> None:
        super().__init__(*plays)
        self.tokens: list[int] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        async for piece in super().stream(request):
            if isinstance(piece, ModelAnswer) and request.tools:
                self.tokens.append(2 * estimate_input(request))
                used = Usage(input_tokens=100, cache_read_tokens=self.tokens[-1] - 100)
                yield replace(piece, usage=used)
            else:
                yield piece


async def look(harness: Harness, **fields: object) -> tuple[str, dict[str, int]]:
    """The answer, and its numbers by their names."""
    before = len(harness.chat.shown)
    await harness.chat.says("/context", **fields)
    await harness.until(lambda: len(harness.chat.shown) > before)
    await harness.at_rest()
    text = next(one.text for one in harness.chat.shown[before:] if one.chat_id == "1")
    found = re.findall(r"^- (.*): ([\d,]+)$", text, re.MULTILINE)
    return text, {name: int(number.replace(",", "")) for name, number in found}


def number(pattern: str, text: str) -> int:
    found = re.search(pattern, text)
    assert found, text
    return int(found[1].replace(",", ""))


async def test_the_numbers_match_the_request(tmp_path: Path) -> None:
    tmp_path.joinpath("AGENTS.md").write_text("Use tabs. " * 100)
    search = call("recall", '{"query": "tea"}')
    model = Counting(say("Hello."), ask(search), say("Nothing is noted of tea. " * 20))
    folder = {"TALARIA_PROMPT__FOLDER": str(tmp_path)}
    async with running(tmp_path / "home", model, **folder) as harness:
        text, _ = await look(harness)
        assert text == CONTEXT_EMPTY()
        await dialogue(harness, "hi", "Hello.")
        text, first = await look(harness)
        assert "\n\nThe last answer took 1 model call; 9" in text
        assert "than for the answer before" not in text
        assert "Tool results" not in first
        await dialogue(harness, "tea? " * 50, "Nothing is noted")
        text, parts = await look(harness)
        await harness.chat.says("/settings context_cap 50000")
        await harness.at_rest()
        capped, _ = await look(harness)
    last = model.requests[-1]
    total = number(r"about ([\d,]+) of", text)
    sent = model.tokens[-1]
    said = 2 * estimate_messages((last.messages[-1],), ())
    assert sent < total < sent * 1.2
    assert abs(sum(parts.values()) - total) <= len(parts)
    assert parts["Instructions"] == first["Instructions"]
    assert 400 < parts["Context files"] < 700
    assert parts["Tool results"] > said / 2
    assert number(r" of ([\d,]+) tokens", text) == 120_000
    assert number(r" of ([\d,]+) tokens", capped) == 50_000
    share = 100 * sum(one - 100 for one in model.tokens[1:]) // sum(model.tokens[1:])
    assert number(r"(\d+)% of ", text) == share
    assert number(r"([\d,]+) tokens more", text) == model.tokens[-1] - model.tokens[0]
    assert number(r"/new .* saves ([\d,]+) tokens", text) == (
        parts["Messages"] + parts["Tool results"]
    )


async def test_a_room_counts_only_its_own_prompt(tmp_path: Path) -> None:
    """The private memory is long, but the room neither sees nor counts it."""
    notes = [
        ask(call("memory", f'{{"action": "add", "target": "user", "text": "{word * 20}"}}', word))
        for word in ("secret", "hidden")
    ]
    model = Counting(*notes, say("Noted."), say("Afresh."), say("In the room."))
    async with running(tmp_path, model) as harness:
        await dialogue(harness, "remember", "Noted.")
        await harness.chat.says("/new")
        await dialogue(harness, "hi", "Afresh.")
        _, alone = await look(harness)
        await dialogue(harness, "hi all", "In the room.", chat="room", direct=False)
        text, room = await look(harness, chat="room", direct=False)
    assert room["Memory"] < alone["Memory"] / 2
    assert "hidden" not in text
    assert "hiddenhidden" not in model.requests[-1].system
    assert "hiddenhidden" in model.requests[-2].system
