"""The catalog of slash commands, in the order in which help and menus list them."""

from collections.abc import Callable, Mapping

from adapters.abilities import MenuEntry
from agent_core.state.people.people import Person
from gateway.commands.registry import Call, CommandSpec, Handler, Reply, SlashCommand
from gateway.errors import find_nearest
from gateway.outbound.command_buttons import stand_for
from gateway.texts import general
from gateway.texts.rooms import ONLY_IN_DIRECT

COMMANDS: tuple[CommandSpec, ...] = (
    CommandSpec(name="help", summary="List what I can do"),
    CommandSpec(name="new", summary="Start a new conversation; old ones stay searchable"),
    CommandSpec(name="stop", summary="Stop what I'm doing"),
    CommandSpec(name="here", summary="Continue the current answer in this chat"),
    CommandSpec(
        name="steer", summary="Add something to the answer I'm working on", is_transient=True
    ),
    CommandSpec(
        name="btw", summary="Ask a side question outside the conversation", is_transient=True
    ),
    CommandSpec(name="queue", summary="Hold a message until I finish answering", is_transient=True),
    CommandSpec(
        name="retry", summary="Answer again, or repeat a failed delivery", is_transient=True
    ),
    CommandSpec(name="sessions", summary="List your conversations here", is_private=True),
    CommandSpec(name="resume", summary="Return to an earlier conversation"),
    CommandSpec(name="title", summary="Show or change this conversation's title"),
    CommandSpec(name="branch", summary="Try something in a copy of this conversation"),
    CommandSpec(name="status", summary="Show what I'm doing and what it cost", is_private=True),
    CommandSpec(name="compact", summary="Summarise older messages to save tokens"),
    CommandSpec(name="context", summary="Show what I read before each answer", is_private=True),
    CommandSpec(name="tools", summary="List my tools here or turn them on or off"),
    CommandSpec(name="agents", summary="List named agents or choose who answers here"),
    CommandSpec(
        name="mcp",
        summary="Show MCP servers or accept their tools",
        owner_only=True,
        is_private=True,
    ),
    CommandSpec(
        name="connections", summary="Connect or end your accounts at servers", is_private=True
    ),
    CommandSpec(
        name="approvals", summary="Show or revoke what I may do without asking", is_private=True
    ),
    CommandSpec(name="console", summary="Open your pages in a browser", is_direct_only=True),
    CommandSpec(name="usage", summary="Show today's usage and what is left", is_private=True),
    CommandSpec(name="whoami", summary="Show who you are to me", is_private=True),
    CommandSpec(name="approve", summary="Let someone in with their code", owner_only=True),
    CommandSpec(name="link", summary="Link another account of yours"),
    CommandSpec(name="accounts", summary="List your linked accounts"),
    CommandSpec(name="unlink", summary="Unlink one of your accounts"),
    CommandSpec(name="memory", summary="Show what I remember and who can see it"),
    CommandSpec(name="share", summary="Choose who can see a memory entry"),
    CommandSpec(name="why", summary="Show where a memory entry comes from"),
    CommandSpec(name="undo", summary="Undo a change to my memory"),
    CommandSpec(
        name="learned", summary="Show and control what I learn from chats", is_direct_only=True
    ),
    CommandSpec(name="learn", summary="Learn from our last messages now", is_direct_only=True),
    CommandSpec(
        name="profile", summary="Show, correct or delete your profile", is_direct_only=True
    ),
    CommandSpec(name="skills", summary="List skills; each one is also a command"),
    CommandSpec(name="curator", summary="Decide what should be tidier", is_direct_only=True),
    CommandSpec(name="block", summary="Manage memory that several people share"),
    CommandSpec(name="jobs", summary="Show or change scheduled jobs"),
    CommandSpec(name="sethome", summary="Send reminders and digests to this chat"),
    CommandSpec(name="export", summary="Export all your data as a file", is_direct_only=True),
    CommandSpec(
        name="forget",
        summary="Permanently delete notes and messages by keyword",
        is_direct_only=True,
    ),
    CommandSpec(name="erase", summary="Permanently delete all your data", is_direct_only=True),
    CommandSpec(name="settings", summary="Change time zone, language, quiet hours, voice"),
    CommandSpec(
        name="model",
        summary="Choose the model that answers you or runs a job",
        is_direct_only=True,
    ),
    CommandSpec(name="verbose", summary="Show or hide each step I take"),
    CommandSpec(name="room", summary="Choose how I answer in this group"),
)

HIDDEN: tuple[CommandSpec, ...] = (
    CommandSpec(name="home", summary="Show an app's home page", is_direct_only=True),
    CommandSpec(name="start", summary="Get started, or change the time zone and language"),
    CommandSpec(name="refine", summary="Learn from our last messages now", is_direct_only=True),
)
"""Commands that work, but appear in no list: platforms send the first two on their own, and the
third is what Hermes Agent calls `learn`.
"""

_CLAIM = CommandSpec(name="claim", summary="Become the owner with a code")
"""The router handles this command, because its sender has no account yet."""

_MAIN = ("new", "stop", "here", "status", "memory", "settings", "link")
"""The commands a newcomer needs; `/help all` lists the rest."""


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
    bound |= {name: make_private(bound[name]) for name, spec in specs.items() if spec.is_private}
    bound |= {
        name: _refuse_elsewhere(bound[name]) for name, spec in specs.items() if spec.is_direct_only
    }
    return tuple(SlashCommand(spec=spec, run=bound[name]) for name, spec in specs.items())


def _refuse_elsewhere(handler: Handler) -> Handler:
    """Return a handler that refuses where others can read the answer."""

    async def run(call: Call) -> Reply:
        if not call.message.address.is_direct:
            return Reply(text=ONLY_IN_DIRECT())
        return await handler(call)

    return run


def make_menu() -> list[MenuEntry]:
    """Return every command for the platforms' menus.

    Those of `COMMANDS` that everyone may use are marked to be listed.
    """
    return [
        MenuEntry(
            name=spec.name,
            description=spec.summary,
            is_transient=spec.is_transient,
            is_listed=spec in COMMANDS and not spec.owner_only,
        )
        for spec in (*COMMANDS, *HIDDEN, _CLAIM)
    ]


def suggest_command(name: str, argument: str, person: Person) -> Reply:
    """Answer an unknown command: with a button for the nearest one that the person may use."""
    near = find_nearest(name, (spec.name for spec in COMMANDS if may_use(spec, person)))
    if near is None:
        return Reply(text=general.UNKNOWN_COMMAND(name=name))
    text = general.NEAREST_COMMAND(name=name, nearest=near)
    meant = f"{near} {argument}".strip()
    try:
        button = stand_for(meant, meant)
    except ValueError:  # the argument is too long for a button, or holds other characters
        return Reply(text=text)
    return Reply(text=text, buttons=(button,))


def may_use(spec: CommandSpec, person: Person) -> bool:
    """Return whether a person may use a command."""
    return person.is_owner or not spec.owner_only


async def show_help(call: Call) -> Reply:
    """List the main commands, or all of them for the argument `all`."""
    allowed = [spec for spec in COMMANDS if may_use(spec, call.person)]
    shown = [spec for spec in allowed if call.argument == "all" or spec.name in _MAIN]
    text = general.describe_commands(
        [(spec.name, spec.summary) for spec in shown], more=len(allowed) - len(shown)
    )
    return Reply(text=text)
