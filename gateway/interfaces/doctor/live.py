"""Checks that contact services and read the whole database; they change nothing."""

import asyncio
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

import aiohttp

from adapters.registry import list_declared
from agent_core.errors import StoreError
from agent_core.models.catalog import find_window
from agent_core.state.backups.places import find_newest
from agent_core.state.lifecycle.inspect import find_damage
from gateway.app.settings import Settings
from gateway.background.alert_conditions import is_backup_old
from gateway.errors import StartError
from gateway.home import BACKUPS, DATABASE
from gateway.interfaces.diagnostics.finding import Finding
from gateway.interfaces.doctor.local_model import look_at_local_model
from gateway.interfaces.doctor.probes import NoToken, check_model, check_platform
from gateway.interfaces.doctor.repairs import find_open_files
from gateway.interfaces.waiting import showing

_PATIENCE = 15.0
_ALL = os.R_OK | os.W_OK | os.X_OK
_LARGEST_SKEW = 60.0
"""Seconds. Some services refuse requests that are minutes off; smaller errors shift schedules."""
_SERVICES = (
    *(
        (one.variables[0].name, one.server, one.clock)
        for one in list_declared().values()
        if one.clock
    ),
    ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com/"),
    ("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1/models"),
)
"""For each service: the variable that turns it on, that of its address, and its usual address."""


def examine_live(settings: Settings) -> Iterator[Finding]:
    """Yield the findings of the live checks. Blocks until the services answer."""
    with showing("Comparing the clock"):
        clock = _look_at_clock(settings)
    yield clock
    yield from _look_at_tokens(settings)
    yield from _look_at_models(settings)
    with showing("Reading the whole database"):
        data = _look_at_data(settings.home / DATABASE)
    yield data
    yield _look_at_backups(settings.home)
    for path, mode in find_open_files(settings.home):
        yield Finding(
            part="files",
            state="note",
            text=f"{path} is open to other users (mode {mode:o})",
            fix=f"Run `chmod 600 {path}` or `talaria doctor --fix`.",
        )


def _look_at_clock(settings: Settings) -> Finding:
    address = _find_service(settings)
    if not address:
        return Finding(part="clock", state="ok", text="not compared: no service is set up")
    try:
        skew = asyncio.run(_measure_skew(address))
    except (aiohttp.ClientError, TimeoutError, ValueError, TypeError) as error:
        text = f"not compared: {address} gave no time ({type(error).__name__})"
        return Finding(part="clock", state="note", text=text, fix="Check the network.")
    if abs(skew) <= _LARGEST_SKEW:
        return Finding(part="clock", state="ok", text="right to the minute")
    direction = "ahead" if skew > 0 else "behind"
    return Finding(
        part="clock",
        state="fault",
        text=f"{abs(skew):,.0f} s {direction}, so reminders come at the wrong time",
        fix="Turn on time synchronisation, for example `timedatectl set-ntp true`.",
    )


def _find_service(settings: Settings) -> str:
    """Return the address of a service that is in use; empty if there is none."""
    for token, base, usual in _SERVICES:
        if settings.secrets.find(token):
            return settings.secrets.find(base) or usual
    return settings.secrets.openai_base_url or ""


async def _measure_skew(address: str) -> float:
    """Return how many seconds the clock of this machine is ahead of a server's."""
    timeout = aiohttp.ClientTimeout(total=_PATIENCE)
    async with (
        aiohttp.ClientSession(timeout=timeout, trust_env=True) as session,
        session.get(address, allow_redirects=False) as answer,
    ):
        told = parsedate_to_datetime(answer.headers.get("Date", ""))
    return time.time() - told.timestamp()


def _look_at_tokens(settings: Settings) -> Iterator[Finding]:
    for name in settings.secrets.platforms:
        part = f"{name} bot"
        try:
            with showing(f"Asking {list_declared()[name].title}"):
                bot = check_platform(settings, name)
        except StartError as error:
            fix = "" if isinstance(error, NoToken) else f"Run `talaria setup {name}`."
            yield Finding(part=part, state="fault", text=str(error), fix=fix)
            continue
        yield Finding(part=part, state="ok", text=f"{bot.name}, {bot.link}")
        yield from (Finding(part=part, state="note", text=gap) for gap in bot.gaps)


def _look_at_models(settings: Settings) -> Iterator[Finding]:
    """Check the main model, and the others if it is available."""
    found = _look_at_model(settings)
    yield found
    yield from look_at_local_model(settings)
    if found.state == "fault" or settings.model.provider == "scripted":
        return
    for name in settings.model.named:
        try:
            if name != settings.model.name:
                with showing(f"Asking for {name}"):
                    check_model(settings, name)
        except StartError as error:
            text = f"{name} can't be used: {error}"
            fix = "Correct its name in [model] in config.toml, or add its key."
            yield Finding(part="other models", state="fault", text=text, fix=fix)


def _look_at_model(settings: Settings) -> Finding:
    model = settings.model
    if model.provider == "scripted":
        return Finding(part="model key", state="ok", text="none is needed for the stand-in")
    try:
        with showing(f"Asking for {model.name}"):
            check_model(settings)
    except StartError as error:
        fix = "Run `talaria setup model`."
        return Finding(part="model key", state="fault", text=str(error), fix=fix)
    price = "" if settings.prices.is_known(model.name) else "; its price is unknown"
    text = f"{model.name} is available; it reads {find_window(model.name):,} tokens{price}"
    fix = "Add its price to cost.prices, or run `talaria models update`." if price else ""
    return Finding(part="model key", state="note" if price else "ok", text=text, fix=fix)


def _look_at_data(path: Path) -> Finding:
    if not path.exists():
        return Finding(part="data", state="ok", text="none yet")
    try:
        fault = find_damage(path)
    except StoreError as error:
        return Finding(part="data", state="fault", text=str(error))
    if not fault:
        size = path.stat().st_size / 1e6
        return Finding(part="data", state="ok", text=f"no page is damaged ({size:,.1f} MB)")
    fix = "Stop Talaria and restore a backup; see docs/always-on.md."
    return Finding(part="data", state="fault", text=f"{path} is damaged: {fault}", fix=fix)


def _look_at_backups(home: Path) -> Finding:
    if not (home / DATABASE).exists():
        return Finding(part="backups", state="ok", text="nothing to back up yet")
    folder = home / BACKUPS
    if os.path.lexists(folder) and not (folder.is_dir() and os.access(folder, _ALL)):
        return Finding(
            part="backups",
            state="fault",
            text=f"{folder} can't be used, so no backup can be made",
            fix="Make it a folder that this user may read and write, or delete it.",
        )
    fix = "Leave Talaria running at night, or run `talaria backup`."
    newest = find_newest(folder)
    if newest is None:
        return Finding(part="backups", state="note", text="there is none yet", fix=fix)
    made, where = newest
    text = f"the newest is of {datetime.fromtimestamp(made / 1000, UTC):%Y-%m-%d}, {where}"
    is_old = is_backup_old(made, int(time.time() * 1000))
    return Finding(
        part="backups", state="note" if is_old else "ok", text=text, fix=fix if is_old else ""
    )
