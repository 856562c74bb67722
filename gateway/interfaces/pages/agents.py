"""Agents: who answers the person, and the forms with which owners make and change agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.responses import Response

from agent_core.agent.named.chain import DEFAULT
from agent_core.agent.named.definition import LONGEST_SOUL, NEVER, is_name
from agent_core.state.conversations.private_history import find_present
from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks
from agent_core.state.people import people
from gateway.errors import Declined, Mistaken
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.views import Fields, Look, Missing, parse_number
from gateway.operations import agents as operations
from gateway.operations.agent_types import (
    AgentLine,
    AgentList,
    AgentRule,
    ListAgents,
    MoveAgent,
    PutAway,
    ShowAgent,
    TeamLine,
    UseAgent,
    WriteAgent,
)
from gateway.operations.skill_types import ListSkills
from gateway.operations.skills import list_skills
from gateway.texts import access, forms
from gateway.texts import agent_pages as texts
from gateway.texts import agents as chat_texts
from gateway.texts.tools import name_purpose

_MOST_BYTES = 400_000
_MOST_RULES = 50
_LONGEST_DESCRIPTION = 200
ALL, ONLY = "all", "only"
"""How the list of tools, or of blocks, of an agent is meant: all but some, or only some."""
_MARKS = {
    "first": "must_run_first",
    "ends": "ends_turn",
    "needed": "must_run_before_end",
}
"""The fields of a rule that are boxes, with the names in its table."""

Form = Mapping[str, Sequence[str]]
"""What a form holds, as a browser sends it."""


async def show_list(look: Look) -> Fields:
    """List the agents and teams that the person may see, and who answers them now."""
    found = await list_visible(look)
    fresh = await look.gateway.database.read(people.find, person_id=look.person.id)
    return {
        "found": found,
        "used": fresh.agent if fresh else "",
        "outline": outline_team,
        "default": DEFAULT,
        "kept": look.flash.get("kept"),
        "f": forms,
        "g": texts,
    }


async def show(look: Look) -> Fields:
    """Show one agent: what it is, what it may use, and its teams. Raises `Missing`."""
    line, soul = await _find(look)
    others = [one.name for one in (await list_visible(look)).teams if not one.fault]
    fresh = await look.gateway.database.read(people.find, person_id=look.person.id)
    return {
        "agent": line,
        "soul": soul,
        "used": fresh.agent if fresh else "",
        "rules": [(rule.tool, describe_rule(rule)) for rule in line.rules],
        "targets": [name for name in others if name not in line.teams],
        "undo": look.flash.get("undo"),
        "usual": look.gateway.settings.model.name,
        "f": forms,
        "g": texts,
    }


async def begin(look: Look) -> Fields:
    """Show the empty form of a new agent. Raises `Declined`."""
    check_owner(look)
    return await _describe(look, _spell(look, AgentLine(name=""), ""), {})


async def create(look: Look) -> Response:
    """Make an agent; a wrong form says what is wrong, and keeps what was typed."""
    check_owner(look)
    form = await read_values(look)
    name, faults = first(form, "name"), _check(form)
    if not faults:
        faults = check_name(name, [one.name for one in (await list_visible(look)).agents])
    if not faults:
        try:
            wish = await _make_wish(look, name, form, AgentLine(name=name), "")
            await operations.write_agent(look.context, replace(wish, action="create"))
        except (Declined, Mistaken) as error:
            faults = explain(error)
        else:
            return look.redirect(f"/agents/{name}", note=texts.MADE(name=name))
    return look.reject("edit_agent.html", **await _describe(look, form, faults))


async def edit(look: Look) -> Fields:
    """Show an agent in its form. Raises `Missing` and `Declined`."""
    check_owner(look)
    line, soul = await _find(look)
    return await _describe(look, _spell(look, line, soul), {}, line)


async def change(look: Look) -> Response:
    """Change what differs in the form, and offer to undo it. Raises `Missing` and `Declined`."""
    check_owner(look)
    line, soul = await _find(look)
    form = await read_values(look)
    faults = _check(form)
    if not faults:
        try:
            wish = await _make_wish(look, line.name, form, line, soul)
            if wish == WriteAgent(action="change", name=line.name, by=wish.by):
                return look.redirect(f"/agents/{line.name}", note=forms.NOTHING_CHANGED())
            await operations.write_agent(look.context, wish)
        except (Declined, Mistaken) as error:
            faults = explain(error)
        else:
            note, before = texts.CHANGED(name=line.name), _spell(look, line, soul)
            undo = None if line.fault else [(key, one) for key in before for one in before[key]]
            return look.redirect(f"/agents/{line.name}", note=note, undo=undo)
    return look.reject("edit_agent.html", **await _describe(look, form, faults, line))


async def act(look: Look) -> Response:
    """Archive or restore an agent, or let it answer. Raises `Missing` and `Declined`."""
    verb, name = look.request.path_params["verb"], look.request.path_params["agent"]
    if verb == "use":
        return await _use(look, "" if name == DEFAULT else name)
    if verb not in ("archive", "restore"):
        raise Missing
    check_owner(look)
    asked = PutAway(kind="agent", action=verb, name=name, by=find_author(look))
    await perform(operations.put_away(look.context, asked))
    if verb == "archive":
        return look.redirect("/agents", note=texts.ARCHIVED(name=name), kept=("agents", name))
    return look.redirect(f"/agents/{name}", note=texts.RESTORED(name=name))


async def move(look: Look) -> Response:
    """Move an agent from one team to another. Raises `Declined`."""
    check_owner(look)
    form, name = await read_values(look), look.request.path_params["agent"]
    source, target = first(form, "source"), first(form, "target")
    asked = MoveAgent(name=name, source=source, target=target, by=find_author(look))
    await perform(operations.move(look.context, asked))
    note = texts.MOVED(name=name, source=source, target=target)
    return look.redirect(f"/agents/{name}", note=note)


async def _use(look: Look, name: str) -> Response:
    """Let an agent, or the assistant, answer in the person's direct chats. Raises `Declined`."""
    gateway, person = look.gateway, look.person
    present = await gateway.database.read(find_present, person_id=person.id, agent=person.agent)
    if present is not None and gateway.lanes.is_running(present.conversation_id):
        raise Declined(chat_texts.BUSY())
    await operations.use_agent(look.context, UseAgent(person=person.slug, name=name))
    note = texts.ANSWERS_NOW(name=name) if name else texts.ASSISTANT_NOW()
    return look.redirect("/agents", note=note)


