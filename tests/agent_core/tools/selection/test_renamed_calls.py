"""Calls and names of tools that others have replaced."""

import json
from typing import Any

import pytest

from agent_core.agent.named.definition import KnownNames, read_agent
from agent_core.ids import CallId
from agent_core.tool_names import renew_names
from agent_core.tools.selection.catalog import USE_TOOL, unwrap
from agent_core.tools.selection.renamed_calls import renew
from agent_core.transcript import ToolCallPart
from tests.tables import check_each


def old(given: object, name: str = "schedule") -> ToolCallPart:
    return ToolCallPart(call_id=CallId("c1"), name=name, arguments=json.dumps(given))


RENEWED: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    (
        {"action": "create", "kind": "message", "text": "Tea.", "in_minutes": 5},
        "remind",
        {"text": "Tea.", "when": "in 5 minutes"},
    ),
    (
        {"action": "create", "kind": "message", "text": "Tea.", "at": "2026-12-01T08:00"},
        "remind",
        {"text": "Tea.", "when": "2026-12-01T08:00"},
    ),
    (
        {"action": "create", "kind": "message", "text": "Tea.", "cron": "0 8 * * *", "gate": ""},
        "remind",
        {"text": "Tea.", "when": "0 8 * * *"},
    ),
    (
        {"action": "create", "kind": "prompt", "text": "News.", "every_minutes": 60, "aware": True},
        "schedule_job",
        {"text": "News.", "aware": True, "when": "every 60 minutes"},
    ),
    (
        {
            "action": "create",
            "kind": "prompt",
            "text": "News.",
            "times": ["8:00", "20:00"],
            "rule": "FREQ=WEEKLY;BYDAY=MO",
            "until": "2026-12-31",
        },
        "schedule_job",
        {"text": "News.", "until": "2026-12-31", "when": "8:00 20:00 FREQ=WEEKLY;BYDAY=MO"},
    ),
    (
        {"action": "create", "kind": "prompt", "text": "Look.", "on": "file *.pdf"},
        "schedule_job",
        {"text": "Look.", "when": "file *.pdf"},
    ),
    ({"action": "list"}, "manage_jobs", {"action": "list"}),
    ({"action": "delete", "job": 3}, "manage_jobs", {"action": "delete", "job": 3}),
    (
        {"action": "change", "job": 3, "cron": "0 9 * * *", "urgent": True},
        "manage_jobs",
        {"action": "change", "job": 3, "urgent": True, "when": "0 9 * * *"},
    ),
]


def test_an_old_call_is_that_of_a_present_tool() -> None:
    def check(row: tuple[dict[str, Any], str, dict[str, Any]]) -> None:
        given, name, arguments = row
        inside = old({"name": "schedule", "arguments": given}, USE_TOOL)
        for call in (renew(old(given)), unwrap(old(given)), unwrap(inside)):
            assert (call.name, json.loads(call.arguments)) == (name, arguments)
            assert renew(call) == call

    check_each(RENEWED, check)


@pytest.mark.parametrize(
    "given", [{}, [], "x", None, {"action": "create"}, {"action": "create", "kind": "script"}]
)
def test_a_malformed_old_call_stays_so_that_its_fault_is_reported(given: object) -> None:
    assert renew(old(given)) == old(given)


def test_an_old_name_stands_for_all_that_replaced_it() -> None:
    assert renew_names(("recall", "schedule", "remind")) == (
        *("recall", "remind", "schedule_job", "manage_jobs"),
    )


def test_an_agent_that_names_the_old_tool_may_use_the_present_ones() -> None:
    known = KnownNames(tools=("memory", "remind", "schedule_job", "manage_jobs"))
    coder = read_agent("coder", 'tools = ["schedule"]', "You code.", known)
    assert coder.may_use("remind")
    assert not coder.may_use("memory")
    quiet = read_agent("quiet", 'disabled = ["schedule"]', "You are quiet.", known)
    assert not quiet.may_use("manage_jobs")
    assert quiet.may_use("memory")
