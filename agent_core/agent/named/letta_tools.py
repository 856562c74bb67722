"""Tools, rules and models as Letta names them, and those of Talaria. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agent_core.models.router import split_name
from agent_core.tools.selection.call_rules import CallRule

CODE = "Talaria runs no code of a file"
_MOST_CALLS = 1000
_ANY_MODEL = "gpt-4o-mini"
"""Stands for a model that the home does not know; Letta's own default."""
_CONTEXT = 32_000
"""Tokens; Letta wants a number, and all present models read as much."""
_EQUAL: Mapping[str, str] = {
    "web_search": "web_search",
    "fetch_webpage": "web_fetch",
    "run_code": "execute_code",
    "conversation_search": "recall",
    "archival_memory_insert": "archive",
    "archival_memory_search": "archive",
    "memory": "memory",
    "memory_insert": "memory",
    "memory_replace": "memory",
    "memory_rethink": "memory",
    "memory_apply_patch": "memory",
    "core_memory_append": "memory",
    "core_memory_replace": "memory",
    "open_files": "read_file",
    "grep_files": "search_files",
    "semantic_search_files": "search_files",
    "send_message_to_agent_async": "message_agent",
    "send_message_to_agent_and_wait_for_reply": "message_agent",
    "send_message_to_agents_matching_tags": "message_agent",
}
"""Letta's own tools (0.16), by name, and the tool here that does the same."""
_KINDS: Mapping[str, Collection[str]] = {
    "letta_builtin": ("web_search", "fetch_webpage", "run_code"),
    "letta_files_core": ("open_files", "grep_files", "semantic_search_files"),
    "letta_multi_agent_core": (
        "send_message_to_agent_async",
        "send_message_to_agent_and_wait_for_reply",
        "send_message_to_agents_matching_tags",
    ),
}
"""The modules of Letta (0.16.8) with its tools, but for `letta_core`, where all others are."""
_NEEDLESS = ("send_message", "memory_finish_edits")
"""Tools of Letta that nobody needs here: an answer is text, and memory is kept at once."""
_FIELDS: Mapping[str, str] = {
    "run_first": "must_run_first",
    "exit_loop": "ends_turn",
    "required_before_exit": "must_run_before_end",
}


def find_equal(name: str, kind: str) -> str | None:
    """Return the tool that does the same as one of Letta; "" if nobody needs it, None if none.

    `kind` is Letta's type of the tool: a person's own tool (`custom`) has no equal, whatever its
    name is.
    """
    if name in _NEEDLESS:
        return ""
    return None if kind in ("custom", "external_mcp") else _EQUAL.get(name)


def find_name(tool: str) -> str:
    """Return the name of Letta's tool that does the same as one of Talaria; "" if there is none."""
    return next((theirs for theirs, ours in _EQUAL.items() if ours == tool), "")


def find_kind(name: str) -> str:
    """Return Letta's type of one of its own tools; its reader refuses a tool of another type."""
    return next((kind for kind, names in _KINDS.items() if name in names), "letta_core")


def write_model(name: str) -> dict[str, Any]:
    """Return a model in Letta's form, without which its reader refuses an agent.

    Whoever imports the file there may choose another one.
    """
    provider, model = split_name(name)
    is_anthropic = provider == "anthropic" or model.startswith("claude")
    return {
        "model": model or _ANY_MODEL,
        "model_endpoint_type": "anthropic" if is_anthropic else "openai",
        "context_window": _CONTEXT,
    }


def read_rules(
    rows: Sequence[Mapping[str, Any]], tools: Collection[str], leave: Callable[[str, str], None]
) -> tuple[tuple[CallRule, ...], frozenset[str]]:
    """Return the rules of an agent, and its tools that need a yes for each call.

    `leave` notes a rule that can't be kept, and why. Raises `ValueError`.
    """
    found: dict[str, CallRule] = {}
    needs_approval = frozenset(
        _EQUAL.get(str(row.get("tool_name")), "")
        for row in rows
        if row.get("type") == "requires_approval"
    ).intersection(tools)
    tools = set(tools) - needs_approval

    def rule_of(tool: str) -> CallRule:
        return found.get(tool) or CallRule(tool=tool)

    for row in rows:
        name, kind = row.get("tool_name"), row.get("type")
        if not isinstance(name, str) or not isinstance(kind, str):
            raise ValueError("a rule must have a tool_name and a type")
        tool = _EQUAL.get(name, "")
        if kind == "continue_loop" or name in _NEEDLESS or tool in needs_approval:
            continue
        if tool not in tools:
            leave(f"the rule {kind} of {name}", "the agent has no such tool here")
        elif kind in _FIELDS:
            found[tool] = replace(rule_of(tool), **{_FIELDS[kind]: True})  # type: ignore[arg-type]
        elif kind == "max_count_per_step":
            most = row.get("max_count_limit")
            if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= _MOST_CALLS:
                raise ValueError(f"max_count_limit must be a number from 1 to {_MOST_CALLS}")
            found[tool] = replace(rule_of(tool), most_per_turn=most)
        elif kind in ("constrain_child_tools", "parent_last_tool"):
            children = _read_children(row, tools)
            if not children:
                leave(f"the rule {kind} of {name}", "the agent has none of its tools here")
            elif kind == "constrain_child_tools":
                found[tool] = replace(rule_of(tool), then_only=children)
            else:
                for child in children:
                    after = (*rule_of(child).only_after, tool)
                    found[child] = replace(rule_of(child), only_after=tuple(dict.fromkeys(after)))
        else:
            leave(f"the rule {kind} of {name}", "Talaria has no such rule")
    return tuple(found.values()), needs_approval


def write_rules(rules: Sequence[CallRule]) -> list[dict[str, Any]]:
    """Return Letta's rules that say the same, as far as it has such rules and tools."""
    written: list[dict[str, Any]] = []
    for rule in rules:
        name = find_name(rule.tool)
        if not name:
            continue
        written += [
            {"tool_name": name, "type": kind}
            for kind, field in _FIELDS.items()
            if getattr(rule, field)
        ]
        if rule.most_per_turn:
            written.append(
                {
                    "tool_name": name,
                    "type": "max_count_per_step",
                    "max_count_limit": rule.most_per_turn,
                }
            )
        children = [one for one in map(find_name, rule.then_only) if one]
        if children:
            written.append(
                {"tool_name": name, "type": "constrain_child_tools", "children": children}
            )
        written += [
            {"tool_name": parent, "type": "parent_last_tool", "children": [name]}
            for parent in map(find_name, rule.only_after)
            if parent
        ]
    return written


def _read_children(row: Mapping[str, Any], tools: Collection[str]) -> tuple[str, ...]:
    names = row.get("children")
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        raise ValueError("the children of a rule must be a list of texts")
    equal = (_EQUAL.get(one, "") for one in names)
    return tuple(dict.fromkeys(one for one in equal if one in tools))
