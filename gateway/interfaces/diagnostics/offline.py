"""Checks of a home directory and its settings; they change nothing and contact no service."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from agent_core.errors import StoreError, name_installation
from agent_core.state.lifecycle.inspect import DatabaseInfo, peek
from gateway.app.credentials import Secrets
from gateway.app.settings import Settings, list_unknown_variables
from gateway.app.settings_check import SECRET_VARIABLES
from gateway.app.tables import PromptSettings
from gateway.background.alert_conditions import measure_space
from gateway.errors import StartError
from gateway.home import CONFIG_NAME, DATABASE, explain_length, find_open_mode
from gateway.interfaces.client import NoGateway, fetch_health
from gateway.interfaces.diagnostics.extensions import examine_extensions
from gateway.interfaces.diagnostics.finding import Finding, make_finding

_PATIENCE = 2.0
_OTHER_HOME = "Set TALARIA_HOME to a folder that is yours."
_ROOM = "Make room on that disk, or move the home to another one."


def examine(settings: Settings) -> Iterator[Finding]:
    """Yield the findings for settings that could be loaded, one after the other."""
    yield make_finding("settings", "ok", _describe_settings(settings))
    for warning in list_unknown_variables(settings.environ):
        yield make_finding("environment", "note", warning, "Rename the variable, or remove it.")
    yield _look_at_home(settings.home)
    yield from _look_at_space(settings.home)
    yield _look_at_database(settings.home)
    yield _look_at_gateway(settings.home)
    yield from _look_at_platforms(settings)
    yield _look_at_model(settings)
    yield from _look_at_prompt(settings.prompt)
    yield _look_at_digests(settings)
    yield _look_at_web(settings)
    yield from _look_at_outside(settings)
    yield from examine_extensions(settings)
    yield make_finding("secrets", "ok", _name_secrets(settings.secrets))


def _describe_settings(settings: Settings) -> str:
    path = settings.home / CONFIG_NAME
    return f"{path} is good" if path.exists() else f"defaults and environment; no {path}"


def _look_at_home(home: Path) -> Finding:
    complaint = explain_length(home)
    if complaint:
        return make_finding("home", "fault", complaint)
    if not home.exists():
        parent = _nearest(home)
        if os.access(parent, os.W_OK | os.X_OK) and parent.is_dir():
            return make_finding("home", "ok", f"{home} is created at the first start")
        return make_finding(
            "home", "fault", f"{home} can't be created: {parent} is not writable", _OTHER_HOME
        )
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return make_finding("home", "fault", f"{home} is not writable by this user", _OTHER_HOME)
    if mode := find_open_mode(home):
        text = f"{home} is open to other users (mode {mode:o}); the next start closes it"
        return make_finding(
            "home", "note", text, f"Run `chmod 700 {home}` or `talaria doctor --fix`."
        )
    return make_finding("home", "ok", f"{home} is private to you")


def _look_at_space(home: Path) -> list[Finding]:
    space = measure_space(_nearest(home))
    text = f"{space.free / 1e9:,.1f} GB free on the disk of the home"
    if space.state == "full":
        return [make_finding("disk", "fault", f"{text}: too little to write", _ROOM)]
    return [make_finding("disk", "note" if space.state == "little" else "ok", text, _ROOM)]


def _look_at_database(home: Path) -> Finding:
    path = home / DATABASE
    try:
        glimpse = peek(path)
    except (StoreError, OSError) as error:
        return make_finding("database", "fault", str(error))
    if glimpse is None:
        return make_finding("database", "ok", f"{path} is created at the first start")
    return make_finding("database", "ok", f"{path}, {_describe_schema(glimpse)}")


def _describe_schema(glimpse: DatabaseInfo) -> str:
    if glimpse.schema == glimpse.newest_schema:
        return f"schema {glimpse.schema}"
    return f"schema {glimpse.schema}; the next start migrates it to {glimpse.newest_schema}"


def _look_at_gateway(home: Path) -> Finding:
    try:
        is_well, report = fetch_health(home, timeout=_PATIENCE)
    except NoGateway:
        return _look_for_traces(home)
    except StartError as error:
        return make_finding("gateway", "note", str(error))
    problems = "; ".join(report.get("problems", ()))
    if is_well:
        return make_finding("gateway", "ok", f"runs for {report['uptime_seconds']:,.0f} s, healthy")
    return make_finding("gateway", "note", f"runs, but {problems}", "Run `talaria logs`.")


def _look_for_traces(home: Path) -> Finding:
    """Report a gateway that stopped uncleanly or hangs: its database was not closed."""
    try:
        glimpse = peek(home / DATABASE)
    except (StoreError, OSError):
        glimpse = None  # reported with the database
    if glimpse is None or glimpse.was_closed:
        return make_finding("gateway", "ok", "not running")
    return make_finding(
        "gateway",
        "note",
        f"does not answer; process {glimpse.holder} opened the home directory and has not closed it"
        " (it is starting, hangs or was killed; the next start then checks the database first)",
        "If it hangs, end this process and start Talaria again.",
    )


def _look_at_platforms(settings: Settings) -> list[Finding]:
    secrets = settings.secrets
    findings = [make_finding("console", "ok", "on: talaria chat, and the console page")]
    for name, tokens in _tokens_of(settings).items():
        given = [token for token in tokens if getattr(secrets, token)]
        wanted = ", ".join(token.upper() for token in tokens)
        fix = f"Run `talaria setup {name}`."
        if not given:
            findings.append(make_finding(name, "ok", f"off; it needs {wanted}"))
        elif len(given) == len(tokens):
            findings.append(make_finding(name, "ok", "on"))
        elif tokens[0] in given:
            findings.append(make_finding(name, "fault", f"it needs all of {wanted}", fix))
        else:
            findings.append(make_finding(name, "note", f"off; it needs {wanted}", fix))
    return findings


def _tokens_of(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return the tokens that each platform needs; the first token turns the platform on."""
    second = "slack_app_token" if settings.slack.mode == "socket" else "slack_signing_secret"
    return {
        "telegram": ("telegram_bot_token",),
        "discord": ("discord_bot_token",),
        "slack": ("slack_bot_token", second),
    }


