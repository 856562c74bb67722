"""Teams of agents: their forms for owners, and a task for one of them."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from secrets import token_urlsafe
from typing import Any, get_args

from starlette.responses import Response

from agent_core.agent.named.teams import MOST_MEMBERS, Manager
from agent_core.state.conversations import messages, turns
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection
from gateway.errors import Declined, Mistaken
from gateway.interfaces.api.models import LONGEST_TEXT
from gateway.interfaces.pages.agents import (
    Form,
    check_name,
    check_owner,
    explain,
    find_author,
    first,
    list_labels,
    list_visible,
    outline_team,
    perform,
    read_values,
)
from gateway.interfaces.pages.sessions import say
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.operations import agents as operations
from gateway.operations.agent_types import PutAway, TeamLine, WriteTeam
from gateway.operations.wire import load
from gateway.texts import agent_pages as texts
from gateway.texts import agents as chat_texts
from gateway.texts import forms

_ASKING = "message_agent"
_LOOKED_AT, _MOST_SHOWN = 200, 10
"""Turns of the person in which tasks are looked for, and tasks on the page."""
_NEW = TeamLine(name="", manager="supervisor", rounds=3, steps=40)
_LONGEST_DESCRIPTION = 200


async def show(look: Look) -> Fields:
    """Show one team, a field for a task, and the tasks that the person gave. Raises `Missing`."""
    team = await _find(look)

    def work(connection: Connection) -> list[tuple[StoredTurn, str]]:
        return _list_tasks(connection, look, team.name)

    return {
        "team": team,
        "outline": outline_team(team),
        "limits": chat_texts.describe_limits(team.rounds, team.steps, team.dollars),
        "tasks": await look.gateway.database.read(work),
        "key": token_urlsafe(16),
        "longest": LONGEST_TEXT,
        "sent": look.flash.get("sent"),
        "undo": look.flash.get("undo"),
        "f": forms,
        "g": texts,
    }


async def begin(look: Look) -> Fields:
    """Show the empty form of a new team. Raises `Declined`."""
    check_owner(look)
    return await _describe(look, _spell(_NEW), {})


async def create(look: Look) -> Response:
    """Make a team; a wrong form says what is wrong, and keeps what was typed."""
    check_owner(look)
    form = await read_values(look)
    name, faults = first(form, "name"), _check(form)
    if not faults:
        faults = check_name(name, [one.name for one in (await list_visible(look)).teams])
    if not faults:
        try:
            await operations.write_team(look.context, _make_wish(look, name, form, None))
        except (Declined, Mistaken) as error:
            faults = explain(error)
        else:
            return look.redirect(f"/teams/{name}", note=texts.TEAM_MADE(name=name))
    return look.reject("edit_team.html", **await _describe(look, form, faults))


async def edit(look: Look) -> Fields:
    """Show a team in its form. Raises `Missing` and `Declined`."""
    check_owner(look)
    team = await _find(look)
    return await _describe(look, _spell(_NEW if team.fault else team), {}, team)


async def change(look: Look) -> Response:
    """Change a team, and offer to undo it. Raises `Missing` and `Declined`."""
    check_owner(look)
    team, form = await _find(look), await read_values(look)
    faults = _check(form)
    if not faults:
        try:
            wish = _make_wish(look, team.name, form, team)
            if _make_wish(look, team.name, _spell(team), team) == wish and not team.fault:
                return look.redirect(f"/teams/{team.name}", note=forms.NOTHING_CHANGED())
            await operations.write_team(look.context, wish)
        except (Declined, Mistaken) as error:
            faults = explain(error)
        else:
            before = _spell(team)
            undo = None if team.fault else [(key, one) for key in before for one in before[key]]
            note = texts.TEAM_CHANGED(name=team.name)
            return look.redirect(f"/teams/{team.name}", note=note, undo=undo)
    return look.reject("edit_team.html", **await _describe(look, form, faults, team))


async def act(look: Look) -> Response:
    """Archive or restore a team. Raises `Missing` and `Declined`."""
    check_owner(look)
    verb, name = look.request.path_params["verb"], look.request.path_params["team"]
    if verb not in ("archive", "restore"):
        raise Missing
    asked = PutAway(kind="team", action=verb, name=name, by=find_author(look))
    await perform(operations.put_away(look.context, asked))
    if verb == "archive":
        return look.redirect("/agents", note=texts.TEAM_ARCHIVED(name=name), kept=("teams", name))
    return look.redirect(f"/teams/{name}", note=texts.TEAM_RESTORED(name=name))


async def give_task(look: Look) -> Response:
    """Send the person's message that gives a team a task, as `/team` does.

    A repeated form has the same key, so the task is given once. Raises `Missing` and `Declined`.
    """
    team, form = await _find(look), await read_values(look)
    task, key = first(form, "task"), first(form, "key")[:100]
    if team.fault or not task or len(task) > LONGEST_TEXT:
        raise Declined(texts.NO_TASK())
    await say(look, chat_texts.TEAM_TASK(name=team.name, task=task), key)
    return look.redirect(f"/teams/{team.name}", sent=texts.TASK_SENT(name=team.name))


async def _find(look: Look) -> TeamLine:
    """Return the team in the address. Raises `Missing`."""
    name = look.request.path_params["team"]
    found = next((one for one in (await list_visible(look)).teams if one.name == name), None)
    if found is None:
        raise Missing
    return found


def _list_tasks(connection: Connection, look: Look, team: str) -> list[tuple[StoredTurn, str]]:
    """List the newest turns of the person that gave a team a task, each with the first task."""
    person_id, tasks = look.person.id, []
    found = turns.list_with_step(connection, person_id=person_id, step=_ASKING, among=_LOOKED_AT)
    for turn in found:
        said = messages.list_of_turn(connection, turn_id=turn.id, person_id=person_id)
        calls = [json.loads(call.arguments) for one in said for call in one.message.calls]
        given = [one for one in calls if one.get("mode") == "team" and one.get("to") == team]
        if given:
            tasks.append((turn, str(given[0].get("text", ""))))
    return tasks[:_MOST_SHOWN]


def _check(form: Form) -> dict[str, str]:
    """Return what is wrong with single fields."""
    faults = {
        name: texts.NO_NUMBER()
        for name in ("rounds", "steps", "dollars")
        if _read_number(first(form, name)) is None
    }
    if len(first(form, "description")) > _LONGEST_DESCRIPTION:
        faults["description"] = texts.LONGEST(number=_LONGEST_DESCRIPTION)
    if first(form, "manager") not in get_args(Manager):
        faults["manager"] = forms.MISSING()
    elif first(form, "manager") == "supervisor" and not first(form, "supervisor"):
        faults["supervisor"] = forms.MISSING()
    return faults


def _read_number(text: str) -> float | None:
    """Parse an amount with a point or a comma; None if it is none."""
    text = text.replace(",", ".", 1)
    whole, _, rest = text.partition(".")
    is_amount = text.isascii() and len(text) <= 12 and f"{whole}{rest}".isdigit() and whole
    return float(text) if is_amount else None


def _make_wish(look: Look, name: str, form: Form, team: TeamLine | None) -> WriteTeam:
    """Return what a form that was checked asks for. Raises `Mistaken`."""
    manager = first(form, "manager")
    numbers = {key: _read_number(first(form, key)) or 0.0 for key in ("rounds", "steps")}
    given: dict[str, object] = {
        "action": "change" if team else "create",
        "name": name,
        "manager": manager,
        "supervisor": first(form, "supervisor") if manager == "supervisor" else "",
        "members": tuple(dict.fromkeys(filter(None, form.get("member", ())))),
        "blocks": tuple(filter(None, form.get("block", ()))),
        "description": first(form, "description"),
        "dollars": _read_number(first(form, "dollars")) or 0.0,
        "by": find_author(look),
        **{key: int(value) for key, value in numbers.items()},
    }
    return load(WriteTeam, given)


def _spell(team: TeamLine) -> dict[str, list[str]]:
    """Return a team as its form would send it."""
    values = asdict(team)
    form = {key: [str(values[key])] for key in ("name", "manager", "supervisor", "description")}
    form |= {key: [f"{values[key]:g}"] for key in ("rounds", "steps", "dollars")}
    return form | {"member": list(team.members), "block": list(team.blocks)}


async def _describe(
    look: Look, form: Form, faults: Mapping[str, str], team: TeamLine | None = None
) -> dict[str, Any]:
    """Return the fields of the form."""
    members = [*filter(None, form.get("member", ()))]
    named = [one.name for one in (await list_visible(look)).agents if not one.fault]
    return {
        "team": team,
        "form": form,
        "faults": faults,
        "agents": list(
            dict.fromkeys([*named, *members, *filter(None, form.get("supervisor", ()))])
        ),
        "member_places": range(min(max(len(members) + 2, 3), MOST_MEMBERS)),
        "members": members,
        "all_blocks": await list_labels(look),
        "longest": _LONGEST_DESCRIPTION,
        "f": forms,
        "g": texts,
    }
