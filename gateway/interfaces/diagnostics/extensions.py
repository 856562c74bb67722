"""Checks of extensions in a home: skills, plug-ins, backends, MCP servers and named agents."""

import asyncio
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from agent_core.agent.named.teams import TeamFolder
from agent_core.errors import AgentBroken, SkillBroken, name_installation
from agent_core.execution.local import find_bubblewrap
from agent_core.execution.subprocesses.confinement import find_protection
from agent_core.execution.subprocesses.landlock import SIGNALS_SINCE
from agent_core.skills.catalog import SkillCatalog
from gateway.app.agent_folders import open_agent_folder
from gateway.app.backends import make_backend
from gateway.app.external_plugins import ExternalPlugins
from gateway.app.mcp_file import read_mcp_servers
from gateway.app.named_backends import apply, describe_cost, find_backend, list_used
from gateway.app.settings import Settings
from gateway.app.tables import ToolSettings
from gateway.app.tool_rules import BackendName, NamedBackend
from gateway.errors import SettingsError, StartError
from gateway.home import MCP_CONFIG, SKILLS
from gateway.interfaces.diagnostics.finding import Finding, make_finding

_SANDBOX = "If its command works in a sandbox, take out `unsandboxed` in mcp.toml."
_SHARED = "If each person shall sign in, take out `shared_account` in mcp.toml."


def examine_extensions(settings: Settings) -> Iterator[Finding]:
    """Yield the findings. Starts each sandbox once."""
    yield from _look_at_skills(settings.home)
    yield from _look_at_bundles(settings)
    yield from _look_at_plugins(settings)
    yield _look_at_confinement()
    yield _look_at_tools(settings)
    yield from _look_at_mcp(settings)
    yield from _look_at_agents(settings)


def _look_at_skills(home: Path) -> list[Finding]:
    """Return findings about skills; none if the home has no skills."""
    try:
        own = SkillCatalog(home / SKILLS).list_own()
    except SkillBroken as error:
        return [make_finding("skills", "note", str(error))]
    broken = [one.fault for one in own if one.fault]
    reported = "; ".join([f"{len(own)} in the home directory", *broken])
    fix = "Correct the file, and run `talaria skills check`."
    return [make_finding("skills", "note" if broken else "ok", reported, fix)] if own else []


def _look_at_bundles(settings: Settings) -> list[Finding]:
    """Return a finding for each folder of skills that came from elsewhere and can't be read."""
    fix = "Make it readable for Talaria's user, or install Talaria or the plug-in again."
    faults = SkillCatalog(*settings.skill_places).find_faults()
    return [make_finding("skills", "fault", fault, fix) for fault in faults]


def _look_at_plugins(settings: Settings) -> list[Finding]:
    """Load the enabled plug-ins, and return a finding for each."""
    try:
        external = ExternalPlugins(settings)
        faults = [(one, external.find_fault(one)) for one in external.enabled]
    except StartError as error:
        return [make_finding("plug-ins", "fault", str(error))]
    return [
        make_finding(
            "plug-in",
            "fault" if fault else "ok",
            fault or f"{one.name} {one.version}",
            "Update it, or take it out of plugins.enabled.",
        )
        for one, fault in faults
    ]


def _look_at_confinement() -> Finding:
    """Report which kernel features that confine file readers and scripts are missing."""
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
        lacking = f"this kernel lacks {'; '.join(missing)}"
        return make_finding("confinement", "note", lacking, "Use a newer kernel, if you can.")
    return make_finding("confinement", "ok", f"Landlock {found.landlock} and seccomp")


def _look_at_tools(settings: Settings) -> Finding:
    """Start every sandbox, because only a start shows whether commands can run."""
    backend, table = make_backend(settings), settings.tools
    used = list_used(table)
    costs = [
        f"{one.name} costs {describe_cost(apply(table, one), one)}"
        for one in _list_priced(table, used)
    ]
    if backend is None:
        off = 'no commands or files; tools.backend = "local" allows them'
        return make_finding("tools", "ok", "; ".join([off, *costs]))

    async def try_them() -> dict[str, str]:
        try:
            return await backend.list_faults()
        finally:
            await backend.close()

    faults = asyncio.run(try_them())
    if len(faults) == len(backend.names):
        off = f"commands and files are off: {'; '.join(faults.values())}"
        return make_finding("tools", "note", "; ".join([off, *costs]))
    parts = [f"{name} does not work: {reason}" for name, reason in faults.items()]
    parts += [f"commands run {_describe_backend(table.backend, table)}"] if table.backend else []
    parts += [
        f"those of {_name_user(who)} {_describe_backend(name, table)}"
        for who, name in table.backends
    ]
    parts += [
        f"skills of {_list_people(one.people)} may name {_describe_backend(one.name, table)}"
        for one in table.named_backends
        if one.people
    ]
    kinds = {find_backend(table, name).kind for name in used}
    parts += costs
    is_weaker = "unsandboxed" in kinds or ("local" in kinds and find_bubblewrap() is None)
    return make_finding("tools", "note" if faults or is_weaker else "ok", "; ".join(parts))