async def list_visible(look: Look) -> AgentList:
    """List the agents and teams; only owners see those with a fault, and the archived ones."""
    found = await operations.list_agents(look.context, ListAgents())
    if look.viewer.is_owner:
        return found
    return AgentList(
        agents=tuple(one for one in found.agents if not one.fault),
        teams=tuple(one for one in found.teams if not one.fault),
    )


def outline_team(team: TeamLine) -> str:
    """Name the members of a team in their order, and its leader."""
    members = ", ".join(team.members)
    if team.supervisor:
        return texts.LED(supervisor=team.supervisor, members=members)
    return members


def describe_rule(rule: AgentRule) -> str:
    """Say what a rule asks of its tool."""
    parts = [texts.RULE_TIMES(rule.most_per_turn)] if rule.most_per_turn else []
    parts += [texts.RULE_IS_FIRST()] if rule.must_run_first else []
    if rule.only_after:
        parts.append(texts.RULE_ONLY_AFTER(names=", ".join(rule.only_after)))
    if rule.then_only:
        parts.append(texts.RULE_ONLY_THEN(names=", ".join(rule.then_only)))
    parts += [texts.RULE_IS_LAST()] if rule.ends_turn else []
    parts += [texts.RULE_IS_NEEDED()] if rule.must_run_before_end else []
    if places := ", ".join(texts.CALLERS[one]() for one in rule.callers):
        parts.append(texts.RULE_ONLY_IN(names=places))
    return "; ".join(parts)


