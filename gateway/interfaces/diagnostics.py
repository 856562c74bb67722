"""Checks of a home directory and its settings; they change nothing."""

import asyncio
import os
import platform
import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from agent_core.errors import AgentBroken, SkillBroken, StoreError
from agent_core.execution import find_bubblewrap
from agent_core.execution.subprocesses.confinement import find_protection
from agent_core.execution.subprocesses.landlock import SIGNALS_SINCE
from agent_core.skills import SkillCatalog
from agent_core.state.lifecycle.inspect import SQLITE_VERSION, DatabaseInfo, peek
from gateway.bootstrap.agent_folders import open_agent_folder
from gateway.bootstrap.external_plugins import ExternalPlugins
from gateway.bootstrap.plugins import make_backend
from gateway.config import (
    CONFIG_NAME,
    DATABASE,
    MCP_CONFIG,
    SECRET_VARIABLES,
    SKILLS,
    PromptSettings,
    Secrets,
    Settings,
    ToolSettings,
    explain_length,
    find_open_mode,
    list_unknown_variables,
    read_mcp_servers,
)
from gateway.errors import SettingsError, StartError
from gateway.interfaces.operations.client import NoGateway, fetch_health

State = Literal["ok", "note", "fault"]

OLDEST_PYTHON = (3, 11)
_LITTLE_SPACE = 500_000_000
_NO_SPACE = 50_000_000
"""Least bytes free on the home directory's disk."""
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The state of one part; a `fault` prevents the gateway from starting."""

    part: str
    state: State
    text: str


def examine(settings: Settings) -> list[Finding]:
    """Return all findings, for settings that could be loaded."""
    return [
        _look_at_python(),
        _finding("settings", "ok", _describe_settings(settings)),
        *(
            _finding("environment", "note", warning)
            for warning in list_unknown_variables(settings.environ)
        ),
        _look_at_home(settings.home),
        *_look_at_space(settings.home),
        _look_at_database(settings.home),
        _look_at_gateway(settings.home),
        *_look_at_platforms(settings),
        _look_at_model(settings),
        *_look_at_prompt(settings.prompt),
        _look_at_digests(settings),
        _look_at_web(settings),
        *_look_at_outside(settings),
        *_look_at_skills(settings.home),
        *_look_at_plugins(settings),
        _look_at_confinement(),
        _look_at_tools(settings),
        *_look_at_mcp(settings),
        *_look_at_agents(settings),
        _finding("secrets", "ok", _name_secrets(settings.secrets)),
    ]


def _finding(part: str, state: State, text: str) -> Finding:
    return Finding(part=part, state=state, text=text)


def _look_at_python() -> Finding:
    is_old = sys.version_info < OLDEST_PYTHON
    needed = ".".join(map(str, OLDEST_PYTHON))
    text = f"Python {platform.python_version()}, SQLite {SQLITE_VERSION}"
    return _finding("python", "fault" if is_old else "ok", f"{text} (needs Python {needed})")


def _describe_settings(settings: Settings) -> str:
    path = settings.home / CONFIG_NAME
    return f"{path} is good" if path.exists() else f"defaults and environment; no {path}"


def _look_at_home(home: Path) -> Finding:
    complaint = explain_length(home)
    if complaint:
        return _finding("home", "fault", complaint)
    if not home.exists():
        parent = _nearest(home)
        if os.access(parent, os.W_OK | os.X_OK) and parent.is_dir():
            return _finding("home", "ok", f"{home} is created at the first start")
        return _finding("home", "fault", f"{home} can't be created: {parent} is not writable")
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return _finding("home", "fault", f"{home} is not writable by this user")
    if mode := find_open_mode(home):
        text = f"{home} is open to other users (mode {mode:o}); the next start closes it"
        return _finding("home", "note", text)
    return _finding("home", "ok", f"{home} is private to you")


def _look_at_space(home: Path) -> list[Finding]:
    free = shutil.disk_usage(_nearest(home)).free
    text = f"{free / 1e9:,.1f} GB free on the disk of the home"
    if free < _NO_SPACE:
        return [_finding("disk", "fault", f"{text}: too little to write")]
    return [_finding("disk", "note" if free < _LITTLE_SPACE else "ok", text)]


def _look_at_skills(home: Path) -> list[Finding]:
    """Return findings about broken skills; none without a skills folder."""
    try:
        own = SkillCatalog(home / SKILLS).list_own()
    except SkillBroken as error:
        return [_finding("skills", "note", str(error))]
    broken = [one.fault for one in own if one.fault]
    reported = "; ".join([f"{len(own)} in the home directory", *broken])
    return [_finding("skills", "note" if broken else "ok", reported)] if own else []


def _look_at_database(home: Path) -> Finding:
    path = home / DATABASE
    try:
        glimpse = peek(path)
    except (StoreError, OSError) as error:
        return _finding("database", "fault", str(error))
    if glimpse is None:
        return _finding("database", "ok", f"{path} is created at the first start")
    return _finding("database", "ok", f"{path}, {_describe_schema(glimpse)}")


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
        return _finding("gateway", "note", str(error))
    problems = "; ".join(report.get("problems", ()))
    if is_well:
        return _finding("gateway", "ok", f"runs for {report['uptime_seconds']:,.0f} s, healthy")
    return _finding("gateway", "note", f"runs, but {problems}")


def _look_for_traces(home: Path) -> Finding:
    """Report an unclean stop: the database is locked or was not closed."""
    try:
        glimpse = peek(home / DATABASE)
    except (StoreError, OSError):
        glimpse = None  # told with the database
    if glimpse is None or glimpse.was_closed:
        return _finding("gateway", "ok", "not running")
    return _finding(
        "gateway",
        "note",
        f"does not answer; process {glimpse.holder} opened the home directory and has not closed it"
        " (it is starting, hangs or was killed; the next start then checks the database first)",
    )


def _look_at_platforms(settings: Settings) -> list[Finding]:
    secrets = settings.secrets
    findings = [_finding("console", "ok", "on: talaria chat, and the console page")]
    for name, tokens in _tokens_of(settings).items():
        given = [token for token in tokens if getattr(secrets, token)]
        wanted = ", ".join(token.upper() for token in tokens)
        if not given:
            findings.append(_finding(name, "ok", f"off; {wanted} turns it on"))
        elif len(given) == len(tokens):
            findings.append(_finding(name, "ok", "on; the next start tests its token"))
        elif tokens[0] in given:
            findings.append(_finding(name, "fault", f"it needs all of {wanted}"))
        else:
            findings.append(_finding(name, "note", f"off; it needs {wanted}"))
    return findings


def _tokens_of(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Return the tokens that each platform needs; the first of them enables it."""
    second = "slack_app_token" if settings.slack.mode == "socket" else "slack_signing_secret"
    return {
        "telegram": ("telegram_bot_token",),
        "discord": ("discord_bot_token",),
        "slack": ("slack_bot_token", second),
    }


