"""What a person declined stays declined, however much that is."""

import json
import time

import pytest

from agent_core.agent.review.claim_check import Claim
from agent_core.agent.review.declined import check_declined
from agent_core.chats import Chat
from agent_core.ids import MessageId, QuestionId
from agent_core.state.conversations import questions
from agent_core.state.conversations.questions import NewQuestion
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import Change, Origin
from tests.agent_core.agent.review.rig import NOW, Rig

BOAT = "Owns three boats"
MANY = 10_000


def claim(text: str, quote: str) -> Claim:
    return Claim(target="user", text=text, quote=quote, message_id=MessageId(1))


def dismiss(connection: Connection, rig: Rig, text: str, quote: str) -> QuestionId:
    """Ask about a note, and dismiss it."""
    arguments = json.dumps({"action": "add", "target": "user", "text": text}, ensure_ascii=False)
    new = NewQuestion(
        person_id=rig.person_id,
        chat=Chat(platform="fake", address="1"),
        kind="proposal",
        text=f"Should I remember this?\n\n{text}\n\nYou wrote: `{quote}`",
        choices=(),
        secret="00000000",
        expires_at=NOW,
        payload=json.dumps({"tool": "memory", "arguments": arguments}, ensure_ascii=False),
    )
    asked = questions.ask(connection, new, now=NOW)
    questions.answer(connection, question_id=asked.id, key="dismiss", by=rig.person_id, now=NOW)
    return asked.id


async def check(rig: Rig, text: str, quote: str) -> str | None:
    return await rig.database.write(
        "check", lambda c: check_declined(c, person_id=rig.person_id, claim=claim(text, quote))
    )


async def test_a_dismissed_note_needs_new_words_twice(rig: Rig) -> None:
    await rig.database.write("dismiss", dismiss, rig, BOAT, "boats, three of them")
    assert await check(rig, "Plays chess", "I play chess") is None
    for quote in ("boats, three of them", "my three boats", "my three boats"):
        assert await check(rig, "Owns boats, three", quote) == "dismissed"
    assert await check(rig, BOAT, "I still have the boats") == "again"


@pytest.mark.parametrize("actor", ["hand", "person", "account:telegram:7"])
async def test_what_a_person_removed_returns_only_with_a_yes(rig: Rig, actor: str) -> None:
    def remove(connection: Connection) -> None:
        for change, by in (
            (Change(operation="add", position=0, before=None, after=BOAT), "turn:1"),
            (Change(operation="remove", position=0, before=BOAT, after=None), actor),
        ):
            ledger.record(
                connection,
                person_id=rig.person_id,
                target="user",
                change=change,
                origin=Origin(actor=by, now=NOW),
            )

    await rig.database.write("remove", remove)
    assert await check(rig, "Owns three boats", "I own three boats") == "undone"
    assert await check(rig, "Sails on lakes", "I sail on lakes") is None


async def test_ten_thousand_dismissed_notes_cost_little(rig: Rig) -> None:
    def fill(connection: Connection) -> None:
        dismiss(connection, rig, BOAT, "boats")
        for number in range(MANY):
            dismiss(connection, rig, f"Bought ticket {number} for the tram", f"ticket {number}")

    await rig.database.write("fill", fill)
    began = time.process_time()
    assert await check(rig, BOAT, "boats") == "dismissed"
    assert await check(rig, "Reads novels at night", "I read novels") is None
    assert time.process_time() - began < 1
