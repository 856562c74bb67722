"""The form of a new reminder: what, when in words, with a preview of the next times."""

import secrets
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from agent_core.ids import JobId
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs as stored
from gateway.errors import Declined, Mistaken
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.rendering import render
from gateway.interfaces.pages.undoing import find_undo
from gateway.interfaces.pages.views import Fields, Look
from gateway.jobs.destinations import NOWHERE, name_places
from gateway.operations import jobs as operations
from gateway.operations.job_types import AddJob, PlannedJob
from gateway.people.admission import UNATTENDED
from gateway.texts import forms as texts
from gateway.texts import jobs as jobs_texts
from gateway.texts.general import name_platform

_MOST_BYTES = 64_000
_FIELDS = ("text", "when", "kind", "to", "urgent", "key")


async def show(look: Look) -> Fields:
    """Show an empty form; a link may fill in the fields."""
    given = {name: look.request.query_params.get(name, "")[:500] for name in ("text", "when")}
    return _describe(look, given)


async def preview(look: Look) -> Response:
    """Show what the fields of the form mean so far, and the next times."""
    fields = await _preview(look, await _read(look))
    return render(look.request, look.viewer, "new_job.html", **fields)


async def _preview(look: Look, form: Mapping[str, str]) -> dict[str, Any]:
    faults, plan = {}, None
    if form["when"]:
        try:
            wish = _make_wish(look, {**form, "text": "…"})
            plan = await operations.plan(look.context, wish, clock=look.viewer.clock)
        except (Declined, Mistaken) as error:
            faults = {"when": str(error)}
    return _describe(look, form, faults, plan)


async def add(look: Look) -> Response:
    """Add the reminder, and show the list with it; a wrong form says what is wrong, beside it."""
    form = await _read(look)
    if "preview" in form:
        return look.show_again("new_job.html", HTTPStatus.OK, **await _preview(look, form))
    faults = {name: texts.MISSING() for name in ("text", "when") if not form[name]}
    try:
        if not faults:
            made = await operations.add(look.context, _make_wish(look, form))
            moment = look.viewer.tell_time(made.next_at) if made.next_at else made.coming
            note = texts.CREATED_REMINDER(title=made.title, moment=moment)
            sentences, is_held = await look.gateway.database.read(_look_at, look, made.id)
            undo = await look.gateway.database.read(operations.name_undo, made.id, "restore")
            given = {"undo_at": await find_undo(look, undo), "held": made.id if is_held else None}
            return look.redirect("/jobs", note=" ".join([note, *sentences]), **given)
    except (Declined, Mistaken) as error:
        faults = {"when": str(error)}
    fields = _describe(look, form, faults)
    return look.reject("new_job.html", **fields)


def _look_at(connection: Connection, look: Look, number: JobId) -> tuple[list[str], bool]:
    """Describe where a new reminder comes, and whether it waits for quiet hours to end."""
    job = stored.find(connection, job_id=number)
    if job is None:
        return [], False
    places = name_places(connection, look.person.id, job.targets, NOWHERE)
    lines = [f"{line}." for line in jobs_texts.describe_targets(places)]
    quiet = operations.describe_quiet(connection, job, look.viewer.clock)
    return [*lines, quiet] if quiet else lines, bool(quiet) and not job.is_urgent


async def _read(look: Look) -> dict[str, str]:
    found = await read_form(look.request, _MOST_BYTES, keeps_empty=True)
    given = {name: values[0].replace("\r\n", "\n").strip() for name, values in found.items()}
    return dict.fromkeys(_FIELDS, "") | given


def _make_wish(look: Look, form: Mapping[str, str]) -> AddJob:
    return AddJob(
        person=look.person.slug,
        kind="prompt" if form["kind"] == "prompt" else "message",
        text=form["text"],
        when=form["when"],
        to=(form["to"],) if form["to"] in _list_platforms(look) else None,
        urgent=True if form["urgent"] else None,
        key=f"page:{form['key']}" if form["key"] else None,
    )


def _list_platforms(look: Look) -> list[str]:
    return sorted(set(look.gateway.platforms.adapters) - UNATTENDED)


def _describe(
    look: Look,
    form: Mapping[str, str],
    faults: Mapping[str, str] | None = None,
    plan: PlannedJob | None = None,
) -> dict[str, Any]:
    return {
        "form": {**dict.fromkeys(_FIELDS, ""), "kind": "message", **form},
        "faults": faults or {},
        "plan": plan,
        "times": [look.viewer.clock.show(at) for at in plan.times] if plan else [],
        "platforms": {name: name_platform(name) for name in _list_platforms(look)},
        "key": form.get("key") or secrets.token_urlsafe(12),
        "f": texts,
        "j": jobs_texts,
    }
