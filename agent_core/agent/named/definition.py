"""The definition of a named agent: what its two files may say. Pure."""

import difflib
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from agent_core.errors import AgentBroken
from agent_core.tool_names import renew_names
from agent_core.tools.selection.call_rules import CallRule
from agent_core.tools.selection.rule_check import check_rules, read_rule

LONGEST_SOUL = 20_000
"""Characters of an agent's SOUL.md."""
LONGEST_TABLE = 16_000
"""Characters of an agent.toml."""
_LONGEST_DESCRIPTION = 200
_MOST_NAMES = 50
"""Entries of one list in agent.toml."""
LONGEST_NAME = 32
"""Characters of an agent's or a team's name."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_KEYS = ("description", "model", "tools", "disabled", "skills", "blocks", "tags", "rules")
_RESERVED = ("default",)
"""Names that commands use for something else."""
NEVER = ("propose_identity",)
"""Tools that no named agent has: they are about the identity in the home's own SOUL.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedAgent:
    """A named agent as its files describe it.

    `soul` is its identity. An empty `model` is the deployment's. `tools` are the only tools that it
    may use, None for all that its person may use; it never has those in `disabled`. It sees and
    changes only the blocks whose labels are in `blocks`, None for all that its person sees, and
    those in `shared`, which its teams share. `skills` are preloaded. `rules` say when its tools may
    run.
    """

    name: str
    soul: str
    description: str = ""
    model: str = ""
    tools: tuple[str, ...] | None = None
    disabled: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    blocks: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    rules: tuple[CallRule, ...] = ()
    shared: tuple[str, ...] = ()

    def may_use(self, tool: str) -> bool:
        """Return whether the agent may use a tool that its person may use."""
        is_named = self.tools is None or tool in self.tools
        return is_named and tool not in (*self.disabled, *NEVER)

    def may_see(self, label: str) -> bool:
        """Return whether the agent sees a block that its person sees."""
        return self.blocks is None or label in (*self.blocks, *self.shared)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNames:
    """The models and tools that an agent.toml may name; an empty collection allows any name."""

    models: Collection[str] = ()
    tools: Collection[str] = ()


def is_name(text: str) -> bool:
    """Return whether a text is a valid name of an agent or a tag."""
    return _NAME.fullmatch(text) is not None and text not in _RESERVED


def read_agent(name: str, table: str, soul: str, known: KnownNames) -> NamedAgent:
    """Build an agent from the texts of its agent.toml and its SOUL.md.

    Raises `AgentBroken` with a clause that names the agent and the fault.
    """
    try:
        return parse_agent(name, table, soul, known)
    except ValueError as error:
        raise AgentBroken(f"the agent {name} can't be used: {error}") from error


def parse_agent(name: str, table: str, soul: str, known: KnownNames) -> NamedAgent:
    """Build an agent as `read_agent` does. Raises `ValueError` with a clause on the fault."""
    values = _parse(table)
    agent = NamedAgent(
        name=name,
        soul=_read_soul(soul),
        description=_read_text(values, "description", _LONGEST_DESCRIPTION),
        model=_read_text(values, "model", _LONGEST_DESCRIPTION),
        tools=renew_names(_read_list(values, "tools")) if "tools" in values else None,
        disabled=renew_names(_read_list(values, "disabled")),
        skills=_read_list(values, "skills"),
        blocks=_read_list(values, "blocks") if "blocks" in values else None,
        tags=_read_list(values, "tags"),
        rules=_read_rules(values),
    )
    _check(agent, known)
    return agent


def suggest(text: str, known: Collection[str]) -> str:
    """Return a clause with the most similar known name; "" if none is similar."""
    near = find_near(text, known)
    return f" (did you mean {near}?)" if near else ""


def find_near(text: str, known: Collection[str]) -> str:
    """Return the most similar known name; "" if none is similar."""
    return next(iter(difflib.get_close_matches(text, list(known), n=1)), "")


def _parse(text: str) -> Mapping[str, object]:
    if len(text) > LONGEST_TABLE:
        raise ValueError(f"agent.toml is longer than {LONGEST_TABLE:,} characters")
    try:
        values = tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"agent.toml is not valid TOML: {error}") from error
    for key in values:
        if key not in _KEYS:
            raise ValueError(f"agent.toml has an unknown key {key}{suggest(key, _KEYS)}")
    return values


def _read_soul(text: str) -> str:
    soul = text.removeprefix("\ufeff").replace("\0", "").strip()
    if not soul:
        raise ValueError("SOUL.md is empty")
    if len(soul) > LONGEST_SOUL:
        raise ValueError(f"SOUL.md is longer than {LONGEST_SOUL:,} characters")
    return soul


def _read_text(values: Mapping[str, object], key: str, most: int) -> str:
    value = values.get(key, "")
    if not isinstance(value, str) or len(value) > most:
        raise ValueError(f"{key} must be a text of at most {most} characters")
    return " ".join(value.split())


def _read_list(values: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = values.get(key, [])
    if not isinstance(value, list) or len(value) > _MOST_NAMES:
        raise ValueError(f"{key} must be a list of at most {_MOST_NAMES} names")
    if not all(isinstance(one, str) and one.strip() for one in value):
        raise ValueError(f"{key} must hold names in quotes")
    return tuple(dict.fromkeys(one.strip() for one in value))


def _read_rules(values: Mapping[str, object]) -> tuple[CallRule, ...]:
    rows = values.get("rules", [])
    if not isinstance(rows, list) or len(rows) > _MOST_NAMES:
        raise ValueError(f"rules must be at most {_MOST_NAMES} tables [[rules]]")
    rules = []
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise ValueError("rules must be tables [[rules]], each with a tool")
        try:
            rules.append(read_rule(row))
        except ValueError as error:
            raise ValueError(f"in rule {number}, {error}") from error
    return tuple(rules)


def _check(agent: NamedAgent, known: KnownNames) -> None:
    """Raise `ValueError` for an unknown name."""
    if agent.model and known.models and agent.model not in known.models:
        hint = suggest(agent.model, known.models)
        raise ValueError(f"the model {agent.model} is not among the configured models{hint}")
    for tool in agent.tools or ():
        if "__" in tool:
            raise ValueError(f"tools can't name {tool}, a tool of an MCP server; use disabled")
    for tool in (*(agent.tools or ()), *agent.disabled):
        if known.tools and tool not in known.tools and "__" not in tool:
            raise ValueError(f"there is no tool {tool}{suggest(tool, known.tools)}")
    for tag in agent.tags:
        if not is_name(tag):
            raise ValueError(f"the tag {tag} must consist of lower-case letters, digits and -")
    check_rules(agent.rules, known.tools, agent.may_use)
