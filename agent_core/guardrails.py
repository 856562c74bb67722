"""Watches a turn's tool calls for going in circles: first a warning, then a stop."""

import json
from dataclasses import dataclass
from typing import Literal

from agent_core.tools.contract import ToolResult
from agent_core.tools.quoting import flatten
from agent_core.transcript import ToolCallPart

_NAME_LIMIT = 64
_WARN_FAILURE, _STOP_FAILURE = 2, 4
_WARN_REPEAT, _STOP_REPEAT = 3, 5

_Call = tuple[str, str]
"""A tool's name and its arguments in one spelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What to make of a call. `sentence` is for the model; empty with `go`."""

    kind: Literal["go", "warn", "stop"]
    sentence: str = ""


_GO = Verdict(kind="go")


class Guardrails:
    """The watcher of one turn.

    Counted are failures of one call, and returns of one call with one and the same result.
    A call that succeeds with a result not seen before is progress and clears all counts:
    running the tests again after an edit is work, not a circle.
    """

    def __init__(self) -> None:
        self._seen: set[tuple[_Call, str]] = set()
        self._failures: dict[_Call, int] = {}
        self._repeats: dict[tuple[_Call, str], int] = {}

    def judge(self, call: ToolCallPart, result: ToolResult) -> Verdict:
        """Take notice of a call that ended."""
        key = (call.name, _spell(call.arguments))
        name = flatten(call.name, _NAME_LIMIT)
        if result.is_error:
            count = self._failures[key] = self._failures.get(key, 0) + 1
            fault = f"This same call of `{name}` has failed {count} times"
            return _weigh(count, _WARN_FAILURE, _STOP_FAILURE, fault)
        sight = (key, result.text)
        if sight not in self._seen:
            self._seen.add(sight)
            self._failures.clear()
            self._repeats.clear()
            return _GO
        self._failures.pop(key, None)
        count = self._repeats[sight] = self._repeats.get(sight, 1) + 1
        fault = f"This same call of `{name}` has given the same result {count} times"
        return _weigh(count, _WARN_REPEAT, _STOP_REPEAT, fault)


def _weigh(count: int, warn: int, stop: int, fault: str) -> Verdict:
    if count >= stop:
        return Verdict(kind="stop", sentence=f"{fault}.")
    if count >= warn:
        return Verdict(
            kind="warn",
            sentence=f"{fault}: don't repeat it; change the arguments or take another way.",
        )
    return _GO


def _spell(arguments: str) -> str:
    """Arguments in one spelling, whatever the order and the spaces; as they are if broken."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments.strip()
