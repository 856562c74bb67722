"""Detect tool calls that repeat themselves without progress."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.ids import CallId
from agent_core.tools.contract import ToolResult
from agent_core.transcript import ToolCallPart, ToolResultPart, flatten

_NAME_LIMIT = 64
# A second failure may be chance; a fourth is a loop. Equal results get one more try, because
# polling a tool twice or three times is often right.
_WARN_FAILURE, _STOP_FAILURE = 2, 4
_WARN_REPEAT, _STOP_REPEAT = 3, 5

_Call = tuple[str, str]
"""A tool's name and its arguments in canonical form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardVerdict:
    """The action after a call. `sentence` is for the model; it is empty for `go`."""

    kind: Literal["go", "warn", "stop"]
    sentence: str = ""


_GO = GuardVerdict(kind="go")


class Guardrails:
    """Detects calls that repeat without progress in one turn.

    Counts the failures of each call, and the equal results of each call. A success with a new
    result is progress and clears all counts: running the tests again after an edit is work, not a
    loop.
    """

    def __init__(self) -> None:
        self.stop_reason = ""
        """The sentence that ends the turn; empty while it makes progress."""
        self._seen: set[tuple[_Call, str]] = set()
        self._failures: dict[_Call, int] = {}
        self._repeats: dict[tuple[_Call, str], int] = {}

    def check(
        self, calls: Sequence[ToolCallPart], results: Mapping[CallId, ToolResult]
    ) -> tuple[ToolResultPart, ...]:
        """List the results in call order, with a warning for each call that repeats itself.

        The same call twice in one answer counts once: the model saw no result in between.
        """
        parts: list[ToolResultPart] = []
        judged: set[tuple[str, str]] = set()
        for call in calls:
            result = results[call.call_id]
            text = result.text
            if (call.name, call.arguments) not in judged:
                judged.add((call.name, call.arguments))
                verdict = self.judge(call, result)
                if verdict.kind == "stop":
                    self.stop_reason = verdict.sentence
                elif verdict.kind == "warn":
                    text = f"{text}\n\n{verdict.sentence}"
            parts.append(
                ToolResultPart(
                    call_id=call.call_id,
                    name=call.name,
                    text=text,
                    is_error=result.is_error,
                    sources=result.sources,
                )
            )
        return tuple(parts)

    def judge(self, call: ToolCallPart, result: ToolResult) -> GuardVerdict:
        """Count one call that ended."""
        key = (call.name, _canonical(call.arguments))
        name = flatten(call.name, _NAME_LIMIT)
        if result.is_error:
            count = self._failures[key] = self._failures.get(key, 0) + 1
            fault = f"This same call of `{name}` has failed {count} times"
            return _weigh(count, _WARN_FAILURE, _STOP_FAILURE, fault)
        seen = (key, result.text)
        if seen not in self._seen:
            self._seen.add(seen)
            self._failures.clear()
            self._repeats.clear()
            return _GO
        self._failures.pop(key, None)
        count = self._repeats[seen] = self._repeats.get(seen, 1) + 1
        fault = f"This same call of `{name}` has given the same result {count} times"
        return _weigh(count, _WARN_REPEAT, _STOP_REPEAT, fault)


def _weigh(count: int, warn: int, stop: int, fault: str) -> GuardVerdict:
    if count >= stop:
        return GuardVerdict(kind="stop", sentence=f"{fault}.")
    if count >= warn:
        sentence = f"{fault}: don't repeat it; change the arguments or take another way."
        return GuardVerdict(kind="warn", sentence=sentence)
    return _GO


def _canonical(arguments: str) -> str:
    """Return the arguments with sorted keys and uniform spacing; unchanged if they aren't JSON."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments.strip()
