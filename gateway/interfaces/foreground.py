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
from adapters.registry import list_declared
from agent_core.models.contract import HasProfiles
from gateway.app import build as app
from gateway.app.gateway import Gateway
from gateway.app.lifecycle import Companion
from gateway.app.logging import logging_to
from gateway.app.settings import CONSOLE_PORT, Settings, list_unknown_variables
from gateway.home import make_home
from gateway.interfaces.http.control import serving_control
from gateway.interfaces.http.loading import load_server, take_port
from gateway.interfaces.telemetry.loading import load_telemetry
from gateway.people.admission import API_PLATFORM, LOCAL_PLATFORM
from gateway.texts.general import name_platform

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
    claim_addresses: Mapping[str, str]
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
    off = f"off; `talaria config set http.port {CONSOLE_PORT}` opens it"
    rows.append(("page", opening.page or off))
    lines = [f"Talaria {opening.version}", *(f"  {name:<9} {value}" for name, value in rows)]
    if opening.is_stand_in:
        lines += ["", _STAND_IN]
    if opening.claim_code:
        lines += ["", f"To become the owner, send this to your bot:  /claim {opening.claim_code}"]
        lines += [
            f"On {name_platform(name)}, this link sends it for you:  {address}"
            for name, address in opening.claim_addresses.items()
        ]
        lines += [
            f"On {one.title}, send  {one.command}claim {opening.claim_code}"
            for one in list_declared().values()
            if one.name in opening.platforms and one.command != "/"
        ]
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
            _warn(one, is_read=found.log.file and sys.stderr.isatty())
        runner.run(_serve(found, companions))
    if sys.stdout.isatty():
        print("Stopped. Nothing is lost.", flush=True)


def _warn(sentence: str, *, is_read: bool) -> None:
    """Warn in the log; `is_read` says that somebody at a terminal reads the sentence alone."""
    if is_read:
        print(sentence, file=sys.stderr, flush=True)
    _log.log(logging.INFO if is_read else logging.WARNING, "%s", sentence)


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

        keep_company = partial(_keep_company, ports, stop)
        await app.run(
            found, stop=stop, prepare=prepare, companions=(keep_company, *telemetry, *companions)
        )


def _ask_to_stop(stop: asyncio.Event, number: signal.Signals) -> None:
    """Ask the gateway to stop in order. A second signal ends the process at once, without loss."""
    if stop.is_set():
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    stop.set()


async def _keep_company(
    ports: Sequence[socket.socket], stop: asyncio.Event, gateway: Gateway
) -> None:
    """Run the servers beside the gateway, and print the banner once the platforms have connected.

    `ports` holds the bound socket of the HTTP server, if one is configured.
    """
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(serving_control(gateway, stop))
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
        model=f"{model.provider}: {model.name}{_describe_mode(gateway)}",
        is_stand_in=model.provider == "scripted",
        platforms={
            name: health
            for name, health in gateway.platforms.health().items()
            if name != API_PLATFORM
        },
        local=LOCAL_PLATFORM,
        claim_code=gateway.claim_code,
        claim_addresses=_find_claim_addresses(gateway),
        page=page,
        command=_name_command(),
    )


def _describe_mode(gateway: Gateway) -> str:
    """Say how the model works, if it does not simply call tools; "" otherwise."""
    model = gateway.model
    name, mode = gateway.settings.model.name, gateway.settings.model.mode
    known = model.profile(name).mode if isinstance(model, HasProfiles) else None
    if known == "unfit":
        return " (failed its fitness test, so expect wrong answers; see `talaria models`)"
    return " (guided mode)" if "guided" in (mode, known if mode == "auto" else "") else ""


def _find_claim_addresses(gateway: Gateway) -> dict[str, str]:
    """Return the links that claim the bot, by platform."""
    adapters, code = gateway.platforms.adapters, gateway.claim_code
    found = {
        name: adapter.invite(f"claim-{code}")
        for name, adapter in adapters.items()
        if code and isinstance(adapter, CanInvite) and adapter.invites_with_words
    }
    return {name: address for name, address in found.items() if address}


def _name_command() -> str:
    """Return the command that started this program, for printed instructions."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "talaria" and not which("talaria") else "talaria"