def _list_priced(table: ToolSettings, used: Iterable[str]) -> list[NamedBackend]:
    """List the backends that may cost something, with those that nobody uses yet."""
    names = dict.fromkeys((*sorted(used), *(one.name for one in table.named_backends)))
    found = [find_backend(table, name) for name in names]
    return [one for one in found if one.name != one.kind or one.kind in ("daytona", "modal")]


def _list_people(names: Iterable[str]) -> str:
    return ", ".join("everyone" if name == "*" else name for name in names)


def _name_user(who: str) -> str:
    kind, colon, name = who.partition(":")
    return f'the {kind} "{name}"' if colon else who


def _describe_backend(name: str, common: ToolSettings) -> str:
    """Describe where commands of a backend run, with its own settings."""
    backend = find_backend(common, name)
    table, kind = apply(common, backend), backend.kind
    named = "" if name == kind else f"{name}: "
    return f"{named}{_describe_place(kind, table)}"


def _describe_place(kind: BackendName, table: ToolSettings) -> str:
    match kind:
        case "unsandboxed":
            return "WITHOUT a sandbox, with all rights and the network of this user"
        case "local" if find_bubblewrap() is None:
            return (
                "confined by Landlock and seccomp, without network; they can still see which files"
                " exist elsewhere, which bubblewrap prevents: install it"
            )
        case "ssh":
            return f"in a sandbox on {table.ssh_host}, without network"
        case "daytona" | "modal":
            has_network = table.daytona_network if kind == "daytona" else table.modal_network
            reach = "with the internet" if has_network else "without network"
            return f"in a sandbox at {kind.capitalize()} for each person, {reach}"
        case "docker":
            network = table.docker_network
            reach = "without network" if network == "none" else f"with the network {network}"
            return f"in a container for each person, {reach}"
    if not table.network_people:
        return "in a sandbox on this machine, without network"
    hosts = ", ".join(table.network_hosts) or "nothing; tools.network_hosts is empty"
    people = _list_people(table.network_people)
    return f"in a sandbox on this machine, with a network for {people} to {hosts}"


def _look_at_mcp(settings: Settings) -> list[Finding]:
    """Return findings about MCP servers; none without any. Their faults never prevent a start."""
    try:
        servers = read_mcp_servers(settings.home, settings.environ)
    except SettingsError as error:
        return [make_finding("mcp", "note", str(error))]
    findings = []
    for server in servers:
        if server.fault:
            findings.append(make_finding("mcp", "note", f"the server {server.name} {server.fault}"))
        elif server.argv and not server.is_sandboxed:
            text = f"the server {server.name} runs without a sandbox, with all rights of this user"
            findings.append(make_finding("mcp", "note", text, _SANDBOX))
        elif server.is_shared:
            text = f"everyone who may use the server {server.name} uses one account"
            findings.append(make_finding("mcp", "note", text, _SHARED))
    if servers and not find_spec("mcp"):
        findings.append(
            make_finding("mcp", "note", "servers need the extra `mcp`", name_installation("mcp"))
        )
    if servers and not findings:
        findings.append(make_finding("mcp", "ok", f"{len(servers)} servers in {MCP_CONFIG}"))
    return findings


def _look_at_agents(settings: Settings) -> list[Finding]:
    """Return findings about named agents and their teams; none without any.

    Their faults never prevent a start.
    """
    try:
        folder = open_agent_folder(settings)
        entries, teams = folder.list_all(), TeamFolder(settings.home, folder).list_all()
    except AgentBroken as error:
        return [make_finding("agents", "note", str(error))]
    except StartError:
        return []  # reported with the plug-ins
    broken = [*(one.fault for one in entries), *(one.fault for one in teams)]
    faults = [make_finding("agents", "note", fault) for fault in broken if fault]
    if entries and not faults:
        joined = f", {len(teams)} teams" if teams else ""
        return [make_finding("agents", "ok", f"{len(entries)} in the home directory{joined}")]
    return faults
