"""The `settings` tool: a person's time zone, language, quiet hours and level of detail."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from agent_core.errors import ToolArgumentError
from agent_core.localization import Text, name_language
from agent_core.shown_settings import SPEECH, VERBOSITIES, describe_learning, name_city
from agent_core.spoken_settings import find_language_tag
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import delivery_targets, people
from agent_core.state.people.people import Person, SpokenAnswers, Verbosity
from agent_core.time_zones import find_zone, read_hours
from agent_core.tools.clock import describe_days, read_days
from agent_core.tools.contract import Declaration, Effect, ToolContext, ToolResult
from agent_core.tools.own_words.contract import Essentials
from agent_core.tools.said_settings import says_setting
from agent_core.transcript import Receipt, ToolSpec, flatten

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_MINUTES = 60
_TOKENS = re.compile(r"(\d{1,3}(?:[,._' ]?\d{3})*|\d+)\s*(k?)(?:\s*tokens?)?", re.IGNORECASE)
DAYS_OFF, TIME_ZONE, OFF = "days_off", "time_zone", "off"
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_BAD_LANGUAGE = Text('I don\'t know the language "{value}". Write "German", or a tag like "pt-BR".')
_BAD_VERBOSITY = Text(
    'How much do you want to see? Choose "quiet" (answers only), "normal" or "verbose"'
    " (every step)."
)
_BAD_CAP = Text(
    '"{value}" isn\'t a reading limit. Write a number of tokens, at least {least}, or "off" for'
    " no limit."
)
_BAD_SPOKEN = Text('When shall I speak my answers? Choose "off", "to voice messages" or "always".')
_BAD_ZONE = Text('"{value}" isn\'t a time zone. Write a city like "Vienna", or "UTC+2".')
_BAD_HOURS = Text('"{value}" isn\'t a range of hours. Write one like 22:00-07:30 or 10pm-7am.')
_EMPTY_HOURS = Text('Quiet hours can\'t start and end at the same time. Write "off" for none.')
_SET = Text("⚙ {name}: {value}")
_SETTING = Text("{name}: {value}")
_NOT_SET = Text("not set")
_SET_BACK = Text("{name} as before: {value}")
_LABELS = {
    "time_zone": Text("Time zone"),
    "language": Text("Language"),
    "quiet_hours": Text("Quiet hours"),
    "days_off": Text("Days off"),
    "verbosity": Text("What you see of my work"),
    "reading_limit": Text("Reading limit"),
    "context_cap": Text("Reading limit"),
    "spoken_answers": Text("Spoken answers"),
    "model": Text("Model"),
    "learning": Text("Learning"),
    "home": Text("Chat for reminders"),
}
_LONGEST_VALUE = 60
_UNKNOWN = Text('There\'s no setting "{name}". The settings are {names}.')
SPOKEN_ANSWERS = "spoken_answers"
NAMES = (
    *("time_zone", "language", "quiet_hours", DAYS_OFF, "verbosity", "reading_limit"),
    SPOKEN_ANSWERS,
)
_SPOKEN: Mapping[str, SpokenAnswers] = {
    "": "off",
    "off": "off",
    "voice": "voice",
    "voice messages": "voice",
    "to voice messages": "voice",
    "always": "always",
    "on": "always",
    "aus": "off",
    "sprachnachrichten": "voice",
    "auf sprachnachrichten": "voice",
    "immer": "always",
    "an": "always",
}
"""How people say when answers are spoken, in English and German."""
_VERBOSITIES: Mapping[str, Verbosity] = {
    "": "normal",
    "quiet": "quiet",
    "normal": "normal",
    "verbose": "verbose",
    "knapp": "quiet",
    "wenig": "quiet",
    "ausführlich": "verbose",
    "viel": "verbose",
}
_NOTHING = ("", "none", "off", "keine", "aus")
"""Values that clear a setting."""

_SPEC = ToolSpec(
    name="settings",
    description=(
        "Change this person's settings when they ask for it or say where they live or are: only"
        ' what they said. For "I\'m in Tokyo now", "talk to me in French", "no messages at night".'
        " If they name an end, also set a reminder to change it back. An empty text clears a"
        " setting."
        ' Example: {"time_zone": "Europe/Vienna"}'
    ),
    schema=json.dumps(
        {
            "type": "object",
            "properties": {
                "time_zone": {"type": "string", "description": "IANA name: Europe/Vienna"},
                "language": {
                    "type": "string",
                    "description": "of all answers, as a BCP 47 tag: de",
                },
                "quiet_hours": {"type": "string", "description": "no messages then: 22:00-07:30"},
                "days_off": {"type": "string", "description": "no messages then: sat,sun"},
                "verbosity": {
                    "enum": ["quiet", "normal", "verbose"],
                    "description": "how much of your tools' work they see, not how long answers"
                    " are",
                },
            },
            "additionalProperties": False,
            "minProperties": 1,
        },
        separators=(",", ":"),
    ),
)


class ZoneFollower(Protocol):
    """Moves a person's jobs to the new time zone when their time zone changes."""

    async def ask(self, context: ToolContext, old: str | None, new: str | None) -> bool:
        """Ask the person whether the jobs move, too; False if no job would move.

        Raises `QuestionPending` and `StoreError`.
        """

    def move(
        self, connection: Connection, context: ToolContext, old: str | None, new: str | None
    ) -> None:
        """Move the jobs, in the transaction that changes the zone."""


