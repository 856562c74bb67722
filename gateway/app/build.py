"""Open the resources of a gateway, build it and serve."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from agent_core.errors import AgentRefused
from agent_core.models.profiles import Profiles
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from gateway.app import factories
from gateway.app.backends import load_backend
from gateway.app.extensions import Extensions, add_plugins
from gateway.app.external_plugins import ExternalPlugins
from gateway.app.gateway import Gateway
from gateway.app.lifecycle import Companion, serve
from gateway.app.settings import Settings
from gateway.operations.privacy import end_killed_moves
from gateway.people.admission import LOCAL_PLATFORM, UNATTENDED, new_claim_code
from gateway.people.data_export import remove_drafts

_log = logging.getLogger(__name__)


async def run(
    settings: Settings,
    *,
    stop: asyncio.Event,
    prepare: Callable[[], None] | None = None,
    companions: Sequence[Companion] = (),
    extensions: Extensions | None = None,
) -> None:
    """Build the gateway and serve until `stop` is set, then stop it in order.

    Calls `prepare` after it has locked the home, and before any platform connects. Raises
    `StartError`, `StoreError` if the home can't be used, and `Broken`.
    """
    external = ExternalPlugins(settings)
    settings, extra = add_plugins(settings, extensions or Extensions(), external)
    profiles = Profiles(extra.now)
    model = extra.model or factories.load_model(settings, external, profiles, extra.timings.quiet)
    async with AsyncExitStack() as stack:
        database = await factories.open_database(settings.home, extra.observe, extra.timings)
        stack.push_async_callback(database.close)
        stack.push_async_callback(model.close)
        await profiles.open(database)
        await asyncio.to_thread(remove_drafts, settings.home)  # before anybody exports again
        await end_killed_moves(database)
        if prepare:
            prepare()
        await factories.check_model(model, settings)
        external_memory = await factories.load_external_memory(
            settings, database, external, extra.now
        )
        if external_memory:
            stack.push_async_callback(external_memory.close)
        backend = await load_backend(settings)
        if backend:
            stack.push_async_callback(backend.close)
        gateway = Gateway(
            settings=settings,
            extensions=extra,
            database=database,
            model=model,
            profiles=profiles,
            external_memory=external_memory,
            backend=backend,
            group=asyncio.TaskGroup(),
        )
        gateway.build()
        if gateway.background_commands:
            stack.push_async_callback(gateway.background_commands.close)
        await _warn_of_unknown_people(settings, database)
        await _finish_agents(gateway)
        gateway.claim_code = await _make_claim_code(gateway)
        await serve(gateway, stop=stop, companions=companions)


async def _warn_of_unknown_people(settings: Settings, database: Database) -> None:
    """Warn of unknown people in the settings of backends and `tools.network_people`.

    A typing mistake gives nobody new access. But the person who was meant keeps the default
    backend. Raises `StoreError`.
    """
    table = settings.tools
    known = {person.slug for person in await database.read(people.list_all)}
    for setting, names in (
        ("tools.backends", [name for name, _ in table.backends if ":" not in name]),
        ("tools.named_backends", [name for one in table.named_backends for name in one.people]),
        ("tools.network_people", table.network_people),
    ):
        for name in set(names) - known - {"*"}:
            _log.warning(
                "%s names %s, but there is no such person; `talaria people list` shows the"
                " folder names",
                setting,
                name,
            )


async def _finish_agents(gateway: Gateway) -> None:
    """Finish the changes of agents that the last process began; agents that can't be warn."""
    try:
        await gateway.agent_editor.finish_earlier()
    except AgentRefused as error:
        _log.warning("a change of an agent can't be finished: %s", error)


async def _make_claim_code(gateway: Gateway) -> str | None:
    """Make a claim code if a chat platform is on and has no owner yet. Raises `StoreError`."""
    if gateway.adapters.keys() <= UNATTENDED:
        return None

    def work(connection: Connection) -> str | None:
        if people.has_platform_owner(connection, local_platform=LOCAL_PLATFORM):
            return None
        return new_claim_code(connection, now=gateway.now())

    return await gateway.database.write("people.code", work)
