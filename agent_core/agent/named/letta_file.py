"""Read an agent file of Letta (`.af`): what Talaria carries over, and what it leaves out. Pure."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent_core.agent.named.agent_files import AgentChange
from agent_core.agent.named.definition import (
    LONGEST_NAME,
    LONGEST_SOUL,
    NEVER,
    KnownNames,
    is_name,
)
from agent_core.agent.named.letta_messages import CarriedTurn, read_turns
from agent_core.agent.named.letta_tools import CODE, find_equal, read_rules
from agent_core.errors import AgentRefused, SkillBroken, SkillMissing
from agent_core.memory.files import clean, find_flaw, parse, size
from agent_core.tools.secret_scan import find_secret
from agent_core.tools.selection.call_rules import CallRule
from agent_core.tools.selection.rule_check import check_rules, read_rule
from agent_core.transcript import flatten

MOST_BYTES = 32 * 1024 * 1024
"""The largest file that is read; 10,000 messages of Letta take some 10 MB."""
OWN = "talaria"
"""The key in an agent's metadata with what only Talaria understands."""
_LARGEST_BLOCK = 20_000
"""Characters of a block's file, as `/block limit` allows."""
_LEAST_BLOCK = 100
_MOST_ROWS = 50
_LONGEST_SHOWN = 60
_LONGEST_DESCRIPTION = 200
_PACKED = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"(\xb5/\xfd")
"""How files begin that zip, gzip, bzip2, xz or zstd has packed."""
_FOREIGN: Mapping[str, str] = {
    "files": "file",
    "sources": "folder of files",
    "groups": "group of agents",
    "mcp_servers": "MCP server",
    "skills": "skill",
}
"""Lists of the file that are left out, and what one of their rows is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedBlock:
    """A memory block: its name in the file, and what it holds. `limit` is in characters."""

    label: str
    description: str
    entries: tuple[str, ...]
    limit: int
    is_read_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedAgent:
    """An agent that a file describes. `left_out` says in clauses what Talaria can't take over."""

    name: str
    change: AgentChange
    blocks: tuple[CarriedBlock, ...]
    turns: tuple[CarriedTurn, ...]
    left_out: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class _Reading:
    """Holds what is read of one agent."""

    agent: Mapping[str, Any]
    blocks: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]]
    left_out: list[str] = field(default_factory=list)

    def leave(self, what: str, why: str = "") -> None:
        shown = flatten(what, 2 * _LONGEST_SHOWN)
        self.left_out.append(f"{shown}: {why}" if why else shown)


def read_agent_file(
    data: bytes,
    known: KnownNames,
    check_skill: Callable[[str], object],
    *,
    chosen: str = "",
    now: int,
) -> CarriedAgent:
    """Read the agent of a file, or the `chosen` one of several. `now` is in milliseconds.

    Raises `AgentRefused` with a clause if the file is none, or holds what nobody could trust.
    """
    document = _load(data)
    try:
        found = _read_old(document) if "core_memory" in document else _read_new(document, chosen)
        return _carry(found, known, check_skill, now)
    except ValueError as error:
        raise AgentRefused(f"the file is no agent file of Letta: {error}") from error
    except RecursionError as error:
        raise AgentRefused("the file is nested too deeply") from error


def make_name(text: str) -> str:
    """Return the nearest name that an agent may have."""
    word = re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")[:LONGEST_NAME].strip("-")
    word = re.sub(r"^[^a-z]+", "", word)
    return word if is_name(word) else "agent"


def _load(data: bytes) -> Mapping[str, Any]:
    if len(data) > MOST_BYTES:
        raise AgentRefused(f"the file is larger than {MOST_BYTES // 1024**2} MB")
    if data.startswith(_PACKED):
        raise AgentRefused("the file is packed; unpack it first")
    try:
        found = json.loads(data.decode("utf-8-sig"))
        # Letta's API answers with the file as a text, which some programs save as it is.
        document = json.loads(found) if isinstance(found, str) else found
    except UnicodeDecodeError as error:
        raise AgentRefused("the file is not UTF-8 text") from error
    except RecursionError as error:
        raise AgentRefused("the file is nested too deeply") from error
    except ValueError as error:
        raise AgentRefused("the file is not valid JSON") from error
    if not isinstance(document, Mapping):
        raise AgentRefused("the file is no agent file of Letta: it is no JSON object")
    return document


