"""Which requests refer to the past, and what a turn then gets of it."""

import pytest

from agent_core.ids import TurnId
from agent_core.memory.recall.formatting import View
from agent_core.memory.recall.turn_recall import (
    CHARACTERS_A_TOKEN,
    RecalledMessages,
    TurnRecall,
    find_past_sentences,
)
from agent_core.state.engine.database import Connection
from agent_core.state.search.search_scope import SearchFilter
from tests.agent_core.memory.recall.conftest import Archive, Dialogue

BOILER = "The boiler makes a loud noise at night."
ASKS = "What did I say about the boiler?"
VIEW = View(zone="UTC")


async def recall(
    archive: Archive, dialogue: Dialogue, request: str, *, tokens: int = 400, seen: object = ()
) -> RecalledMessages:
    field = SearchFilter(
        person_id=dialogue.conversation.person_id, scope=dialogue.scope, except_turn=TurnId(0)
    )
    found = TurnRecall(archive.database, tokens)
    return await found.find(request, field, seen, VIEW)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "request_",
    [
        ASKS,
        "Do you remember the plumber?",
        "what's my sister's name?",
        "When is my dentist appointment?",
        "How many books have I read this year?",
        "Which hotel did you recommend?",
        "Have I ever been to Lisbon?",
        "Where was the conference?",
        "Tell me again what we agreed on for the garden.",
        "Was habe ich über die Heizung gesagt?",
        "Weißt du noch, wie der Klempner hieß?",
        "Wie heißt meine Schwester?",
        "Wann war der Zahnarzttermin?",
    ],
)
def test_a_request_that_refers_to_the_past_is_recognised(request_: str) -> None:
    assert find_past_sentences(request_)


@pytest.mark.parametrize(
    "request_",
    [
        "Hello!",
        "How do I get a stain out of my shirt?",
        "Can you help me plan my week?",
        "What should I cook for my sister?",
        "Remember that I like tea.",
        "Remind me to call my mother.",
        "What is the capital of Portugal?",
        "Translate this: thank you for the flowers.",
        "Wie kann ich meine Heizung entlüften?",
        "Was ist die Hauptstadt von Portugal?",
        "",
    ],
)
def test_a_request_for_something_new_is_not(request_: str) -> None:
    assert find_past_sentences(request_) == ()


async def test_the_messages_come_with_their_dates(archive: Archive, ann: Dialogue) -> None:
    await archive.say(ann, BOILER, "I like the garden.")
    found = await recall(archive, ann, ASKS)
    assert found.lines == (f'2026-02-02 02:41, person, telegram: "{BOILER}"',)
    assert not found.is_untrusted


async def test_a_request_about_nothing_before_searches_for_nothing(
    archive: Archive, ann: Dialogue
) -> None:
    await archive.say(ann, BOILER)
    assert await recall(archive, ann, "How should I clean the boiler?") == RecalledMessages()


async def test_a_budget_of_nothing_finds_nothing(archive: Archive, ann: Dialogue) -> None:
    await archive.say(ann, BOILER)
    assert await recall(archive, ann, ASKS, tokens=0) == RecalledMessages()


@pytest.mark.parametrize("tokens", [50, 400])
async def test_the_lines_stay_within_the_budget(
    archive: Archive, ann: Dialogue, tokens: int
) -> None:
    await archive.say(ann, *(f"{BOILER} It is visit number {n}." for n in range(30)))
    found = await recall(archive, ann, ASKS, tokens=tokens)
    assert found.lines
    size = sum(len(line) + 1 for line in found.lines)
    assert size <= tokens * CHARACTERS_A_TOKEN
    assert len(found.lines) == len(found.message_ids)


async def test_what_the_prompt_shows_is_not_repeated(archive: Archive, ann: Dialogue) -> None:
    ids = await archive.say(ann, BOILER, "The boiler was repaired by Mr Huber.")
    found = await recall(archive, ann, ASKS, seen={ids[0]})
    assert [line for line in found.lines if BOILER in line] == []
    assert ids[0] not in found.message_ids


async def test_messages_of_others_are_never_found(
    archive: Archive, ann: Dialogue, bob: Dialogue
) -> None:
    await archive.say(bob, BOILER)
    assert (await recall(archive, ann, ASKS)).lines == ()


async def test_messages_beside_words_of_others_stay_marked(archive: Archive, ann: Dialogue) -> None:
    ids = await archive.say(ann, BOILER)

    def taint(connection: Connection) -> None:
        connection.execute(
            "UPDATE turns SET is_untrusted = 1 WHERE id ="
            " (SELECT turn_id FROM messages WHERE id = :id)",
            {"id": ids[0]},
        )

    await archive.database.write("taint", taint)
    assert (await recall(archive, ann, ASKS)).is_untrusted


async def test_of_a_long_message_only_the_question_is_searched_for(
    archive: Archive, ann: Dialogue
) -> None:
    await archive.say(ann, BOILER, "The zebra crossing is dangerous.")
    letter = "A zebra is a striped animal, and the zebra lives in Africa. " * 10
    found = await recall(archive, ann, f"Please correct this: {letter}\n{ASKS}")
    assert [BOILER in line for line in found.lines] == [True]
