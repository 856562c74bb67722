"""Named agents answer in chats, write to each other, and stay separate per person."""

import asyncio
from pathlib import Path

import pytest

from tests.agent_core.execution.backends import needs_bubblewrap
from tests.emulators.streaming import Json, text_answer
from tests.emulators.telegram_cast import ANNA, BEN, SUPERGROUP
from tests.journeys.stage import (
    AT_ONCE,
    PATIENCE,
    Stage,
    call,
    calls,
    heard,
    make_owner,
    results,
    system_of,
)


def write_agent(home: Path, name: str, table: str = "", soul: str = "") -> None:
    """Write an agent's two files."""
    place = home / "agents" / name
    place.mkdir(parents=True)
    place.joinpath("agent.toml").write_text(table)
    place.joinpath("SOUL.md").write_text(soul or f"You are {name}, an agent.")


def message_agent(**arguments: object) -> Json:
    """A call of the tool, which is found by search."""
    wanted = {"name": "message_agent", "arguments": arguments}
    return {"type": "tool_use", "name": "use_tool", "input": wanted}


def is_of(body: Json, name: str) -> bool:
    """Return whether an agent made this call."""
    return f"You are {name}, an agent." in system_of(body)


def names(body: Json) -> set[str]:
    return {tool["name"] for tool in body["tools"]}


def let_coder_say(stage: Stage, text: str) -> None:
    """Answer the agent `coder` with a text, and all other calls as planned."""
    planned = stage.model.answer
    stage.model.answer = lambda body: text_answer(text) if is_of(body, "coder") else planned(body)


async def test_an_agent_answers_its_chat_in_its_own_conversation(
    stage: Stage,
) -> None:
    write_agent(stage.home, "coder", 'description = "Writes code"\ntools = ["recall", "memory"]')
    write_agent(stage.home, "broken", 'modle = "x"')
    async with stage.open() as harness:
        await harness.ask(ANNA, "my cat is Tom")
        assert "broken" not in await harness.ask(ANNA, "/agents")
        await make_owner(harness, "Anna")
        listed = await harness.ask(ANNA, "/agents")
        assert "coder: Writes code" in listed
        assert "agent.toml has an unknown key modle (did you mean model?)" in listed
        assert "The agent “coder” now answers here" in await harness.ask(ANNA, "/agents use coder")
        await harness.ask(ANNA, "write a loop")
        assert is_of(stage.turns[-1], "coder")
        assert names(stage.turns[-1]) == {"recall", "memory"}
        assert heard(stage.turns[-1]) == ["write a loop"]
        listed = await harness.ask(ANNA, "/tools")
        assert "search earlier conversations" in listed
        assert "reminders" not in listed
        assert "There's no agent called “codr”. Did you mean “coder”?" in (
            await harness.ask(ANNA, "/agents use codr")
        )
        assert "can't be used" in await harness.ask(ANNA, "/agents use broken")
    async with stage.open() as harness:
        await harness.ask(ANNA, "and another")
        assert is_of(stage.turns[-1], "coder")
        assert heard(stage.turns[-1]) == ["write a loop", "and another"]
        assert "we're in our earlier conversation" in await harness.ask(ANNA, "/agents use default")
        await harness.ask(ANNA, "what is my cat called?")
        assert not is_of(stage.turns[-1], "coder")
        assert heard(stage.turns[-1]) == ["my cat is Tom", "what is my cat called?"]


async def test_two_people_share_an_agent_but_not_its_conversation(stage: Stage) -> None:
    write_agent(stage.home, "coder")
    async with stage.open() as harness:
        for person in (ANNA, BEN):
            await harness.ask(person, "/agents use coder")
        await harness.ask(ANNA, "my secret is plum")
        await harness.ask(BEN, "hello")
        assert is_of(stage.turns[-1], "coder")
        assert "plum" not in str(stage.turns[-1])
        stage.plan(calls(call("recall", query="plum")), "Nothing.")
        await harness.ask(BEN, "what is the secret?")
        assert "my secret" not in str(stage.turns[-1])