def _read_new(document: Mapping[str, Any], chosen: str) -> _Reading:
    """Read the present form: lists of agents, blocks and tools that name each other by ids."""
    agents = _take_rows(document, "agents", 100)
    if not agents:
        raise ValueError("it has no agents")
    names = [_take_text(one, "name") for one in agents]
    if chosen:
        places = [place for place, name in enumerate(names) if name == chosen]
        if not places:
            raise AgentRefused(f"the file has no agent {flatten(chosen, _LONGEST_SHOWN)}")
        agent = agents[places[0]]
    elif len(agents) > 1:
        listed = flatten(", ".join(names), 300)
        raise AgentRefused(f"the file has {len(agents)} agents; choose one of them: {listed}")
    else:
        agent = agents[0]
    blocks, tools = _by_id(document, "blocks"), _by_id(document, "tools")
    _check_ids(_take_rows(agent, "messages", None), "messages")
    reading = _Reading(
        agent=agent,
        blocks=[
            *_take_rows(agent, "memory_blocks", _MOST_ROWS),
            *_pick(agent, "block_ids", blocks),
        ],
        tools=_pick(agent, "tool_ids", tools),
    )
    for key, what in _FOREIGN.items():
        rows = _take_rows(document, key, None)
        if rows:
            reading.leave(f"{len(rows)} {what}{'s' if len(rows) > 1 else ''}")
    return reading


def _read_old(document: Mapping[str, Any]) -> _Reading:
    """Read the form of 2025: one agent with everything inside."""
    reading = _Reading(
        agent=document,
        blocks=_take_rows(document, "core_memory", _MOST_ROWS),
        tools=_take_rows(document, "tools", None),
    )
    if document.get("multi_agent_group"):
        reading.leave("1 group of agents")
    return reading


def _carry(
    reading: _Reading, known: KnownNames, check_skill: Callable[[str], object], now: int
) -> CarriedAgent:
    agent = reading.agent
    own = agent.get("metadata")
    own = own.get(OWN) if isinstance(own, Mapping) else None
    own = own if isinstance(own, Mapping) else {}
    name = _take_text(agent, "name")
    change = AgentChange(
        soul=_read_soul(reading),
        description=" ".join(_take_text(agent, "description").split())[:_LONGEST_DESCRIPTION],
        tags=tuple(_read_tags(agent)),
        model=_find_model(reading, known, own),
    )
    if own:
        change = _read_own(reading, own, change, known, check_skill)
    else:
        change = _read_tools(reading, change, known)
    secrets = agent.get("tool_exec_environment_variables") or agent.get("secrets")
    if secrets:
        reading.leave("its secrets", "set them here where they are needed")
    blocks = tuple(_read_blocks(reading))
    speaks = any(one.get("name") == "send_message" for one in reading.tools)
    turns, odd = read_turns(
        _take_rows(agent, "messages", None), speaks_by_tool=speaks, source=f"{name}.af", now=now
    )
    for what, count in odd.items():
        reading.leave(what.format(count=count, s="s" if count > 1 else ""))
    return CarriedAgent(
        name=make_name(name),
        change=change,
        blocks=blocks,
        turns=turns,
        left_out=tuple(dict.fromkeys(reading.left_out)),
    )


def _read_soul(reading: _Reading) -> str | None:
    soul = _take_text(reading.agent, "system").strip()
    if flaw := find_flaw(soul.replace("\r", "").replace("\t", " ")):
        raise AgentRefused(f"the file's system prompt is not to be trusted: {flaw}")
    if secret := find_secret(soul):
        raise AgentRefused(f"the file's system prompt contains {secret}; remove it first")
    if len(soul) > LONGEST_SOUL:
        reading.leave("its system prompt", f"it is longer than {LONGEST_SOUL:,} characters")
        return None
    return soul or None


def _read_tags(agent: Mapping[str, Any]) -> Iterator[str]:
    tags = agent.get("tags") or []
    if not isinstance(tags, list):
        raise ValueError("tags must be a list")
    for one in tags[:_MOST_ROWS]:
        tag = one.get("tag") if isinstance(one, Mapping) else one  # the form of 2025 has objects
        if not isinstance(tag, str):
            raise ValueError("tags must be texts")
        yield make_name(tag)


def _find_model(reading: _Reading, known: KnownNames, own: Mapping[str, Any]) -> str | None:
    config = reading.agent.get("llm_config")
    config = config if isinstance(config, Mapping) else {}
    names = (own.get("model"),) if own else (config.get("handle"), config.get("model"))
    handle = next(filter(None, names), "")
    if not isinstance(handle, str):
        raise ValueError("the name of its model must be a text")
    for name in (handle, handle.rpartition("/")[2], *names):
        if isinstance(name, str) and name in known.models:
            return name
    if handle:
        reading.leave(f"its model {handle}", "it is not among the configured models")
    return None