def _look_at_model(settings: Settings) -> Finding:
    model = settings.model
    if model.provider == "scripted":
        return make_finding(
            "model",
            "note",
            "the stand-in, which is no language model; set ANTHROPIC_API_KEY, OPENAI_API_KEY"
            " or OPENAI_BASE_URL",
            "Run `talaria setup model`, or `talaria models local list` for one of this machine.",
        )
    address = settings.secrets.openai_base_url if model.provider == "openai" else None
    if address and urlsplit(address).path in ("", "/"):
        return make_finding(
            "model",
            "note",
            f"{model.provider}: {model.name}, at {address}, which has no path",
            f"Most servers have their API at {address.rstrip('/')}/v1; set OPENAI_BASE_URL to it.",
        )
    fallback = f", else {', '.join(model.fallbacks)}" if model.fallbacks else ""
    return make_finding("model", "ok", f"{model.provider}: {model.name}{fallback}")


def _look_at_outside(settings: Settings) -> list[Finding]:
    """Check the external memory, and the backlogs of external memories that were used before."""
    provider = settings.memory.provider
    try:
        glimpse = peek(settings.home / DATABASE)
    except (StoreError, OSError):
        glimpse = None  # reported with the database
    backlogs = {one.provider: one for one in glimpse.backlogs} if glimpse else {}
    findings = []
    for name in dict.fromkeys([*([provider] if provider else []), *backlogs]):
        backlog = backlogs.get(name)
        queued, dead = (backlog.queued, backlog.dead) if backlog else (0, 0)
        if name != provider and not (queued or dead):
            continue
        text = f"{name} is {'on' if name == provider else 'off'}; {queued:,} not synced yet"
        if dead:
            text += f", {dead:,} failed: see the log"
        is_odd = dead or (queued and name != provider)
        findings.append(make_finding("external memory", "note" if is_odd else "ok", text))
    return findings


def _look_at_digests(settings: Settings) -> Finding:
    token = settings.secrets.github_token
    hub = f"notifications of {settings.digest.github_url}" if token else "no GITHUB_TOKEN"
    hosts = ", ".join(("the open internet", *settings.digest.allow_hosts))
    return make_finding("digests", "ok", f"{hub}; jobs fetch only from {hosts}")


def _look_at_prompt(prompt: PromptSettings) -> list[Finding]:
    if not prompt.folder or prompt.trust_files:
        return []
    text = (
        f"the files in {prompt.folder} count as words of others, so Talaria asks before it sends or"
        " changes anything; if they are yours, set prompt.trust_files and send /new"
    )
    return [make_finding("prompt", "note", text)]


def _look_at_web(settings: Settings) -> Finding:
    engine = settings.tools.search
    search = f"searches with {engine}" if engine else "tools.search is off"
    missing = [] if find_spec("trafilatura") else ["pages are read as plain text"]
    missing += [] if find_spec("ddgs") or engine != "ddgs" else ["nothing can be searched"]
    if missing:
        reason = f"the extra `web` is not installed, so {' and '.join(missing)}"
        return make_finding("web", "note", f"{search}; {reason}", name_installation("web"))
    return make_finding("web", "ok", f"{search}; reads pages as Markdown")


def _name_secrets(secrets: Secrets) -> str:
    given = [name for name in SECRET_VARIABLES if getattr(secrets, name.lower())]
    return f"set: {', '.join(given)}" if given else "none is set"


def _nearest(path: Path) -> Path:
    """Return the path if it exists, else its nearest parent folder that exists."""
    return next(place for place in (path, *path.parents) if place.exists())