def check_owner(look: Look) -> None:
    """Raise `Declined` for anybody but an owner."""
    if not look.viewer.is_owner:
        raise Declined(access.ONLY_OWNERS())


def find_author(look: Look) -> str:
    """Return the owner's folder; "" for whoever has the printed address but is no owner."""
    return look.person.slug if look.person.is_owner else ""


async def perform(work: Any) -> None:
    """Do a change that no form shows again. Raises `Declined` in the reader's language."""
    try:
        await work
    except (Declined, Mistaken) as error:
        raise Declined(explain(error)["form"]) from error


def explain(error: Declined | Mistaken) -> dict[str, str]:
    """Return the fault of a whole form; its details are English clauses of the core."""
    return {"form": texts.NOT_POSSIBLE(reason=str(error))}


def check_name(name: str, taken: Sequence[str]) -> dict[str, str]:
    """Return what is wrong with the name of a new agent or team."""
    if not is_name(name):
        return {"name": texts.BAD_NAME() if name else forms.MISSING()}
    return {"name": texts.TAKEN()} if name in taken else {}


async def read_values(look: Look) -> dict[str, list[str]]:
    """Read a form with its empty values."""
    found = await read_form(look.request, _MOST_BYTES, keeps_empty=True)
    return {
        name: [one.replace("\r\n", "\n").strip() for one in values]
        for name, values in found.items()
    }


def first(form: Form, name: str) -> str:
    """Return the first value of a field; "" if there is none."""
    return next(iter(form.get(name, ())), "")


def split(text: str) -> tuple[str, ...]:
    """Return names with commas between them."""
    return tuple(dict.fromkeys(one.strip() for one in text.split(",") if one.strip()))


async def list_labels(look: Look) -> list[str]:
    """List the labels of all blocks."""

    def work(connection: Connection) -> list[str]:
        return [one.label for one in blocks.list_all(connection)]

    return await look.gateway.database.read(work)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """Holds what a form says about an agent, without its name. None stands for all."""

    soul: str
    description: str
    model: str
    tools: tuple[str, ...] | None
    disabled: tuple[str, ...]
    skills: tuple[str, ...]
    blocks: tuple[str, ...] | None
    tags: tuple[str, ...]
    rules: tuple[AgentRule, ...]


async def _find(look: Look) -> tuple[AgentLine, str]:
    """Return the agent in the address with its identity. Raises `Missing`."""
    name = look.request.path_params["agent"]
    if name not in [one.name for one in (await list_visible(look)).agents]:
        raise Missing
    found = await operations.show_agent(look.context, ShowAgent(name=name))
    return found.line, found.soul


def _check(form: Form) -> dict[str, str]:
    """Return what is wrong with texts that are too long."""
    most = {"description": _LONGEST_DESCRIPTION, "soul": LONGEST_SOUL}
    return {
        name: texts.LONGEST(number=limit)
        for name, limit in most.items()
        if len(first(form, name)) > limit
    }


async def _make_wish(look: Look, name: str, form: Form, line: AgentLine, soul: str) -> WriteAgent:
    """Return the change that a form asks for: what differs from the agent as it is."""
    tools = [one for one, _ in _list_tools(look)]
    new, old = _read(form, tools), _read(_spell(look, line, soul), tools)
    given: dict[str, Any] = {
        key: getattr(new, key)
        for key in _Parts.__dataclass_fields__
        if getattr(new, key) != getattr(old, key) or line.fault
    }
    if (
        "tools" in given and new.disabled != line.disabled
    ):  # a tool that has a tick again must not stay disabled
        given["disabled"] = new.disabled
    return WriteAgent(
        action="change",
        name=name,
        any_tools="tools" in given and new.tools is None,
        any_blocks="blocks" in given and new.blocks is None,
        by=find_author(look),
        **given | {"soul": given.get("soul") or None},
    )


