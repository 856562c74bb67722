"""The team's memory is in every prompt; only owners change or approve it."""

import asyncio
import json
from pathlib import Path

import pytest

from agent_core.models.contract import ModelRequest
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks, ledger
from agent_core.state.memory.ledger import LedgerEntry
from gateway.texts import general
from tests.fakes.chat import FakeChat, Shown
from tests.fakes.model import FakeModel, Play, ask, call, say
from tests.integration.model_requests import facts, results
from tests.integration.shared_harness import SharedHarness, shared_harness
from tests.patience import PATIENCE

HEADING = "## MEMORY.md of the team ["
RENT = {"action": "add", "target": "team", "text": "Rent is due on Monday"}


def write(**arguments: object) -> Play:
    return ask(call("memory", json.dumps(arguments)))


def plays(*more: Play) -> FakeModel:
    """A model that greets two people, and then plays these."""
    return FakeModel(say("Hi."), say("Hi."), *more)


async def add_people(here: SharedHarness) -> None:
    """Add Ann, a member, and Cleo, the owner; both have written in private."""
    await here.says("ann", "hello")
    await here.says("cleo", "hello")
    await here.make_owner("cleo")
    here.harness.chat.shown.clear()


async def asked(here: SharedHarness) -> Shown:
    """Return the question, once a turn waits for its answer."""
    await here.harness.until(lambda: bool(here.harness.gateway.questions.answers._futures))
    return await here.harness.chat.sees_text("wants to change the notes that apply to everyone")


async def rows(here: SharedHarness) -> list[LedgerEntry]:
    def look(connection: Connection) -> list[LedgerEntry]:
        team = blocks.find_team(connection)
        assert team
        return ledger.find_entries(connection, person_id=team, target="memory")

    return await here.harness.read(look)


def file(home: Path) -> Path:
    return home / "memories" / "team" / "MEMORY.md"


def show(request: ModelRequest) -> str:
    """Return the team's list in a prompt."""
    return request.system.partition(HEADING)[2].partition("\n#")[0]


