"""Commands about what a person wants: settings, verbose; and the home page of an app."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from agent_core.errors import ToolArgumentError
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import Job
from agent_core.state.people import delivery_targets, people
from agent_core.state.people.people import Person
from agent_core.state.queues.outbox import OutboxRow
from agent_core.tools.clock import describe_days, read_days
from agent_core.tools.settings_tool import DAYS_OFF, NAMES, apply_wish, describe_hours, wishes_of
from gateway.commands.conversation import describe_status
from gateway.commands.registry import Call, House, Reply, SlashCommand
from gateway.outbound.composer import stand_for
from gateway.outbound.quiet_hours import ease
from gateway.texts import general
from gateway.texts.jobs import list_coming
from gateway.texts.rooms import ONLY_IN_DIRECT
from gateway.texts.usage import describe_cap

_LEVELS = ("quiet", "normal", "verbose")
_NIGHT = "22:00-07:00"
_COMING = 5
"""Jobs that a home page names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """All that a person may set."""

    person: Person
    days_off: tuple[int, ...]


async def _settings(call: Call, house: House) -> Reply:
    if not call.argument and not call.message.address.is_direct:
        return Reply(text=ONLY_IN_DIRECT)
    if not call.argument:
        return _show(await _look(call, house), call.zone)
    return await _set(call, house, call.argument, _show)


async def _verbose(call: Call, house: House) -> Reply:
    is_on = call.person.verbosity == "verbose"
    wanted = call.argument.lower() or ("off" if is_on else "on")
    if wanted not in ("on", "off"):
        return Reply(text=general.VERBOSE_HOW)
    return await _set(call, house, f"verbosity {'verbose' if wanted == 'on' else 'normal'}", _show)


async def _home(call: Call, house: House) -> Reply:
    if not call.message.address.is_direct:
        return Reply(text=ONLY_IN_DIRECT)
    status = await describe_status(call, house)
    coming = list_coming(await house.database.read(lambda c: _find_coming(c, call)), call.zone)

    def show(wanted: Wanted, zone: str) -> Reply:
        settings = _show(wanted, zone, command="home")
        return Reply(
            text=general.compose_home(status, coming, settings.text), buttons=settings.buttons
        )

    if call.argument:
        return await _set(call, house, call.argument, show)
    return show(await _look(call, house), call.zone)


async def _set(call: Call, house: House, words: str, show: Callable[[Wanted, str], Reply]) -> Reply:
    """Change one setting and show them all; what can't be set is said, and changes nothing.

    In a room nothing is shown: when somebody sleeps is for nobody else to read.
    """
    is_direct = call.message.address.is_direct
    if call.is_press and not is_direct:
        return Reply(text=ONLY_IN_DIRECT)  # the buttons are somebody's, and anybody can press them
    name, value = _read_wish(words)
    if name in NAMES and value is None:
        return Reply(text=general.SETTING_MISSING.format(name=name))
    try:
        expected = _apply(await _look(call, house), name, value or "")
    except ToolArgumentError as error:
        return Reply(text=general.describe_bad_setting(str(error)))

    def effect(connection: Connection) -> tuple[str, list[OutboxRow]]:
        wanted = _apply(_find(connection, call.person), name, value or "")
        person = wanted.person
        people.set_wishes(connection, wishes_of(person), person_id=person.id)
        delivery_targets.set_days_off(connection, person_id=person.id, days=wanted.days_off)
        ease(connection, person, house.zone_of(person), call.now)
        if not is_direct:
            return general.SET, []
        text = show(wanted, house.zone_of(person)).text
        return text if call.is_press else f"{general.SET}\n\n{text}", []

    shown = show(expected, house.zone_of(expected.person))
    return Reply(effect=effect, buttons=shown.buttons if is_direct else ())


def _find_coming(connection: Connection, call: Call) -> list[Job]:
    """The jobs of somebody that run next, the earliest first."""
    found = jobs.list_of_person(connection, person_id=call.person.id)
    waiting = [job for job in found if job.state == "active" and job.next_slot]
    return sorted(waiting, key=lambda job: job.next_slot[1] if job.next_slot else 0)[:_COMING]


async def _look(call: Call, house: House) -> Wanted:
    return await house.database.read(lambda c: _find(c, call.person))


def _find(connection: Connection, person: Person) -> Wanted:
    """What somebody has set by now."""
    return Wanted(
        person=people.find(connection, person_id=person.id) or person,
        days_off=delivery_targets.find(connection, person_id=person.id).days_off,
    )


def _apply(wanted: Wanted, name: str, value: str) -> Wanted:
    """With one setting changed. Raises `ToolArgumentError` with a plain sentence."""
    if name == DAYS_OFF:
        return replace(wanted, days_off=read_days(value))
    return replace(wanted, person=apply_wish(wanted.person, name, value))


def _read_wish(words: str) -> tuple[str, str | None]:
    """The setting that is named and its value, empty to take it back; None if there is none."""
    name, value, *_ = [*words.split(maxsplit=1), ""]
    name, value = name.lower(), value.strip()
    if value.lower() in ("off", "none"):
        return name, ""
    if (name, value) == ("quiet_hours", "night"):
        return name, _NIGHT
    return name, value or None


def _show(wanted: Wanted, zone: str, command: str = "settings") -> Reply:
    person = wanted.person
    text = general.describe_settings(
        zone=zone if person.time_zone else zone + general.ZONE_OF_HOUSE,
        language=person.language,
        hours=describe_hours(person),
        days_off=describe_days(wanted.days_off),
        verbosity=person.verbosity,
        cap=describe_cap(person.context_cap),
    )
    return Reply(text=text, buttons=_buttons(wanted, command))


def _buttons(wanted: Wanted, command: str) -> tuple[Choice, ...]:
    """One press away: how much is shown, and whether nights and weekends are quiet."""
    person = wanted.person
    levels = [
        stand_for(
            f"{command} verbosity {level}",
            general.VERBOSITIES[level],
            "good" if level == person.verbosity else "plain",
        )
        for level in _LEVELS
    ]
    if person.quiet_from is None:
        night = stand_for(f"{command} quiet_hours night", general.QUIET_NIGHT)
    else:
        night = stand_for(f"{command} quiet_hours off", general.QUIET_OFF)
    if wanted.days_off:
        weekend = stand_for(f"{command} {DAYS_OFF} off", general.NO_DAYS_OFF)
    else:
        weekend = stand_for(f"{command} {DAYS_OFF} weekend", general.WEEKENDS_OFF)
    return (*levels, night, weekend)


COMMANDS = (
    SlashCommand(
        name="settings", summary="Your time zone, language, quiet times, detail", run=_settings
    ),
    SlashCommand(name="verbose", summary="Show each step I take, or not", run=_verbose),
)

HIDDEN = (SlashCommand(name="home", summary="What the home page of an app shows", run=_home),)
