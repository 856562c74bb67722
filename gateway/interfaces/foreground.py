"""Runs the gateway in a terminal: its banner, its servers, and its orderly stop."""

import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from shutil import which

from adapters.abilities import CanInvite
from adapters.contract import Health
from gateway.app import build as app
from gateway.app.gateway import Gateway
from gateway.app.lifecycle import Companion
from gateway.app.logging import logging_to
from gateway.app.settings import Settings, list_unknown_variables
from gateway.home import make_home
from gateway.interfaces.http.control import serving_control
from gateway.interfaces.http.loading import load_server, take_port
from gateway.interfaces.telemetry.loading import load_telemetry
from gateway.people.admission import API_PLATFORM, LOCAL_PLATFORM

_STAND_IN = (
    "No model key is set, so a stand-in answers: it follows plain commands and is no language\n"
    "model. Set ANTHROPIC_API_KEY, or OPENAI_API_KEY or OPENAI_BASE_URL, and start again.\n"
    "A model on this machine needs no key: see docs/without-an-account.md."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The facts of the banner. `local` is the name of the console platform."""

    version: str
    home: Path
    model: str
    is_stand_in: bool
    platforms: Mapping[str, Health]
    local: str
    claim_code: str | None
    claim_address: str | None
    """A link that opens the bot's chat and sends the claim code."""
    page: str | None
    command: str
    """The command that the user typed to run `talaria`."""


def compose_banner(opening: Opening) -> str:
    """Return several lines; the last one begins with "Ready"."""
    rows = [("home", str(opening.home)), ("model", opening.model)]
    for name, health in opening.platforms.items():
        if name != opening.local:
            detail = f" ({health.detail})" if health.detail else ""
            rows.append((name, f"{health.state}{detail}"))
    rows.append(("terminal", f"{opening.command} chat"))
    if opening.page:
        rows.append(("page", opening.page))
    lines = [f"Talaria {opening.version}", *(f"  {name:<9} {value}" for name, value in rows)]
    if opening.is_stand_in:
        lines += ["", _STAND_IN]
    if opening.claim_code:
        lines += ["", f"To become the owner, send this to your bot:  /claim {opening.claim_code}"]
        if opening.claim_address:
            lines += [f"On Telegram, this link sends it for you:  {opening.claim_address}"]
        if "slack" in opening.platforms:
            lines += [f"On Slack, send  /talaria claim {opening.claim_code}"]
    return "\n".join([*lines, "", "Ready. Ctrl-C stops it."])


try:
    import uvloop
except ImportError:  # uvloop is an extra, and does not exist for Windows
    make_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
else:
    make_loop = uvloop.new_event_loop

_CONNECTING = 10.0
"""Seconds that platforms have to connect before the banner reports their state."""
_POLL = 0.02
_log = logging.getLogger(__name__)


def serve(found: Settings, *companions: Companion) -> None:
    """Serve until a signal asks to stop. Raises `StartError`, `StoreError` and `Broken`.

    `companions` run beside the gateway, after its banner is printed.
    """
    warning = make_home(found.home)
    with (
        logging_to(
            found.log,
            found.home,
            hidden=found.hidden,
            to_stderr=True,
        ),
        asyncio.Runner(loop_factory=make_loop) as runner,
    ):
        for one in filter(None, (warning, *list_unknown_variables(found.environ))):
            _log.warning("%s", one)
        runner.run(_serve(found, companions))


async def _serve(found: Settings, companions: Sequence[Companion]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _ask_to_stop, stop, number)
    telemetry = [await load_telemetry()] if found.telemetry.endpoint else []
    http, ports = found.http, list[socket.socket]()
    with ExitStack() as stack:

        def prepare() -> None:
            if http.port:
                ports.append(stack.enter_context(take_port(http)))

        keep_company = partial(_keep_company, ports)
        await app.run(
            found, stop=stop, prepare=prepare, companions=(keep_company, *telemetry, *companions)
        )


def _ask_to_stop(stop: asyncio.Event, number: signal.Signals) -> None:
    """Ask the gateway to stop in order. A second signal ends the process at once, without loss."""
    if stop.is_set():
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    stop.set()


async def _keep_company(ports: Sequence[socket.socket], gateway: Gateway) -> None:
    """Run the servers beside the gateway, and print the banner once the platforms have connected.

    `ports` holds the bound socket of the HTTP server, if one is configured.
    """
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(serving_control(gateway))
        page = None
        for bound in ports:
            serving_page = await load_server()
            page = await stack.enter_async_context(serving_page(gateway, bound))
        await _wait_for_platforms(gateway)
        print(compose_banner(_describe(gateway, page)), flush=True)
        gateway.ready.emit(None)
        await asyncio.Event().wait()


async def _wait_for_platforms(gateway: Gateway) -> None:
    """Wait until every platform has connected or failed, for at most `_CONNECTING` seconds."""
    loop = asyncio.get_running_loop()
    latest = loop.time() + _CONNECTING
    while loop.time() < latest and any(  # noqa: ASYNC110 - adapters tell their state when asked
        health.state == "starting" for health in gateway.platforms.health().values()
    ):
        await asyncio.sleep(_POLL)


def _describe(gateway: Gateway, page: str | None) -> Opening:
    model = gateway.settings.model
    return Opening(
        version=version("talaria"),
        home=gateway.settings.home,
        model=f"{model.provider}: {model.name}",
        is_stand_in=model.provider == "scripted",
        platforms={
            name: health
            for name, health in gateway.platforms.health().items()
            if name != API_PLATFORM
        },
        local=LOCAL_PLATFORM,
        claim_code=gateway.claim_code,
        claim_address=_find_claim_address(gateway),
        page=page,
        command=_name_command(),
    )


def _find_claim_address(gateway: Gateway) -> str | None:
    adapters = gateway.platforms.adapters.values()
    able = (adapter for adapter in adapters if isinstance(adapter, CanInvite))
    inviting = (adapter for adapter in able if adapter.invites_with_words)
    code = gateway.claim_code
    return next((one.invite(f"claim-{code}") for one in inviting), None) if code else None


def _name_command() -> str:
    """Return the command that started this program, for printed instructions."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "talaria" and not which("talaria") else "talaria"
