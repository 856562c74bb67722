"""How much a turn may still use: steps, tokens, money, time."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from agent_core.tools.contract import ToolResult
from agent_core.tools.untrusted_text import flatten
from agent_core.transcript import ToolCallPart

Exhausted = Literal["", "steps", "tokens", "money", "time"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one turn may use, all that it starts included.

    `steps` are model calls and at least 1; `micro_dollars` are millionths of a US dollar.
    Of the other three, 0 means no limit. Raises `ValueError` for anything below that.
    """

    steps: int
    tokens: int
    micro_dollars: int
    seconds: float

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueError("a turn needs at least one step")
        if min(self.tokens, self.micro_dollars, self.seconds) < 0:
            raise ValueError("a limit can't be negative; 0 means none")


class Budget:
    """What is left of the limits of one turn; shared, as one object, with whatever it starts."""

    def __init__(self, limits: Limits, *, started: float, clock: Callable[[], float]) -> None:
        """`started` is a moment of `clock`, which counts seconds and never goes back."""
        self._limits = limits
        self._started = started
        self._clock = clock
        self._steps = 0
        self._refunds = 0
        self._tokens = 0
        self._micro_dollars = 0

    def take_step(self) -> None:
        """A model call is about to be made."""
        self._steps += 1

    def refund_step(self) -> None:
        """The step took nothing that counts.

        No more steps are given back than the limit has in it, so that a model which only
        plays with cheap tools comes to an end as well.
        """
        if self._steps and self._refunds < self._limits.steps:
            self._steps -= 1
            self._refunds += 1

    def spend(self, usage_tokens: int, micro_dollars: int | None) -> None:
        """A model call took so much; None where the model's price is not known."""
        self._tokens += usage_tokens
        self._micro_dollars += micro_dollars or 0

    @contextmanager
    def pause(self) -> Iterator[None]:
        """What goes by in here is not the turn's time: it waits for its person."""
        began = self._clock()
        try:
            yield
        finally:
            self._started += self._clock() - began

    def exhausted(self) -> Exhausted:
        """The limit that is reached, empty if none is."""
        limits = self._limits
        if self._steps >= limits.steps:
            return "steps"
        if limits.tokens and self._tokens >= limits.tokens:
            return "tokens"
        if limits.micro_dollars and self._micro_dollars >= limits.micro_dollars:
            return "money"
        if limits.seconds and self._clock() - self._started >= limits.seconds:
            return "time"
        return ""


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
        visible = (key, result.text)
        if visible not in self._seen:
            self._seen.add(visible)
            self._failures.clear()
            self._repeats.clear()
            return _GO
        self._failures.pop(key, None)
        count = self._repeats[visible] = self._repeats.get(visible, 1) + 1
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
