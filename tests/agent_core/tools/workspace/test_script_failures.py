"""A skill has failed where the last run of one of its own scripts has."""

import json

from agent_core.ids import CallId
from agent_core.tools.workspace.script_failures import list_script_failures
from agent_core.transcript import Message, ToolCallPart, ToolResultPart
from tests.tables import check_each

RUN = "python3 .skills/tally/add.py 1 2"
TOOL = "skill__tally__add"
TRACE = (
    "Traceback (most recent call last):\n"
    '  File "/workspace/.skills/tally/add.py", line 3, in <module>\n'
    "ValueError: no prices"
)
FOREIGN = 'Traceback (most recent call last):\n  File "/srv/shop.py", line 9\nKeyError: 1'

CASES: tuple[tuple[str, list[tuple[str, str]], set[str]], ...] = (
    ("a bad status", [(RUN, "oops\n[Exit status 2.]")], {"add"}),
    ("a signal", [(RUN, "[Exit status -11.]")], {"add"}),
    ("no end", [(RUN, "[It was stopped after 60 s. Do less.]")], {"add"}),
    ("a hidden status", [(f"{RUN} | head", TRACE)], {"add"}),
    ("success", [(RUN, "3")], set()),
    ("a log with errors", [(RUN, f"2 errors, the first:\n{FOREIGN}")], set()),
    ("a refusal", [(RUN, "Ana declined this command.")], set()),
    ("overcome", [(RUN, "[Exit status 2.]"), (RUN, "3")], set()),
    ("worse later", [(RUN, "3"), (RUN, "[Exit status 2.]")], {"add"}),
    (
        "one of two scripts",
        [(RUN, "3"), ("bash .skills/tally/bin/sum.sh", "[Exit status 1.]")],
        {"sum"},
    ),
    ("from its folder", [("cd .skills/tally && python3 add.py", "[Exit status 1.]")], {""}),
    ("in its folder", [("python3 add.py", TRACE)], {"add"}),
    ("another skill's", [("python3 .skills/other/add.py", "[Exit status 1.]")], set()),
    ("another command", [("grep x rooms.csv", "[Exit status 1.]")], set()),
    ("a quoted status", [(RUN, "the log says: [Exit status 2.]")], set()),
)


def play(name: str, arguments: dict[str, object], result: str, number: int) -> list[Message]:
    call_id = CallId(f"c{number}")
    call = ToolCallPart(call_id=call_id, name=name, arguments=json.dumps(arguments))
    part = ToolResultPart(call_id=call_id, name=name, text=result)
    return [Message(role="assistant", parts=(call,)), Message(role="tool", parts=(part,))]


def test_the_last_run_of_each_script_decides() -> None:
    def check(row: tuple[str, list[tuple[str, str]], set[str]]) -> None:
        about, runs, failed = row
        messages = [
            message
            for number, (command, result) in enumerate(runs)
            for message in play("terminal", {"command": command}, result, number)
        ]
        found = list_script_failures(messages, ["tally"])
        assert {one.script for one in found} == failed, about

    check_each(CASES, check)


def test_a_script_that_is_a_tool_fails_the_same_way() -> None:
    direct = play(TOOL, {"prices": []}, f"{TRACE}\n[Exit status 1.]", 1)
    found = list_script_failures(direct, ["tally"])
    assert [(one.skill, one.script) for one in found] == [("tally", "add")]
    named = play("use_tool", {"name": TOOL, "arguments": {}}, "[Exit status 1.]", 2)
    assert [one.script for one in list_script_failures(named, ["tally"])] == ["add"]
    assert list_script_failures(named, []) == []
    again = play(TOOL, {"prices": [1]}, "1", 3)
    assert list_script_failures([*direct, *again], ["tally"]) == []
