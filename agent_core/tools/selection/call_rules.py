"""An owner's rules for single tools: who may call a tool, when, in which order, and how often."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent_core.tools.selection.catalog import SEARCH_TOOL

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
ASSISTANT = "default"
"""The name of the assistant itself in `CallRule.agent`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRule:
    """Limits the calls of a tool. Empty `callers` mean any, and a `most_per_turn` of 0 no limit.

    With `must_run_first`, no other tool runs in a turn before this one has succeeded. With
    `ends_turn`, no tool runs after it. After it, `then_only` are the only tools of which the next
    may be; it runs only after each of `only_after` has succeeded. With `must_run_before_end`, the
    answer of a turn is not accepted before it has succeeded.

    The rule holds for turns of the `person` with this folder name, and of the named `agent`; ""
    means of all.
    """

    tool: str
    callers: tuple[Caller, ...] = ()
    most_per_turn: int = 0
    must_run_first: bool = False
    ends_turn: bool = False
    then_only: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    must_run_before_end: bool = False
    person: str = ""
    agent: str = ""

    def holds_for(self, person: str, agent: str) -> bool:
        """Return whether the rule is about a turn of this person and agent."""
        return self.person in ("", person) and self.agent in ("", agent or ASSISTANT)

    def admits_caller(self, caller: Caller) -> bool:
        """Return whether a caller may call the tool."""
        return not self.callers or caller in self.callers


class TurnRules:
    """The state of the rules within one turn."""

    def __init__(self, rules: Sequence[CallRule], caller: Caller, available: Iterable[str]) -> None:
        """`available` are the tools of the turn: a missing tool can't be required to run."""
        self._rules: dict[str, list[CallRule]] = defaultdict(list)
        for rule in rules:
            self._rules[rule.tool].append(rule)
        self._caller = caller
        usable = [name for name in available if self._admits(name, caller)]
        self._first = tuple(name for name in usable if self._any(name, "must_run_first"))
        self._required = tuple(name for name in usable if self._any(name, "must_run_before_end"))
        self._counts: dict[str, int] = {}
        self._done: set[str] = set()
        self._order: list[str] = []
        """The calls in the order of their beginning, without those that failed."""

    def admit(self, name: str, *, is_from_code: bool = False) -> str:
        """Count a call that is about to run; return why it may not run, or ""."""
        if refusal := self.find_objection(name, "code" if is_from_code else self._caller):
            return refusal
        self._counts[name] = self._counts.get(name, 0) + 1
        self._order.append(name)
        return ""

    def find_objection(self, name: str, caller: Caller) -> str:
        """Return why a call may not run now; "" if it may."""
        if name == SEARCH_TOOL:  # it only looks up which tools there are
            return ""
        if not self._admits(name, caller):
            return f"the owner allows no call of it in {_PLACES[caller]}"
        return self._object_to_order(name) or self._object_to_count(name)

    def list_missing(self) -> tuple[str, ...]:
        """Return the tools that must still run before the turn may end."""
        return tuple(name for name in self._required if name not in self._done)

    def note(self, name: str, *, has_succeeded: bool) -> None:
        """Note the end of an admitted call."""
        if has_succeeded:
            self._done.add(name)
        elif name in self._order:
            newest = len(self._order) - 1 - self._order[::-1].index(name)
            del self._order[newest]

    def resume(self, calls: Iterable[tuple[str, bool]]) -> None:
        """Count the calls that an earlier process made, as (name, whether it succeeded)."""
        for name, has_succeeded in calls:
            self._counts[name] = self._counts.get(name, 0) + 1
            if has_succeeded:
                self._order.append(name)
                self._done.add(name)

    def _object_to_order(self, name: str) -> str:
        if over := next((one for one in self._done if self._any(one, "ends_turn")), ""):
            return f"`{over}` was the last tool of this turn; answer the person now"
        first = [one for one in self._first if one not in self._done]
        if first and name not in self._first:
            return f"`{first[0]}` must run first in every turn"
        last = self._order[-1] if self._order else ""
        for rule in self._rules.get(last, ()):
            if rule.then_only and name not in rule.then_only:
                return f"after `{last}`, only {_list(rule.then_only)} may run"
        before = [one for rule in self._rules.get(name, ()) for one in rule.only_after]
        if missing := [one for one in before if one not in self._done]:
            return f"it may run only after {_list(missing, 'and')}"
        left = [one for one in self.list_missing() if one != name]
        if left and self._any(name, "ends_turn"):
            return f"it ends the turn, and {_list(left, 'and')} must run before"
        return ""

    def _object_to_count(self, name: str) -> str:
        count = self._counts.get(name, 0)
        limits = [rule.most_per_turn for rule in self._rules.get(name, ()) if rule.most_per_turn]
        if not limits or count < min(limits):
            return ""
        times = "once" if count == 1 else f"{count} times"
        return f"it may run {times} in a turn, and has; go on without it"

    def _admits(self, name: str, caller: Caller) -> bool:
        return all(rule.admits_caller(caller) for rule in self._rules.get(name, ()))

    def _any(self, name: str, what: str) -> bool:
        return any(getattr(rule, what) for rule in self._rules.get(name, ()))


def describe_rules(rules: Sequence[CallRule]) -> str:
    """Return the rules in words for the model, a line each; "" without rules."""
    lines = []
    for rule in rules:
        parts = [
            "runs first in every turn" if rule.must_run_first else "",
            f"runs only after {_list(rule.only_after, 'and')}" if rule.only_after else "",
            f"after it, only {_list(rule.then_only)} may be next" if rule.then_only else "",
            f"runs at most {rule.most_per_turn} times in a turn" if rule.most_per_turn else "",
            "must run before you answer" if rule.must_run_before_end else "",
            "is the last tool of a turn" if rule.ends_turn else "",
        ]
        said = "; ".join(part for part in parts if part)
        lines += [f"- `{rule.tool}`: {said}."] if said else []
    return "\n".join(lines)


def _list(names: Sequence[str], word: str = "or") -> str:
    """Return names as code, the last one after a word."""
    *others, last = [f"`{name}`" for name in names]
    return f"{', '.join(others)} {word} {last}" if others else last
