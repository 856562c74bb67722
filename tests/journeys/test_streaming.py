"""How answers look: typing, one growing message, parts, entities."""

import itertools
import time
from typing import Any

from tests.emulators.streaming import text_answer
from tests.emulators.telegram_cast import ANNA
from tests.emulators.telegram_world import BotMessage
from tests.journeys.stage import Stage

TALE = " ".join(f"word{number}" + "." * (number % 5 == 4) for number in range(60))


def look_of(message: BotMessage) -> list[tuple[str, str]]:
    """(kind, text) of each entity; offsets are in UTF-16 units."""
    units = message.text.encode("utf-16-le")
    return [
        (e["type"], units[2 * e["offset"] : 2 * (e["offset"] + e["length"])].decode("utf-16-le"))
        for e in message.entities
    ]


async def test_a_slow_answer_grows_in_one_message(stage: Stage) -> None:
    stage.model.pace, stage.model.deltas = 0.04, 60
    edits: list[float] = []

    async def watch(method: str, _: dict[str, Any]) -> None:
        if method == "editMessageText":
            edits.append(time.monotonic())

    stage.telegram.before = watch
    async with stage.open(TALARIA_TELEGRAM__EDIT_INTERVAL="0.3") as harness:
        stage.plan(text_answer(TALE))
        (message,) = await harness.messages_to(ANNA, "tell me a tale")
    assert message.text == message.history[-1] == TALE
    assert len(message.history) >= 4
    for shorter, longer in itertools.pairwise(message.history):
        assert longer.startswith(shorter)
        assert len(longer) > len(shorter)
    # One that comes late is closer to the next, and the last keeps no distance.
    assert edits[-2] - edits[0] > 0.25 * (len(edits) - 2), "edits keep their distance"
    assert (ANNA, None, "typing") in stage.telegram.actions
    assert not message.is_silent


async def test_a_quick_answer_is_sent_once_without_typing_or_edits(stage: Stage) -> None:
    async with stage.open() as harness:
        (message,) = await harness.messages_to(ANNA, "hello")
    assert message.history == ["echo: hello"]
    assert stage.telegram.calls["editMessageText"] == 0


CODE = "\n".join(f"print({number}, '{'x' * 40}')" for number in range(150))
LONG = f"""# The plan

First **the code**:

```python
{CODE}
```

Then the figures:

| city | people |
|------|-------:|
| Bern | 134,000 |
| Genf | 203,000 |

{" ".join(f"Sentence {number} of the end." for number in range(100))}
"""


async def test_a_long_answer_is_split_at_the_best_place(stage: Stage) -> None:
    async with stage.open() as harness:
        stage.plan(text_answer(LONG))
        messages = await harness.messages_to(ANNA, "the plan, please")
    assert len(messages) >= 3
    assert all(len(m.text.encode("utf-16-le")) // 2 <= 4096 for m in messages)
    assert [m.is_silent for m in messages] == [False] + [True] * (len(messages) - 1)
    blocks = [
        (entity.get("language"), words)
        for message in messages
        for entity, (kind, words) in zip(message.entities, look_of(message), strict=True)
        if kind == "pre"
    ]
    code = [words for language, words in blocks if language == "python"]
    assert len(code) >= 2, "the block of code is closed and opened again"
    assert "\n".join(words.strip("\n") for words in code) == CODE
    (table,) = [words for language, words in blocks if language is None]
    assert "Bern" in table
    assert len({len(line.rstrip()) for line in table.splitlines() if "0" in line}) == 1
    whole = "\n".join(message.text for message in messages)
    assert "```" not in whole
    assert "**" not in whole
    assert "Sentence 99 of the end." in whole


async def test_a_long_answer_that_streams_keeps_its_first_message(stage: Stage) -> None:
    stage.model.pace, stage.model.deltas = 0.03, 90
    async with stage.open(TALARIA_TELEGRAM__EDIT_INTERVAL="0.1") as harness:
        stage.plan(text_answer(LONG))
        messages = await harness.messages_to(ANNA, "the plan, please")
    assert len(messages) >= 3
    assert len(messages[0].history) >= 3
    assert all(len(message.history) == 1 for message in messages[1:])
    assert "Sentence 99 of the end." in messages[-1].text


async def test_markdown_becomes_entities(stage: Stage) -> None:
    async with stage.open() as harness:
        stage.plan(
            "**Bold** 😀 and *slanted* and ~~gone~~ and `code_with_*stars*`, see"
            " [the page](https://example.org/a_b?c=d).\n\n> wise words\n\n- one\n- two_and_a_half"
        )
        (message,) = await harness.messages_to(ANNA, "show me all you have")
    assert message.text == (
        "Bold 😀 and slanted and gone and code_with_*stars*, see the page.\n\nwise words\n\n"
        "• one\n• two_and_a_half"
    )
    assert look_of(message) == [
        ("bold", "Bold"),
        ("italic", "slanted"),
        ("strikethrough", "gone"),
        ("code", "code_with_*stars*"),
        ("text_link", "the page"),
        ("blockquote", "wise words"),
    ]
    assert message.link_preview == {"is_disabled": True}


async def test_plain_text_arrives_unchanged(stage: Stage) -> None:
    text = "2 * 3 * 4 = 24 _and_so_on_ [not a link] (1.5) <b>x</b> & \\ # . ! ~ | {}"
    async with stage.open() as harness:
        stage.plan(text)
        (message,) = await harness.messages_to(ANNA, "odd characters")
    assert message.text.startswith("2 * 3 * 4 = 24 and_so_on [not a link] (1.5) <b>x</b> &")
