"""Operations on the settings of a person: show them, and change some of them."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from agent_core.agent.review.record import ReviewRecord, dump_record
from agent_core.chats import Chat
from agent_core.errors import ToolArgumentError
from agent_core.ids import PersonId, TurnId
from agent_core.schedule.confirmations import list_left
from agent_core.shown_settings import LEARNING_MODES, SUMMARIES
from agent_core.spoken_settings import read_settings, split_setting
from agent_core.state.engine.database import Connection
from agent_core.state.people import delivery_targets, people
from agent_core.state.people.deeds import Doer, list_standing
from agent_core.state.people.learning import set_learning, set_summary
from agent_core.state.people.people import Learning, Person
from agent_core.state.queues import reviews
from agent_core.tools.clock import read_days
from agent_core.tools.settings_tool import (
    DAYS_OFF,
    NAMES,
    OFF,
    SPOKEN_ANSWERS,
    apply_setting,
    list_values,
    name_settings,
)
from gateway.chats import is_chat, read_chat
from gateway.errors import Mistaken
from gateway.jobs.recipients import list_direct_chats
from gateway.operations.contract import (
    Operation,
    OperationContext,
    PreferenceContext,
    find_person,
    note_deed,
)
from gateway.operations.settings_types import (
    ChangedSettings,
    SetSettings,
    Setting,
    ShownSettings,
    ShowSettings,
)
from gateway.operations.wire import typed
from gateway.outbound.quiet_hours import reschedule
from gateway.people.admission import UNATTENDED
from gateway.texts import jobs as job_texts
from gateway.texts import learning as notices
from gateway.texts import models as model_texts
from gateway.texts.attachments import explain_no_speech

MODEL, LEARNING, HOME = "model", "learning", "home"
GROUP = "group"
"""The value of a home chat that is a group, which only its owner chooses there."""
BACK = "back"
"""Begins values in the command that sets them again, which only undo runs."""
_SET_HOME = "sethome"
_NIGHT = "22:00-07:00"
DEFAULT = "default"
_DIGEST = 8
"""Characters of a model's digest in a button, whose key holds no capitals, dots or slashes."""


class WrongSettings(Mistaken):
    """Values were refused; `faults` has a sentence for each setting, by its name."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(" ".join(faults.values()))
        self.faults = faults


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalSettings:
    """A person's settings, with or without a change."""

    person: Person
    days_off: tuple[int, ...]
    can_speak: bool
    """True if a program speaks answers."""


async def show(context: OperationContext, asked: ShowSettings) -> ShownSettings:
    """Show the settings of a person, as they would enter them. Raises `Mistaken`."""

    def look(connection: Connection) -> ShownSettings:
        person = find_person(connection, asked.person)
        return ShownSettings(person=person.slug, settings=_list_values(connection, context, person))

    return await context.database.read(look)


async def change(context: OperationContext, asked: SetSettings) -> ChangedSettings:
    """Change settings of a person, or none of them if one value is wrong.

    Raises `WrongSettings` and `Mistaken`.
    """
    now = context.now()

    def work(connection: Connection) -> ChangedSettings:
        person = find_person(connection, asked.person)
        old, old_zone = _list_values(connection, context, person), _zone_of(context, person)
        old_home = _find_home(connection, person)
        values = {one.name: one.value for one in asked.settings}
        set_values(connection, person, values, context.preferences, context.scheduling.zone_of, now)
        shown = _list_values(connection, context, person)
        if (home := _find_home(connection, person)) != old_home:
            undo, redo = map(name_home, (old_home, home))
            did = job_texts.describe_home(home)
            note_deed(context, connection, undo=undo, redo=redo, did=did)
        before = {one.name: one.value for one in old if one not in shown and one.name != HOME}
        if before:
            after = {one.name: one.value for one in shown if one.name in before}
            note_deed(
                context,
                connection,
                undo=name_back(before),
                redo=name_back(after),
                did=name_settings(after),
            )
        changed = people.find(connection, person_id=person.id) or person
        is_moved = _zone_of(context, changed) != old_zone
        left = list_left(connection, person_id=person.id, zone=old_zone) if is_moved else []
        return ChangedSettings(
            person=person.slug,
            settings=shown,
            before=tuple(one for one in old if one not in shown),
            jobs_left=len(left),
            old_zone=old_zone,
        )

    changed = await context.database.write("settings.set", work)
    context.forget_known()
    context.scheduling.wake()  # deferred messages may be due now
    return changed


OPERATIONS: Mapping[str, Operation] = {
    "settings.show": typed(show),
    "settings.set": typed(change),
}
"""The operations, by their names on the control socket."""


