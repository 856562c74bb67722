"""What a turn that refers to the past gets of it, in a running gateway."""

from pathlib import Path
from typing import Any

from agent_core.models.contract import ModelRequest
from agent_core.transcript import TextPart
from gateway.texts import privacy
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.accounts import count
from tests.integration.canaries import search
from tests.integration.harness import Harness, running
from tests.integration.privacy.deletions import settled
from tests.integration.turns.rebuilt import rebuild, see

BOILER = "The boiler makes a loud noise"
ASKS = "What did I say about the boiler?"
NOTE = [{"kind": "document", "file_id": "note", "name": "note.txt"}]


def facts(request: ModelRequest) -> str:
    """Return the facts in front of the last message of a person."""
    said = [message for message in request.messages if message.role == "user"][-1]
    return "\n".join(p.text for p in said.parts if isinstance(p, TextPart) and p.is_fact)


async def talk(harness: Harness, text: str, answer: str, **fields: Any) -> None:
    harness.model.plays.append(say(answer))
    await harness.chat.says(text, **fields)
    await harness.chat.sees_text(answer)
    await harness.at_rest()


async def test_the_first_step_has_what_was_said_with_its_date(tmp_path: Path) -> None:
    model = FakeModel()
    async with running(tmp_path, model) as harness:
        await talk(harness, BOILER, "I see.")
        await harness.chat.says("/new")
        await talk(harness, "hello", "Hi there.")
        await talk(harness, ASKS, "That it is loud.")
        await talk(harness, "thanks", "Welcome.")
    first, _, recalled, after = model.requests
    assert "Said before; if you use it, say when it was said (" in facts(recalled)
    assert f'person, fake: "{BOILER}"' in facts(recalled)
    assert "Said before" not in facts(first) + facts(after)
    assert len({request.system for request in model.requests}) == 1, "the prompt stays cached"
    assert rebuild(tmp_path) == [see(request) for request in model.requests]


async def test_what_the_conversation_shows_already_is_not_added(tmp_path: Path) -> None:
    model = FakeModel()
    async with running(tmp_path, model) as harness:
        await talk(harness, BOILER, "I see.")
        await talk(harness, ASKS, "That it is loud.")
    assert "Said before" not in facts(model.requests[-1])


async def test_the_tokens_have_a_line_of_their_own_in_usage(tmp_path: Path) -> None:
    async with running(tmp_path, FakeModel()) as harness:
        await talk(harness, BOILER, "I see.")
        await harness.chat.says("/usage")
        assert "Recall" not in (await harness.chat.sees_text("**Today**")).text
        await harness.chat.says("/new")
        await talk(harness, ASKS, "That it is loud.")
        (line,) = facts(harness.model.requests[-1]).partition("Said before")[2].splitlines()[1:2]
        await harness.chat.says("/usage")
        tokens = (len(line) + 1) // 4
        await harness.chat.sees_text(
            f"- Looked up: about {tokens} tokens of earlier messages for 1 answer"
        )


async def test_a_setting_turns_it_off(tmp_path: Path) -> None:
    model = FakeModel()
    async with running(tmp_path, model, TALARIA_MEMORY__RECALL_TOKENS="0") as harness:
        await talk(harness, BOILER, "I see.")
        await harness.chat.says("/new")
        await talk(harness, ASKS, "I don't know.")
    assert "Said before" not in facts(model.requests[-1])


async def test_a_person_who_switched_the_tool_off_gets_nothing(tmp_path: Path) -> None:
    model = FakeModel()
    async with running(tmp_path, model) as harness:
        await talk(harness, BOILER, "I see.")
        await harness.chat.says("/tools off recall")
        await harness.at_rest()
        await harness.chat.says("/new")
        await talk(harness, ASKS, "I don't know.")
    assert "Said before" not in facts(model.requests[-1])


async def test_a_group_sees_only_what_was_said_there(tmp_path: Path) -> None:
    model = FakeModel()
    here = {"chat": "room", "direct": False}
    async with running(tmp_path, model, chat=FakeChat(people=3)) as harness:
        await talk(harness, f"{BOILER}, and my doctor knows", "I see.")
        await talk(harness, "The boiler of the office is new", "Fine.", **here)
        await harness.chat.says("/new", **here)
        await talk(harness, ASKS, "It is new.", **here)
    asked = model.requests[-1]
    assert "The boiler of the office is new" in facts(asked)
    assert "doctor" not in facts(asked)


