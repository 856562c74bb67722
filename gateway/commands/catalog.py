"""All slash commands, in the order in which help and menus list them."""

from gateway.commands import (
    blocks,
    context,
    conversation,
    jobs,
    memory,
    people,
    privacy,
    provenance,
    rooms,
    settings,
)
from gateway.commands.registry import Call, House, Reply, SlashCommand
from gateway.texts import general

_MAIN = ("new", "stop", "here", "status", "memory", "settings", "link")
"""What a newcomer needs; the rest is in `/help all`."""


async def _help(call: Call, _: House) -> Reply:
    allowed = [c for c in COMMANDS if call.person.is_owner or not c.owner_only]
    shown = [c for c in allowed if call.argument == "all" or c.name in _MAIN]
    return Reply(
        text=general.describe_commands(
            [(c.name, c.summary) for c in shown], more=len(allowed) - len(shown)
        )
    )


async def _start(call: Call, house: House) -> Reply:
    return await _help(call, house)


COMMANDS: tuple[SlashCommand, ...] = (
    SlashCommand(name="help", summary="What I can do", run=_help),
    *conversation.COMMANDS,
    *context.COMMANDS,
    *context.REPORT_COMMANDS,
    *context.USAGE_COMMANDS,
    *people.COMMANDS,
    *people.ACCOUNT_COMMANDS,
    *memory.COMMANDS,
    *provenance.COMMANDS,
    *blocks.COMMANDS,
    *jobs.COMMANDS,
    *privacy.COMMANDS,
    *settings.COMMANDS,
    *rooms.COMMANDS,
)

HIDDEN: tuple[SlashCommand, ...] = (
    *settings.HIDDEN,
    SlashCommand(name="start", summary="Telegram sends this when a talk is opened", run=_start),
)
"""Commands that work and are not listed."""