async def test_an_agent_answers_in_a_group_once_an_owner_binds_it(stage: Stage) -> None:
    write_agent(stage.home, "coder")
    async with stage.open() as harness:
        told = await harness.ask(BEN, "/agents use coder", chat=SUPERGROUP)
        assert "Only an owner" in told
        await make_owner(harness, "Ben")
        assert "The agent “coder” now answers here" in await harness.ask(
            BEN, "/agents use coder", chat=SUPERGROUP
        )
        await harness.ask(ANNA, "@talaria_bot hello", chat=SUPERGROUP)
        assert is_of(stage.turns[-1], "coder")
        await harness.ask(ANNA, "hello")
        assert not is_of(stage.turns[-1], "coder")


async def test_an_agent_with_broken_files_says_why_it_cannot_answer(stage: Stage) -> None:
    write_agent(stage.home, "coder")
    async with stage.open() as harness:
        await harness.ask(ANNA, "/agents use coder")
        (stage.home / "agents" / "coder" / "SOUL.md").write_text("")
        told = await harness.ask(ANNA, "hello")
        assert "the agent coder can't be used: SOUL.md is empty" in told
        assert stage.turns == []
        assert await harness.ask(BEN, "hello") == "echo: hello"


async def test_agents_are_asked_by_name_or_tag_and_loops_are_refused(stage: Stage) -> None:
    write_agent(stage.home, "coder", 'tags = ["work"]')
    write_agent(stage.home, "writer", 'tags = ["work"]')
    async with stage.open() as harness:
        await harness.ask(ANNA, "/agents use writer")
        await harness.ask(ANNA, "we write in red")
        await harness.ask(ANNA, "/agents use default")
        stage.plan(
            calls(message_agent(mode="ask", to="coder", text="Which colour?")),
            calls(message_agent(mode="ask", to="writer", text="Which colour, writer?")),
            calls(message_agent(mode="ask", to="coder", text="And you?")),
            "Red.",
            "The writer says red.",
            "It is red.",
        )
        assert await harness.ask(ANNA, "which colour do we write in?") == "It is red."
        first, second, third = stage.turns[-5:-2]
        assert is_of(first, "coder")
        assert heard(first)[0].startswith("default, another assistant of the same person, asks you")
        assert is_of(second, "writer")
        assert "we write in red" in heard(second)
        assert "default → coder → writer → coder would go round in a circle" in results(third)[0]
        assert results(stage.turns[-1]) == ["## coder, answered\nThe writer says red."]
        both = calls(message_agent(mode="broadcast", tags=["work"], text="Ready?"))
        stage.plan(both, "Yes.", "Yes.", "Both are ready.")
        assert await harness.ask(ANNA, "are all ready?") == "Both are ready."
        assert results(stage.turns[-1]) == ["## coder, answered\nYes.\n\n## writer, answered\nYes."]
        await harness.ask(ANNA, "/agents use writer")
        await harness.ask(ANNA, "well?")
        assert heard(stage.turns[-1]) == ["we write in red", "well?"]


async def test_an_agent_answers_a_message_later_in_its_own_conversation(stage: Stage) -> None:
    write_agent(stage.home, "coder")
    async with stage.open() as harness:
        stage.plan(calls(message_agent(mode="tell", to="coder", text="Tidy up the shed")))
        let_coder_say(stage, "The shed is tidy.")
        await stage.telegram.says(ANNA, "let the coder tidy up")
        told = await harness.sees(ANNA, "The shed is tidy.")
        await harness.at_rest()
        assert told.text == "From coder:\n\nThe shed is tidy."
        (turn,) = [body for body in stage.turns if is_of(body, "coder")]
        assert 'default, leaves you a message and does not wait: "Tidy up the shed"' in str(turn)
        assert "no agent called “codr”. Did you mean “coder”?" in await harness.ask(
            ANNA, "/agents codr"
        )
        await harness.ask(ANNA, "/agents coder")
        await harness.ask(ANNA, "what did you do?")
        assert "The shed is tidy." in str(stage.turns[-1]["messages"])