def _zone_of(context: OperationContext, person: Person) -> str:
    return context.scheduling.zone_of(person)


def set_values(
    connection: Connection,
    person: Person,
    values: Mapping[str, str],
    preferences: PreferenceContext,
    zone_of: Callable[[Person], str],
    now: int,
) -> None:
    """Store settings by their names, in the caller's transaction. Raises `WrongSettings`."""
    faults = {}
    for name, value in values.items():
        try:
            _set(connection, person, (name, value.strip()), preferences, zone_of, now)
        except (ToolArgumentError, LookupError) as error:
            faults[name] = str(error)
    if faults:
        raise WrongSettings(faults)


def _set(
    connection: Connection,
    person: Person,
    setting: tuple[str, str],
    preferences: PreferenceContext,
    zone_of: Callable[[Person], str],
    now: int,
) -> None:
    """Store a setting. Raises `ToolArgumentError` and `LookupError` with a sentence."""
    name, value = setting
    if name == MODEL:
        model = find_model(preferences.models, value) if value else ""
        set_model(connection, person.id, model)
    elif name == HOME:
        home = find_home_chat(connection, person, value) if value else None
        set_home(connection, person.id, home)
    elif name == LEARNING:
        for word in value.split() or [""]:
            fresh = people.find(connection, person_id=person.id) or person
            choose_learning(connection, fresh, word, now=now)
    else:
        found = find_settings(connection, person, can_speak=preferences.can_speak)
        wanted = change_settings(found, parse_settings(f"{name} {value}"))
        save_settings(connection, wanted, zone=zone_of(wanted.person), now=now)


def _list_values(
    connection: Connection, context: OperationContext, person: Person
) -> tuple[Setting, ...]:
    """List the settings, in the form in which a person enters them."""
    values = list_settings(connection, person, can_speak=context.preferences.can_speak)
    return tuple(Setting(name=name, value=value) for name, value in values.items())


def list_settings(connection: Connection, person: Person, *, can_speak: bool) -> dict[str, str]:
    """List all current settings by their names, in the form in which a person enters them."""
    found = find_settings(connection, person, can_speak=can_speak)
    person = found.person
    hidden = ("reading_limit", *(() if found.can_speak else (SPOKEN_ANSWERS,)))
    known = list_values(person, found.days_off)
    return {
        **{name: value for name, value in known.items() if name not in hidden},
        LEARNING: f"{person.learning} {person.learning_summary}".strip(),
        MODEL: person.model,
        HOME: _name_home(connection, person),
    }


def name_back(values: Mapping[str, str]) -> str:
    """Return the command, without slash, by which `/undo` sets values again; "" for none."""
    return f"settings {BACK} {json.dumps(values, ensure_ascii=False)}"


def find_home_chat(connection: Connection, person: Person, platform: str) -> Chat:
    """Return the person's direct chat on a platform, or for `GROUP` the home in a group.

    That is the present one, or the one that a newer home has replaced: a form that takes the change
    back knows no address. Raises `LookupError` with a sentence.
    """
    if platform.casefold() == GROUP and (group := _find_group_home(connection, person)):
        return group
    for chat in list_direct_chats(connection, person.id):
        if chat.platform == platform.casefold():
            return chat
    raise LookupError(job_texts.HOME_UNKNOWN())


def list_home_platforms(connection: Connection, *, person_id: PersonId) -> list[str]:
    """List the platforms whose direct chat may get a person's reminders, the latest first."""
    chats = list_direct_chats(connection, person_id)
    return list(dict.fromkeys(one.platform for one in chats if one.platform not in UNATTENDED))


def set_home(connection: Connection, person_id: PersonId, chat: Chat | None) -> Chat | None:
    """Send a person's reminders to a chat, or for None where they last wrote; return the former."""
    before = delivery_targets.find(connection, person_id=person_id).chat
    delivery_targets.set_home(connection, person_id=person_id, chat=chat)
    return before


def name_home(chat: Chat | None) -> str:
    """Return the command, without slash, by which `/undo` sets the home chat again."""
    return f"{_SET_HOME} {chat.platform} {chat.address}" if chat else f"{_SET_HOME} off"


def read_home(words: str) -> Chat | None:
    """Read the chat behind the name of the command of `name_home`; None for no chat."""
    platform, _, address = words.partition(" ")
    return Chat(platform=platform, address=address) if address else None


def _find_group_home(connection: Connection, person: Person) -> Chat | None:
    """Return the present home if it is a group, else the group of the newest deed that left one."""
    doer = Doer(person_id=person.id, owner_id=person.id, platform="")
    undos = (deed.undo for deed in list_standing(connection, doer))
    left = (read_home(undo.partition(" ")[2]) for undo in undos if undo.startswith(_SET_HOME))
    known = (_find_home(connection, person), *left)
    return next((chat for chat in known if chat and _is_group(chat)), None)


