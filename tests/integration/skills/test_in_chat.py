"""Skills in a conversation: the prompt lists them, the model reads one, and the cache stays."""

from pathlib import Path

from tests.agent_core.skills.test_catalog import write_skill, write_text
from tests.fakes.model import ask, call, say
from tests.integration.harness import running
from tests.integration.jobs_support import greet, greeted


async def test_a_skill_is_listed_read_and_changed_without_a_new_prompt(tmp_path: Path) -> None:
    place = write_skill(tmp_path / "skills", "tidy", "Sweep first.")
    read = ask(call("skill_view", '{"name": "tidy"}'))
    model = greeted(read, say("Swept."), read, say("Mopped."))
    async with running(tmp_path, model) as harness:
        await greet(harness)
        assert "- tidy: Does tidy." in model.requests[0].system
        await harness.chat.says("tidy up")
        await harness.chat.sees_text("Swept.")
        assert "Sweep first." in str(model.requests[2].messages[-1])
        write_text(place, "tidy", "Mop first.")
        write_skill(tmp_path / "skills", "wash")
        await harness.chat.says("again")
        await harness.chat.sees_text("Mopped.")
        assert "Mop first." in str(model.requests[4].messages[-1])
        assert len({(request.system, request.tools) for request in model.requests}) == 1


async def test_a_skill_is_a_command_and_a_command_of_talaria_wins(tmp_path: Path) -> None:
    for name in ("tidy-up", "whoami"):
        write_skill(tmp_path / "skills", name)
    model = greeted(say("Swept."), say("Swept again."))
    async with running(tmp_path, model) as harness:
        await greet(harness)
        await harness.chat.says("/skills")
        listed = await harness.chat.sees_text("/tidy-up – Does tidy-up.")
        assert "\nwhoami – Does whoami." in listed.text
        await harness.chat.says("/skills quantum physics")
        await harness.chat.sees_text("I found no skill for that")
        await harness.chat.says("/tidy-up the attic")
        await harness.chat.sees_text("Swept.")
        asked = str(model.requests[-1].messages[-1])
        assert "with the skill tidy-up; read it first with `skill_view`: the attic" in asked
        write_skill(tmp_path / "skills", "wash")
        await harness.chat.says("/wash")
        await harness.chat.sees_text("Swept again.")
        assert "Start the skill wash" in str(model.requests[-1].messages[-1])
        await harness.chat.says("/whoami")
        await harness.chat.sees_text("Ana")
        assert len(model.requests) == 3
