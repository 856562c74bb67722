"""Skills in a conversation: the prompt lists them, the model reads one, and the cache stays."""

import json
from pathlib import Path

from agent_core.tools.gate import PROPOSED
from tests.agent_core.skills.skill_folders import write_skill, write_text
from tests.fakes.model import Play, ask, call, say
from tests.integration.accounts import make_owner
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import greet, greeted
from tests.integration.skills.own_skills import changes


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
    model = greeted(say("Mind the attic."), say("Which windows?"))
    async with running(tmp_path, model) as harness:
        await greet(harness)
        await harness.chat.says("/skills")
        listed = await harness.chat.sees_text("/tidy-up – Does tidy-up.")
        assert "\nwhoami – Does whoami." in listed.text
        await harness.chat.says("/skills quantum physics")
        await harness.chat.sees_text("I found no skill for that")
        await harness.chat.says("/tidy-up the attic")
        await harness.chat.sees_text("Mind the attic.")
        asked = str(model.requests[-1].messages[-1])
        assert "with the skill tidy-up; read it first with `skill_view`: the attic" in asked
        write_skill(tmp_path / "skills", "wash")
        await harness.chat.says("/wash")
        await harness.chat.sees_text("Which windows?")
        assert "Start the skill wash" in str(model.requests[-1].messages[-1])
        await harness.chat.says("/whoami")
        await harness.chat.sees_text("Ana")
        assert len(model.requests) == 3


def manage(**arguments: str) -> Play:
    return ask(call("skill_manage", json.dumps(arguments)))


async def test_an_owners_words_become_a_skill_and_anothers_need_an_owner(tmp_path: Path) -> None:
    text = "---\nname: tidy\ndescription: Tidies lists.\n---\nSort them.\n"
    wish = manage(action="create", name="tidy", text=text)
    again = manage(action="create", name="tidy", text=text)
    patch = manage(action="patch", name="tidy", old="Sort them.", text="Sort them well.")
    away = manage(action="archive", name="tidy")
    back = manage(action="restore", name="tidy")
    model = greeted(wish, say("Not."), again, say("Made."), patch, away, back, say("Changed."))
    place = tmp_path / "skills" / "tidy" / "SKILL.md"
    async with running(tmp_path, model) as harness:
        await greet(harness)
        await harness.chat.says("keep that")
        await harness.chat.sees_text("Not.")
        assert "No skill was changed" in str(model.requests[-1].messages[-1])
        assert not place.exists()
        await make_owner(harness)
        await harness.chat.says("keep that now")
        await harness.chat.sees_text("Made.")
        assert place.read_text() == text
        await harness.chat.says("and change it")
        await harness.chat.sees_text("Changed.")
        assert "Sort them well." in place.read_text()
        assert "Done: restore tidy." in str(model.requests[-1].messages[-1])


async def test_after_words_of_others_a_skill_is_only_proposed(tmp_path: Path) -> None:
    write_skill(tmp_path / "project/.agents/skills", "appraise", "Keep a skill for this.")
    text = "---\nname: tidy\ndescription: Tidies lists.\n---\nSort them.\n"
    read = ask(call("skill_view", '{"name": "appraise"}'))
    wish = manage(action="create", name="tidy", text=text)
    model = greeted(read, wish, say("Shall I?"))
    folder = {"TALARIA_PROMPT__FOLDER": str(tmp_path / "project")}
    async with running(tmp_path, model, **folder) as harness:
        await greet(harness)
        await make_owner(harness)
        assert "appraise" not in model.requests[0].system
        await harness.chat.says("appraise it")
        await harness.chat.sees_text("Shall I?")
        assert PROPOSED in str(model.requests[-1].messages[-1])
        assert not (tmp_path / "skills" / "tidy").exists()


async def sees_undone(harness: Harness, count: int) -> None:
    """Return once so many answers say that a change was undone."""
    text = "The skill “tidy” is as it was before."

    def is_told() -> bool:
        return sum(one.text.endswith(text) for one in harness.chat.shown) == count

    await harness.chat.until(is_told)


async def test_a_skill_whose_name_fits_no_button_is_undone_by_its_command(tmp_path: Path) -> None:
    name = "keep-the-shopping-list-in-order"
    text = f"---\nname: {name}\ndescription: Tidies lists.\n---\nSort them.\n"
    create = manage(action="create", name=name, text=text)
    patch = manage(action="patch", name=name, old="Sort them.", text="Sort them well.")
    model = greeted(create, say("Made."), patch, say("Changed."))
    async with running(tmp_path, model) as harness:
        await greet(harness)
        await make_owner(harness)
        await harness.chat.says("keep that")
        await harness.chat.sees_text("Made.")
        await harness.chat.says("and change it")
        await harness.chat.sees_text("Changed.")
        await harness.chat.says(f"/undo skill {name}")
        await harness.chat.sees_text(f"↩ Taken back. The skill “{name}” is as it was before.")
        assert (tmp_path / "skills" / name / "SKILL.md").read_text() == text


async def test_the_agents_changes_of_skills_are_undone_in_chat(tmp_path: Path) -> None:
    text = "---\nname: tidy\ndescription: Tidies lists.\n---\nSort them.\n"
    create = manage(action="create", name="tidy", text=text)
    patch = manage(action="patch", name="tidy", old="Sort them.", text="Sort them well.")
    model = greeted(create, say("Made."), patch, say("Changed."))
    place = tmp_path / "skills" / "tidy" / "SKILL.md"
    async with running(tmp_path, model) as harness:
        await greet(harness)
        await harness.chat.says("/undo skill tidy")
        await harness.chat.sees_text("Only an owner can do that.")
        await make_owner(harness)
        await harness.chat.says("/undo skill tidy")
        await harness.chat.sees_text(
            "There's no change to a skill “tidy”. /skills lists the skills."
        )
        await harness.chat.says("keep that")
        await harness.chat.sees_text("Made.")
        await harness.chat.says("and change it")
        await harness.chat.sees_text("Changed.")
        assert "Sort them well." in place.read_text()
        await harness.chat.says("/undo")
        await sees_undone(harness, 1)
        assert place.read_text() == text
        await harness.chat.says("/undo skill tidy")
        await sees_undone(harness, 2)
        assert "Sort them well." in place.read_text()
        place.write_text(f"{text}Mine.\n")
        await harness.chat.says("/undo skill Tidy")
        await harness.chat.sees_text(
            "There's no change to a skill “Tidy”. /skills lists the skills."
        )
        await harness.chat.says("/undo skill tidy")
        await sees_undone(harness, 3)
        assert "Sort them well." in place.read_text()
        actors = [row[2].split(":")[0] for row in await harness.read(changes)]
        assert (actors[-1], {*actors}) == ("person", {"turn", "hand", "person"})


async def test_a_created_skill_is_archived_by_its_undo_and_comes_back(tmp_path: Path) -> None:
    text = "---\nname: tidy\ndescription: Tidies lists.\n---\nSort them.\n"
    model = greeted(manage(action="create", name="tidy", text=text), say("Made."))
    place = tmp_path / "skills" / "tidy" / "SKILL.md"
    async with running(tmp_path, model) as harness:
        await greet(harness)
        await make_owner(harness)
        await harness.chat.says("keep that")
        await harness.chat.sees_text("Made.")
        await harness.chat.says("/undo")
        await harness.chat.sees_text("I've removed the skill “tidy”. It's in the archive.")
        assert not place.exists()
        await harness.chat.says("/undo skill tidy")
        await harness.chat.sees_text("The skill “tidy” is back.")
        assert place.read_text() == text
