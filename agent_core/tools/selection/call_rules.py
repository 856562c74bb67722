"""An owner's rules for single tools: who may call a tool, when, and how often in a turn."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Caller = Literal["direct", "group", "job", "helper", "code"]
"""The origin of a call: a turn in a direct conversation, in a group or channel, of a job or of a
helper; or the code that `execute_code` runs.
"""
_PLACES: Mapping[Caller, str] = {
    "direct": "direct conversations",
    "group": "groups and channels",
    "job": "jobs",
    "helper": "helpers",
    "code": "code",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRule:
    """The rule of one tool. Empty `callers` mean any caller; `most_per_turn` 0 means no limit.

    With `must_run_first`, no other tool runs in a turn before this one has succeeded. With
    `ends_turn`, no tool runs after it.
    """

    callers: tuple[Caller, ...] = ()
    most_per_turn: int = 0
    must_run_first: bool = False
    ends_turn: bool = False


class TurnRules:
    """The state of the rules within one turn."""

    def __init__(
        self, rules: Mapping[str, CallRule], caller: Caller, available: Iterable[str]
    ) -> None:
        """`available` are the tools of the turn: a missing tool can't be required to run first."""
        self._rules = rules
        self._caller = caller
        self._first = tuple(
            name
            for name in available
            if (rule := rules.get(name))
            and rule.must_run_first
            and (not rule.callers or caller in rule.callers)
        )
        self._counts: dict[str, int] = {}
        self._done: set[str] = set()

    def admit(self, name: str, *, is_from_code: bool = False) -> str:
        """Count a call that is about to run; return why it may not run, or ""."""
        rule = self._rules.get(name, CallRule())
        caller: Caller = "code" if is_from_code else self._caller
        if rule.callers and caller not in rule.callers:
            return f"the owner allows no call of it in {_PLACES[caller]}"
        if over := next((one for one in self._done if self._ends(one)), ""):
            return f"`{over}` was the last tool of this turn; answer the person now"
        missing = [one for one in self._first if one not in self._done]
        if missing and name not in self._first:
            return f"`{missing[0]}` must run first in every turn"
        count = self._counts.get(name, 0)
        if rule.most_per_turn and count >= rule.most_per_turn:
            times = "once" if count == 1 else f"{count} times"
            return f"it may run {times} in a turn, and has; go on without it"
        self._counts[name] = count + 1
        return ""

    def note_success(self, name: str) -> None:
        """Note that a call has succeeded."""
        self._done.add(name)

    def resume(self, calls: Iterable[tuple[str, bool]]) -> None:
        """Count the calls that an earlier process made, as (name, whether it succeeded)."""
        for name, has_succeeded in calls:
            self._counts[name] = self._counts.get(name, 0) + 1
            if has_succeeded:
                self._done.add(name)

    def _ends(self, name: str) -> bool:
        rule = self._rules.get(name)
        return rule is not None and rule.ends_turn
