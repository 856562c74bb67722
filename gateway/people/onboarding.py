"""First contact: one-time codes, and the greeting with time zone and language of a newcomer.

The greeting is one message. Its buttons and free text such as "Vienna" or "22-7" send `/start` with
words, which changes the same settings as `/settings`.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapters.messages import InboundMessage, Sender
from agent_core.agent.present_words import find_typed
from agent_core.chats import Chat
from agent_core.errors import ToolArgumentError
from agent_core.ids import PersonId, TurnId
from agent_core.localization import (
    LANGUAGES,
    choose_language,
    find_language,
    set_language,
    use_language,
)
from agent_core.shown_settings import name_city
from agent_core.spoken_settings import read_introduction, read_settings
from agent_core.state.conversations import messages, turns
from agent_core.state.conversations.private_history import find_newest_turn
from agent_core.state.conversations.questions import Choice
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import delivery_targets, people
from agent_core.state.people.people import Person
from agent_core.state.queues import outbox
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.time_zones import find_zone, name_zone
from agent_core.tools.clock import local_time, read_days
from agent_core.tools.settings_tool import DAYS_OFF, apply_setting, describe_hours, list_values
from agent_core.written_language import find_written
from gateway.chats import make_chat
from gateway.outbound.command_buttons import stand_for
from gateway.outbound.quiet_hours import reschedule
from gateway.texts import general
from gateway.texts import people as texts

_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_CODE_LENGTH = 8
START = "start"
_LANGUAGE = "language"
_CLEAR = 2
"""Frequent words of a language that show that a person writes it."""
_NIGHT = "22-7"
_FIRST_HOUR = 3_600_000
"""Milliseconds in which the language that a newcomer writes counts as theirs. Later, one pasted
text would change it.
"""
_GREETED = (
    "Before your answer, they see a greeting that asks for: {names}. Do not ask for these. A city,"
    " language or time span in one of their next messages may answer the greeting, bare or in a"
    " sentence: then store it with the settings tool, and a name with the memory tool."
)
"""A fact for the model."""
_CITIES: Mapping[str, tuple[str, ...]] = {
    "de": ("Europe/Berlin", "Europe/Vienna", "Europe/Zurich"),
    "es": ("Europe/Madrid", "America/Mexico_City", "America/Bogota"),
    "fr": ("Europe/Paris", "America/Toronto"),
    "pt": ("Europe/Lisbon", "America/Sao_Paulo"),
    "en": ("Europe/London", "America/New_York", "America/Los_Angeles"),
}
"""The cities that a language suggests; English for the others."""


class Access:
    """The allowlist: `platform:user_id` entries, or `*` for everyone."""

    def __init__(self, allow: tuple[str, ...]) -> None:
        self._everybody = "*" in allow
        self._accounts = frozenset(allow)

    def allows(self, platform: str, user_id: str) -> bool:
        """Return whether this account may talk; the default is no."""
        return self._everybody or f"{platform}:{user_id}" in self._accounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """A message of first contact: its text and the buttons below it."""

    text: str
    buttons: tuple[Choice, ...] = ()
    time_zone: str | None = None
    """The person's time zone after the greeting, if they have set one."""
    person_id: PersonId | None = None
    """The person that it greets; None for a refusal."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The person's settings after the greeting, by their names."""

    def make_outgoing(self, chat: Chat) -> NewOutboxMessage:
        """Make the message for a chat."""
        return NewOutboxMessage(
            chat=chat,
            body=self.text,
            buttons=self.buttons,
            person_id=self.person_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Introduction:
    """A person after their first message, and what came of it."""

    person: Person
    unasked: tuple[str, ...] = ()
    """Settings that the model shall ask them for."""
    note: str = ""
    """A fact for the model."""
    rows: tuple[OutboxRow, ...] = ()
    """The outbox rows of the greeting."""


def take_from_platform(person: Person, sender: Sender, words: str = "") -> Person:
    """Return a person with the time zone and language of their app, unless they have set their own.

    The language of their `words` wins over that of their app, and over one that is only the app's.
    English is left open: many people keep their apps in English and write something else. A
    language is spoken in many places, so it decides no time zone.
    """
    if person.time_zone is None:
        person = replace(person, time_zone=find_zone(sender.time_zone or ""))
    of_app = choose_language(sender.language)
    written = find_written(words, least=_CLEAR) or of_app
    usual = choose_language(None)
    is_open = person.language is None or person.language == of_app != usual
    if is_open and written != of_app:
        return replace(person, language=written)
    if person.language is None and of_app != usual:
        person = replace(person, language=of_app)
    return person


def greet(
    connection: Connection, person: Person, sender: Sender, zone: str, now: int, words: str = ""
) -> Greeting:
    """Greet somebody who was just let in, in the caller's transaction.

    `zone` is the IANA zone of the deployment, which is offered first; it may be empty. The greeting
    does not ask for what the `words` of their first message say; the turn stores that.
    """
    person = take_from_platform(person, sender)
    _store(connection, person, person.time_zone or zone or "UTC", now)
    person, days_off = _apply(person, (), _read(words))
    with use_language(person.language, sender.language, find_language()):
        return compose(person, zone, now, is_new_owner=person.is_owner, days_off=days_off)


def compose(
    person: Person,
    zone: str,
    now: int,
    *,
    is_new_owner: bool,
    is_whole: bool = True,
    days_off: Sequence[int] = (),
) -> Greeting:
    """Compose the greeting with the present settings, or only what it says about them."""
    words = [_describe_setup(person, zone, now, is_told=not is_whole and bool(person.time_zone))]
    if is_whole:
        words.insert(0, texts.describe_greeting(person.name, is_new_owner=is_new_owner))
    return Greeting(
        text="\n\n".join(words),
        buttons=_make_buttons(person, zone),
        time_zone=person.time_zone,
        person_id=person.id,
        settings=list_values(person, days_off),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """A use of `/start`. Words that name no settings, such as those of a link, change nothing."""

    person: Person
    sender: Sender
    words: str
    is_local: bool
    """True in the console, where nobody but the owner reads along."""
    is_whole: bool
    """False for a typed answer to a greeting that the person sees already."""


def list_unlinked(connection: Connection, person: Person, platforms: Iterable[str]) -> list[str]:
    """List the platforms on which a person has no account."""
    linked = {one.platform for one in people.list_accounts(connection, person_id=person.id)}
    return [platform for platform in platforms if platform not in linked]


@dataclass(frozen=True, slots=True)
class Onboarding:
    """Serves `/start`, and reads bare words that answer a greeting.

    `greets_on` are the platforms where a first message without a command is greeted. `renew` is
    called with a person whose settings were stored. Without a model (`has_model`), only the
    greeting asks for a city.
    """

    database: Database
    zone: str
    platforms: Collection[str]
    greets_on: Collection[str]
    renew: Callable[[Person], None]
    has_model: bool

    def start(self, connection: Connection, request: StartRequest, now: int) -> Greeting:
        """Apply the words of a request and greet, in the caller's transaction."""
        wanted, days_off = self._prepare(connection, request)
        delivery_targets.set_days_off(connection, person_id=wanted.id, days=days_off)
        _store(connection, wanted, wanted.time_zone or self.zone, now)
        set_language(wanted.language, request.sender.language)
        return self._compose(wanted, days_off, request, now)

    async def preview(self, request: StartRequest, now: int) -> Greeting:
        """Return the greeting that `start` will give; in the console, it offers links, too.

        Raises `StoreError`.
        """

        def work(connection: Connection) -> tuple[Person, tuple[int, ...], list[str]]:
            platforms = self.platforms if request.is_local else ()
            wanted, days_off = self._prepare(connection, request)
            return wanted, days_off, list_unlinked(connection, wanted, platforms)

        wanted, days_off, unlinked = await self.database.read(work)
        with use_language(wanted.language, request.sender.language):
            greeting = self._compose(wanted, days_off, request, now)
            links = [stand_for(f"link {one}", texts.offer_link(one)) for one in unlinked]
        return replace(greeting, buttons=(*greeting.buttons, *links))

    def _compose(
        self, wanted: Person, days_off: tuple[int, ...], request: StartRequest, now: int
    ) -> Greeting:
        is_new = wanted.is_owner and wanted.asked_at is None
        whole = request.is_whole
        return compose(
            wanted, self.zone, now, is_new_owner=is_new, is_whole=whole, days_off=days_off
        )

    def _prepare(
        self, connection: Connection, request: StartRequest
    ) -> tuple[Person, tuple[int, ...]]:
        """Return the person, and their days off, with the settings that the words name."""
        known = people.find(connection, person_id=request.person.id) or request.person
        person = take_from_platform(known, request.sender)
        days_off = delivery_targets.find(connection, person_id=person.id).days_off
        name, _, value = request.words.partition(" ")
        given = {name: value} if name == _LANGUAGE else _read(request.words)
        return _apply(person, days_off, given)

    async def hears(self, person: Person, message: InboundMessage) -> bool:
        """Return whether a message is nothing but an answer to the greeting. Raises `StoreError`.

        After the first turn, "Paris" may answer a question of the model; "Paris, quiet 22-7" can't.
        Without a model, "9-10" may answer "When?".
        """
        is_plain = not (message.attachments or message.forwarded_from or message.quote)
        # A name beside them is for the turn to keep.
        is_plain = is_plain and not read_introduction(message.text)
        found = _read(message.text) if is_plain else {}
        if person.asked_at is None or not found:
            return False
        if len(found) > 1 or (not self.has_model and read_settings(message.text)):
            return True
        if self.has_model:
            return not await self.database.read(turns.has_any, person_id=person.id)
        return not await self.database.read(_has_asked, person)

    async def learn(self, person: Person, sender: Sender, now: int, words: str = "") -> Person:
        """Store what the platform and the words of a newcomer show. Raises `StoreError`."""
        known = take_from_platform(person, sender, words)
        if known != person:
            zone = known.time_zone or self.zone
            await self.database.write("people.learned", _store_settings, known, zone, now)
            self.renew(known)
        return known

    async def meet(
        self, person: Person, platform: str, message: InboundMessage, now: int
    ) -> Introduction:
        """Greet somebody who writes for the first time, or let the model ask what is unknown.

        This happens once per person. The greeting is silent, and comes before the answer. Raises
        `StoreError`.
        """
        if not message.text:
            return Introduction(person=person)
        if person.asked_at is not None:
            words = _find_typed(message) if now - person.asked_at < _FIRST_HOUR else ""
            return Introduction(person=await self.learn(person, message.sender, now, words))
        known = take_from_platform(person, message.sender, _find_typed(message))
        known = replace(known, asked_at=now)
        unset = _list_unset(known)
        if platform not in self.greets_on:
            zone = known.time_zone or self.zone
            await self.database.write("people.asked", _store, known, zone, now)
            self.renew(known)
            return Introduction(person=known, unasked=unset)

        def work(connection: Connection) -> OutboxRow:
            words = _find_typed(message)
            greeting = greet(connection, known, message.sender, self.zone, now, words)
            outgoing = greeting.make_outgoing(make_chat(platform, message.address))
            return outbox.enqueue(connection, replace(outgoing, is_silent=True), now=now)

        row = await self.database.write("people.greeted", work)
        self.renew(known)
        note = _GREETED.format(names=", ".join(unset)) if unset else ""
        return Introduction(person=known, note=note, rows=(row,))


def _has_asked(connection: Connection, person: Person) -> bool:
    """Return whether the last paragraph of the newest answer to the person asks something."""
    newest = find_newest_turn(connection, person_id=person.id)
    if newest is None:
        return False
    said = messages.answer_of_turn(connection, turn_id=TurnId(newest.id), person_id=person.id)
    return "?" in said.rstrip().rpartition("\n")[2]


def _read(words: str) -> Mapping[str, str]:
    """Read what answers the greeting: settings by their names, bare values too."""
    told = read_introduction(words)
    said = told.settings if told else read_settings(words, is_asked=True)
    return {one.name: one.value for one in said}


def _apply(
    person: Person, days_off: tuple[int, ...], given: Mapping[str, str]
) -> tuple[Person, tuple[int, ...]]:
    """Return a person and their days off with these settings, up to one with a wrong value."""
    try:
        for key, setting in given.items():
            if key == DAYS_OFF:
                days_off = read_days(setting)
            else:
                person = apply_setting(person, key, setting)
    except ToolArgumentError:
        return person, days_off  # a forged button or the payload of a foreign link
    return person, days_off


def _find_typed(message: InboundMessage) -> str:
    """Return what a person typed in a message, and nothing that they only passed on.

    A program may pass on words of others, and a caption may come with its picture.
    """
    is_own = not (message.forwarded_from or message.attachments or message.is_program)
    return find_typed(message.text) if is_own else ""


def _list_unset(person: Person) -> tuple[str, ...]:
    """List the settings that a person has never set, in words for the model."""
    names = {
        "time zone": person.time_zone,
        "preferred language": person.language,
        "quiet hours": person.quiet_from,
    }
    return tuple(name for name, value in names.items() if value is None)


def _store(connection: Connection, person: Person, zone: str, now: int) -> None:
    people.note_asked(connection, person_id=person.id, now=now)
    _store_settings(connection, person, zone, now)


def _store_settings(connection: Connection, person: Person, zone: str, now: int) -> None:
    people.set_preferences(connection, person)
    reschedule(connection, person, zone, now)


def _describe_setup(person: Person, zone: str, now: int, *, is_told: bool) -> str:
    """Say which time counts for a person: their own, or else that of the deployment.

    A machine on UTC is rarely set to where its people live.
    """
    known = person.time_zone or (zone if name_zone(zone) != "UTC" else "")
    if not known:
        return texts.ASK_FOR_CITY()
    clock = f"{local_time(now, known):%H:%M}"
    return texts.describe_setup(
        clock,
        name_city(known),
        person.language,
        describe_hours(person),
        is_own=person.time_zone is not None,
        is_told=is_told,
    )


def _make_buttons(person: Person, zone: str) -> tuple[Choice, ...]:
    """Return buttons for cities, a quiet night, and the languages of the gateway's texts."""
    buttons: list[Choice] = []
    if person.time_zone is None:
        for city, word in suggest_cities(zone):
            buttons.append(stand_for(f"{START} {word}", name_city(city)))
    elif person.quiet_from is None:
        buttons.append(stand_for(f"{START} {_NIGHT}", general.QUIET_NIGHT()))
    buttons += [
        stand_for(f"{START} {_LANGUAGE} {tag}", name)
        for tag, name in LANGUAGES.items()
        if tag != find_language()
    ]
    return tuple(buttons)


def suggest_cities(*first: str) -> list[tuple[str, str]]:
    """List time zones for a reader by the language of the sentences, with the word for each.

    Those given come first. Zones that no word stands for are left out.
    """
    zones = dict.fromkeys((*first, *_CITIES.get(find_language(), _CITIES["en"])))
    named = ((zone, zone.rpartition("/")[2].lower()) for zone in zones)
    return [(zone, word) for zone, word in named if find_zone(word) == zone]


def make_code() -> str:
    """Make a one-time code of 40 random bits, without letters that look alike."""
    letters = "".join(secrets.choice(_ALPHABET) for _ in range(_CODE_LENGTH))
    return f"{letters[:4]}-{letters[4:]}"


def hash_code(code: str) -> str:
    """Return the stored form of a code; spaces, dashes and case do not matter."""
    plain = re.sub(r"[\s-]", "", code).upper()
    return hashlib.sha256(plain.encode()).hexdigest()
