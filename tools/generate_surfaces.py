"""Write docs/surfaces.md: which deed is done where, and why not everywhere.

`python -m tools.generate_surfaces` writes the page; with `--check` it changes nothing and exits
with 1 if the page is out of date. Every command, form, verb, route and tool has to be in the table,
and whatever the table names has to exist: `list_faults` says what does not fit.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent_core.tools.selection.built_in import BUILT_IN
from gateway.commands.catalog import COMMANDS
from gateway.interfaces import subcommands
from gateway.interfaces.parser import Parser

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "surfaces.md"
_API = ROOT / "gateway" / "interfaces" / "api" / "resources"
_ROUTES = ROOT / "gateway" / "interfaces" / "pages" / "routes.py"
_CLIENT_CALLS = ROOT / "gateway" / "turns" / "client_calls.py"
_ROUTE = re.compile(r'@router\.(get|post|patch|put|delete)\(\s*"([^"]+)"')
SURFACES = ("chat", "page", "terminal", "api", "mcp")
REASONS: Mapping[str, str] = {
    "-place": "It is about the chat in which it is said.",
    "-machine": "It decides what runs on the machine, or who may reach it.",
    "-owner": "A token acts for one person, and this is about all of them or about the gateway.",
    "-operator": "The terminal acts for whoever runs the gateway, not for one person.",
    "-propose": "A program proposes changes; the person decides in a chat.",
    "-secret": "Its answer is a secret, which a chat or a model should not keep.",
    "-words": "In a chat you say it in your own words.",
    "-browser": "It is about the browser.",
    "-read": "Reading is enough there.",
    "-rare": "It is rare, and one place is enough.",
    "-named": "A program names its conversation in each request, and may take a new name.",
    "-session": "A copy in a chat is a conversation of that chat: `/resume` leaves it.",
    "-proof": "An account proves itself: in its own chat, or in a browser that is logged in.",
}
"""Why a deed is not done somewhere."""


SHOWS = frozenset(
    f"{word} {verb}"
    for word, verbs in {
        "agents": "list show check export",
        "approvals": "list",
        "config": "list get",
        "jobs": "preview",
        "logins": "list",
        "mcp": "list test",
        "memory": "log",
        "models": "list",
        "people": "list waiting settings export",
        "rooms": "list",
        "skills": "scan check",
        "teams": "list",
        "tokens": "list",
        "tools": "list",
        "webhooks": "list deliveries",
    }.items()
    for verb in verbs.split()
) | {"sessions", "accounts", "whoami", "POST /jobs/new/times", "POST /data/find"}
"""Places that change nothing, in rows of which others do; those with GET never do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What a person or an owner can ask for, and where.

    A cell is a list of places, or a reason. A reason behind places that only read says why no more.
    `only_shows` is true if nothing is different afterwards.
    """

    name: str
    only_shows: bool = False
    chat: str
    page: str
    terminal: str = "-operator"
    api: str
    mcp: str = "-propose"


GROUPS: Mapping[str, Sequence[Deed]] = {
    "Talk": (
        Deed(
            name="Write, and read the answer",
            chat="ask",
            page="chat, POST /conversations/messages",
            terminal="chat",
            api="POST /messages",
            mcp="-rare",
        ),
        Deed(
            name="Begin a new conversation, return to one, name one",
            chat="new, sessions, resume, title",
            page="POST /new, GET /conversations, GET /chats/{session:int},"
            " POST /chats/{session:int}/go-on, POST /chats/{session:int}/title, GET /talks",
            terminal="chat",
            api="GET /conversations, -named",
            mcp="-place",
        ),
        Deed(
            name="Try something in a copy of a conversation",
            chat="branch",
            page="POST /messages/{message:int}/fork",
            api="POST /conversations/{conversation}/fork",
            mcp="-place",
        ),
        Deed(
            name="Remove such a copy, and bring it back",
            chat="-session",
            page="POST /conversations/{conversation:int}/remove,"
            " POST /conversations/{conversation:int}/restore",
            api="DELETE /conversations/{conversation}, POST /conversations/{conversation}/restore",
            mcp="-place",
        ),
        Deed(
            name="Stop an answer",
            chat="stop",
            page="chat",
            terminal="chat",
            api="-place",
            mcp="-place",
        ),
        Deed(
            name="Steer, hold back, repeat or move an answer",
            chat="here, steer, btw, queue, retry",
            page="chat",
            terminal="chat",
            api="-place",
            mcp="-place",
        ),
        Deed(
            name="Say whether an answer by a skill was good",
            chat="reaction",
            page="chat",
            terminal="chat",
            api="PUT /turns/{turn}/verdict",
        ),
        Deed(
            name="Search everything that was said",
            only_shows=True,
            chat="ask:recall",
            page="GET /search",
            api="GET /recall",
            mcp="recall",
        ),
        Deed(
            name="Answer a question",
            chat="button",
            page="GET /today, POST /questions/{question:int}/answer",
            api="POST /questions/{question}/answer",
        ),
        Deed(
            name="Look at a turn, its steps and its prompt",
            only_shows=True,
            chat="context, status",
            page="GET /turns, GET /turns/{turn:int}, GET /turns/{turn:int}/replay",
            terminal="turns list, turns show, turns replay, turns export, turns undelivered",
            api="GET /turns/{turn}, GET /turns/{turn}/requests",
            mcp="-read",
        ),
        Deed(
            name="Look at files of your workspace, add and fetch them",
            chat="-words",
            page="GET /workspace, POST /workspace/add",
            api="GET /files, GET /files/content, POST /files",
            mcp="-rare",
        ),
        Deed(
            name="Send a message to another chat",
            chat="ask:send_message",
            page="-words",
            api="-words",
            mcp="send_message",
        ),
        Deed(
            name="Shorten a long conversation",
            chat="compact",
            page="chat",
            terminal="chat",
            api="-place",
            mcp="-place",
        ),
    ),
    "Reminders and jobs": (
        Deed(
            name="Create a reminder or a job",
            chat="ask:remind, ask:schedule_job",
            page="GET /jobs/new, POST /jobs/new, POST /jobs/new/times",
            terminal="jobs add",
            api="POST /jobs",
            mcp="remind, schedule_job",
        ),
        Deed(
            name="List them, look at their runs",
            only_shows=True,
            chat="reminders",
            page="GET /jobs, GET /jobs/calendar, GET /jobs/{job:int}",
            terminal="jobs list, jobs show, jobs preview",
            api="GET /jobs, GET /jobs/{job}, GET /jobs/{job}/runs",
            mcp="manage_jobs",
        ),
        Deed(
            name="Pause, resume, run, delete",
            chat="reminders",
            page="POST /jobs/{job:int}/{verb}",
            terminal="jobs pause, jobs resume, jobs run, jobs delete",
            api="POST /jobs/{job}/{verb}, DELETE /jobs/{job}",
            mcp="manage_jobs",
        ),
        Deed(
            name="Start a chore of Talaria from the list of them",
            chat="-rare",
            page="POST /condition/chores/{chore:int}/run",
            terminal="-rare",
            api="-owner",
        ),
        Deed(
            name="Restore a deleted one, undo a change",
            chat="reminders",
            page="POST /jobs/{job:int}/{verb}, POST /jobs/{job:int}/undo",
            terminal="jobs restore, jobs undo",
            api="POST /jobs/{job}/{verb}",
        ),
        Deed(
            name="Change one",
            chat="ask:manage_jobs, model",
            page="POST /jobs/{job:int}/change, POST /jobs/{job:int}/urgent",
            terminal="jobs change",
            api="PATCH /jobs/{job}",
            mcp="manage_jobs",
        ),
        Deed(
            name="Get a new web address for one",
            chat="reminders",
            page="-secret",
            terminal="jobs webhook",
            api="-secret",
            mcp="-secret",
        ),
        Deed(
            name="Choose where reminders go",
            chat="sethome",
            page="POST /settings",
            terminal="people set",
            api="PATCH /settings",
            mcp="-place",
        ),
    ),
    "Memory": (
        Deed(
            name="See what is remembered, and why",
            only_shows=True,
            chat="memory, why, profile",
            page="GET /memory",
            terminal="memory show",
            api="GET /memory, GET /archive, GET /archive/{entry}",
            mcp="read_memory, archive",
        ),
        Deed(
            name="Remember, change or remove something",
            chat="ask:memory, memory, profile",
            page="POST /memory/entries",
            api="POST /memory/entries, PATCH /memory/entries/{entry},"
            " DELETE /memory/entries/{entry}",
            mcp="memory",
        ),
        Deed(
            name="Keep a longer note in the archive",
            chat="ask:archive",
            page="-words",
            api="GET /archive, -words",
            mcp="archive",
        ),
        Deed(
            name="See changes, and undo them by their number",
            chat="undo",
            page="POST /memory/{change:int}/undo",
            terminal="memory log, memory undo",
            api="GET /memory/ledger, POST /memory/ledger/{change}/undo",
        ),
        Deed(
            name="Take back what was done, of any kind",
            chat="undo",
            page="POST /deeds/{deed:int}/{verb}",
            api="-place",
        ),
        Deed(
            name="Restore all memory to a moment",
            chat="-rare",
            page="-rare",
            terminal="memory restore",
            api="-rare",
        ),
        Deed(
            name="Learn from the newest messages now",
            chat="learn",
            page="chat",
            terminal="chat",
            api="-place",
        ),
        Deed(
            name="Decide about notes that wait",
            chat="learned, memory",
            page="POST /memory/held/{review:int}/{claim:int}/{choice},"
            " POST /memory/questions/{question:int}/answer",
            api="POST /questions/{question}/answer",
        ),
        Deed(
            name="Bring back a note that was dismissed",
            chat="learned",
            page="POST /memory/dismissed/{question:int}/restore",
            api="GET /questions/dismissed, POST /questions/{question}/restore",
        ),
        Deed(
            name="Tidy up now",
            chat="curator",
            page="POST /memory/tidy",
            terminal="skills curate",
            api="POST /curator/run",
        ),
        Deed(
            name="Decide about suggestions and contradictions",
            chat="curator",
            page="POST /memory/proposals/{proposal}/{choice}",
            api="GET /curator, POST /curator/proposals/{key}/{choice}",
        ),
        Deed(
            name="Share an entry with everyone, or make it private",
            chat="share",
            page="POST /memory/entries/{change:int}/share",
            api="PUT /memory/entries/{entry}/audience",
        ),
        Deed(
            name="See memory blocks, make them, and share them with people and groups",
            chat="block",
            page="GET /blocks, POST /blocks/new, POST /blocks/{block}/change,"
            " POST /blocks/{block}/share, POST /blocks/{block}/unshare, POST /blocks/{block}/drop",
            api="GET /blocks, POST /blocks, PATCH /blocks/{name}, DELETE /blocks/{name},"
            " PUT /blocks/{name}/readers/{reader}, DELETE /blocks/{name}/readers/{reader}",
        ),
    ),
    "Skills, tools and models": (
        Deed(
            name="List skills, use one",
            only_shows=True,
            chat="skills",
            page="GET /skills, GET /skills/{skill}",
            terminal="skills list, skills show, skills versions, skills log",
            api="GET /skills, GET /skills/{name}",
            mcp="-read",
        ),
        Deed(
            name="Write a skill",
            chat="ask:skill_manage",
            page="GET /skills/new, POST /skills/new",
            terminal="skills install, skills scan",
            api="-owner",
        ),
        Deed(
            name="Change a skill",
            chat="ask:skill_manage",
            page="GET /skills/{skill}/edit, POST /skills/{skill}/edit",
            terminal="-rare",
            api="-owner",
        ),
        Deed(
            name="Archive and restore a skill",
            chat="ask:skill_manage",
            page="POST /skills/{skill}/{verb}",
            terminal="skills archive, skills restore",
            api="-owner",
        ),
        Deed(
            name="Undo a change of a skill",
            chat="undo",
            page="POST /skills/{skill}/{verb}",
            terminal="skills undo",
            api="-owner",
        ),
        Deed(
            name="Pin a skill, return to an older version",
            chat="-rare",
            page="POST /skills/{skill}/{verb}",
            terminal="skills pin, skills unpin, skills rollback",
            api="-owner",
        ),
        Deed(
            name="Test a skill",
            chat="skills",
            page="GET /skills/{skill}, -rare",
            terminal="skills eval, skills check",
            api="-owner",
        ),
        Deed(
            name="Approve the test cases that Talaria wrote for a skill",
            chat="skills",
            page="-rare",
            terminal="-rare",
            api="-owner",
        ),
        Deed(
            name="Let the scripts of a skill run as they are now",
            chat="-machine",
            page="-machine",
            terminal="skills agree",
            api="-owner",
        ),
        Deed(
            name="Switch tools on and off",
            chat="tools",
            page="GET /tools, POST /tools/switch",
            terminal="tools list, tools enable, tools disable",
            api="-owner",
        ),
        Deed(
            name="Choose a named agent",
            chat="agents",
            page="GET /agents, GET /agents/{agent}, POST /agents/{agent}/{verb}",
            terminal="agents list, agents show, agents check, -operator",
            api="GET /agents, GET /agents/{name}, -place",
        ),
        Deed(
            name="Make, change, archive and restore agents",
            chat="agents",
            page="POST /agents/new, POST /agents/{agent}/edit, POST /agents/{agent}/{verb}",
            terminal="agents add, agents change, agents archive, agents restore",
            api="POST /agents, PATCH /agents/{name}, POST /agents/{name}/{verb}",
        ),
        Deed(
            name="Bring an agent in from an agent file, and write one",
            chat="-rare",
            page="-rare",
            terminal="agents import, agents export",
            api="POST /agents/import, GET /agents/{name}/file",
        ),
        Deed(
            name="Give a team a task",
            chat="team",
            page="POST /teams/{team}/task",
            terminal="chat",
            api="-words",
        ),
        Deed(
            name="Make and change teams of agents",
            chat="team",
            page=(
                "POST /teams/new, POST /teams/{team}/edit, POST /teams/{team}/{verb},"
                " POST /agents/{agent}/move"
            ),
            terminal=(
                "teams list, teams add, teams change, teams move, teams archive, teams restore"
            ),
            api=(
                "GET /teams, GET /teams/{name}, POST /teams, PATCH /teams/{name},"
                " POST /teams/{name}/{verb}, POST /agents/{name}/move"
            ),
        ),
        Deed(
            name="Choose the model",
            chat="model",
            page="POST /settings",
            terminal="people set",
            api="PATCH /settings",
        ),
        Deed(
            name="Try, trust and forget models",
            chat="-machine",
            page="-machine",
            terminal="models list, models test, models trust, models forget, models update,"
            " models local list, models local pull, models local use",
            api="-owner",
        ),
        Deed(
            name="Revoke what may be done without asking",
            chat="approvals",
            page="GET /approvals, POST /approvals/{approval:int}/revoke",
            terminal="approvals list, approvals revoke",
            api="GET /approvals, DELETE /approvals/{approval}",
        ),
        Deed(
            name="Connect your account at an MCP server, end it",
            chat="connections",
            page="GET /connections, POST /connections/finish,"
            " POST /connections/{server}/connect, POST /connections/{server}/end",
            api="-proof",
        ),
        Deed(
            name="Accept the tools of an MCP server",
            chat="mcp",
            page="GET /connections, POST /connections/{server}/accept,"
            " POST /connections/{server}/retry",
            terminal="mcp list, mcp test, mcp accept",
            api="-owner",
        ),
        Deed(
            name="Add and remove MCP servers",
            chat="-machine",
            page="-machine",
            terminal="mcp add, mcp remove",
            api="-owner",
        ),
    ),
    "You": (
        Deed(
            name="Change settings",
            chat="settings, verbose, ask:settings",
            page="GET /settings, POST /settings",
            terminal="people settings, people set",
            api="GET /settings, PATCH /settings",
        ),
        Deed(
            name="Link an account",
            chat="link",
            page="-proof",
            api="-proof",
            mcp="-place",
        ),
        Deed(
            name="See your accounts, unlink one",
            chat="accounts, unlink, whoami",
            page="GET /accounts, GET /accounts/{account:int}/unlink,"
            " POST /accounts/{account:int}/unlink",
            api="GET /me, -proof",
            mcp="-place",
        ),
        Deed(
            name="See usage and cost",
            only_shows=True,
            chat="usage, status",
            page="GET /usage, GET /people/usage",
            terminal="top, status",
            api="GET /usage",
            mcp="-read",
        ),
        Deed(
            name="Open the page",
            chat="console",
            page="-browser",
            terminal="console",
            api="-browser",
            mcp="-browser",
        ),
        Deed(
            name="End all logins of the page",
            chat="-machine",
            page="-browser",
            terminal="logins list, logins end",
            api="-browser",
            mcp="-browser",
        ),
        Deed(
            name="Send events to a program (webhooks)",
            chat="-secret",
            page="GET /webhooks, POST /webhooks/add, POST /webhooks/{webhook:int}/change,"
            " POST /webhooks/{webhook:int}/rotate, POST /webhooks/{webhook:int}/{verb},"
            " POST /webhooks/{webhook:int}/deliveries/{delivery:int}/redeliver",
            terminal="webhooks list, webhooks add, webhooks test, webhooks pause, webhooks resume,"
            " webhooks rotate, webhooks remove, webhooks restore, webhooks change,"
            " webhooks deliveries, webhooks redeliver",
            api="POST /webhooks, PATCH /webhooks/{webhook}, DELETE /webhooks/{webhook},"
            " POST /webhooks/{webhook}/test, POST /webhooks/{webhook}/{verb},"
            " POST /webhooks/{webhook}/rotate,"
            " POST /webhooks/{webhook}/deliveries/{delivery}/redeliver",
        ),
        Deed(
            name="Export your data",
            only_shows=True,
            chat="export",
            page="GET /data",
            terminal="people export",
            api="GET /export",
        ),
        Deed(
            name="Forget what holds some words",
            chat="forget",
            page="POST /data/find, POST /data/forget",
            terminal="people forget",
            api="POST /forget",
        ),
        Deed(
            name="Erase all your data",
            chat="erase",
            page="POST /data/erase",
            terminal="people erase",
            api="-proof",
        ),
        Deed(
            name="Bring an assistant from another Talaria",
            chat="-machine",
            page="-machine",
            terminal="people import",
            api="-machine",
        ),
        Deed(
            name="Choose how a group is answered",
            chat="room",
            page="GET /people/rooms/{room:int}, POST /people/rooms/{room:int}",
            terminal="rooms list, rooms set, rooms name",
            api="GET /rooms, PATCH /rooms/{room}",
            mcp="-place",
        ),
        Deed(
            name="Ask somebody to let you read what they say",
            chat="-browser",
            page="POST /people/{person:int}/ask,"
            " GET /people/{person:int}, GET /people/{person:int}/{conversation:int}",
            api="-browser",
        ),
        Deed(
            name="Let an owner read, and end it",
            chat="button, console",
            page="POST /questions/{question:int}/answer, POST /reading/end",
            api="-proof",
        ),
    ),
    "Owners": (
        Deed(
            name="Invite someone",
            chat="invite",
            page="POST /people/invite",
            terminal="people invite",
            api="-owner",
        ),
        Deed(
            name="Become the owner with a code",
            chat="-machine",
            page="-machine",
            terminal="people claim",
            api="-machine",
        ),
        Deed(
            name="Let in who waits",
            chat="approve",
            page="POST /people/approve, POST /people/waiting/{code:int}/approve",
            terminal="people approve, people waiting",
            api="-owner",
        ),
        Deed(
            name="Refuse who waits, take an invitation back",
            chat="-rare",
            page="POST /people/waiting/{code:int}/cancel",
            terminal="people cancel",
            api="-owner",
        ),
        Deed(
            name="List and remove people",
            chat="-machine",
            page="GET /people, GET /people/{person:int}/remove, POST /people/{person:int}/remove",
            terminal="people list, people erase",
            api="GET /people, -owner",
        ),
        Deed(
            name="Change the configuration",
            chat="-machine",
            page="GET /configuration, GET /configuration/{name}, POST /configuration/{name}",
            terminal="config list, config get, config set, config unset",
            api="-machine",
        ),
        Deed(
            name="Connect a model",
            chat="-machine",
            page="GET /model, POST /model",
            terminal="setup",
            api="-machine",
        ),
        Deed(
            name="See whether all is well",
            only_shows=True,
            chat="status",
            page="GET /condition",
            terminal="check, doctor, logs, status, top",
            api="-owner",
            mcp="-read",
        ),
        Deed(
            name="Make and revoke tokens",
            chat="-secret",
            page="GET /tokens, POST /tokens/new, POST /tokens/{token:int}/revoke",
            terminal="tokens create, tokens list, tokens revoke",
            api="-owner",
        ),
        Deed(
            name="Back up, restore, import, upgrade, uninstall",
            chat="-machine",
            page="-machine",
            terminal="backup, restore, import, upgrade, uninstall",
            api="-machine",
        ),
        Deed(
            name="Run a file of tasks, write training data",
            chat="-machine",
            page="-machine",
            terminal="batch run, batch report, batch export",
            api="-machine",
        ),
        Deed(
            name="Run the gateway, look at its parts",
            chat="-machine",
            page="-machine",
            terminal="run, stop, service install, service status, service logs, service remove,"
            " mcp serve, secrets list, plugins list, version, completion, help",
            api="-machine",
        ),
        Deed(
            name="Ask what can be asked",
            only_shows=True,
            chat="help",
            page="GET /skills",
            terminal="help",
            api="-read",
            mcp="-read",
        ),
    ),
}
"""The deeds by what they are about."""


def render() -> str:
    """Return the page."""
    reasons = list(REASONS)
    lines = [
        "# What is done where",
        "",
        "<!-- Generated by tools/generate_surfaces.py, which knows what each surface has. -->",
        "",
        "Chats, the console page, the terminal, the API and MCP share the deeds.",
        "This table says where you can ask for one. A number stands for the reason why not.",
        "“(reads)” means that you can look there; the number says why no more.",
    ]
    for group, deeds in GROUPS.items():
        lines += ["", f"## {group}", "", "| Deed | Chat | Page | Terminal | API | MCP |"]
        lines += ["|---|---|---|---|---|---|"]
        for deed in deeds:
            cells = [_show(one, getattr(deed, one), reasons) for one in SURFACES]
            lines.append(f"| {deed.name} | {' | '.join(cells)} |")
    lines += ["", "## Why not", ""]
    lines += [f"{place}. {REASONS[name]}" for place, name in enumerate(reasons, start=1)]
    return "\n".join([*lines, ""])


def _show(surface: str, cell: str, reasons: Sequence[str]) -> str:
    if cell in REASONS:
        return f"({reasons.index(cell) + 1})"
    places = _list_places(cell)
    if why := [one for one in places if one in REASONS]:
        reads = _show(surface, ", ".join(one for one in places if one not in REASONS), reasons)
        return f"{reads} (reads; {reasons.index(why[0]) + 1})"
    if surface == "page":
        return "yes"
    if surface == "terminal":
        words = dict.fromkeys(one.split(" ")[0] for one in places)
        return ", ".join(f"`talaria {one}`" for one in words)
    if surface == "chat":
        words = {one: f"`/{one}`" for one in places} | {one: one for one in ("button", "reaction")}
        shown = ["ask" if one.startswith("ask") else words[one] for one in places]
        return ", ".join(dict.fromkeys(shown))
    if surface == "api":
        paths = dict.fromkeys(f"/{one.partition(' /')[2].split('/')[0]}" for one in places)
        return ", ".join(f"`{one}`" for one in paths)
    return ", ".join(f"`{one}`" for one in places)


def list_changing(deed: Deed) -> Mapping[str, Sequence[str]]:
    """List the places of a deed that change something, by the surfaces that have one."""
    if deed.only_shows:
        return {}
    cells = {one: _list_places(getattr(deed, one)) for one in SURFACES}
    return {
        surface: places
        for surface, cell in cells.items()
        if not REASONS.keys() & set(cell)
        and (places := [one for one in cell if one not in SHOWS and not one.startswith("GET ")])
    }


def _list_places(cell: str) -> list[str]:
    return [one.strip() for one in cell.split(",")]


def _only_reads(cell: str) -> bool:
    return all(one.startswith("GET ") for one in _list_places(cell))


def list_faults(groups: Mapping[str, Sequence[Deed]] = GROUPS) -> Iterator[str]:
    """Say which cells name nothing, and what no cell names."""
    known = {surface: find() for surface, find in _KNOWN.items()}
    named: dict[str, set[str]] = {surface: set() for surface in SURFACES}
    for deeds in groups.values():
        for deed in deeds:
            for surface in SURFACES:
                cell = getattr(deed, surface)
                named[surface] |= {one for one in _list_places(cell) if one not in REASONS}
            if _only_reads(deed.api) and not _only_reads(deed.page):
                yield f"api: “{deed.name}” only reads, without a reason"
    for surface in SURFACES:
        yield from (f"{surface}: no {one}" for one in sorted(named[surface] - known[surface]))
        needed = {one for one in known[surface] if not one.startswith(("GET ", "ask"))}
        yield from (f"{surface}: {one} is in no row" for one in sorted(needed - named[surface]))


def _find_commands() -> set[str]:
    known = {spec.name for spec in COMMANDS} | {f"ask:{name}" for name in BUILT_IN}
    return known | {"ask", "button", "reaction"}


def _find_pages() -> set[str]:
    """Find the addresses of pages and forms in the source; a page names its template.

    The chat of the page has the commands.
    """
    found = {"GET /", "chat"}
    for node in ast.walk(ast.parse(_ROUTES.read_text())):
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant) or not str(key.value).startswith("/"):
                continue
            first = value.elts[0] if isinstance(value, ast.Tuple) else None
            is_page = isinstance(first, ast.Constant) and str(first.value).endswith(".html")
            found.add(f"{'GET' if is_page else 'POST'} {key.value!s}")
    return found


def _find_verbs() -> set[str]:
    """Find the commands of the terminal that do something."""

    def walk(parser: Parser) -> Iterator[str]:
        verbs = parser.list_verbs()
        for verb in verbs.values():
            yield from walk(verb)
        if not verbs:
            yield parser.prog.removeprefix("talaria ")

    return {one for word in subcommands.SUBCOMMANDS for one in walk(subcommands.make_parser(word))}


def _find_api() -> set[str]:
    sources = [path.read_text() for path in sorted(_API.glob("*.py"))]
    routes: list[tuple[str, str]] = [one for text in sources for one in _ROUTE.findall(text)]
    return {f"{verb.upper()} {path}" for verb, path in routes}


def _find_mcp() -> set[str]:
    """Find the tools that clients get in the source."""
    text = _CLIENT_CALLS.read_text()
    offered = re.search(r"_OFFERED = \((.*?)\)", text, re.DOTALL)
    jobs = re.search(r'_JOBS = "(\w+)"', text)
    assert offered is not None
    assert jobs is not None
    return {*re.findall(r'"(\w+)"', offered[1]), jobs[1], "read_memory"}


_KNOWN = {
    "chat": _find_commands,
    "page": _find_pages,
    "terminal": _find_verbs,
    "api": _find_api,
    "mcp": _find_mcp,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the page, and return the exit code."""
    parser = argparse.ArgumentParser(description="Write docs/surfaces.md.")
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    page, faults = render(), list(list_faults())
    if not parser.parse_args(arguments).check:
        PAGE.write_text(page)
    elif not PAGE.exists() or PAGE.read_text() != page:
        faults.append(f"{PAGE} is out of date; run python -m tools.generate_surfaces")
    print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
