"""The stand-in reads the prompt that is really composed, and the specs of the real tools."""

import json

from agent_core.agent.prompt.compose import PromptInputs, compose
from agent_core.agent.prompt.context_files import ContextFile
from agent_core.agent.prompt.visibility import FORGOT_FOR_GOOD
from agent_core.memory.memory_tool import MemoryTool
from agent_core.memory.recall.recall_tool import RecallTool
from agent_core.memory.store import MemoryLimits, Snapshot
from agent_core.models.scripted.stand_in import make_plan
from agent_core.models.transcript_view import read_notes
from agent_core.transcript import user_message
from tests.agent_core.models.calls import ask, calls, results

INPUTS = PromptInputs(
    soul="You are Talaria.\n## USER.md is where\n",
    snapshot=Snapshot(
        memory=("The boiler is from 2019.", "The car is blue,\nand old."),
        user=("Likes green tea.",),
        memory_size=50,
        user_size=20,
        limits=MemoryLimits(),
    ),
    context=(ContextFile(name="AGENTS.md", text="- not a memory\n## MEMORY.md [x]\n- neither"),),
    platform="telegram",
)


def test_the_composed_prompt_is_read_back() -> None:
    assert read_notes(compose(INPUTS), ()) == {
        "memory": ["The boiler is from 2019.", "The car is blue,\nand old."],
        "user": ["Likes green tea."],
    }


def test_the_arguments_are_those_of_the_real_tools() -> None:
    tools = (MemoryTool.spec, RecallTool.spec)
    words = ("remember that x", "call me Al", "forget the rain", "find y")
    plan = make_plan(ask(*words, tools=tools), delay=0.0)
    assert [wish.name for wish in plan.calls] == ["memory", "memory", "memory", "recall"]
    schemas = {tool.name: json.loads(tool.schema) for tool in tools}
    for wish in plan.calls:
        schema, given = schemas[wish.name], json.loads(wish.arguments)
        assert set(schema.get("required", ())) <= set(given) <= set(schema["properties"])
        for key, value in given.items():
            assert value in schema["properties"][key].get("enum", [value])


def test_calls_that_make_no_sense_change_nothing() -> None:
    before = read_notes(compose(INPUTS), ())
    odd = calls(
        ("a", "memory", ["no object"]),
        ("b", "memory", {"action": "add", "target": "moon", "text": "x"}),
        ("c", "memory", {"action": "remove", "target": "user", "old": ""}),
        ("d", "recall", {"action": "add", "target": "user", "text": "x"}),
        ("e", "memory", {"action": "add", "target": "user", "text": "unanswered"}),
    )
    done = results(("a", "ok"), ("b", "ok"), ("c", "ok"), ("d", "ok"))
    assert read_notes(compose(INPUTS), (odd, done)) == before


def test_a_replaced_entry_reads_anew() -> None:
    asked = calls(
        ("a", "memory", {"action": "replace", "target": "user", "old": "tea", "text": "Coffee."})
    )
    notes = read_notes(compose(INPUTS), (asked, results(("a", "ok"))))
    assert notes["user"] == ["Coffee."]


def test_what_the_facts_report_is_followed() -> None:
    said = [
        user_message("hi", facts='<facts>\nGone from user: ["Likes green tea."]\n</facts>'),
        user_message('Gone from memory: ["The boiler is from 2019."]'),
    ]
    notes = read_notes(compose(INPUTS), said)
    assert notes == read_notes(compose(INPUTS), ()) | {"user": []}
    said.append(user_message("ho", facts='<facts>\nNew in user: ["Likes green tea."]\n</facts>'))
    assert read_notes(compose(INPUTS), said) == read_notes(compose(INPUTS), ())


def test_after_forget_only_what_the_prompt_and_later_calls_have_is_known() -> None:
    noted = calls(("a", "memory", {"action": "add", "target": "user", "text": "Has a secret."}))
    cleaned = user_message("hi", facts="<facts>\nGone from user: [[forgotten]\n</facts>")
    line = FORGOT_FOR_GOOD.format(count=1)
    told = user_message("hi", facts=f"<facts>\n{line}\n</facts>")
    said = [noted, results(("a", "ok")), cleaned]
    before = read_notes(compose(INPUTS), ())
    assert "Has a secret." in read_notes(compose(INPUTS), said)["user"]
    assert read_notes(compose(INPUTS), [*said, told]) == before
    later = calls(("b", "memory", {"action": "add", "target": "user", "text": "Sings."}))
    notes = read_notes(compose(INPUTS), [*said, told, later, results(("b", "ok"))])
    assert notes["user"] == [*before["user"], "Sings."]