class SettingsTool:
    """The `settings` tool. Calls `changed` after every change.

    Also calls `on_quiet_times` within the change's transaction, with the time in milliseconds:
    messages deferred for quiet hours may be due earlier now.
    """

    spec = _SPEC
    effect: Effect = "idempotent"
    declaration = Declaration(cost="free", has_receipts=True)

    def __init__(
        self,
        database: Database,
        changed: Callable[[], None],
        on_quiet_times: Callable[[Connection, Person, int], None],
        follower: ZoneFollower,
    ) -> None:
        self._database = database
        self._changed = changed
        self._on_quiet_times = on_quiet_times
        self._follower = follower

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolResult:
        """Apply settings, and ask whether jobs move to a new time zone.

        Raises `ToolArgumentError` for a bad value, `QuestionPending` and `StoreError`.
        """
        old, new = await self._find_zones(arguments, context)
        is_moved = await self._follower.ask(context, old, new)

        def work(connection: Connection) -> tuple[str, Mapping[str, str]]:
            person = people.find(connection, person_id=context.person_id)
            if person is None:
                raise ToolArgumentError("there is nobody to set that for")
            known = delivery_targets.find(connection, person_id=person.id).days_off
            before = list_values(person, known)
            for name, value in arguments.items():
                if name == DAYS_OFF:
                    days = read_days(str(value))
                    delivery_targets.set_days_off(connection, person_id=person.id, days=days)
                else:
                    person = apply_setting(person, name, str(value))
            people.set_preferences(connection, person)
            self._on_quiet_times(connection, person, context.now)
            if is_moved:
                self._follower.move(connection, context, old, new)
            days = delivery_targets.find(connection, person_id=person.id).days_off
            shown = f"{describe_settings(person)}, days off {describe_days(days) or 'none'}"
            return shown, before

        reported, before = await self._database.write("settings.set", work)
        self._changed()
        receipts = confirm_settings(arguments, before)
        return ToolResult(text=f"Set. Now: {reported}.", receipts=receipts)

    async def _find_zones(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> tuple[str | None, str | None]:
        """Find the time zones before and after a call. Raises `ToolArgumentError`."""
        person = await self._database.read(people.find, person_id=context.person_id)
        old = person.time_zone if person else None
        return old, _read_zone(str(arguments[TIME_ZONE])) if TIME_ZONE in arguments else old

    async def preview(
        self, arguments: Mapping[str, object], context: ToolContext
    ) -> str | ToolResult:
        """List the settings that a call sets. Raises `ToolArgumentError` and `StoreError`."""
        person = await self._database.read(people.find, person_id=context.person_id)
        if person is None:
            raise ToolArgumentError("there is nobody to set that for")
        for name, value in arguments.items():
            if name == DAYS_OFF:
                read_days(str(value))
            else:
                person = apply_setting(person, name, str(value))
        given = {name: str(value) for name, value in arguments.items()}
        return _show_each(_SETTING, given, "\n")

    async def list_essentials(
        self, arguments: Mapping[str, object], _: ToolContext
    ) -> Essentials | None:
        """Return what own words must say for a change of settings; see the contract."""
        given = {name: str(value) for name, value in arguments.items()}
        return Essentials(
            kind="set",
            is_said=lambda sentence: all(
                says_setting(sentence, name, value) for name, value in given.items()
            ),
        )


def confirm_settings(
    arguments: Mapping[str, object], before: Mapping[str, str]
) -> tuple[Receipt, ...]:
    """Confirm settings of a call, a line each; `before` are the values that they replace."""
    return tuple(
        Receipt(
            text=_SET(name=_name(name), value=_show_value(name, str(value))),
            undo=name_setting_undo(name, before),
        )
        for name, value in arguments.items()
    )


def name_setting_undo(name: str, before: Mapping[str, str]) -> str:
    """Return the command, without slash, that gives a setting its value of before."""
    value = before.get(name) or OFF
    word = value.rpartition("/")[2].lower()  # fits into a button, which a zone's name does not
    is_city = name == TIME_ZONE and find_zone(word) == value
    return f"settings {name} {word if is_city else value}"


def confirm_set(values: Mapping[str, str]) -> str:
    """Say that settings have these values now, a line each; "" for none."""
    return _show_each(_SET, values, "\n")


def confirm_set_back(values: Mapping[str, str]) -> str:
    """Say that settings have their values of before; "" for none."""
    return _show_each(_SET_BACK, values)


def name_settings(values: Mapping[str, str]) -> str:
    """Name settings with their values; "" for none."""
    return _show_each(_SETTING, values)


def _show_each(sentence: Text, values: Mapping[str, str], between: str = "; ") -> str:
    shown = [
        sentence(name=_name(name), value=_show_value(name, value)) for name, value in values.items()
    ]
    return between.join(shown)


def _show_value(name: str, value: str) -> str:
    """Return a value as people say it, whether it is stored or was given."""
    value = value.strip()
    match name:
        case "language" if value:
            value = name_language(find_language_tag(value) or value)
        case "time_zone" if value:
            value = name_city(find_zone(value) or value)
        case "quiet_hours" if found := read_hours(value):
            value = "-".join(map(_clock, found))
        case "days_off" if value:
            value = describe_days(read_days(value))
        case "verbosity" if value.casefold() in _VERBOSITIES:
            value = VERBOSITIES[_VERBOSITIES[value.casefold()]]()
        case "learning":
            value = describe_learning(value)
        case "spoken_answers" if value.casefold() in _SPOKEN:
            value = SPEECH[_SPOKEN[value.casefold()]]()
    return flatten(value, _LONGEST_VALUE) or _NOT_SET()


def _name(name: str) -> str:
    return _LABELS[name]() if name in _LABELS else name.replace("_", " ")


def list_values(person: Person, days_off: Sequence[int]) -> Mapping[str, str]:
    """List a person's settings by name, in the form in which people enter them."""
    cap = str(person.context_cap or "")
    return {
        TIME_ZONE: person.time_zone or "",
        "language": person.language or "",
        "quiet_hours": describe_hours(person),
        DAYS_OFF: ",".join(DAYS[day - 1] for day in days_off),
        "verbosity": person.verbosity,
        "reading_limit": cap,
        "context_cap": cap,
        SPOKEN_ANSWERS: person.spoken_answers,
    }


def apply_setting(person: Person, name: str, value: str) -> Person:
    """Return the person with one changed setting. Raises `ToolArgumentError` with a sentence.

    Days off are stored separately (`state.homes`), and are not set here.
    """
    value = value.strip()
    match name:
        case "time_zone":
            return replace(person, time_zone=_read_zone(value))
        case "language":
            value = find_language_tag(value) or value
            if value and not _LANGUAGE.fullmatch(value):
                raise ToolArgumentError(_BAD_LANGUAGE(value=value))
            return replace(person, language=value or None)
        case "quiet_hours":
            start, end = _read_hours(value)
            return replace(person, quiet_from=start, quiet_until=end)
        case "verbosity":
            if value.casefold() not in _VERBOSITIES:
                raise ToolArgumentError(_BAD_VERBOSITY())
            return replace(person, verbosity=_VERBOSITIES[value.casefold()])
        case "reading_limit" | "context_cap":  # its name before 2026-11-29
            return replace(person, context_cap=_read_tokens(value))
        case "spoken_answers":
            if value.casefold() not in _SPOKEN:
                raise ToolArgumentError(_BAD_SPOKEN())
            return replace(person, spoken_answers=_SPOKEN[value.casefold()])
        case _:
            raise ToolArgumentError(_UNKNOWN(name=name, names=", ".join(NAMES)))


def describe_settings(person: Person) -> str:
    """A person's settings in one line."""
    return ", ".join(
        (
            f"time zone {person.time_zone or 'not set'}",
            f"language {person.language or 'not set'}",
            f"quiet hours {describe_hours(person) or 'none'}",
            f"verbosity {person.verbosity}",
        )
    )


def describe_hours(person: Person) -> str:
    """Quiet hours as people write them; "" if there are none."""
    if person.quiet_from is None or person.quiet_until is None:
        return ""
    return f"{_clock(person.quiet_from)}-{_clock(person.quiet_until)}"


def _read_tokens(value: str) -> int | None:
    """Parse a number of tokens such as 50000, 50,000 or 50k."""
    if value.casefold() in _NOTHING:
        return None
    found = _TOKENS.fullmatch(value)
    tokens = int(re.sub(r"\D", "", found[1])) * (1000 if found[2] else 1) if found else 0
    if not people.LEAST_CAP <= tokens <= people.MOST_CAP:
        raise ToolArgumentError(_BAD_CAP(value=value, least=people.LEAST_CAP))
    return tokens


def _clock(minute: int) -> str:
    return f"{minute // _MINUTES:02}:{minute % _MINUTES:02}"


def _read_zone(value: str) -> str | None:
    if not value:
        return None
    zone = find_zone(value)
    if zone is None:
        raise ToolArgumentError(_BAD_ZONE(value=value))
    return zone


def _read_hours(value: str) -> tuple[int | None, int | None]:
    if value.casefold() in _NOTHING:
        return None, None
    found = read_hours(value)
    if found is None:
        raise ToolArgumentError(_BAD_HOURS(value=value))
    start, end = found
    if start == end:
        raise ToolArgumentError(_EMPTY_HOURS())
    return start, end
