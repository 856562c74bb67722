"""Refuse rules of tools that contradict each other, or that no turn can follow. Pure."""

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from agent_core.tools.selection.call_rules import Caller, CallRule, TurnRules

_MOST_STATES = 5_000
"""States of a turn that are looked at; rules with more are taken as they are."""
_OTHER = ""
"""Stands for every tool without a rule."""


_MOST_CALLS = 1000
_LISTS = ("callers", "then_only", "only_after")
_MARKS = ("must_run_first", "ends_turn", "must_run_before_end")
RULE_KEYS = ("tool", "most_per_turn", *_LISTS, *_MARKS)
"""What the table of one rule may hold."""
_SCOPE = ("tool", "person", "agent")


def read_rule(row: Mapping[str, object], keys: Collection[str] = RULE_KEYS) -> CallRule:
    """Build a rule from a table with some of these keys. Raises `ValueError` with a clause."""
    if unknown := next((key for key in row if key not in keys), ""):
        raise ValueError(f"the key {unknown} is not known{_suggest(unknown, keys)}")
    for key in _SCOPE:
        if not isinstance(row.get(key, ""), str):
            raise ValueError(f"{key} must be a name")
    if not row.get("tool"):
        raise ValueError("tool is missing")
    for key in _LISTS:
        if not _is_list_of_names(row.get(key, ())):
            raise ValueError(f"{key} must be a list of names")
    if not set(row.get("callers", ())) <= set(get_args(Caller)):  # type: ignore[call-overload]
        raise ValueError(f"callers must be some of {', '.join(get_args(Caller))}")
    most = row.get("most_per_turn", 0)
    if not isinstance(most, int) or isinstance(most, bool) or not 0 <= most <= _MOST_CALLS:
        raise ValueError(f"most_per_turn must be a number up to {_MOST_CALLS}")
    for key in _MARKS:
        if not isinstance(row.get(key, False), bool):
            raise ValueError(f"{key} must be true or false")
    if not any(row[key] for key in row if key not in _SCOPE):
        raise ValueError(f"nothing is limited; give one of {', '.join(RULE_KEYS[1:])}")
    values = {key: tuple(value) if key in _LISTS else value for key, value in row.items()}  # type: ignore[arg-type]
    return CallRule(**values)  # type: ignore[arg-type]  # the keys were checked above


def _is_list_of_names(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) and one for one in value)


def check_rules(
    rules: Sequence[CallRule], known: Collection[str], has: Callable[[str], bool]
) -> None:
    """Raise `ValueError` with a clause if a tool is unknown or missing, or the rules can't hold.

    `known` are the names of all tools, empty if any name may exist; `has` returns whether the
    turns of these rules have a tool. Tools of MCP servers, with two underscores, may always exist.
    """
    names = [rule.tool for rule in rules]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"two rules are about {twice}; make one of them")
    for rule in rules:
        for name in (rule.tool, *rule.then_only, *rule.only_after):
            if known and name not in known and "__" not in name:
                raise ValueError(f"there is no tool {name}{_suggest(name, known)}")
            if not has(name):
                raise ValueError(f"{_name_use(rule, name)}, but it has no such tool")
        _check_one(rule)
    check_together(rules)


def _name_use(rule: CallRule, name: str) -> str:
    if name != rule.tool:
        return f"the rule of {rule.tool} names {name}"
    if rule.must_run_first:
        return f"the tool {name} must run first"
    what = "must run before the end" if rule.must_run_before_end else "has a rule"
    return f"the tool {name} {what}"


def _check_one(rule: CallRule) -> None:
    name = rule.tool
    if rule.ends_turn and rule.then_only:
        raise ValueError(
            f"the tool {name} ends the turn, so nothing can follow it: then_only must go"
        )
    if name in rule.only_after:
        raise ValueError(f"the tool {name} can't wait for itself")
    if rule.must_run_first and rule.only_after:
        raise ValueError(
            f"the tool {name} can't both run first and only after {rule.only_after[0]}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _State:
    """A moment of a turn: the last call, and the calls that have succeeded."""

    last: str = ""
    done: frozenset[str] = frozenset()


def check_together(rules: Sequence[CallRule]) -> None:
    """Play orders in which tools may run; raise `ValueError` for what no order allows.

    A state holds only what another tool may wait for. Agents are read in every turn of theirs, so
    this ends as soon as each tool has run and a turn has ended.
    """
    rules = [replace(rule, callers=()) for rule in rules]  # each caller has the same orders
    named = {rule.tool for rule in rules}
    named |= {name for rule in rules for name in (*rule.then_only, *rule.only_after)}
    required = {rule.tool for rule in rules if rule.must_run_before_end}
    followed = {rule.tool for rule in rules if rule.then_only}
    awaited = required | {name for rule in rules for name in rule.only_after}
    awaited |= {rule.tool for rule in rules if rule.must_run_first or rule.ends_turn}
    seen, waiting, ran = {_State()}, [_State()], set[str]()
    can_end = not required
    while waiting:
        state = waiting.pop()
        can_end = can_end or required <= state.done
        if can_end and named <= ran:
            return
        turn = _play(rules, named, state)
        for name in (*sorted(named), _OTHER):
            if not turn.find_objection(name, "direct"):
                ran.add(name)
                last = name if name in followed else _OTHER
                after = _State(last=last, done=state.done | ({name} & awaited))
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
        if len(seen) > _MOST_STATES:
            return
    if never := sorted(required - ran) or sorted(named - ran):
        raise ValueError(f"with these rules, {never[0]} can never run")
    if not can_end:
        listed = " and ".join(sorted(required))
        raise ValueError(f"with these rules, no turn can run {listed} before its end")


def _play(rules: Sequence[CallRule], named: Iterable[str], state: _State) -> TurnRules:
    """Return a turn in this state."""
    turn = TurnRules(rules, "direct", named)
    turn.resume((name, True) for name in (*sorted(state.done - {state.last}), state.last))
    return turn


def _suggest(name: str, known: Collection[str]) -> str:
    near = next(iter(difflib.get_close_matches(name, list(known), n=1)), "")
    return f" (did you mean {near}?)" if near else ""