def _read_tools(reading: _Reading, change: AgentChange, known: KnownNames) -> AgentChange:
    """Take over the tools of Letta that Talaria has under another name, and their rules."""
    tools: list[str] = []
    for one in reading.tools:
        name, kind = _take_text(one, "name"), _take_text(one, "tool_type") or "custom"
        equal = find_equal(name, kind)
        if equal is None or (equal and known.tools and equal not in known.tools):
            why = CODE if _take_text(one, "source_code") else "Talaria has no such tool"
            reading.leave(f"the tool {name}", why)
        elif equal:
            tools.append(equal)
    rows = _take_rows(reading.agent, "tool_rules", None)
    rules, needs_approval = read_rules(rows, set(tools), reading.leave)
    for tool in needs_approval:
        reading.leave(f"the tool {tool}", "it needs a yes for each call there, so it is off here")
    usable = tuple(dict.fromkeys(one for one in tools if one not in needs_approval))
    rules = tuple(one for one in rules if one.tool in usable)
    return replace(change, tools=usable, rules=_keep_good(reading, rules, known, usable))


def _keep_good(
    reading: _Reading, rules: tuple[CallRule, ...], known: KnownNames, tools: Sequence[str] | None
) -> tuple[CallRule, ...]:
    try:
        check_rules(rules, known.tools, lambda tool: tools is None or tool in tools)
    except ValueError as error:
        reading.leave("its rules", str(error))
        return ()
    return rules


def _read_own(
    reading: _Reading,
    own: Mapping[str, Any],
    change: AgentChange,
    known: KnownNames,
    check_skill: Callable[[str], object],
) -> AgentChange:
    """Take over what Talaria itself wrote about tools, skills and rules."""

    def keep(key: str) -> tuple[str, ...]:
        names = _take_names(own, key)
        here = [one for one in names if not known.tools or one in known.tools or "__" in one]
        for one in names:
            if one not in here:
                reading.leave(f"the tool {one}", "there is no such tool here")
        return tuple(one for one in here if one not in NEVER)

    tools = keep("tools") if own.get("tools") is not None else None
    disabled = keep("disabled")
    skills = []
    for one in _take_names(own, "skills"):
        try:
            check_skill(one)
            skills.append(one)
        except (SkillMissing, SkillBroken) as error:
            reading.leave(f"the skill {one}", str(error))
    rules = tuple(read_rule(row) for row in _take_rows(own, "rules", _MOST_ROWS))
    usable = None if tools is None else [one for one in tools if one not in disabled]
    return replace(
        change,
        tools=tools,
        disabled=disabled,
        skills=tuple(skills),
        rules=_keep_good(reading, rules, known, usable),
    )


def _read_blocks(reading: _Reading) -> Iterator[CarriedBlock]:
    for row in reading.blocks:
        label, value = _take_text(row, "label"), _take_text(row, "value")
        if not label.strip():
            raise ValueError("a block has no label")
        if secret := find_secret(value):
            reading.leave(f"the block {label}", f"it contains {secret}")
            continue
        entries = parse(value)
        if size(entries) > _LARGEST_BLOCK:
            most = f"{_LARGEST_BLOCK:,}"
            reading.leave(f"the block {label}", f"a block holds at most {most} characters here")
            continue
        limit = row.get("limit")
        if isinstance(limit, bool) or not isinstance(limit, int | None):
            raise ValueError(f"the limit of the block {flatten(label, 40)} must be a number")
        least = max(_LEAST_BLOCK, size(entries))
        description = " ".join(clean(_take_text(row, "description")).split())
        yield CarriedBlock(
            label=label,
            description="" if find_secret(description) else description[:_LONGEST_DESCRIPTION],
            entries=entries,
            limit=min(max(limit or least, least), _LARGEST_BLOCK),
            is_read_only=row.get("read_only") is True,
        )


def _by_id(document: Mapping[str, Any], key: str) -> Mapping[str, Mapping[str, Any]]:
    rows = _take_rows(document, key, None)
    _check_ids(rows, key)
    return {_take_text(one, "id"): one for one in rows}


def _check_ids(rows: Sequence[Mapping[str, Any]], key: str) -> None:
    seen: set[str] = set()
    for one in rows:
        name = _take_text(one, "id")
        if name and name in seen:
            raise ValueError(f"two of the {key} have the id {flatten(name, 40)}")
        seen.add(name)


def _pick(
    agent: Mapping[str, Any], key: str, rows: Mapping[str, Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    names = dict.fromkeys(_take_names(agent, key))
    if len(names) > 2 * _MOST_ROWS:
        raise ValueError(f"{key} has more than {2 * _MOST_ROWS} entries")
    if missing := next((one for one in names if one not in rows), ""):
        raise ValueError(f"{flatten(missing, 40)} of {key} is not in the file")
    return [rows[one] for one in names]


def _take_names(row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = row.get(key) or []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{key} must be a list of texts")
    return tuple(value)


def _take_rows(row: Mapping[str, Any], key: str, most: int | None) -> list[Mapping[str, Any]]:
    value = row.get(key) or []
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise ValueError(f"{key} must be a list of objects")
    if most is not None and len(value) > most:
        raise ValueError(f"{key} has more than {most} entries")
    return value


def _take_text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{key} must be a text")
    return _mend(value)


def _mend(text: str) -> str:
    """Return a text without what no database can hold: NUL, and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
