"""The catalog of slash commands, in the order in which help and menus list them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from adapters.abilities import MenuEntry, MenuText
from agent_core.localization import LANGUAGES, Text, find_language, use_language
from agent_core.state.engine.database import Connection
from agent_core.state.people.people import Person
from gateway.commands.registry import Call, CommandSpec, Handler, Outcome, Reply, SlashCommand
from gateway.errors import find_nearest
from gateway.outbound.command_buttons import offer_command
from gateway.texts import general
from gateway.texts.general import HelpGroup
from gateway.texts.privacy import ALL_OF_ME
from gateway.texts.rooms import ONLY_IN_DIRECT
from gateway.texts.undo import OTHER_WAYS

_GROUPS: Mapping[HelpGroup, tuple[CommandSpec, ...]] = {
    "talk": (
        CommandSpec(name="help", summary="List what I can do"),
        CommandSpec(name="new", summary="Start a new conversation; old ones stay searchable"),
        CommandSpec(name="stop", summary="Stop what I'm doing"),
        CommandSpec(name="here", summary="Continue the current answer in this chat"),
        CommandSpec(
            name="steer", summary="Add something to the answer I'm working on", is_transient=True
        ),
        CommandSpec(
            name="btw", summary="Ask a side question; our chat stays as it is", is_transient=True
        ),
        CommandSpec(
            name="queue", summary="Hold a message until I finish answering", is_transient=True
        ),
        CommandSpec(
            name="retry",
            summary="Answer again, or send again what didn't arrive",
            is_transient=True,
        ),
        CommandSpec(name="sessions", summary="List your conversations here", is_private=True),
        CommandSpec(name="resume", summary="Return to an earlier conversation"),
        CommandSpec(name="title", summary="Show or change this conversation's title"),
        CommandSpec(name="branch", summary="Try something in a copy of this conversation"),
        CommandSpec(name="status", summary="Show what I'm doing and what it cost", is_private=True),
        CommandSpec(name="compact", summary="Summarise older messages to save money"),
        CommandSpec(name="context", summary="Show what I read before each answer", is_private=True),
    ),
    "reminders": (
        CommandSpec(name="reminders", summary="Show or change your reminders"),
        CommandSpec(name="sethome", summary="Send reminders to this chat"),
    ),
    "memory": (
        CommandSpec(name="memory", summary="Show what I remember and who can see it"),
        CommandSpec(name="share", summary="Choose who can see a note"),
        CommandSpec(name="why", summary="Show where a note comes from"),
        CommandSpec(name="undo", summary="Take back your last change of any kind"),
        CommandSpec(
            name="learned", summary="Show and control what I learn from chats", is_direct_only=True
        ),
        CommandSpec(name="learn", summary="Learn from our last messages now", is_direct_only=True),
        CommandSpec(
            name="profile", summary="Show, correct or delete your profile", is_direct_only=True
        ),
        CommandSpec(name="curator", summary="Tidy up my notes and skills", is_direct_only=True),
        CommandSpec(name="block", summary="Manage notes that several people share"),
    ),
    "abilities": (
        CommandSpec(name="tools", summary="List my tools here or turn them on or off"),
        CommandSpec(name="skills", summary="List skills; each one is also a command"),
        CommandSpec(name="agents", summary="List agents or choose who answers here"),
        CommandSpec(name="team", summary="List teams of agents or give one a task"),
        CommandSpec(
            name="model",
            summary="Choose the model for answers or a reminder",
            is_direct_only=True,
        ),
        CommandSpec(
            name="approvals", summary="Show or revoke what I may do without asking", is_private=True
        ),
        CommandSpec(
            name="connections",
            summary="Connect or disconnect accounts at other services",
            is_private=True,
        ),
        CommandSpec(
            name="mcp",
            summary="Show MCP servers or accept their tools",
            owner_only=True,
            is_private=True,
        ),
    ),
    "you": (
        CommandSpec(
            name="settings",
            summary="Change time zone, language, quiet hours, voice",
            refuses_rooms=True,
        ),
        CommandSpec(name="verbose", summary="Show or hide each step I take"),
        CommandSpec(name="room", summary="Choose how I answer in this group"),
        CommandSpec(
            name="link", summary="Link your account in another chat app", refuses_rooms=True
        ),
        CommandSpec(name="accounts", summary="List your linked accounts", refuses_rooms=True),
        CommandSpec(name="unlink", summary="Unlink one of your accounts", refuses_rooms=True),
        CommandSpec(name="whoami", summary="Show your name, role and accounts", is_private=True),
        CommandSpec(name="console", summary="Open your pages in a browser", is_direct_only=True),
        CommandSpec(
            name="invite",
            summary="Make a link that lets someone in",
            owner_only=True,
            is_direct_only=True,
        ),
        CommandSpec(name="approve", summary="Let someone in with their code", owner_only=True),
        CommandSpec(name="usage", summary="Show today's usage and what is left", is_private=True),
    ),
    "data": (
        CommandSpec(name="export", summary="Export all your data as a file", is_direct_only=True),
        CommandSpec(
            name="forget",
            summary="Permanently delete notes and messages by keyword",
        ),
        CommandSpec(name="erase", summary="Permanently delete all your data", is_direct_only=True),
    ),
}
"""The commands by the group in which help lists them; menus list them in this order, too."""

COMMANDS = tuple(spec for specs in _GROUPS.values() for spec in specs)

HIDDEN: tuple[CommandSpec, ...] = (
    CommandSpec(
        name="home", summary="Show status, next reminders and settings", is_direct_only=True
    ),
    CommandSpec(name="start", summary="Get started, or change the time zone and language"),
    CommandSpec(name="refine", summary="Learn from our last messages now", is_direct_only=True),
    CommandSpec(name="jobs", summary="Show or change your reminders"),
    CommandSpec(name="erinnerungen", summary="Show or change your reminders"),
)
"""Commands that work, but appear in no list: platforms send the first two on their own, and the
third is what Hermes Agent calls `learn`. The last two are other names of `reminders`.
"""

_CODES = (
    CommandSpec(name="claim", summary="Become the owner with a code"),
    CommandSpec(name="join", summary="Join with the code of an invitation"),
)
"""The router handles these commands, because their sender has no account yet."""

PLAIN_NAMES = """
help: hilfe befehle commands
new: neu
stop: stopp
here: hier
steer: lenken ergänzen
btw: nebenbei übrigens
queue: danach warteschlange
retry: nochmal wiederholen
sessions: gespräche unterhaltungen verlauf
resume: fortsetzen
title: titel
branch: abzweigen
status: stand
compact: zusammenfassen kürzen
context: kontext
reminders: erinnerungen erinnerung reminder
sethome: hierher
memory: gedächtnis notizen
share: teilen
why: warum wieso
undo: rückgängig zurücknehmen
learned: gelernt
learn: lernen
profile: profil
curator: aufräumen
block: notizblock
tools: werkzeuge
skills: fähigkeiten fertigkeiten
agents: agenten
model: modell
approvals: erlaubnisse freigaben genehmigungen
connections: verbindungen
settings: einstellungen
settings quiet_hours: ruhezeiten ruhezeit quiet quiethours
settings days_off: freietage daysoff
settings language: sprache language
settings time_zone: zeitzone timezone
verbose: ausführlich
room: gruppe raum
link: verknüpfen
accounts: konten
unlink: trennen
whoami: werbinich
console: konsole
invite: einladen einladung
approve: freischalten zulassen
usage: verbrauch kosten
export: exportieren
forget: vergiss vergessen löschen lösche delete remove
erase: alleslöschen
"""
"""The beginning of a command line, then its other names: a German one first, and English ones."""
_SENTENCES = """
undo that: undo that / undo it / undo this / take that back / take it back / undo the last change
undo that: mach das rückgängig / mach es rückgängig / nimm das zurück / nimm es zurück / rückgängig
undo that: rückgängig machen / das rückgängig machen / undo
"""
"""A command line, then whole sentences that mean it, whoever understands the rest."""
_OTHER_WORDS: Mapping[str, str] = {
    "halt": "stop",
    "remind": "reminders",
    "termine": "reminders",
    "schedule": "reminders",
    "notes": "memory",
    "cancel": "stop",
    "abbrechen": "stop",
    "reset": "new",
    "clear": "new",
    "restart": "new",
    "menu": "help",
    "info": "help",
    "cost": "usage",
    "voice": "settings",
}
"""Words that people try, by the command that they mean."""
_SPELLINGS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "_": "", "-": ""})


def _spell(name: str) -> str:
    """Return a name as it is compared: without capitals, umlauts and signs."""
    return name.casefold().translate(_SPELLINGS)


_SAME: Mapping[str, tuple[str, str]] = {
    _spell(name): (line.partition(":")[0], name)
    for line in PLAIN_NAMES.strip().splitlines()
    for name in line.partition(":")[2].split()
}
"""The command line that a plain name stands for, and how the name is written."""


_GERMAN: Mapping[str, str] = {
    name: said.split()[0]
    for name, _, said in (line.partition(":") for line in PLAIN_NAMES.strip().splitlines())
}
"""The German name of each command line."""
_EVERYTHING = ("all", "alle", "alles")
"""What stands behind `/help` for all commands."""


def read_plain_name(name: str, argument: str) -> tuple[str, str]:
    """Return the command and argument that a plain name such as `ruhezeiten` stands for.

    It stands for them unless a skill or a prompt has that name. Other names stay as they are.
    """
    line, _ = _SAME.get(_spell(name), (name, ""))
    command, _, setting = line.partition(" ")
    if command == "forget" != name and argument.casefold() in ALL_OF_ME:
        return "erase", "me"
    return command, f"{setting} {argument}" if setting and argument else argument


OWN_NAMES = frozenset(spec.name for spec in (*COMMANDS, *HIDDEN, *_CODES))
"""The names of commands, which win over skills; no new skill gets one of them."""

_MAIN = (
    "new",
    "stop",
    "sessions",
    "reminders",
    "memory",
    "undo",
    "tools",
    "settings",
    "link",
    "export",
)
"""The commands a newcomer needs; `/help all` lists the rest."""
_SHORTEST_BEGINNING = 3
"""Letters with which a command may be abbreviated."""
_LIKENESS = 0.7
"""Least similarity of a mistyped command; with less, "/blah" meant "/branch"."""
_LIKENESS_OF_PLAIN = 0.8
"""The same for the plain names, which are many: with less, "/image" meant "/hier"."""


_SAID = {
    said.strip(): line.partition(":")[0]
    for line in _SENTENCES.strip().splitlines()
    for said in line.partition(":")[2].split("/")
}


def read_sentence(text: str) -> tuple[str, str] | None:
    """Return the command and argument that a whole message means in plain words, if it does."""
    words = " ".join(text.casefold().replace(",", " ").split()).strip(" .!")
    words = words.removesuffix(" please").removesuffix(" bitte").removeprefix("please ").strip()
    command, _, argument = _SAID.get(words.removeprefix("bitte "), "").partition(" ")
    return (command, argument) if command else None


def bind(
    handlers: Mapping[str, Handler], make_private: Callable[[Handler], Handler]
) -> tuple[SlashCommand, ...]:
    """Join every command of the catalog with its handler; wrap those with a private answer.

    Raises `ValueError` if a command has no handler, or a handler has no command.
    """
    bound = {"help": show_help} | dict(handlers)
    specs = {spec.name: spec for spec in (*COMMANDS, *HIDDEN)}
    if unmatched := specs.keys() ^ bound.keys():
        raise ValueError(f"commands and handlers differ: {', '.join(sorted(unmatched))}")
    bound |= {name: _note_way(bound[name], way) for name, way in OTHER_WAYS.items()}
    bound |= {name: make_private(bound[name]) for name, spec in specs.items() if spec.is_private}
    bound |= {
        name: _refuse_elsewhere(bound[name]) for name, spec in specs.items() if spec.is_direct_only
    }
    return tuple(SlashCommand(spec=spec, run=bound[name]) for name, spec in specs.items())


def _note_way(handler: Handler, way: Text) -> Handler:
    """Return a handler that notes for `/undo` which other way takes its effect back."""

    async def run(call: Call) -> Reply:
        reply = await handler(call)
        if reply.effect is None:
            return reply
        apply = reply.effect

        def effect(connection: Connection) -> Outcome:
            outcome = apply(connection)
            call.note_fixed(connection, way())
            return outcome

        return replace(reply, effect=effect)

    return run


def _refuse_elsewhere(handler: Handler) -> Handler:
    """Return a handler that refuses where others can read the answer."""

    async def run(call: Call) -> Reply:
        if not call.message.address.is_direct:
            return Reply(text=ONLY_IN_DIRECT())
        return await handler(call)

    return run


def make_menu() -> list[MenuEntry]:
    """Return every command for the platforms' menus.

    Those of `COMMANDS` that everyone may use are marked to be listed. Texts are in English, with
    a translation for every other language.
    """
    return [
        MenuEntry(
            name=spec.name,
            description=spec.summary,
            argument=general.COMMAND_ARGUMENT.english,
            translations={tag: _translate(spec, tag) for tag in LANGUAGES if tag != "en"},
            is_transient=spec.is_transient,
            is_listed=spec in COMMANDS and not spec.owner_only,
        )
        for spec in (*COMMANDS, *HIDDEN, *_CODES)
    ]


def _translate(spec: CommandSpec, language: str) -> MenuText:
    """Return a command as the menu shows it in a language."""
    with use_language(language):
        return MenuText(
            name=_find_local_name(spec.name) or spec.name,
            description=Text(spec.summary)(),
            argument=general.COMMAND_ARGUMENT(),
        )


def suggest_command(name: str, argument: str, person: Person) -> Reply:
    """Answer an unknown command: with a button for the nearest one that the person may use."""
    usable = [spec.name for spec in COMMANDS if may_use(spec, person)]
    near = _find_meant(name.casefold(), usable)
    if near is None:
        return Reply(text=general.UNKNOWN_COMMAND(name=name))
    text = general.NEAREST_COMMAND(name=name, nearest=near)
    whole = " ".join(read_plain_name(near, argument)).strip()
    label = f"/{near} {argument}".strip()
    return Reply(text=text, buttons=offer_command(whole, label, says_yes=True))


def _find_meant(name: str, usable: Sequence[str]) -> str | None:
    """Return the command that a word means, is the beginning of, or is a slip of, if any.

    Its plain names count, too, and are returned as they are written.
    """
    if (meant := _OTHER_WORDS.get(name)) in usable:
        return meant
    begun = [one for one in usable if one.startswith(name)]
    if len(begun) == 1 and len(name) >= _SHORTEST_BEGINNING:
        return begun[0]
    if near := find_nearest(name, usable, likeness=_LIKENESS):
        return near
    plain = {one: said for one, (line, said) in _SAME.items() if line.split()[0] in usable}
    near = find_nearest(_spell(name), plain, likeness=_LIKENESS_OF_PLAIN)
    return plain[near] if near else None


def may_use(spec: CommandSpec, person: Person) -> bool:
    """Return whether a person may use a command."""
    return person.is_owner or not spec.owner_only


def _find_local_name(name: str) -> str | None:
    """Return a command's own name in the current language, if it has one."""
    return _GERMAN.get(name) if find_language() == "de" else None


def _show_names(name: str) -> str:
    """Return a command's name with its slash, and in German with its German name."""
    local = _find_local_name(name)
    return f"/{name}, /{local}" if local else f"/{name}"


async def show_help(call: Call) -> Reply:
    """List the main commands, or all of them for the argument `all`.

    In a group, those that do not answer there are left out.
    """
    is_direct = call.message.address.is_direct
    shown: dict[HelpGroup, list[tuple[str, str]]] = {}
    more = 0
    for group, specs in _GROUPS.items():
        for spec in specs:
            if not may_use(spec, call.person) or not (is_direct or works_in_rooms(spec)):
                continue
            if call.argument in _EVERYTHING or spec.name in _MAIN:
                shown.setdefault(group, []).append((_show_names(spec.name), spec.summary))
            else:
                more += 1
    return Reply(text=general.describe_commands(shown, more=more))


def works_in_rooms(spec: CommandSpec) -> bool:
    """Return whether a command answers in a group: others are refused, or answer elsewhere."""
    return not (spec.is_direct_only or spec.is_private or spec.refuses_rooms)