async def test_words_of_others_stay_words_of_others(tmp_path: Path) -> None:
    """A change after such a recall is a proposal, as in the conversation that it comes from."""
    model = FakeModel()
    chat = FakeChat(attached={"note": b"The boiler key is under the mat."})
    async with running(tmp_path, model, chat=chat) as harness:
        await talk(
            harness, "boiler: read this", "The boiler key is under the mat.", attachments=NOTE
        )
        await harness.chat.says("/new")
        await harness.at_rest()
        remember = '{"action": "add", "target": "memory", "text": "Key: under the mat."}'
        model.plays += [ask(call("memory", remember)), say("Done.")]
        await harness.chat.says("What did you say about the boiler?")
        await harness.chat.sees_text("so I ask before I change anything")
        assert "Said before, may hold words of others" in facts(model.requests[-2])
        assert await count(harness, "ledger", "target = 'memory'") == 0


async def test_forgotten_words_leave_the_facts_too(tmp_path: Path) -> None:
    model = FakeModel()
    async with running(tmp_path, model) as harness:
        await talk(harness, BOILER, "I see.")
        await harness.chat.says("/new")
        await talk(harness, ASKS, "That it is loud.")
        await harness.chat.says("/forget boiler")
        await harness.chat.sees_text("I found these words")
        await harness.chat.press(privacy.FORGET_ALL())
        await harness.chat.sees_text("Deleted:")
        await harness.at_rest()
        held = "parts LIKE '%boiler%' OR text LIKE '%boiler%'"
        assert await count(harness, "messages", held) == 0


async def test_a_message_that_only_quotes_forgotten_words_keeps_its_own(tmp_path: Path) -> None:
    model, said_first = FakeModel(), "The bluefish makes a loud noise"
    async with running(tmp_path, model) as harness:
        await talk(harness, said_first, "I see.")
        await harness.chat.says("/new")
        await talk(harness, "What did I say about the loud noise?", "That it is there.")
        assert said_first in facts(model.requests[-1])
        await harness.chat.says("/forget bluefish")
        asked = (await harness.chat.sees_text("I found these words")).text
        assert "- Messages: 1\n- What I added to other messages for myself: 1\n" in asked
        assert said_first in asked
        assert "loud noise?" not in asked, "it stays"
        await harness.chat.press(privacy.FORGET_ALL())
        done = (await harness.chat.sees_text("Deleted:")).text
        assert "- Messages: 1\n- What I added to other messages for myself: 1\n" in done
        await settled(harness)
        await talk(harness, "and now?", "Still there.")
        asked_again = model.requests[-1]
        said = [one.text for one in asked_again.messages if one.role == "user"]
        assert said == ["What did I say about the loud noise?", "and now?"]
        assert "[forgotten]" in see(asked_again).messages[0][1]
        await harness.chat.says("/forget noise")
        assert "- Messages: 1\n" in (await harness.chat.sees_text("loud noise?")).text
    assert rebuild(tmp_path)[-1] == see(asked_again)
    assert search(tmp_path, "bluefish") == []
    assert search(tmp_path, "loud noise?") != []


async def test_words_that_are_only_quoted_are_found_and_counted(tmp_path: Path) -> None:
    model = FakeModel()
    async with running(tmp_path, model) as harness:
        quoted = {"quote": {"author": "Ben", "text": "first\nbluefish", "is_ours": False}}
        await talk(harness, "what is this?", "A fish.", **quoted)
        assert "bluefish" in facts(model.requests[-1])
        await harness.chat.says("/forget bluefish")
        asked = (await harness.chat.sees_text("I found these words")).text
        assert "- What I added to other messages for myself: 1\n" in asked
        await harness.chat.press(privacy.FORGET_ALL())
        await harness.chat.sees_text("Deleted:")
        await settled(harness)
        assert await count(harness, "messages", "text = 'what is this?'") == 1
    assert search(tmp_path, "bluefish") == []