async def test_a_restart_continues_messages_between_agents(stage: Stage) -> None:
    write_agent(stage.home, "coder")
    released = asyncio.Event()

    async def wait(body: Json) -> None:
        if is_of(body, "coder"):
            async with asyncio.timeout(PATIENCE):
                await released.wait()

    async with stage.open(TALARIA_TURNS__DRAIN_SECONDS=AT_ONCE) as harness:
        stage.model.before = wait
        stage.plan(
            calls(
                message_agent(mode="tell", to="coder", text="Remember the milk"),
                message_agent(mode="ask", to="coder", text="Is it done?"),
            )
        )
        await harness.notes(stage.telegram.says(ANNA, "ask the coder"))
        await harness.until(lambda: sum(is_of(body, "coder") for body in stage.turns) == 2)
    released.set()
    stage.plan("The coder is done.")
    let_coder_say(stage, "I have it.")
    async with stage.open() as harness:
        await harness.sees(ANNA, "The coder is done.")
        await harness.sees(ANNA, "From coder:")
        await harness.at_rest()
        assert await harness.count("turns", "state = 'running'") == 0
    texts = [message.text for message in stage.telegram.messages(ANNA)]
    assert sorted(texts) == ["From coder:\n\nI have it.", "The coder is done."]


async def test_an_agent_answers_a_group_where_it_was_asked(stage: Stage) -> None:
    write_agent(stage.home, "coder")
    async with stage.open() as harness:
        await harness.ask(ANNA, "my secret is plum")
        stage.plan(calls(message_agent(mode="tell", to="coder", text="Count the chairs")))
        let_coder_say(stage, "Nine chairs.")
        await stage.telegram.says(ANNA, "@talaria_bot count the chairs", chat=SUPERGROUP)
        told = await harness.sees(SUPERGROUP, "Nine chairs.")
        assert told.text == "From coder:\n\nNine chairs."
        await harness.at_rest()
        (turn,) = [body for body in stage.turns if is_of(body, "coder")]
        assert "plum" not in str(turn)


@pytest.mark.process
@needs_bubblewrap
async def test_a_restart_in_the_middle_of_a_question_repeats_no_command(stage: Stage) -> None:
    write_agent(stage.home, "coder")
    released = asyncio.Event()

    async def wait(body: Json) -> None:
        if is_of(body, "coder") and len(body["messages"]) == 3:
            async with asyncio.timeout(PATIENCE):
                await released.wait()

    acting = {"TALARIA_TOOLS__BACKEND": "local"}
    async with stage.open(TALARIA_TURNS__DRAIN_SECONDS=AT_ONCE, **acting) as harness:
        stage.model.before = wait
        stage.plan(
            calls(message_agent(mode="ask", to="coder", text="Count to one")),
            calls(call("terminal", command="echo one >> counted")),
        )
        await harness.notes(stage.telegram.says(ANNA, "let the coder count"))
        await harness.until(lambda: len(stage.turns) == 3)
    released.set()
    stage.plan("Counted.", "It has counted.")
    async with stage.open(**acting) as harness:
        await harness.sees(ANNA, "It has counted.")
        await harness.at_rest()
        assert results(stage.turns[-1]) == ["## coder, answered\nCounted."]
    assert (stage.home / "workspaces" / "anna" / "counted").read_text() == "one\n"
    assert [message.text for message in stage.telegram.messages(ANNA)] == ["It has counted."]


async def test_agents_share_the_blocks_that_their_files_name(stage: Stage) -> None:
    write_agent(stage.home, "coder", 'blocks = ["projects"]')
    write_agent(stage.home, "writer", 'blocks = ["projects"]')
    write_agent(stage.home, "stranger", "blocks = []")
    note = {"action": "add", "target": "block:projects", "text": "The shed is red."}
    async with stage.open() as harness:
        await harness.ask(ANNA, f"/claim {harness.gateway.claim_code}")
        await harness.ask(ANNA, "/block new projects 500 what we build")
        await harness.ask(ANNA, "/agents coder")
        stage.plan(calls(call("memory", **note)), "Noted.")
        assert "Noted." in await harness.ask(ANNA, "my shed: The shed is red.")
        for name, sees in (("writer", True), ("stranger", False)):
            await harness.ask(ANNA, f"/agents {name}")
            await harness.ask(ANNA, "hello")
            assert is_of(stage.turns[-1], name)
            assert ("The shed is red." in system_of(stage.turns[-1])) == sees
