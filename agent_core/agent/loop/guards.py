"""Bound one turn: its budget of steps, tokens, money and time, and calls without progress."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from agent_core.ids import CallId
from agent_core.tools.contract import ToolResult
from agent_core.transcript import ToolCallPart, ToolResultPart, flatten

Exhausted = Literal["", "steps", "tokens", "money", "time"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that one turn may use, including everything it starts.

    `steps` are model calls, at least 1; `micro_dollars` are millionths of a US dollar. For tokens,
    money and time, 0 means no limit. Raises `ValueError` for lower values.
    """

    steps: int
    tokens: int
    micro_dollars: int
    seconds: float

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError("a turn needs at least one step")
        if min(self.tokens, self.micro_dollars, self.seconds) < 0:
            raise ValueError("a limit can't be negative; 0 means no limit")


class Budget:
    """The remaining limits of one turn.

    Each helper has its own `Budget`, which counts its steps and takes everything else from its
    parent.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        started: float,
        clock: Callable[[], float],
        parent: "Budget | None" = None,
    ) -> None:
        """`started` is a moment of `clock`, a monotonic clock in seconds.

        With a `parent`, tokens, money and time are the parent's, and only the steps its own.
        """
        self._parent = parent
        self._limits = limits
        self._started = started
        self.clock = clock
        """Returns monotonic seconds."""
        self._steps = 0
        self._refunds = 0
        self._tokens = 0
        self._micro_dollars = 0
        self._pauses = 0
        self._paused_at = 0.0

    def share(self, steps: int) -> "Budget":
        """Return the budget of a helper: `steps` of its own, and the rest of this budget."""
        limits = Limits(steps=steps, tokens=0, micro_dollars=0, seconds=0)
        return Budget(limits, started=self.clock(), clock=self.clock, parent=self)

    def take_step(self) -> None:
        """Count a model call that is about to be made."""
        self._steps += 1

    def refund_step(self) -> None:
        """Return the last step, whose tool calls were all cheap.

        Refunds at most as many steps as the limit has: a model that calls only cheap tools must
        still reach the limit.
        """
        if self._steps and self._refunds < self._limits.steps:
            self._steps -= 1
            self._refunds += 1

    def spend(self, usage_tokens: int, micro_dollars: int | None) -> None:
        """Charge a model call; None if the model's price is unknown."""
        self._tokens += usage_tokens
        self._micro_dollars += micro_dollars or 0
        if self._parent:
            self._parent.spend(usage_tokens, micro_dollars)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Stop the clock while the turn waits for its person. Pauses may overlap."""
        if not self._pauses:
            self._paused_at = self.clock()
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self._started += self.clock() - self._paused_at

    def exhausted(self) -> Exhausted:
        """The name of the limit that is reached; empty for none."""
        if self._steps >= self._limits.steps:
            return "steps"
        return self._parent._spent_up() if self._parent else self._spent_up()

    def _spent_up(self) -> Exhausted:
        """The name of the reached limit, without the limit of steps; empty for none."""
        limits = self._limits
        if limits.tokens and self._tokens >= limits.tokens:
            return "tokens"
        if limits.micro_dollars and self._micro_dollars >= limits.micro_dollars:
            return "money"
        if limits.seconds and self.clock() - self._started >= limits.seconds:
            return "time"
        return ""


_NAME_LIMIT = 64
# A second failure may be chance; a fourth is a loop. Equal results get one more try, because
# polling a tool twice or three times is often right.
_WARN_FAILURE, _STOP_FAILURE = 2, 4
_WARN_REPEAT, _STOP_REPEAT = 3, 5

_Call = tuple[str, str]
"""A tool's name and its arguments in canonical form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The action after a call. `sentence` is for the model; it is empty for `go`."""

    kind: Literal["go", "warn", "stop"]
    sentence: str = ""


_GO = Verdict(kind="go")


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

    def judge(self, call: ToolCallPart, result: ToolResult) -> Verdict:
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


def _weigh(count: int, warn: int, stop: int, fault: str) -> Verdict:
    if count >= stop:
        return Verdict(kind="stop", sentence=f"{fault}.")
    if count >= warn:
        sentence = f"{fault}: don't repeat it; change the arguments or take another way."
        return Verdict(kind="warn", sentence=sentence)
    return _GO


def _canonical(arguments: str) -> str:
    """Return the arguments with sorted keys and uniform spacing; unchanged if they aren't JSON."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments.strip()
