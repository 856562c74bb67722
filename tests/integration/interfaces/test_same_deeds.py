"""Deeds of the table in docs/surfaces.md, done on each surface that it claims: the state is equal.

A row stands by its name in the table, and does its deed on all surfaces that the table claims.
"""

import asyncio
import html
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent_core.ids import JobId, RoomId
from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.state.conversations import approvals
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.jobs import jobs
from agent_core.state.memory import blocks, shares
from agent_core.state.people import api_tokens, codes, people, rooms
from agent_core.state.webhooks import webhooks
from gateway.operations.tools import read_off
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, call, say
from tests.fakes.model import ask as ask_for
from tests.integration.interfaces.api_setup import OLGA, Setup, find_named, make_token
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.processes import talaria_beside
from tests.integration.served import served
from tests.patience import PATIENCE
from tests.tables import await_each
from tools.generate_surfaces import GROUPS, REASONS, SURFACES

pytest.importorskip("mcp")

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

Do = Callable[["Surfaces", str], Awaitable[Any]]


class Doer(FakeModel):
    """Plays its script; titles, for which there are no tools, are none of it."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if not request.tools:
            self.plays.insert(0, say("A talk"))
        async for piece in super().stream(request):
            yield piece


@dataclass(frozen=True, kw_only=True)
class Surfaces:
    """The surfaces of one gateway, for Olga, who is an owner."""

    setup: Setup
    page: aiohttp.ClientSession
    token: str
    mcp_token: str

    async def chat(self, words: str, **fields: object) -> None:
        """Send a command in the direct chat, and wait for its answer."""
        chat = self.setup.chat
        seen = len(chat.shown)
        given = {"user": OLGA, "chat": OLGA, "name": "X", "id": f"deed-{seen}-{words}"} | fields
        await chat.says(words, **given)
        await chat.until(lambda: len(chat.shown) > seen)

    async def tell(self, tool: str, **arguments: object) -> None:
        """Say something in the direct chat for which the model calls this tool."""
        self.setup.model.plays = [ask_for(call(tool, json.dumps(arguments))), say("Done.")]
        await self.chat(f"Please {' '.join(str(one) for one in arguments.values())}")

    async def propose(self, tool: str, **arguments: object) -> None:
        """Call a tool over MCP, and accept in the chat what it proposes."""
        chat = self.setup.chat
        seen = len(chat.shown)
        headers = {"Authorization": f"Bearer {self.mcp_token}"}
        url = str((self.setup.served.address / "mcp").with_query(None))
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            done = await client.call_tool(tool, arguments)
            assert not done.is_error, done.content
        await chat.until(lambda: any("Accept" in one.labels for one in chat.shown[seen:]))
        await chat.press("Accept", user=OLGA, chat=OLGA, name="X")

    async def post(self, path: str, **fields: str) -> str:
        """Send a form of the page; its text."""
        async with self.page.post(path, data=fields) as answer:
            text = html.unescape(await answer.text())
            assert answer.status == 200, text
            return text

    async def post_all(self, path: str, form: list[tuple[str, str]]) -> None:
        """Send a form of the page with fields of the same name."""
        async with self.page.post(path, data=form) as answer:
            assert answer.status == 200, html.unescape(await answer.text())

    async def run(self, *words: str, given: str = "") -> None:
        """Run `talaria` beside the gateway."""
        done = await talaria_beside(self.setup.home, *words, given=given)
        assert done.code == 0, done.err

    async def ask(self, verb: str, path: str, body: Mapping[str, object] | None = None) -> Any:
        """Ask the API; its answer."""
        url = f"{self.setup.served.address.origin()}/api{path}"
        head = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        async with (
            aiohttp.ClientSession(headers=head) as session,
            session.request(verb, url, data=json.dumps(body or {})) as answer,
        ):
            text = await answer.text()
            assert answer.status < 300, text
            return json.loads(text or "null")

    async def read(self, look: Callable[..., Any], **given: Any) -> Any:
        """Read the database."""
        return await self.setup.served.gateway.database.read(look, **given)

    async def write(self, work: Callable[..., Any]) -> Any:
        """Write into the database."""
        return await self.setup.served.gateway.database.write("test", work)

    async def until_equal(self, row: "Row", what: str, surface: str) -> None:
        """Wait until a deed has left what the row says. Raises `AssertionError`."""
        found = None
        try:
            async with asyncio.timeout(PATIENCE):
                while (found := await row.look(self, what)) != row.left:
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"{surface}: {row.deed}: {found} is not {row.left}") from None

    async def olga(self) -> people.Person:
        return await find_named(self.setup, "olga")


async def keep(_: Surfaces, name: str) -> str:
    return name


@dataclass(frozen=True, kw_only=True)
class Row:
    """A deed of the table on each surface.

    `ready` makes what it is done to, and returns how that is named; `look` reads what was `left`.
    """

    deed: str
    by: Mapping[str, Do]
    look: Do
    left: object
    ready: Do = keep


async def look_at_block(here: Surfaces, name: str) -> Any:
    found = await here.read(blocks.find, label=name)
    return found and (found.description, found.limit)


async def look_at_zone(here: Surfaces, _: str) -> Any:
    olga = await here.olga()
    return (await here.read(people.find, person_id=olga.id)).time_zone


async def look_at_invitation(here: Surfaces, name: str) -> Any:
    now = here.setup.served.gateway.now()
    found = await here.read(codes.list_open, purpose="invite", now=now)
    return [one.purpose for one in found if one.display_name == name]


async def look_at_token(here: Surfaces, name: str) -> Any:
    olga = await here.olga()
    found = await here.read(api_tokens.list_of, person_id=olga.id)
    return [one.scope for one in found if one.name == name]


async def look_at_tools(here: Surfaces, _: str) -> Any:
    olga = await here.olga()
    return await here.read(read_off, holder=olga.id)


async def look_at_audience(here: Surfaces, name: str) -> Any:
    olga = await here.olga()
    found = await here.read(shares.list_of, person_id=olga.id)
    return [one.audience for one in found if one.entry == name]


async def look_at_job(here: Surfaces, number: str) -> Any:
    job = await here.read(jobs.find, job_id=JobId(int(number)))
    return job.state, job.body


async def look_at_new_job(here: Surfaces, name: str) -> Any:
    found = await here.read(jobs.list_of_person, person_id=(await here.olga()).id)
    return [(one.kind, one.state, one.timing) for one in found if one.body == name]


async def look_at_entries(here: Surfaces, name: str) -> Any:
    found = await here.ask("GET", "/memory")
    return [one for one in ("user", "memory") if name in found[one]]


async def look_at_agents(here: Surfaces, name: str) -> Any:
    found = await here.ask("GET", "/agents")
    return [
        {key: one[key] for key in ("fault", "disabled", "tools", "skills")}
        for one in found["agents"]
        if one["name"] == name
    ] or (name in found["archived"] and "archived")


async def look_at_team(here: Surfaces, name: str) -> Any:
    found = await here.ask("GET", "/teams")
    return [(one["manager"], len(one["members"])) for one in found["teams"] if one["name"] == name]


async def look_at_room(here: Surfaces, number: str) -> Any:
    room = await here.read(rooms.find_by_id, room_id=RoomId(int(number)))
    return room.mode, room.name


async def look_at_webhook(here: Surfaces, number: str) -> Any:
    given = {"person_id": (await here.olga()).id}
    found = await here.read(webhooks.list_of, **given)
    removed = await here.read(webhooks.list_removed, **given)
    return [one.state for one in found if str(one.id) == number] or (
        number in [str(one.id) for one in removed] and "removed"
    )


async def look_at_new_webhook(here: Surfaces, name: str) -> Any:
    found = await here.read(webhooks.list_of, person_id=(await here.olga()).id)
    return [(one.state, one.kinds) for one in found if one.name == name]


async def look_at_approval(here: Surfaces, number: str) -> Any:
    found = await here.read(approvals.list_of, person_id=(await here.olga()).id)
    return [one.id for one in found if str(one.id) == number]


async def look_at_guest(here: Surfaces, name: str) -> Any:
    found = await here.read(people.find_by_account, platform="fake", user_id=name.split()[-1])
    return found and found.role


async def look_at_skill(here: Surfaces, name: str) -> Any:
    return "Sort" in (here.setup.home / "skills" / name / "SKILL.md").read_text()


async def switch_recall_on(here: Surfaces, name: str) -> str:
    await here.post("/tools/switch", tool="recall", on="yes")
    return name


async def forget_zone(here: Surfaces, name: str) -> str:
    await here.ask("PATCH", "/settings", {"time_zone": ""})
    return name


async def make_job(here: Surfaces, name: str) -> str:
    body = {"kind": "message", "text": "Water it", "when": "tomorrow at 9:00"}
    return str((await here.ask("POST", "/jobs", body))["id"])


async def make_deleted_job(here: Surfaces, name: str) -> str:
    number = await make_job(here, name)
    await here.ask("DELETE", f"/jobs/{number}")
    return number


async def make_changed_job(here: Surfaces, name: str) -> str:
    number = await make_job(here, name)
    await here.ask("PATCH", f"/jobs/{number}", {"text": "Cut it"})
    return number


async def make_paused_job(here: Surfaces, name: str) -> str:
    number = await make_job(here, name)
    await here.ask("POST", f"/jobs/{number}/pause")
    return number


async def remember(here: Surfaces, name: str) -> str:
    """Remember something, and return the number of the entry."""
    made = await here.ask("POST", "/memory/entries", {"text": name})
    return str(made["id"])


async def remember_and_name(here: Surfaces, name: str) -> str:
    """Remember something; its number and its words."""
    return f"{await remember(here, name)} {name}"


async def make_agent(here: Surfaces, name: str) -> str:
    await here.ask("POST", "/agents", {"name": name, "soul": "Writes."})
    return name


async def make_archived_agent(here: Surfaces, name: str) -> str:
    await make_agent(here, name)
    await here.ask("POST", f"/agents/{name}/archive")
    return name


async def make_members(here: Surfaces, name: str) -> str:
    for one in ("a", "b"):
        await make_agent(here, f"{name}{one}")
    return name


async def write_team(here: Surfaces, name: str) -> None:
    members = [f"{name}a", f"{name}b"]
    body = {"name": name, "manager": "round_robin", "members": members}
    await here.ask("POST", "/teams", body)


async def make_team(here: Surfaces, name: str) -> str:
    await make_members(here, name)
    await write_team(here, name)
    return name


async def make_archived_team(here: Surfaces, name: str) -> str:
    await make_team(here, name)
    await here.ask("POST", f"/teams/{name}/archive")
    return name


async def make_agent_on_page(here: Surfaces, name: str) -> None:
    """Send the form with the ticks that it comes with."""
    async with here.page.get("/agents/new") as answer:
        ticks = re.findall(r'name="tool" value="([^"]+)"', await answer.text())
    form = [("name", name), ("soul", "Writes."), *(("tool", one) for one in ticks)]
    await here.post_all("/agents/new", form)


async def make_team_on_page(here: Surfaces, name: str) -> None:
    form = [("name", name), ("manager", "round_robin"), ("rounds", "1"), ("steps", "5")]
    form += [("dollars", "0")]
    await here.post_all("/teams/new", [*form, ("member", f"{name}a"), ("member", f"{name}b")])


async def make_room(here: Surfaces, name: str) -> str:
    made = await here.write(
        lambda c: rooms.insert(c, platform="fake", chat_id=name, title=name, slug=name, now=1)
    )
    return str(made.id)


async def say_in_room(here: Surfaces, number: str, words: str) -> None:
    room = await here.read(rooms.find_by_id, room_id=RoomId(int(number)))
    await here.chat(words, chat=room.chat_id, direct=False, addressed=True)


async def make_webhook(here: Surfaces, name: str) -> str:
    body = {"name": name, "url": "https://localhost/x", "kinds": ["turn.ended"]}
    return str((await here.ask("POST", "/webhooks", body))["id"])


async def allow(here: Surfaces, name: str) -> str:
    olga, shape = await here.olga(), json.dumps(["terminal", "run", "workspace", "git", name])
    new = NewApproval(person_id=olga.id, decided_by=olga.id, scope="always", subject=shape)
    await here.write(lambda c: approvals.insert(c, new, now=0))
    found = await here.read(approvals.list_of, person_id=olga.id)
    return str(next(one.id for one in found if one.shape == shape))


async def knock(here: Surfaces, name: str) -> str:
    """Let a stranger write; the code that they get, and who they are."""
    await here.chat("hello", user=name, chat=name)
    shown = next(one for one in reversed(here.setup.chat.shown) if one.chat_id == name)
    found = re.search(r"/approve ([\w-]+)", shown.text)
    assert found, shown.text
    return f"{found[1]} {name}"


async def admit(here: Surfaces, name: str) -> str:
    """Let somebody in; the number and the slug."""
    code, _, _ = (await knock(here, name)).partition(" ")
    await here.run("people", "approve", code)
    found = await here.read(people.find_by_account, platform="fake", user_id=name)
    return f"{found.id} {found.slug} {name}"


async def change_in_chat(here: Surfaces, job: str) -> None:
    """Ask for the change, and answer that what is shown is right."""
    await here.tell("manage_jobs", action="change", job=int(job), text="Cut it")
    chat = here.setup.chat
    await chat.press(chat.shown[-1].labels[0], user=OLGA, chat=OLGA, name="X")


async def press_undo(here: Surfaces, job: str) -> None:
    """Press the button of the page, which names the version."""
    async with here.page.get(f"/jobs/{job}") as answer:
        form = (await answer.text()).partition(f'action="/jobs/{job}/undo"')[2]
    found = re.search(r'name="version" value="(\d+)"', form.partition("</form>")[0])
    assert found, form
    await here.post(f"/jobs/{job}/undo", version=found[1])


def on_job(verb: str, tool: str, ready: Do, left: object) -> Row:
    """Do something to a reminder that is there."""
    api = {"delete": ("DELETE", "")}.get(verb, ("POST", f"/{verb}"))

    async def press(here: Surfaces, job: str) -> None:
        await here.post(f"/jobs/{job}/{verb}")

    return Row(
        deed="Pause, resume, run, delete" if tool else "Restore a deleted one, undo a change",
        ready=ready,
        by={
            "chat": lambda here, job: here.chat(f"/reminders {verb} {job}"),
            "page": press_undo if verb == "undo" else press,
            "terminal": lambda here, job: here.run("jobs", verb, job),
            "api": lambda here, job: here.ask(api[0], f"/jobs/{job}{api[1]}"),
            **(
                {"mcp": lambda here, job: here.propose("manage_jobs", action=tool, job=int(job))}
                if tool
                else {}
            ),
        },
        look=look_at_job,
        left=left,
    )


def put_away(deed: str, kind: str, command: str, verb: str, ready: Do, look: Do, left: Any) -> Row:
    """Archive or restore an agent or a team."""
    return Row(
        deed=deed,
        ready=ready,
        by={
            "chat": lambda here, name: here.chat(f"/{command} {verb} {name}"),
            "page": lambda here, name: here.post(f"/{kind}/{name}/{verb}"),
            "terminal": lambda here, name: here.run(kind, verb, name),
            "api": lambda here, name: here.ask("POST", f"/{kind}/{name}/{verb}"),
        },
        look=look,
        left=left,
    )


def on_webhook(verb: str, left: object, ready: Do) -> Row:
    api = {"remove": ("DELETE", "")}.get(verb, ("POST", f"/{verb}"))
    return Row(
        deed="Send events to a program (webhooks)",
        ready=ready,
        by={
            "page": lambda here, number: here.post(f"/webhooks/{number}/{verb}"),
            "terminal": lambda here, number: here.run("webhooks", verb, number),
            "api": lambda here, number: here.ask(api[0], f"/webhooks/{number}{api[1]}"),
        },
        look=look_at_webhook,
        left=left,
    )


_AGENT = [{"fault": "", "disabled": [], "tools": None, "skills": []}]
_AGENTS = "Make, change, archive and restore agents"
_TEAM = [("round_robin", 2)]
_TEAMS = "Make and change teams of agents, give one a task"

ROWS = (
    Row(
        deed="Create a reminder or a job",
        by={
            "chat": lambda here, name: here.tell("remind", text=name, when="every day at 9:00"),
            "page": lambda here, name: here.post("/jobs/new", text=name, when="every day at 9:00"),
            "terminal": lambda here, name: here.run(
                *("jobs", "add", "--person", "olga", "--when", "every day at 9:00"),
                *("--message", name),
            ),
            "api": lambda here, name: here.ask(
                "POST", "/jobs", {"kind": "message", "text": name, "when": "every day at 9:00"}
            ),
            "mcp": lambda here, name: here.propose("remind", text=name, when="every day at 9:00"),
        },
        look=look_at_new_job,
        left=[("message", "active", "cron 0 9 * * *")],
    ),
    on_job("pause", "pause", make_job, ("paused", "Water it")),
    on_job("resume", "resume", make_paused_job, ("active", "Water it")),
    on_job("delete", "delete", make_job, ("dropped", "Water it")),
    on_job("restore", "", make_deleted_job, ("active", "Water it")),
    on_job("undo", "", make_changed_job, ("active", "Water it")),
    Row(
        deed="Change one",
        ready=make_job,
        by={
            "chat": change_in_chat,
            "page": lambda here, job: here.post(f"/jobs/{job}/change", text="Cut it"),
            "terminal": lambda here, job: here.run("jobs", "change", job, "--message", "Cut it"),
            "api": lambda here, job: here.ask("PATCH", f"/jobs/{job}", {"text": "Cut it"}),
            "mcp": lambda here, job: here.propose(
                "manage_jobs", action="change", job=int(job), text="Cut it"
            ),
        },
        look=look_at_job,
        left=("active", "Cut it"),
    ),
    Row(
        deed="Remember, change or remove something",
        by={
            "chat": lambda here, name: here.tell("memory", action="add", target="user", text=name),
            "page": lambda here, name: here.post("/memory/entries", text=name),
            "api": lambda here, name: here.ask("POST", "/memory/entries", {"text": name}),
            "mcp": lambda here, name: here.propose(
                "memory", action="add", target="user", text=name
            ),
        },
        look=look_at_entries,
        left=["user"],
    ),
    Row(
        deed="Remember, change or remove something",
        ready=remember_and_name,
        by={
            "chat": lambda here, one: here.tell(
                "memory", action="remove", target="user", old=one.split()[1]
            ),
            "page": lambda here, one: here.post(
                "/memory/entries", action="remove", row=one.split()[0]
            ),
            "api": lambda here, one: here.ask("DELETE", f"/memory/entries/{one.split()[0]}"),
            "mcp": lambda here, one: here.propose(
                "memory", action="remove", target="user", old=one.split()[1]
            ),
        },
        look=lambda here, one: look_at_entries(here, one.split()[1]),
        left=[],
    ),
    Row(
        deed="See changes, and undo them by their number",
        ready=remember_and_name,
        by={
            "chat": lambda here, one: here.chat(f"/undo {one.split()[0]}"),
            "page": lambda here, one: here.post(f"/memory/{one.split()[0]}/undo"),
            "terminal": lambda here, one: here.run("memory", "undo", one.split()[0]),
            "api": lambda here, one: here.ask("POST", f"/memory/ledger/{one.split()[0]}/undo"),
        },
        look=lambda here, one: look_at_entries(here, one.split()[1]),
        left=[],
    ),
    Row(
        deed=_AGENTS,
        by={
            "chat": lambda here, name: here.chat(f"/agents new {name} Writes."),
            "page": make_agent_on_page,
            "terminal": lambda here, name: here.run("agents", "add", name, "--soul", "Writes."),
            "api": make_agent,
        },
        look=look_at_agents,
        left=_AGENT,
    ),
    put_away(_AGENTS, "agents", "agents", "archive", make_agent, look_at_agents, "archived"),
    put_away(_AGENTS, "agents", "agents", "restore", make_archived_agent, look_at_agents, _AGENT),
    Row(
        deed=_TEAMS,
        ready=make_members,
        by={
            "chat": lambda here, name: here.chat(f"/team new {name} {name}a, {name}b"),
            "page": make_team_on_page,
            "terminal": lambda here, name: here.run(
                *("teams", "add", name, "--manager", "round_robin", "--members", f"{name}a,{name}b")
            ),
            "api": write_team,
        },
        look=look_at_team,
        left=_TEAM,
    ),
    put_away(_TEAMS, "teams", "team", "archive", make_team, look_at_team, []),
    put_away(_TEAMS, "teams", "team", "restore", make_archived_team, look_at_team, _TEAM),
    Row(
        deed="Choose how a group is answered",
        ready=make_room,
        by={
            "chat": lambda here, room: say_in_room(here, room, "/room room"),
            "page": lambda here, room: here.post(f"/people/rooms/{room}", mode="room"),
            "terminal": lambda here, room: here.run("rooms", "set", room, "room"),
            "api": lambda here, room: here.ask("PATCH", f"/rooms/{room}", {"mode": "room"}),
        },
        look=look_at_room,
        left=("room", ""),
    ),
    Row(
        deed="Choose how a group is answered",
        ready=make_room,
        by={
            "chat": lambda here, room: say_in_room(here, room, "/room name Altos"),
            "page": lambda here, room: here.post(f"/people/rooms/{room}", name="Altos"),
            "terminal": lambda here, room: here.run("rooms", "name", room, "Altos"),
            "api": lambda here, room: here.ask("PATCH", f"/rooms/{room}", {"name": "Altos"}),
        },
        look=look_at_room,
        left=("person", "Altos"),
    ),
    Row(
        deed="Send events to a program (webhooks)",
        by={
            "page": lambda here, name: here.post(
                "/webhooks/add", name=name, url="https://localhost/x", kinds="turn.ended"
            ),
            "terminal": lambda here, name: here.run(
                *("webhooks", "add", name, "--person", "olga", "--url", "https://localhost/x"),
                *("--events", "turn.ended"),
            ),
            "api": make_webhook,
        },
        look=look_at_new_webhook,
        left=[("active", ("turn.ended",))],
    ),
    on_webhook("pause", ["paused"], make_webhook),
    on_webhook("remove", "removed", make_webhook),
    Row(
        deed="Revoke what may be done without asking",
        ready=allow,
        by={
            "chat": lambda here, number: here.chat(f"/approvals revoke {number}"),
            "page": lambda here, number: here.post(f"/approvals/{number}/revoke"),
            "terminal": lambda here, number: here.run("approvals", "revoke", number),
            "api": lambda here, number: here.ask("DELETE", f"/approvals/{number}"),
        },
        look=look_at_approval,
        left=[],
    ),
    Row(
        deed="Let in or refuse who waits",
        ready=knock,
        by={
            "chat": lambda here, one: here.chat(f"/approve {one.split()[0]}"),
            "page": lambda here, one: here.post("/people/approve", code=one.split()[0]),
            "terminal": lambda here, one: here.run("people", "approve", one.split()[0]),
        },
        look=look_at_guest,
        left="member",
    ),
    Row(
        deed="List and remove people",
        ready=admit,
        by={
            "page": lambda here, one: here.post(f"/people/{one.split()[0]}/remove", name="X"),
            "terminal": lambda here, one: here.run("people", "erase", "--yes", one.split()[1]),
        },
        look=look_at_guest,
        left=None,
    ),
    Row(
        deed="Share an entry with everyone, or make it private",
        ready=remember_and_name,
        by={
            "chat": lambda here, one: here.chat(f"/share {one.split()[0]} everyone"),
            "page": lambda here, one: here.post(
                f"/memory/entries/{one.split()[0]}/share", sees="everyone"
            ),
            "api": lambda here, one: here.ask(
                "PUT", f"/memory/entries/{one.split()[0]}/audience", {"sees": "everyone"}
            ),
        },
        look=lambda here, one: look_at_audience(here, one.split()[1]),
        left=["everyone"],
    ),
    Row(
        deed="Switch tools on and off",
        ready=switch_recall_on,
        by={
            "chat": lambda here, _: here.chat("/tools off recall"),
            "page": lambda here, _: here.post("/tools/switch", tool="recall"),
            "terminal": lambda here, _: here.run("tools", "disable", "olga", "recall"),
        },
        look=look_at_tools,
        left=("recall",),
    ),
    Row(
        deed="See memory blocks, make them, and share them with people and groups",
        by={
            "chat": lambda here, name: here.chat(f"/block new {name} 300 where we go"),
            "page": lambda here, name: here.post(
                "/blocks/new", name=name, limit="300", description="where we go"
            ),
            "api": lambda here, name: here.ask(
                "POST", "/blocks", {"name": name, "limit": 300, "description": "where we go"}
            ),
        },
        look=look_at_block,
        left=("where we go", 300),
    ),
    Row(
        deed="Change settings",
        ready=forget_zone,
        by={
            "chat": lambda here, _: here.chat("/settings time_zone Vienna"),
            "page": lambda here, _: here.post(
                "/settings", time_zone="Europe/Vienna", shown="time_zone"
            ),
            "terminal": lambda here, _: here.run("people", "set", "olga", "time_zone", "Vienna"),
            "api": lambda here, _: here.ask("PATCH", "/settings", {"time_zone": "Vienna"}),
        },
        look=look_at_zone,
        left="Europe/Vienna",
    ),
    Row(
        deed="Make and revoke tokens",
        by={
            "page": lambda here, name: here.post("/tokens/new", name=name, scope="mcp"),
            "terminal": lambda here, name: here.run(
                "tokens", "create", name, "--person", "olga", "--scope", "mcp"
            ),
        },
        look=look_at_token,
        left=["mcp"],
    ),
    Row(
        deed="Invite someone",
        by={
            "chat": lambda here, name: here.chat(f"/invite {name}"),
            "page": lambda here, name: here.post("/people/invite", guest=name),
            "terminal": lambda here, name: here.run("people", "invite", name),
        },
        look=look_at_invitation,
        left=["invite"],
    ),
)


@pytest.mark.thorough
async def test_a_deed_is_the_same_on_each_surface(home: Path) -> None:
    chat, model = FakeChat(limit=100_000), Doer()
    async with served(home, adapters={"fake": chat}, model=model) as running:
        await check_rows(Setup(running, chat, model, home, "", ""))


async def check_rows(setup: Setup) -> None:
    deeds = {deed.name: deed for group in GROUPS.values() for deed in group}
    async with browse_as(setup.served, setup.chat, OLGA) as page:

        async def check(row: Row) -> None:
            # A token may ask only so often in a minute.
            name = f"deed {ROWS.index(row)}"
            tokens = [
                await make_token(setup.home, "olga", scope, name) for scope in ("manage", "mcp")
            ]
            here = Surfaces(setup=setup, page=page, token=tokens[0], mcp_token=tokens[1])
            cells = {one: getattr(deeds[row.deed], one).split(", ") for one in SURFACES}
            claimed = {one for one, cell in cells.items() if not REASONS.keys() & set(cell)}
            assert row.by.keys() == claimed, "the row does all that is claimed"
            for surface, do in row.by.items():
                what = await row.ready(here, f"{surface}{ROWS.index(row)}")
                assert await row.look(here, what) != row.left, "there is something to do"
                await do(here, what)
                await here.until_equal(row, what, surface)

        await await_each(ROWS, check)
