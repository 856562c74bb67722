"""Settings: a person's own settings, by lists, switches and boxes. A change can be undone."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from starlette.responses import Response

from agent_core.localization import Text, format_weekday
from agent_core.shown_settings import LEARNING_MODES, SUMMARIES, VERBOSITIES, name_city
from agent_core.time_zones import list_zones
from agent_core.tools.clock import local_time
from agent_core.tools.settings_tool import DAYS, DAYS_OFF, SPOKEN_ANSWERS
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.operations import settings as operations
from gateway.operations.settings import GROUP, HOME, LEARNING, MODEL, WrongSettings
from gateway.operations.settings_types import SetSettings, Setting, ShowSettings
from gateway.texts import forms
from gateway.texts import pages as texts
from gateway.texts.attachments import SPEECH_BUTTONS
from gateway.texts.connections import CONNECTIONS
from gateway.texts.general import name_platform
from gateway.texts.people import YOUR_ACCOUNTS
from gateway.texts.privacy import YOUR_DATA
from gateway.texts.tokens import TOKENS
from gateway.texts.tools import TOOLS
from gateway.texts.webhooks import WEBHOOKS

QUIET_HOURS = "quiet_hours"
_MOST_BYTES = 16_000
_LABELS = {
    "language": texts.LANGUAGE,
    "time_zone": texts.TIME_ZONE,
    QUIET_HOURS: texts.QUIET_HOURS,
    DAYS_OFF: texts.DAYS_OFF,
    HOME: forms.REMINDERS_GO_TO,
    "verbosity": texts.PROGRESS,
    SPOKEN_ANSWERS: texts.SPOKEN_ANSWERS,
    LEARNING: texts.LEARNING,
    MODEL: texts.MODEL,
    "context_cap": texts.READING_LIMIT,
}
"""The settings in the order of the page, with their names."""
_FURTHER = {
    "/accounts": YOUR_ACCOUNTS,
    "/tools": TOOLS,
    "/approvals": forms.ALLOWED,
    "/connections": CONNECTIONS,
    "/tokens": TOKENS,
    "/webhooks": WEBHOOKS,
    "/data": YOUR_DATA,
}
"""The pages of settings that have their own, in the order of the list."""
_NIGHT = ("22:00", "07:00")
"""What the page proposes as quiet hours."""
_LANGUAGES = {
    "en": "English",
    "de": "Deutsch",
    "fr": "Français",
    "es": "Español",
    "it": "Italiano",
    "pt": "Português",
    "pt-BR": "Português (Brasil)",
    "nl": "Nederlands",
    "da": "Dansk",
    "sv": "Svenska",
    "nb": "Norsk",
    "fi": "Suomi",
    "pl": "Polski",
    "cs": "Čeština",
    "sk": "Slovenčina",
    "sl": "Slovenščina",
    "hr": "Hrvatski",
    "hu": "Magyar",
    "ro": "Română",
    "el": "Ελληνικά",
    "tr": "Türkçe",
    "uk": "Українська",
    "ru": "Русский",
    "ar": "العربية",
    "he": "עברית",
    "fa": "فارسی",
    "hi": "हिन्दी",
    "th": "ไทย",
    "vi": "Tiếng Việt",
    "id": "Bahasa Indonesia",
    "ja": "日本語",
    "ko": "한국어",
    "zh-Hans": "简体中文",
    "zh-Hant": "繁體中文",
}
"""Languages by their own names; another one can be set in a chat."""


def list_names() -> list[tuple[str, str]]:
    """List the addresses and the names of a person's settings, and of the pages that have more."""
    own = [("/settings", name()) for name in _LABELS.values()]
    return own + [(address, name()) for address, name in _FURTHER.items()]


async def show(look: Look) -> Fields:
    """Read the person's settings."""
    found = await operations.show(look.context, ShowSettings(person=look.person.slug))
    return await _describe(look, {one.name: one.value for one in found.settings})


