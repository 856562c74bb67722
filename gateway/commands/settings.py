"""Commands about what a person wants: settings, verbose; and the home page of an app."""

from collections.abc import Callable

from agent_core.errors import ToolArgumentError
from agent_core.state import people
from agent_core.state.database import Connection
from agent_core.state.outbox import OutboxRow
from agent_core.state.people import Person
from agent_core.state.questions import Choice
from agent_core.tools.settings import NAMES, apply_wish, describe_hours, wishes_of
from gateway import wording
from gateway.buttons import stand_for
from gateway.commands.registry import Call, House, Reply, SlashCommand
from gateway.commands.talk import describe_status
from gateway.wording_context import describe_cap
from gateway.wording_rooms import ONLY_IN_DIRECT

_LEVELS = ("quiet", "normal", "verbose")
_NIGHT = "22:00-07:00"


async def _settings(call: Call, house: House) -> Reply:
    if not call.argument and not call.message.address.is_direct:
        return Reply(text=ONLY_IN_DIRECT)
    if not call.argument:
        return _show(call.person, call.zone)
    return _set(call, house, call.argument, _show)


async def _verbose(call: Call, house: House) -> Reply:
    is_on = call.person.verbosity == "verbose"
    wanted = call.argument.lower() or ("off" if is_on else "on")
    if wanted not in ("on", "off"):
        return Reply(text=wording.VERBOSE_HOW)
    return _set(call, house, f"verbosity {'verbose' if wanted == 'on' else 'normal'}", _show)


async def _home(call: Call, house: House) -> Reply:
    if not call.message.address.is_direct:
        return Reply(text=ONLY_IN_DIRECT)
    status = await describe_status(call, house)

    def show(person: Person, zone: str) -> Reply:
        settings = _show(person, zone, command="home")
        return Reply(text=wording.compose_home(status, settings.text), buttons=settings.buttons)

    if call.argument:
        return _set(call, house, call.argument, show)
    return show(call.person, call.zone)


def _set(call: Call, house: House, words: str, show: Callable[[Person, str], Reply]) -> Reply:
    """Change one setting and show them all; what can't be set is said, and changes nothing.

    In a room nothing is shown: when somebody sleeps is for nobody else to read.
    """
    is_direct = call.message.address.is_direct
    if call.is_press and not is_direct:
        return Reply(text=ONLY_IN_DIRECT)  # the buttons are somebody's, and anybody can press them
    name, value = _read_wish(words)
    if name in NAMES and value is None:
        return Reply(text=wording.SETTING_MISSING.format(name=name))
    try:
        expected = apply_wish(call.person, name, value or "")
    except ToolArgumentError as error:
        return Reply(text=wording.describe_bad_setting(str(error)))

    def effect(connection: Connection) -> tuple[str, list[OutboxRow]]:
        known = people.find(connection, person_id=call.person.id) or call.person
        person = apply_wish(known, name, value or "")
        people.set_wishes(connection, wishes_of(person), person_id=person.id)
        if not is_direct:
            return wording.SET, []
        text = show(person, house.zone_of(person)).text
        return text if call.is_press else f"{wording.SET}\n\n{text}", []

    shown = show(expected, house.zone_of(expected))
    return Reply(effect=effect, buttons=shown.buttons if is_direct else ())


def _read_wish(words: str) -> tuple[str, str | None]:
    """The setting that is named and its value, empty to take it back; None if there is none."""
    name, value, *_ = [*words.split(maxsplit=1), ""]
    name, value = name.lower(), value.strip()
    if value.lower() in ("off", "none"):
        return name, ""
    if (name, value) == ("quiet_hours", "night"):
        return name, _NIGHT
    return name, value or None


def _show(person: Person, zone: str, command: str = "settings") -> Reply:
    text = wording.describe_settings(
        zone=zone,
        is_zone_set=person.time_zone is not None,
        language=person.language,
        hours=describe_hours(person),
        verbosity=person.verbosity,
        cap=describe_cap(person.context_cap),
    )
    return Reply(text=text, buttons=_buttons(person, command))


def _buttons(person: Person, command: str) -> tuple[Choice, ...]:
    """One press away: how much is shown, and whether the night is quiet."""
    levels = [
        stand_for(
            f"{command} verbosity {level}",
            wording.VERBOSITIES[level],
            "good" if level == person.verbosity else "plain",
        )
        for level in _LEVELS
    ]
    if person.quiet_from is None:
        night = stand_for(f"{command} quiet_hours night", wording.QUIET_NIGHT)
    else:
        night = stand_for(f"{command} quiet_hours off", wording.QUIET_OFF)
    return (*levels, night)


COMMANDS = (
    SlashCommand(
        name="settings", summary="Your time zone, language, quiet hours, detail", run=_settings
    ),
    SlashCommand(name="verbose", summary="Show each step I take, or not", run=_verbose),
)

HIDDEN = (SlashCommand(name="home", summary="What the home page of an app shows", run=_home),)
