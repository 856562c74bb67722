"""Which scripts of skills are tools of their own: their names, their arguments, who agreed."""

import json
from pathlib import Path

import pytest

from agent_core.errors import CoreError
from agent_core.execution.contract import Backend
from agent_core.execution.local import LocalBackend
from agent_core.skills.agreements import agree
from agent_core.skills.catalog import SkillCatalog
from agent_core.skills.ledger_sync import record_text
from agent_core.skills.tools.scripts import SkillScripts, name_tool, offers_scripts, read_script
from agent_core.state.memory.ledger import Origin
from tests.agent_core.execution.tally_skill import TALLY, list_by_name, opened, write
from tests.agent_core.skills.tools.sandbox_limits import LIMITS
from tests.agent_core.tools.toolbox_calls import CONTEXT


def idle(home: Path) -> Backend:
    """A backend that starts nothing."""
    return LocalBackend(home / "places", LIMITS, program="/missing/bwrap")


def test_the_signature_is_the_schema_and_the_first_line_the_description(tmp_path: Path) -> None:
    write(tmp_path, {"add.py": TALLY}, "  tools: add\n")
    found = read_script(SkillCatalog(tmp_path / "skills").find("tally"), "add")
    assert found
    spec, path = found
    assert path == "scripts/add.py"
    assert spec.description == "A script of the skill tally: Add up prices."
    assert json.loads(spec.schema) == {
        "type": "object",
        "properties": {
            "prices": {"type": "array", "items": {"type": "number"}},
            "currency": {"type": "string"},
            "rounds": {"type": "boolean"},
        },
        "required": ["prices"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("name", "text", "metadata", "is_tool"),
    [
        ("add.py", "def main(): pass\n", "  tools: add\n", True),
        ("add.py", "def main(): pass\n", "  author: ada\n", False),
        ("add.py", "def main(x): pass\n", "  tools: add\n", False),
        ("add.py", "def main(x: dict): pass\n", "  tools: add\n", False),
        ("add.py", "def main(*x: str): pass\n", "  tools: add\n", False),
        ("add.py", "def main(:\n", "  tools: add\n", False),
        ("add.py", "print(1)\n", "  tools: add\n", False),
        ("add.sh", "echo $1\n", "  tools: add\n", False),
        ("add.sh", "echo $1\n", '  tools: add\n  schema-add: \'{"type": "object"}\'\n', True),
        ("add.sh", "echo $1\n", '  tools: add\n  schema-add: \'{"type": "array"}\'\n', False),
        ("add.sh", "echo $1\n", "  tools: add\n  schema-add: '{'\n", False),
        ("other.py", "def main(): pass\n", "  tools: ../scripts/other\n", False),
        (f"{'a' * 60}.py", "def main(): pass\n", f"  tools: {'a' * 60}\n", False),
    ],
)
async def test_only_a_named_script_with_plain_arguments_is_a_tool(
    tmp_path: Path, name: str, text: str, metadata: str, is_tool: bool
) -> None:
    write(tmp_path, {name: text}, metadata)
    scripts, database, _ = await opened(tmp_path, idle(tmp_path))
    try:
        assert bool(await list_by_name(scripts)) is is_tool
    finally:
        await database.close()


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ('{"x": true}', {"x": {}}),
        ('{"x": 5, "y": {"type": "strnig"}}', {"x": {}, "y": {}}),
        ('{"x": {"type": "string", "pattern": "^(a+)+$"}}', {"x": {"type": "string"}}),
        ('{"größe": {"type": "string"}, "x": {"minimum": NaN}}', {"x": {}}),
        ("[]", None),
    ],
)
def test_an_odd_schema_of_a_script_never_reaches_a_model(
    tmp_path: Path, schema: str, arguments: object
) -> None:
    given = f'{{"type": "object", "properties": {schema}}}'
    write(tmp_path, {"add.sh": "echo $1\n"}, f"  tools: add\n  schema-add: '{given}'\n")
    found = read_script(SkillCatalog(tmp_path / "skills").find("tally"), "add")
    assert found
    assert found[0].parse_shown_schema().get("properties") == arguments


def test_a_name_has_only_characters_that_providers_allow() -> None:
    assert name_tool("nginx-logs", "top.ten") == "skill__nginx-logs__top_ten"


async def test_an_installed_skills_scripts_wait_for_an_owner_and_for_each_change(
    tmp_path: Path,
) -> None:
    place = write(tmp_path, {"add.py": TALLY}, "  tools: add\n")
    assert offers_scripts(SkillCatalog(tmp_path / "skills"))
    scripts, database, directory = await opened(tmp_path, idle(tmp_path))
    try:
        evidence = f"installed from https://example.org/tally.git; files {'0' * 64}"
        origin = Origin(actor="house", now=1, evidence=evidence)
        text = (place / "SKILL.md").read_text()
        await database.write(
            "install", lambda c: record_text(c, name="tally", text=text, origin=origin)
        )
        assert await list_by_name(scripts) == {}
        agree(directory.catalog.folder, place)
        again = SkillScripts(directory, database, idle(tmp_path), 30)
        tool = (await list_by_name(again))["skill__tally__add"]
        (place / "scripts/add.py").write_text("def main(): return 'other'\n")
        with pytest.raises(CoreError, match="has not agreed to the scripts of tally as they are"):
            await tool.run({}, CONTEXT)
    finally:
        await database.close()


async def test_a_drafts_scripts_are_no_tools(tmp_path: Path) -> None:
    place = write(tmp_path, {"add.py": TALLY}, "  tools: add\n")
    scripts, database, directory = await opened(tmp_path, idle(tmp_path))
    try:
        text = (place / "SKILL.md").read_text()
        await database.write(
            "write",
            lambda c: record_text(c, name="tally", text=text, origin=Origin(actor="turn:1", now=1)),
        )
        await directory.refresh()
        assert await list_by_name(scripts) == {}
    finally:
        await database.close()