def _is_group(chat: Chat) -> bool:
    return is_chat(chat.address) and not read_chat(chat.address).is_direct


def _find_home(connection: Connection, person: Person) -> Chat | None:
    return delivery_targets.find(connection, person_id=person.id).chat


def _name_home(connection: Connection, person: Person) -> str:
    """Name the home chat by its platform; "" if reminders go where the person last wrote."""
    chat = _find_home(connection, person)
    if chat is None or not is_chat(chat.address):
        return ""
    return GROUP if _is_group(chat) else chat.platform


def find_settings(connection: Connection, person: Person, *, can_speak: bool) -> PersonalSettings:
    """Return a person's current settings."""
    return PersonalSettings(
        person=people.find(connection, person_id=person.id) or person,
        days_off=delivery_targets.find(connection, person_id=person.id).days_off,
        can_speak=can_speak,
    )


def save_settings(connection: Connection, wanted: PersonalSettings, *, zone: str, now: int) -> None:
    """Store a person's settings; `zone` is their new time zone, and `now` in milliseconds."""
    person = wanted.person
    people.set_preferences(connection, person)
    delivery_targets.set_days_off(connection, person_id=person.id, days=wanted.days_off)
    reschedule(connection, person, zone, now)


def change_settings(
    wanted: PersonalSettings, values: Sequence[tuple[str, str | None]]
) -> PersonalSettings:
    """Return the settings with these changed. Raises `ToolArgumentError` with a sentence."""
    for name, value in values:
        wanted = _change_setting(wanted, name, value or "")
    return wanted


def _change_setting(wanted: PersonalSettings, name: str, value: str) -> PersonalSettings:
    if name == DAYS_OFF:
        return replace(wanted, days_off=read_days(value))
    if name == SPOKEN_ANSWERS and value and not wanted.can_speak:
        raise ToolArgumentError(explain_no_speech(is_owner=wanted.person.is_owner))
    return replace(wanted, person=apply_setting(wanted.person, name, value))


def parse_settings(words: str) -> tuple[tuple[str, str | None], ...]:
    """Parse the names and values of settings, in English or German: one, or those of a sentence.

    An empty value resets a setting, None means no value was given. A sentence such as "speak
    German" is read as in a conversation.
    """
    name, value = split_setting(words)
    if name not in NAMES and (said := read_settings(words, is_asked=True)):
        return tuple((one.name, _parse_value(one.name, one.value or OFF)) for one in said)
    return ((name, _parse_value(name, value)),)


def _parse_value(name: str, value: str) -> str | None:
    if value.lower() in ("off", "none", "auto", "aus", "keine"):
        return ""
    if (name, value) == ("quiet_hours", "night"):
        return _NIGHT
    return value or None


def choose_learning(connection: Connection, person: Person, word: str, *, now: int) -> str:
    """Store a mode or a summary, and say so. Raises `LookupError` with a sentence.

    Choosing a summary switches learning on again if it was off. `now` in milliseconds.
    """
    mode = next((one for one in LEARNING_MODES if one == word), None)
    if mode:
        _save(connection, person, mode, now)
        return notices.MODE_SAVED[mode]()
    summary = next((one for one in SUMMARIES if one == word), None)
    if summary is None:
        raise LookupError(notices.USAGE())
    if person.learning == "off":
        _save(connection, person, "quiet", now)
    set_summary(connection, person_id=person.id, summary=summary)
    return notices.SUMMARY_SAVED[summary]()


def _save(connection: Connection, person: Person, mode: Learning, now: int) -> None:
    if person.learning == "off" and mode != "off":
        nothing = dump_record(ReviewRecord(after=TurnId(0), until=TurnId(0), is_over=True))
        reviews.skip(connection, person_id=person.id, payload=nothing, now=now)
    set_learning(connection, person_id=person.id, learning=mode)
    set_summary(connection, person_id=person.id, summary="")


def set_model(connection: Connection, person_id: PersonId, model: str) -> None:
    """Let a model answer a person; "" is the default one."""
    people.set_model(connection, person_id=person_id, model=model)


def find_model(names: Sequence[str], words: str) -> str:
    """Return the model of a name or digest, "" for the default. Raises `LookupError`."""
    if words.casefold() == DEFAULT:
        return ""
    for name in names:
        if words.casefold() in (name.casefold(), digest_model(name)):
            return name
    raise LookupError(model_texts.UNKNOWN())


def digest_model(name: str) -> str:
    """Return the short name of a model in a button."""
    return hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