def _look_at_model(settings: Settings) -> Finding:
    model = settings.model
    if model.provider == "scripted":
        return _finding(
            "model",
            "note",
            "the stand-in, which is no language model; set ANTHROPIC_API_KEY, OPENAI_API_KEY"
            " or OPENAI_BASE_URL",
        )
    fallback = f", else {', '.join(model.fallbacks)}" if model.fallbacks else ""
    return _finding(
        "model", "ok", f"{model.provider}: {model.name}{fallback}; the next start tests it"
    )


def _look_at_outside(settings: Settings) -> list[Finding]:
    """Check the external memory, and the backlog of any that was used before."""
    provider = settings.memory.provider
    try:
        glimpse = peek(settings.home / DATABASE)
    except (StoreError, OSError):
        glimpse = None  # told with the database
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
        findings.append(_finding("external memory", "note" if is_odd else "ok", text))
    return findings


def _look_at_digests(settings: Settings) -> Finding:
    token = settings.secrets.github_token
    hub = f"notifications of {settings.digest.github_url}" if token else "no GITHUB_TOKEN"
    hosts = ", ".join(("the open internet", *settings.digest.allow_hosts))
    return _finding("digests", "ok", f"{hub}; jobs fetch only from {hosts}")


def _look_at_prompt(prompt: PromptSettings) -> list[Finding]:
    if not prompt.folder or prompt.trust_files:
        return []
    text = f"{prompt.folder} holds words of others, so changes ask; if yours, set trust_files"
    return [_finding("prompt", "note", text)]


def _look_at_web(settings: Settings) -> Finding:
    engine = settings.tools.search
    search = f"searches with {engine}" if engine else "tools.search is off"
    missing = [] if find_spec("trafilatura") else ["pages are read as plain text"]
    missing += [] if find_spec("ddgs") or engine != "ddgs" else ["nothing can be searched"]
    if missing:
        reason = f"the extra `web` is not installed, so {' and '.join(missing)}"
        return _finding("web", "note", f"{search}; {reason}: pip install 'talaria[web]'")
    return _finding("web", "ok", f"{search}; reads pages as Markdown")


def _look_at_plugins(settings: Settings) -> list[Finding]:
    """Load the enabled plug-ins, and return a finding for each."""
    try:
        external = ExternalPlugins(settings)
        faults = [(one, external.find_fault(one)) for one in external.enabled]
    except StartError as error:
        return [_finding("plug-ins", "fault", str(error))]
    return [
        _finding("plug-in", "fault" if fault else "ok", fault or f"{one.name} {one.version}")
        for one, fault in faults
    ]