def _read(form: Form, tools: Sequence[str]) -> _Parts:
    """Read a form. A tool without a tick is disabled, or not among the only ones."""
    ticked = form.get("tool", ())
    only = first(form, "tools") == ONLY
    foreign = tuple(one for one in form.get("disabled", ()) if "__" in one)
    off = tuple(one for one in tools if one not in ticked)
    return _Parts(
        soul=first(form, "soul"),
        description=first(form, "description"),
        model=first(form, "model"),
        tools=tuple(one for one in tools if one in ticked) if only else None,
        disabled=foreign if only else (*off, *foreign),
        skills=tuple(dict.fromkeys(filter(None, form.get("skill", ())))),
        blocks=tuple(filter(None, form.get("block", ())))
        if first(form, "blocks") == ONLY
        else None,
        tags=split(first(form, "tags")),
        rules=tuple(_read_rules(form)),
    )


def _read_rules(form: Form) -> list[AgentRule]:
    found = []
    for number in range(_MOST_RULES):
        here = f"rule{number}_"
        if tool := first(form, f"{here}tool"):
            rule = AgentRule(
                tool=tool,
                callers=tuple(one for one in form.get(f"{here}callers", ()) if one),
                most_per_turn=parse_number(first(form, f"{here}most"), 0),
                then_only=split(first(form, f"{here}then")),
                only_after=split(first(form, f"{here}after")),
                **{key: f"{here}{mark}" in form for mark, key in _MARKS.items()},
            )
            found.append(rule)
    return found


def _spell(look: Look, line: AgentLine, soul: str) -> dict[str, list[str]]:
    """Return an agent as its form would send it."""
    tools = [one for one, _ in _list_tools(look)] if line.tools is None else line.tools
    form = {
        "name": [line.name],
        "soul": [soul],
        "description": [line.description],
        "model": [line.model],
        "tools": [ALL if line.tools is None else ONLY],
        "tool": [one for one in tools if one not in line.disabled],
        "disabled": list(line.disabled),
        "skill": list(line.skills),
        "blocks": [ALL if line.blocks is None else ONLY],
        "block": list(line.blocks or ()),
        "tags": [", ".join(line.tags)],
    }
    for number, rule in enumerate(line.rules):
        here = f"rule{number}_"
        form |= {
            f"{here}tool": [rule.tool],
            f"{here}most": [str(rule.most_per_turn)],
            f"{here}then": [", ".join(rule.then_only)],
            f"{here}after": [", ".join(rule.only_after)],
            f"{here}callers": list(rule.callers),
        }
        form |= {f"{here}{mark}": ["yes"] for mark, key in _MARKS.items() if getattr(rule, key)}
    return form


def _list_tools(look: Look) -> list[tuple[str, str]]:
    """List Talaria's own tools that an agent can have, each with what it is for."""
    specs = [one for one in look.gateway.toolboxes.private.all_specs if one.name not in NEVER]
    return [(one.name, _begin(name_purpose(one))) for one in specs]


def _begin(clause: str) -> str:
    return clause[:1].upper() + clause[1:]


async def _describe(
    look: Look, form: Form, faults: Mapping[str, str], line: AgentLine | None = None
) -> dict[str, Any]:
    """Return the fields of the form. Raises `Declined` if the folder of skills can't be read."""
    listed = await list_skills(look.context, ListSkills())
    rules = [number for number in range(_MOST_RULES) if first(form, f"rule{number}_tool")]
    model = look.gateway.settings.model
    return {
        "agent": line,
        "form": form,
        "faults": faults,
        "all_tools": _list_tools(look),
        "all_skills": sorted(
            {one.name for one in listed.skills if not one.fault} | {*form.get("skill", ())}
        ),
        "all_blocks": await list_labels(look),
        "models": list(dict.fromkeys([*model.named, *filter(None, form.get("model", ()))])),
        "usual": model.name,
        "rules": [*rules, next(n for n in range(_MOST_RULES + 1) if n not in rules)],
        "f": forms,
        "g": texts,
    }