async def change(look: Look) -> Response:
    """Change what differs in the form, and offer to undo it.

    Wrong values change nothing: the form says what is wrong beside them, and keeps what was typed.
    Raises `Missing` and `StoreError`.
    """
    form = await read_form(look.request, _MOST_BYTES, keeps_empty=True)
    found = await operations.show(look.context, ShowSettings(person=look.person.slug))
    known = {one.name: one.value for one in found.settings}
    wanted = _read(form, known)
    if not wanted.keys() <= {*_LABELS}:
        raise Missing
    asked = SetSettings(
        person=look.person.slug,
        settings=tuple(
            Setting(name=name, value=value)
            for name, value in wanted.items()
            if not _is_same(name, value, known.get(name, ""))
        ),
    )
    if not asked.settings:
        return look.redirect("/settings", note=forms.NOTHING_CHANGED())
    try:
        done = await operations.change(look.context, asked)
    except WrongSettings as error:
        fields = await _describe(look, known | wanted, error.faults)
        return look.reject("settings.html", **fields)
    if not done.before:
        return look.redirect("/settings", note=forms.NOTHING_CHANGED())
    before = {one.name: one.value for one in done.before}
    return look.redirect(
        "/settings", before=before, left=done.jobs_left, old_zone=done.old_zone, is_changed=True
    )


def _read(form: Mapping[str, Sequence[str]], known: Mapping[str, str]) -> dict[str, str]:
    """Return the values of a form by setting, as a person would enter them in a chat.

    `shown` names the settings that the form has, since a box without a tick sends nothing.
    """
    raw = {name: form.get(f"set-{name}", [""])[0] for name in form.get("name", ())}
    given = {name: form.get(name, [""])[0].strip() for name in form.get("shown", ())}
    if QUIET_HOURS in given:
        times = [form.get(name, [""])[0].strip() for name in ("quiet_from", "quiet_until")]
        given[QUIET_HOURS] = "-".join(times) if "quiet" in form else ""
    if DAYS_OFF in given:
        ticked = form.get(DAYS_OFF, [])
        given[DAYS_OFF] = ",".join(day for day in DAYS if day in ticked)
    return {name: value for name, value in {**given, **raw}.items() if name in {**_LABELS, **raw}}


def _is_same(name: str, value: str, known: str) -> bool:
    """Return whether a value is the present one; the form shows one word of how to learn."""
    return value == known or (name == LEARNING and value == known.split(" ")[-1])


async def _describe(
    look: Look, values: Mapping[str, str], faults: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the fields of the page; their texts get a language when the page is rendered."""
    choices: dict[str, Mapping[str, Callable[[], str]]] = {
        "verbosity": VERBOSITIES,
        SPOKEN_ANSWERS: SPEECH_BUTTONS,
        LEARNING: dict[str, Text]((*LEARNING_MODES.items(), *SUMMARIES.items())),
    }
    own, flash = look.gateway.zone_of(None), look.flash
    homes = await look.gateway.database.read(
        operations.list_home_platforms, person_id=look.person.id
    )
    homes += [name for name in [values[HOME]] if name not in ("", GROUP, *homes)]
    quiet_from, _, quiet_until = values[QUIET_HOURS].partition("-")
    return {
        "labels": {name: label for name, label in _LABELS.items() if name in values},
        "values": values,
        "faults": faults or {},
        "zones": _list_zones(local_time(look.gateway.now(), "UTC").date().isoformat()),
        "own_zone": name_city(own),
        "quiet": (quiet_from or _NIGHT[0], quiet_until or _NIGHT[1]),
        "days": [(day, format_weekday(place)) for place, day in enumerate(DAYS)],
        "days_off": values[DAYS_OFF].split(","),
        "languages": _LANGUAGES,
        "choices": choices,
        "learning": values[LEARNING].split(" ")[-1],
        "homes": {name: name_platform(name) for name in homes},
        "models": look.gateway.settings.model.named,
        "changed": flash.get("before", {}),
        "left": flash.get("left", 0),
        "old_zone": flash.get("old_zone", ""),
        "further": _FURTHER,
        "f": forms,
    }


@lru_cache(maxsize=2)
def _list_zones(day: str) -> Mapping[str, Sequence[tuple[str, str]]]:
    """List the time zones by continent, each with its name and its offset on a day."""
    noon = datetime.fromisoformat(f"{day}T12:00")
    found: dict[str, list[tuple[str, str]]] = {}
    for zone in list_zones():
        area, _, place = zone.partition("/")
        offset = ZoneInfo(zone).utcoffset(noon) or timedelta()
        minutes = int(offset.total_seconds()) // 60
        sign, (hours, rest) = "-+"[minutes >= 0], divmod(abs(minutes), 60)
        shown = f"UTC{sign}{hours}{f':{rest:02}' if rest else ''}" if minutes else "UTC"
        named = place.replace("_", " ").replace("/", ", ")
        found.setdefault(area, []).append((zone, f"{named} ({shown})"))
    return {area: sorted(rows, key=lambda row: row[1]) for area, rows in sorted(found.items())}