async def test_it_is_in_every_prompt_with_its_size_and_limit(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        assert show((await here.asks("ann", "hi"))[0]) == "0/2,200 characters]\n"
        file(tmp_path).parent.mkdir(parents=True)
        file(tmp_path).write_text("- Rent is due on Monday\n")
        reported, *_ = await here.asks("ann", "and now?")
        assert 'New in team: ["Rent is due on Monday"]' in facts(reported)
        shown = "24/2,200 characters]\n- Rent is due on Monday\n"
        assert show((await here.asks("bob", "hi"))[0]) == shown
        for who in ("ann", "bob"):
            assert show((await here.asks(who, "hi", room="den"))[0]) == shown


async def test_an_owners_request_needs_no_approval(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, plays(write(**RENT), say("Noted."), say("Hi."))) as here:
        await add_people(here)
        await here.says("cleo", "rent is due on Monday, note that for all")
        assert results(here.model) == ["Added to `team`. It holds 1 entry, 24/2,200 characters."]
        assert file(tmp_path).read_text() == "- Rent is due on Monday\n"
        (row,) = await rows(here)
        assert row.origin.evidence.startswith("rent is due")
        (request,) = await here.asks("ann", "hi")
        assert 'New in team: ["Rent is due on Monday"]' in facts(request)


async def test_a_members_request_is_approved_in_an_owners_chat(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path, plays(write(**RENT), say("Noted."))) as here:
        await add_people(here)
        chat = here.harness.chat
        await chat.says("rent is due", user="ann", name="ann", chat="ann")
        question = await asked(here)
        assert question.chat_id == "cleo"
        assert question.text == (
            "ann wants to change the notes that apply to everyone here:\n"
            "```\n+ Rent is due on Monday\n```"
        )
        assert general.OWNER_ASKED() in [one.text for one in chat.shown if one.chat_id == "ann"]
        assert not file(tmp_path).exists()
        await chat.press("Approve", user="cleo", name="cleo", chat="cleo")
        await chat.sees_text("Noted.")
        assert file(tmp_path).read_text() == "- Rent is due on Monday\n"
        assert question.text.endswith("→ Approve (cleo)")


async def test_a_rejection_changes_nothing_and_reaches_the_model(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, plays(write(**RENT), say("Sorry."))) as here:
        await add_people(here)
        await here.harness.chat.says("rent is due", user="ann", name="ann", chat="ann")
        await asked(here)
        await here.harness.chat.press("Refuse", user="cleo", name="cleo", chat="cleo")
        await here.harness.chat.sees_text("Sorry.")
        assert results(here.model) == ["Nothing was changed in `team`: an owner refused it."]
        assert not file(tmp_path).exists()


async def test_nobody_but_an_owner_can_press(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, plays(write(**RENT), say("Sorry."))) as here:
        await add_people(here)
        chat = here.harness.chat
        await chat.says("rent is due", user="ann", name="ann", chat="ann")
        question = await asked(here)
        await chat.press_key(
            question.keyboard[0].key, question.id, user="ann", name="ann", chat="cleo"
        )
        await chat.sees_text(general.QUESTION_NOT_YOURS())
        assert not file(tmp_path).exists()
        await chat.press("Refuse", user="cleo", name="cleo", chat="cleo")
        await chat.sees_text("Sorry.")


async def test_without_a_reachable_owner_it_is_rejected(tmp_path: Path) -> None:
    async with shared_harness(
        tmp_path, FakeModel(say("Hi."), write(**RENT), say("Sorry."))
    ) as here:
        await here.says("ann", "hello")
        await here.says("ann", "rent is due")
        (said,) = results(here.model)
        assert said.endswith(
            "an owner must approve it, and no owner can be reached in a direct chat."
        )
        assert not file(tmp_path).exists()


async def test_an_invalid_edit_is_shown_to_nobody(tmp_path: Path) -> None:
    gone = {"action": "remove", "target": "team", "old": "nothing"}
    async with shared_harness(tmp_path, plays(write(**gone), say("Sorry."))) as here:
        await add_people(here)
        await here.says("ann", "drop that")
        assert results(here.model) == ["Refused: `team` has no entries."]


async def test_from_a_room_an_owner_is_asked_in_private(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, plays(write(**RENT), say("Noted."))) as here:
        await add_people(here)
        chat = here.harness.chat
        await chat.says("rent is due", user="cleo", name="cleo", chat="den", direct=False)
        await chat.sees_text("Noted.")
        assert file(tmp_path).exists(), "an owner's own wish needs no leave"


async def test_here_does_not_move_the_question(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, plays(write(**RENT), say("Noted."))) as here:
        await add_people(here)
        chat = here.harness.chat
        await chat.says("rent is due", user="ann", name="ann", chat="ann")
        question = await asked(here)
        await chat.says("/here", user="ann", name="ann", chat="ann2")
        await here.harness.until(here.harness.gateway.router.is_idle)
        assert question.labels == ["Approve", "Refuse"]
        await chat.press("Approve", user="cleo", name="cleo", chat="cleo")
        answer = await chat.sees_text("Noted.")
        assert answer.chat_id == "ann2"


async def test_an_approval_survives_a_restart_for_the_shown_text_only(tmp_path: Path) -> None:
    chat = FakeChat()
    async with shared_harness(tmp_path, plays(write(**RENT)), chat) as here:
        await add_people(here)
        await chat.says("rent is due", user="ann", name="ann", chat="ann")
        await asked(here)
    chat.inlet = None
    async with shared_harness(tmp_path, FakeModel(say("Noted.")), chat) as here:
        await asked(here)
        await chat.press("Approve", user="cleo", name="cleo", chat="cleo")
        await chat.sees_text("Noted.")
        assert file(tmp_path).read_text() == "- Rent is due on Monday\n"
        assert len(await rows(here)) == 1


@pytest.mark.parametrize("action", ["approve", "hand"])
async def test_an_approval_of_another_state_does_nothing(tmp_path: Path, action: str) -> None:
    chat = FakeChat()
    change = {"action": "replace", "target": "team", "old": "Rent", "text": "Rent is paid"}
    file(tmp_path).parent.mkdir(parents=True)
    file(tmp_path).write_text("- Rent is due on Monday\n")
    async with shared_harness(tmp_path, plays(write(**change)), chat) as here:
        await add_people(here)
        await chat.says("rent is paid", user="ann", name="ann", chat="ann")
        await asked(here)
    chat.inlet = None
    if action == "hand":
        file(tmp_path).write_text("- Rent is due on Tuesday\n")
    async with shared_harness(tmp_path, FakeModel(say("I see.")), chat) as here:
        await asked(here)
        await chat.press("Approve", user="cleo", name="cleo", chat="cleo")
        await chat.sees_text("I see.")
        said = "Rent is paid" if action == "approve" else "Rent is due on Tuesday"
        assert file(tmp_path).read_text() == f"- {said}\n"
        reported = "differs from the one that an owner was shown" in results(here.model)[0]
        assert reported == (action == "hand")


async def test_a_batch_is_applied_completely_or_not_at_all(tmp_path: Path) -> None:
    good = [{"action": "add", "text": "One"}, {"action": "add", "text": "Two"}]
    bad = [*good, {"action": "remove", "old": "Three"}]
    model = plays(
        write(action="batch", target="team", edits=bad),
        write(action="batch", target="team", edits=good),
        write(action="rewrite", target="team", text="- Two\n- Three"),
        say("Done."),
    )
    async with shared_harness(tmp_path, model) as here:
        await add_people(here)
        await here.says("cleo", "note that")
        refused, made, rewritten = results(model)
        head = "Nothing was changed, because of edit 3. Refused: `old` matches no entry"
        assert refused.startswith(head)
        assert made == "Made 2 edits of `team`. It holds 2 entries, 12/2,200 characters."
        assert rewritten == "Rewritten: `team`. It holds 2 entries, 14/2,200 characters."
        assert file(tmp_path).read_text() == "- Two\n- Three\n"
        assert [row.change.after for row in await rows(here)][:2] == ["One", "Two"]


async def test_two_requests_are_two_questions(tmp_path: Path) -> None:
    other = {**RENT, "text": "Bins go out on Friday"}
    both = ask(call("memory", json.dumps(RENT), "c1"), call("memory", json.dumps(other), "c2"))
    async with shared_harness(tmp_path, plays(both, say("Both asked."))) as here:
        await add_people(here)
        chat = here.harness.chat
        await chat.says("note both", user="ann", name="ann", chat="ann")
        await here.harness.until(lambda: len(here.harness.gateway.questions.answers._futures) == 2)
        async with asyncio.timeout(PATIENCE):
            for word in ("Rent", "Bins"):
                question = await chat.sees_text(f"+ {word}")
                key = question.keyboard[0 if word == "Rent" else 1].key
                await chat.press_key(key, question.id, user="cleo", name="cleo", chat="cleo")
        await chat.sees_text("Both asked.")
        assert file(tmp_path).read_text() == "- Rent is due on Monday\n"


NOTE = [{"kind": "document", "file_id": "note", "name": "note.txt"}]


def chat_with_note() -> FakeChat:
    return FakeChat(attached={"note": b"Save that the rent is due."})


async def test_an_owner_reads_whose_words_are_behind_a_change(tmp_path: Path) -> None:
    chat = chat_with_note()
    async with shared_harness(tmp_path, plays(write(**RENT), say("Saved.")), chat) as here:
        await add_people(here)
        await chat.says("read this", user="ann", name="ann", chat="ann", attachments=NOTE)
        question = await asked(here)
        assert question.text.endswith("Before this, I had read the file `note.txt`.")
        await chat.press("Approve", user="cleo", name="cleo", chat="cleo")
        await chat.sees_text("Saved.")
        assert [row.origin.sources for row in await rows(here)] == [("file:“note.txt”",)]


async def test_an_owner_s_own_change_after_a_file_is_only_proposed(tmp_path: Path) -> None:
    chat = chat_with_note()
    async with shared_harness(tmp_path, plays(write(**RENT), say("Read.")), chat) as here:
        await add_people(here)
        await chat.says("read this", user="cleo", name="cleo", chat="cleo", attachments=NOTE)
        question = await chat.sees_text("so I ask before I change anything")
        assert not file(tmp_path).exists()
        await chat.press("Accept", user="cleo", name="cleo", chat="cleo")
        await chat.until(lambda: "Accept" not in question.labels)
        await here.harness.until(file(tmp_path).exists)
        assert file(tmp_path).read_text() == "- Rent is due on Monday\n"
