"""The page of one job: forms change the job, and a button undoes the change."""

import secrets
from collections.abc import Mapping
from functools import partial
from typing import Any, get_args

from starlette.responses import Response

from agent_core.schedule.job_fields import DECLARATIONS
from agent_core.schedule.receipts import say_timing
from agent_core.schedule.triggers import load_timing, write_arguments
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import job_versions
from agent_core.state.jobs.jobs import Job
from agent_core.state.jobs.missed_slots import Late
from gateway.errors import Declined, Mistaken
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.jobs.listing import find_own
from gateway.interfaces.pages.views import Fields, Look, Missing, parse_number
from gateway.jobs.destinations import NOWHERE, name_places
from gateway.operations import jobs as operations
from gateway.operations.job_types import ActOnJob, ChangeJob
from gateway.people.admission import UNATTENDED
from gateway.texts import forms
from gateway.texts import jobs as texts
from gateway.texts.general import name_platform

_MOST_BYTES = 64_000
"""Most bytes of a form: 4,000 characters of text, each encoded as up to 12 bytes, and the rest."""
_SCHEDULES: Mapping[str, tuple[str, ...]] = {
    kind: (
        kind,
        *(one.name for one in DECLARATIONS if kind in one.goes_with and one.name in texts.LABELS),
    )
    for kind in texts.SCHEDULES
}
"""The kinds of schedules, each with the fields of a job that a form has for it."""
_LISTS = ("times", "skip")


async def show_job(look: Look) -> Fields:
    """Read a job of the person for its forms. Raises `Missing`."""
    return await look.gateway.database.read(partial(_describe, look=look, given=look.flash))


async def change(look: Look) -> Response:
    """Change a job, and show it with a button that undoes the change.

    A refused change changes nothing; its values stay in the form. Raises `Missing` and
    `StoreError`.
    """
    form = await _read_form(look)
    former = await look.gateway.database.read(find_own, look)
    if form.get("to") not in ("home", *_list_platforms(look)):
        form.pop("to", None)
    try:
        asked = _find_changes(former, form)
        if asked:
            await operations.change(look.context, ChangeJob(id=former.id, **asked))
    except (Declined, Mistaken) as error:
        return await _refuse(look, form | {"refused": str(error)})
    address = f"/jobs/{former.id}"
    return (
        look.redirect(address, changed="yes")
        if asked
        else look.redirect(address, note=texts.NO_CHANGE())
    )


async def put_back(look: Look) -> Response:
    """Undo a change of a job. Raises `Missing`."""
    form = await _read_form(look)
    job = await look.gateway.database.read(find_own, look)
    version = parse_number(form.get("version", ""), 0)
    try:
        await operations.do_verb(look.context, ActOnJob(id=job.id, version=version), verb="undo")
    except (Declined, Mistaken) as error:
        return await _refuse(look, {"refused": str(error)})
    return look.redirect(f"/jobs/{job.id}", changed="yes")


async def _read_form(look: Look) -> dict[str, str]:
    found = await read_form(look.request, _MOST_BYTES, keeps_empty=True)
    return {name: values[0].replace("\r\n", "\n").strip() for name, values in found.items()}


async def _refuse(look: Look, given: Mapping[str, str]) -> Response:
    fields = await look.gateway.database.read(partial(_describe, look=look, given=given))
    return look.reject("job.html", **fields)


def _describe(
    connection: Connection, look: Look, given: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the fields of the page; `given` has values of forms, and the result of a change."""
    job = find_own(connection, look)
    if job.state not in ("active", "paused"):
        raise Missing
    given = given or {}
    places = name_places(connection, look.person.id, job.targets, NOWHERE)
    known, kind = _list_values(job), _find_kind(job)
    asked = given.get("when") or look.request.query_params.get("when", "")
    return {
        "job": job,
        "outline": operations.outline(connection, job, clock=look.viewer.clock),
        "body": texts.show_body(job),
        "values": known | {name: value for name, value in given.items() if name in known},
        "kind": asked if asked in _SCHEDULES else kind,
        "schedules": _SCHEDULES,
        "labels": texts.LABELS,
        "hints": texts.HINTS,
        "late": texts.LATE,
        "is_event": kind == "on",
        "is_once": kind == "at",
        "targets": places,
        "platforms": {name: name_platform(name) for name in _list_platforms(look)},
        "models": look.gateway.settings.model.named,
        "refused": given.get("refused", ""),
        "is_changed": "changed" in given,
        "versions": [
            (one.id, one.replaced_at, one.job, say_timing(one.job, look.viewer.clock))
            for one in job_versions.list_of(connection, job_id=job.id)
        ],
        "key": secrets.token_urlsafe(16),
        "whens": forms.WHENS,
        "words": given.get("words", ""),
        "is_exact": "when" in look.request.query_params or "when" in given,
        "j": texts,
        "f": forms,
    }


def _list_platforms(look: Look) -> list[str]:
    return sorted(set(look.gateway.platforms.adapters) - UNATTENDED)


def _find_kind(job: Job) -> str:
    return next(iter(write_arguments(load_timing(job.timing), find_zone(job.zone))))


def _list_values(job: Job) -> dict[str, str]:
    """List the values of a job's fields, in the form in which a person enters them."""
    timing = write_arguments(load_timing(job.timing), find_zone(job.zone))
    named = {name: "" for names in _SCHEDULES.values() for name in names}
    shown = {
        name: ", ".join(value) if isinstance(value, list) else str(value)
        for name, value in timing.items()
    }
    return {
        **named,
        **shown,
        "title": job.title,
        "text": job.body,
        "to": "",
        "model": job.options.model,
        "late": job.late,
        "urgent": "yes" if job.is_urgent else "",
        "zone": job.zone,
    }


def _find_changes(job: Job, form: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a form that differ from the job. Raises `Mistaken`."""
    known = _list_values(job)
    found: dict[str, Any] = {
        name: form[name]
        for name in ("title", "model", "late", "zone")
        if name in form and form[name] != known[name]
    }
    if "late" in found and found["late"] not in get_args(Late):
        del found["late"]
    if "text" in form and job.kind != "script" and form["text"] != known["text"]:
        found["text"] = form["text"]
    if form.get("to"):
        found["to"] = (form["to"],)
    if "title" in form and form.get("urgent", "") != known["urgent"]:
        found["urgent"] = form.get("urgent") == "yes"  # an unticked box sends nothing
    if form.get("words"):
        found["when"] = form["words"]
    when = form.get("when", "")
    given = {name: form.get(name, "") for name in _SCHEDULES.get(when, ())}
    if any(value != known[name] for name, value in given.items()):
        found |= {name: _read_value(name, value) for name, value in given.items() if value}
        found.setdefault(when, _read_value(when, given[when]))
    return found


def _read_value(name: str, text: str) -> object:
    """Convert the text of a field to its value. Raises `Mistaken`."""
    if name in _LISTS:
        return tuple(word.strip() for word in text.split(",") if word.strip())
    if name != "every_minutes":
        return text
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Mistaken(texts.NO_MINUTES())
    return int(text)
