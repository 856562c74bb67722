"""All slash commands, in the order in which help and menus list them."""

from gateway import wording
from gateway.commands import (
    accounts,
    blocks,
    context,
    control,
    jobs,
    memory,
    people,
    reckoning,
    rooms,
    settings,
    talk,
    usage,
    why,
)
from gateway.commands.registry import Call, House, Reply, SlashCommand

_MAIN = ("new", "stop", "here", "status", "memory", "settings", "link")
"""What a newcomer needs; the rest is in `/help all`."""


async def _help(call: Call, _: House) -> Reply:
    allowed = [c for c in COMMANDS if call.person.is_owner or not c.owner_only]
    shown = [c for c in allowed if call.argument == "all" or c.name in _MAIN]
    return Reply(
        text=wording.describe_commands(
            [(c.name, c.summary) for c in shown], more=len(allowed) - len(shown)
        )
    )


async def _start(call: Call, house: House) -> Reply:
    return await _help(call, house)


COMMANDS: tuple[SlashCommand, ...] = (
    SlashCommand(name="help", summary="What I can do", run=_help),
    *talk.COMMANDS,
    *context.COMMANDS,
    *reckoning.COMMANDS,
    *usage.COMMANDS,
    *people.COMMANDS,
    *accounts.COMMANDS,
    *memory.COMMANDS,
    *why.COMMANDS,
    *blocks.COMMANDS,
    *jobs.COMMANDS,
    *control.COMMANDS,
    *settings.COMMANDS,
    *rooms.COMMANDS,
)

HIDDEN: tuple[SlashCommand, ...] = (
    *settings.HIDDEN,
    SlashCommand(name="start", summary="Telegram sends this when a talk is opened", run=_start),
)
"""Commands that work and are not listed."""
