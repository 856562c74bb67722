"""Memory: the conversation itself, the two files, and messages from weeks ago."""

import asyncio
from pathlib import Path

from agent_core.state.engine.database import now
from tests.emulators.telegram_cast import ANNA, BEN
from tests.journeys.stage import Stage, call, calls, heard, results, system_of

WEEK = 7 * 86_400_000
HOUR = 3_600_000


def move_clock(stage: Stage, milliseconds: int) -> None:
    """Move the clock of gateways opened from now on."""
    stage.now = lambda: now() + milliseconds


def file_of(stage: Stage, name: str, person: str = "anna") -> Path:
    return stage.home / "memories" / "people" / person / name


async def test_a_conversation_continues_after_a_restart(stage: Stage) -> None:
    stage.plan("A fine name.")
    async with stage.open() as harness:
        assert await harness.ask(ANNA, "my boat is called Pelikan") == "A fine name."
    stage.plan("Pelikan.")
    async with stage.open() as harness:
        assert await harness.ask(ANNA, "what is my boat called?") == "Pelikan."
    before, after = stage.turns
    assert heard(after) == ["my boat is called Pelikan", "what is my boat called?"]
    assert before["system"] == after["system"]
    assert before["tools"] == after["tools"]


async def test_memories_are_in_the_files_and_in_the_next_prompt(
    stage: Stage,
) -> None:
    async with stage.open() as harness:
        stage.plan(
            calls(
                call("memory", action="add", target="user", text="Was born near Bergen"),
                call("memory", action="add", target="memory", text="The shed key hangs inside"),
            ),
            "I'll keep both in mind.",
        )
        told = await harness.ask(ANNA, "born near Bergen, and the key is inside")
        assert told.split("\n") == [
            "I'll keep both in mind.",
            "",
            "📝 Remembered: Was born near Bergen",
            "📝 Remembered: The shed key hangs inside",
        ]
        assert "Added to `user`" in results(stage.turns[-1])[0]
        assert "Added to `memory`" in results(stage.turns[-1])[1]
        assert "born near Bergen" in file_of(stage, "USER.md").read_text()
        assert "shed key" in file_of(stage, "MEMORY.md").read_text()

        await harness.ask(ANNA, "still the same session")
        assert "Bergen" not in system_of(stage.turns[-1])
        await harness.ask(ANNA, "/new")
        await harness.ask(ANNA, "hello")
        assert "- Was born near Bergen" in system_of(stage.turns[-1])
        assert "- The shed key hangs inside" in system_of(stage.turns[-1])

        stage.plan(
            calls(
                call(
                    "memory", action="replace", target="user", old="Bergen", text="Was born in Oslo"
                ),
                call("memory", action="remove", target="memory", old="shed key"),
            )
        )
        await harness.ask(ANNA, "it was Oslo")
        assert "Was born in Oslo" in file_of(stage, "USER.md").read_text()
        assert "Bergen" not in file_of(stage, "USER.md").read_text()
        assert "shed" not in file_of(stage, "MEMORY.md").read_text()
        assert await harness.count("ledger", "target <> 'soul'") == 4


async def test_a_full_memory_is_reported_with_its_entries(stage: Stage) -> None:
    async with stage.open() as harness:
        stage.plan(
            calls(call("memory", action="add", target="user", text="Collects stamps")),
            calls(call("memory", action="add", target="user", text="x" * 1400)),
            "That was too much.",
        )
        told = await harness.ask(ANNA, "remember all of it")
        assert told == "That was too much.\n\n📝 Remembered: Collects stamps"
        (refused,) = results(stage.turns[-1])
        assert "1,375" in refused
        assert "Consolidate" in refused
        assert "Collects stamps" in refused
        assert "xxx" not in file_of(stage, "USER.md").read_text()


async def test_a_file_edited_by_hand_is_in_the_next_session(stage: Stage) -> None:
    async with stage.open() as harness:
        stage.plan(calls(call("memory", action="add", target="memory", text="The cat is Mitzi")))
        await harness.ask(ANNA, "the cat is Mitzi")
        path = file_of(stage, "MEMORY.md")
        text = await asyncio.to_thread(path.read_text)
        await asyncio.to_thread(path.write_text, text.replace("Mitzi", "Maunz"))
        await harness.ask(ANNA, "/new")
        await harness.ask(ANNA, "hello")
        assert "The cat is Maunz" in system_of(stage.turns[-1])
        assert "Mitzi" not in system_of(stage.turns[-1])
        assert await harness.count("ledger", "actor = 'hand'") > 0


async def test_the_prompt_is_rebuilt_once_the_cache_has_expired(stage: Stage) -> None:
    async with stage.open() as harness:
        stage.plan(calls(call("memory", action="add", target="memory", text="The cat is Mitzi")))
        await harness.ask(ANNA, "the cat is Mitzi")
    move_clock(stage, HOUR)
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello again")
    assert "The cat is Mitzi" in system_of(stage.turns[-1])
    assert heard(stage.turns[-1]) == ["the cat is Mitzi", "hello again"]


async def test_old_messages_are_found_by_their_own_person_only(stage: Stage) -> None:
    move_clock(stage, -3 * WEEK)
    async with stage.open() as harness:
        stage.plan("I hope they hold.")
        await harness.ask(ANNA, "the plumber, Mr Okonkwo, soldered the pipes")
        await harness.ask(BEN, "our plumber is a Mrs Sanchez")
        await harness.ask(ANNA, "/new")
    move_clock(stage, 0)
    async with stage.open() as harness:
        await harness.ask(ANNA, "hello")
        stage.plan(calls(call("recall", query="plumber")), "It was Mr Okonkwo.")
        assert await harness.ask(ANNA, "who was the plumber?") == "It was Mr Okonkwo."
        (found,) = results(stage.turns[-1])
        assert "Found 1 message" in found
        assert "Okonkwo" in found
        assert "Sanchez" not in found
        assert "Okonkwo" not in str(heard(stage.turns[-1]))


async def test_the_soul_and_context_files_are_in_the_prompt(stage: Stage, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("Answer in rhymes.")
    async with stage.open(TALARIA_PROMPT__FOLDER=str(folder)) as harness:
        await harness.ask(ANNA, "hello")
    soul = stage.home / "SOUL.md"
    assert "You are Talaria" in soul.read_text()
    assert "You are Talaria" in system_of(stage.turns[-1])
    assert "Answer in rhymes." in system_of(stage.turns[-1])
    soul.write_text("You are Jeeves.")
    async with stage.open(TALARIA_PROMPT__FOLDER=str(folder)) as harness:
        await harness.ask(ANNA, "/new")
        await harness.ask(ANNA, "hello")
    assert system_of(stage.turns[-1]).startswith("You are Jeeves.")
    assert soul.read_text() == "You are Jeeves."
