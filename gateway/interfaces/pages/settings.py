"""Settings: a person's own settings, as in the chat. Each change can be undone at once."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from agent_core.errors import ToolArgumentError
from agent_core.localization import Text
from agent_core.schedule.confirmations import list_left
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.tools.settings_tool import SPOKEN_ANSWERS, describe_hours
from gateway.commands.learned import choose_learning
from gateway.commands.settings import (
    PersonalSettings,
    change_setting,
    find_model,
    find_settings,
    parse_setting,
    save_settings,
)
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.rendering import render
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.texts import learning as notices
from gateway.texts import pages as texts
from gateway.texts.attachments import SPEECH_BUTTONS
from gateway.texts.general import VERBOSITIES
from gateway.texts.people import YOUR_ACCOUNTS
from gateway.texts.webhooks import WEBHOOKS

_MODEL, _LEARNING = "model", "learning"
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MOST_BYTES = 4_000
"""Most bytes of a form: a value of up to 300 characters, each encoded as up to 12 bytes."""
_LABELS = {
    "time_zone": texts.TIME_ZONE,
    "language": texts.LANGUAGE,
    "quiet_hours": texts.QUIET_HOURS,
    "days_off": texts.DAYS_OFF,
    "verbosity": texts.PROGRESS,
    "context_cap": texts.READING_LIMIT,
    "spoken_answers": texts.SPOKEN_ANSWERS,
    _LEARNING: texts.LEARNING,
    _MODEL: texts.MODEL,
}
_HINTS = {
    "time_zone": texts.HINT_TIME_ZONE,
    "language": texts.HINT_LANGUAGE,
    "quiet_hours": texts.HINT_QUIET_HOURS,
    "days_off": texts.HINT_DAYS_OFF,
    "context_cap": texts.HINT_READING_LIMIT,
    _MODEL: texts.HINT_MODEL,
}


async def show(look: Look) -> Fields:
    """Read the person's settings."""
    return await look.gateway.database.read(lambda c: _describe(look, _list_values(c, look)))


async def change(look: Look) -> Response:
    """Change a setting, and show all settings with a button that restores the old value.

    A refused value changes nothing, and stays in its field. Raises `Missing` and `StoreError`.
    """
    name = look.request.path_params["name"]
    if name not in _LABELS:
        raise Missing
    value = (await read_form(look.request, _MOST_BYTES)).get("value", [""])[0].strip()
    database = look.gateway.database
    try:
        old, new, person = await database.write("settings.set", _set, look, name, value)
    except (ToolArgumentError, LookupError) as error:
        values = await database.read(_list_values, look)
        fields = _describe(look, {**values, name: value}) | {"refused": str(error), "bad": name}
        status = HTTPStatus.CONFLICT
        return render(look.request, look.viewer, "settings.html", status=status, **fields)
    look.gateway.forget_known()
    look.gateway.wake_jobs()  # deferred messages may be due now
    old_zone, zone = look.viewer.zone, look.gateway.zone_of(person)
    left = await database.read(
        lambda c: list_left(c, person_id=person.id, zone=old_zone) if zone != old_zone else []
    )
    fields = _describe(look, new) | {"left": len(left), "old_zone": old_zone}
    if old[name] != new[name]:
        fields["changed"] = {"name": name, "label": _LABELS[name], "old": old[name]}
    viewer = replace(look.viewer, person=person, zone=zone)
    return render(look.request, viewer, "settings.html", **fields)


def _set(
    connection: Connection, look: Look, name: str, value: str
) -> tuple[dict[str, str], dict[str, str], Person]:
    """Store one setting; return all values before and after, and the changed person.

    Raises `ToolArgumentError` and `LookupError` with a sentence.
    """
    now, person_id = look.gateway.now(), look.person.id
    old = _list_values(connection, look)
    if name == _MODEL:
        names = look.gateway.settings.model.named
        model = find_model(names, value) if value else ""
        people.set_model(connection, person_id=person_id, model=model)
    elif name == _LEARNING:
        for word in value.split() or [""]:
            person = _find(connection, look).person
            choose_learning(connection, person, word, now=now)
    else:
        _, parsed = parse_setting(f"{name} {value}")
        wanted = change_setting(_find(connection, look), name, parsed or "")
        zone = look.gateway.zone_of(wanted.person)
        save_settings(connection, wanted, zone=zone, now=now)
    return old, _list_values(connection, look), _find(connection, look).person


def _find(connection: Connection, look: Look) -> PersonalSettings:
    can_speak = bool(look.gateway.settings.media.speech_command)
    return find_settings(connection, look.person, can_speak=can_speak)


def _list_values(connection: Connection, look: Look) -> dict[str, str]:
    """List the values by name, in the form in which a person enters them."""
    found = _find(connection, look)
    person = found.person
    values = {
        "time_zone": person.time_zone or "",
        "language": person.language or "",
        "quiet_hours": describe_hours(person),
        "days_off": ",".join(_DAYS[day - 1] for day in found.days_off),
        "verbosity": person.verbosity,
        "context_cap": str(person.context_cap or ""),
        _LEARNING: f"{person.learning} {person.learning_summary}".strip(),
        _MODEL: person.model,
    }
    return values | ({SPOKEN_ANSWERS: person.spoken_answers} if found.can_speak else {})


def _describe(look: Look, values: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of the page; their texts get a language when the page is rendered."""
    choices: dict[str, Mapping[str, Callable[[], str]]] = {
        "verbosity": VERBOSITIES,
        SPOKEN_ANSWERS: SPEECH_BUTTONS,
        _LEARNING: dict[str, Text]((*notices.MODES.items(), *notices.SUMMARIES.items())),
    }
    rows = [
        {
            "name": name,
            "label": label,
            "hint": _HINTS.get(name),
            "value": values[name],
            "choices": choices.get(name),
        }
        for name, label in _LABELS.items()
        if name in values
    ]
    return {
        "rows": rows,
        "accounts": YOUR_ACCOUNTS,
        "webhooks": WEBHOOKS,
        "models": look.gateway.settings.model.named,
        "changed": None,
        "left": 0,
        "old_zone": "",
        "refused": "",
        "bad": "",
    }