def _look_at_confinement() -> Finding:
    """Report the parts of the kernel that confine readers of foreign files, and scripts."""
    found = find_protection()
    missing = [
        *([] if found.landlock else ["Landlock (Linux 5.13), so readers can open files"]),
        *([] if found.seccomp else ["seccomp, so readers can open connections"]),
        *(
            ["Landlock's scopes (Linux 6.12), so a script can signal threads of the gateway"]
            if 0 < found.landlock < SIGNALS_SINCE
            else []
        ),
    ]
    if missing:
        return _finding("confinement", "note", f"this kernel lacks {'; '.join(missing)}")
    return _finding("confinement", "ok", f"Landlock {found.landlock} and seccomp")


def _look_at_tools(settings: Settings) -> Finding:
    """Start every sandbox: only that shows whether commands can run."""
    backend = make_backend(settings)
    if backend is None:
        return _finding("tools", "ok", 'no commands or files; tools.backend = "local" allows them')

    async def try_them() -> dict[str, str]:
        try:
            return await backend.list_faults()
        finally:
            await backend.close()

    faults = asyncio.run(try_them())
    if len(faults) == len(backend.names):
        return _finding(
            "tools", "note", f"commands and files are off: {'; '.join(faults.values())}"
        )
    parts = [f"{name} does not work: {reason}" for name, reason in faults.items()]
    table = settings.tools
    parts += [f"commands run {_describe_backend(table.backend, table)}"] if table.backend else []
    parts += [
        f"those of {_name_user(who)} {_describe_backend(name, table)}"
        for who, name in table.backends
    ]
    chosen = {table.backend, *dict(table.backends).values()}
    is_weaker = "unsandboxed" in chosen or ("local" in chosen and find_bubblewrap() is None)
    return _finding("tools", "note" if faults or is_weaker else "ok", "; ".join(parts))


def _name_user(who: str) -> str:
    kind, colon, name = who.partition(":")
    return f'the {kind} "{name}"' if colon else who


def _describe_backend(name: str, table: ToolSettings) -> str:
    if name == "unsandboxed":
        return "WITHOUT a sandbox, with all rights and the network of this user"
    if name == "local" and find_bubblewrap() is None:
        return (
            "confined by Landlock and seccomp, without network; they can still see which files"
            " exist elsewhere, which bubblewrap prevents: install it"
        )
    if name == "ssh":
        return f"in a sandbox on {table.ssh_host}, without network"
    if name == "docker":
        network = table.docker_network
        reach = "without network" if network == "none" else f"with the network {network}"
        return f"in a container for each person, {reach}"
    people = ["everyone" if person == "*" else person for person in table.network_people]
    if not people:
        return "in a sandbox on this machine, without network"
    hosts = ", ".join(table.network_hosts) or "nothing; tools.network_hosts is empty"
    return f"in a sandbox on this machine, with a network for {', '.join(people)} to {hosts}"


def _look_at_mcp(settings: Settings) -> list[Finding]:
    """Return findings about MCP servers; none without any. A mistake never prevents a start."""
    try:
        servers = read_mcp_servers(settings.home, settings.environ)
    except SettingsError as error:
        return [_finding("mcp", "note", str(error))]
    findings = []
    for server in servers:
        if server.fault:
            findings.append(_finding("mcp", "note", f"the server {server.name} {server.fault}"))
        elif server.argv and not server.is_sandboxed:
            text = f"the server {server.name} runs without a sandbox, with all rights of this user"
            findings.append(_finding("mcp", "note", text))
    if servers and not find_spec("mcp"):
        findings.append(_finding("mcp", "note", "servers need the extra: install talaria[mcp]"))
    if servers and not findings:
        findings.append(_finding("mcp", "ok", f"{len(servers)} servers in {MCP_CONFIG}"))
    return findings


def _look_at_agents(settings: Settings) -> list[Finding]:
    """Return findings about named agents; none without any. A mistake never prevents a start."""
    try:
        entries = open_agent_folder(settings).list_all()
    except AgentBroken as error:
        return [_finding("agents", "note", str(error))]
    except StartError:
        return []  # told with the plug-ins
    faults = [_finding("agents", "note", entry.fault) for entry in entries if entry.fault]
    if entries and not faults:
        return [_finding("agents", "ok", f"{len(entries)} in the home directory")]
    return faults


def _name_secrets(secrets: Secrets) -> str:
    given = [name for name in SECRET_VARIABLES if getattr(secrets, name.lower())]
    return f"set: {', '.join(given)}" if given else "none is set"


def _nearest(path: Path) -> Path:
    """Return the path, or its nearest parent folder that exists."""
    return next(place for place in (path, *path.parents) if place.exists())
