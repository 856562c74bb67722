"""An assistant in a program: it remembers, finds, keeps people apart, and survives a kill."""

import asyncio
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_core import AgentOptions, AIAgent
from agent_core.errors import ModelDenied, ModelUnreachable
from agent_core.library.memory_store import MemoryRefused
from tests.architecture.source import ROOT
from tests.fakes.model import FakeModel, ask, call, say

STAND_IN = "scripted:stand-in"


async def test_it_remembers_and_finds(tmp_path: Path) -> None:
    async with AIAgent.open(tmp_path, model=STAND_IN) as agent:
        await agent.chat("Remember that my bike is green.")
        assert "bike is green" in await agent.chat("What do you know about me?")
    async with AIAgent.open(tmp_path, model=STAND_IN) as agent:
        assert await (await agent.memory()).read() == ("my bike is green",)
        found = await (await agent.sessions()).search_messages("bike")
        assert any(one.role == "user" for one in found)


async def test_the_program_changes_memory_and_takes_it_back(tmp_path: Path) -> None:
    async with AIAgent.open(tmp_path, model=STAND_IN) as agent:
        memory = await agent.memory()
        await memory.add("user", "Likes tea.")
        await memory.replace("user", "tea", "Likes coffee.")
        assert await memory.read("user") == ("Likes coffee.",)
        await memory.undo()
        assert await memory.read("user") == ("Likes tea.",)
        with pytest.raises(MemoryRefused, match="No entry contains these words"):
            await memory.remove("user", "beer")


async def test_half_of_a_character_is_a_message_like_any_other(tmp_path: Path) -> None:
    model = FakeModel(say("Sunny."), say("Rainy."))
    options = AgentOptions(instructions="Be kind \ud83d always.")
    async with AIAgent.open(tmp_path, model=("fake-1", model), options=options) as agent:
        assert await agent.chat("Weather \ud83d today?") == "Sunny."
        assert await agent.chat("\ud83d\ude00 and now?") == "Rainy."
        said = [one.messages[-1].text for one in model.requests]
        assert "Weather \ufffd today?" in said[0]
        assert "\U0001f600 and now?" in said[1]
        assert "Be kind \ufffd always." in model.requests[0].system
        memory, sessions = await agent.memory(), await agent.sessions()
        with pytest.raises(MemoryRefused, match="it contains a control character"):
            await memory.add("memory", "half \ud83d")
        with pytest.raises(MemoryRefused, match="No entry contains these words"):
            await memory.remove("memory", "half \ud83d")
        assert await sessions.search_messages("Weather \ud83d")
        with pytest.raises(ValueError, match="The name of the person holds half of a character"):
            await agent.chat("Hello!", person="ada \ud83d")
    with pytest.raises(ValueError, match="The name of the model holds half of a character"):
        async with AIAgent.open(tmp_path, model=("fake \ud83d", model)):
            pass


async def test_people_see_nothing_of_each_other(tmp_path: Path) -> None:
    async with AIAgent.open(tmp_path, model=STAND_IN) as agent:
        await agent.chat("Remember that my bike is green.", person="ada")
        bob = await agent.sessions(person="bob")
        assert not await bob.search_messages("bike")
        ada = (await (await agent.sessions(person="ada")).list_sessions())[0]
        assert not await bob.get_messages(ada.session_id)
        assert await (await agent.memory(person="bob")).read() == ()


async def test_an_answer_says_which_tools_ran(tmp_path: Path) -> None:
    model = FakeModel(ask(call("recall", '{"query": "boats"}')), say("Nothing about boats."))
    async with AIAgent.open(tmp_path, model=("fake-1", model)) as agent:
        answer = await agent.run_conversation("What did I say about boats?")
        assert (answer.ending, answer.tools) == ("answered", ("recall",))
        assert await agent.resume() == answer


async def test_a_wrong_key_is_an_ending_and_a_fault(tmp_path: Path) -> None:
    model, options = FakeModel([ModelDenied("wrong key")]), AgentOptions(patience=0.0)
    async with AIAgent.open(tmp_path, model=("fake-1", model), options=options) as agent:
        answer = await agent.run_conversation("Hello!")
        assert (answer.ending, answer.reason) == ("failed", "model_denied")
        assert [fault.reason for fault in agent.faults] == ["model_denied"]


async def test_a_model_without_a_provider_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="names no provider; write for instance"):
        async with AIAgent.open(tmp_path, model="gpt-5"):
            pass


async def test_a_tool_that_does_not_exist_is_one_sentence(tmp_path: Path) -> None:
    async with AIAgent.open(tmp_path, model=STAND_IN) as agent:
        with pytest.raises(ValueError, match="There is no tool fly; there are memory, "):
            await agent.find_person("ada", tools=["fly"])


async def test_a_person_has_only_the_tools_that_were_given(tmp_path: Path) -> None:
    model = FakeModel(say("Yes."))
    async with AIAgent.open(tmp_path, model=("fake-1", model)) as agent:
        await agent.find_person("ada", tools=["recall"])
        await agent.chat("Hello!", person="ada")
        assert [tool.name for tool in model.requests[0].tools] == ["recall"]


async def test_instructions_take_the_place_of_the_identity(tmp_path: Path) -> None:
    model = FakeModel(say("Arr."))
    options = AgentOptions(instructions="You are a pirate.", patience=0.0)
    async with AIAgent.open(tmp_path, model=("fake-1", model), options=options) as agent:
        assert await agent.chat("Hello!") == "Arr."
        assert model.requests[0].system.startswith("You are a pirate.")


async def test_a_model_that_does_not_answer_is_an_ending(tmp_path: Path) -> None:
    model = FakeModel(*[[ModelUnreachable("nobody there")] for _ in range(9)])
    options = AgentOptions(patience=0.0)
    async with AIAgent.open(tmp_path, model=("fake-1", model), options=options) as agent:
        answer = await agent.run_conversation("Hello!")
        assert (answer.ending, answer.reason) == ("failed", "model_unreachable")


KILLED = """
import asyncio, os, signal, sys
from agent_core import AIAgent
from tests.fakes.model import FakeModel, ask, call, say

async def die():
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    model = FakeModel(ask(call("recall", '{"query": "boats"}')), [die])
    async with AIAgent.open(sys.argv[1], model=("fake-1", model)) as agent:
        await agent.chat("What did I say about boats?")

asyncio.run(main())
"""


@pytest.mark.process
async def test_a_killed_turn_goes_on_from_its_last_step(tmp_path: Path) -> None:
    words = (sys.executable, "-c", KILLED, str(tmp_path))
    ran = await asyncio.create_subprocess_exec(*words, cwd=ROOT)
    assert await ran.wait() == -signal.SIGKILL
    model = FakeModel(say("Nothing."))
    async with AIAgent.open(tmp_path, model=("fake-1", model)) as agent:
        answer = await agent.resume()
        assert answer is not None
        assert (answer.text, answer.tools) == ("Nothing.", ("recall",))
        assert [one.role for one in model.requests[0].messages] == ["user", "assistant", "tool"]


@pytest.mark.process
def test_the_example_of_the_docs_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs/library.md").read_text()
    found = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert found
    ran = subprocess.run(
        [sys.executable, "-c", found[1]],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.stdout.splitlines() == [
        "Known: my bike is green",
        "Said: Remember that my bike is green.",
    ], ran.stderr
