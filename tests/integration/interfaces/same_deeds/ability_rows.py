"""Deeds about skills, tools, agents and models."""

import asyncio
import json
import re
import shutil
from pathlib import Path
from typing import Any

from agent_core.state.conversations import approvals
from agent_core.state.conversations.approvals import NewApproval
from agent_core.state.memory import skills
from agent_core.state.people import mcp_accounts, people
from agent_core.state.queues import skill_tests
from agent_core.tools.mcp.pins import read_pins
from gateway.app.mcp_file import add_mcp_server
from gateway.operations.tools import read_off
from tests.agent_core.skills.skill_folders import write_skill
from tests.agent_core.tools.mcp import oauth_server
from tests.fakes.model import say
from tests.integration.interfaces.same_deeds.surfaces import Do, Row, Surfaces


async def look_at_tools(here: Surfaces, _: str) -> Any:
    olga = await here.olga()
    return await here.read(read_off, holder=olga.id)


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


async def look_at_approval(here: Surfaces, number: str) -> Any:
    found = await here.read(approvals.list_of, person_id=(await here.olga()).id)
    return [one.id for one in found if str(one.id) == number]


async def switch_recall_on(here: Surfaces, name: str) -> str:
    await here.post("/tools/switch", tool="recall", on="yes")
    return name


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


async def allow(here: Surfaces, name: str) -> str:
    olga, shape = await here.olga(), json.dumps(["terminal", "run", "workspace", "git", name])
    new = NewApproval(person_id=olga.id, decided_by=olga.id, scope="always", subject=shape)
    await here.write(lambda c: approvals.insert(c, new, now=0))
    found = await here.read(approvals.list_of, person_id=olga.id)
    return str(next(one.id for one in found if one.shape == shape))


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


def write_text(name: str, body: str = "Do it.") -> str:
    """Write the whole text of a skill."""
    return f"---\nname: {name}\ndescription: Does {name}.\n---\n{body}\n"


async def look_at_skill(here: Surfaces, name: str) -> Any:
    """Look what a skill of the home says, and whether it is kept from the curator."""
    path = here.setup.home / "skills" / name / "SKILL.md"
    known = await here.read(skills.find, name=name)
    body = path.read_text().rpartition("---\n")[2].strip() if path.exists() else ""
    return body, bool(known and known.is_pinned)


async def look_at_words(here: Surfaces, name: str) -> Any:
    """Look who was given words as a message."""
    found = await here.read(
        lambda c: c.execute(
            "SELECT role FROM messages WHERE role = 'user' AND text LIKE :words",
            {"words": f"%{name}%"},
        ).fetchall()
    )
    return len(found)


async def look_at_choice(here: Surfaces, _: str) -> Any:
    olga = await here.olga()
    found = await here.read(people.find, person_id=olga.id)
    return found.model, found.agent


async def look_at_description(here: Surfaces, name: str) -> Any:
    found = await here.ask("GET", "/agents")
    return [one["description"] for one in found["agents"] if one["name"] == name]


async def look_at_goal(here: Surfaces, name: str) -> Any:
    found = await here.ask("GET", "/teams")
    return [one["description"] for one in found["teams"] if one["name"] == name]


async def look_at_move(here: Surfaces, name: str) -> Any:
    found = await here.ask("GET", "/teams")
    return {
        one["name"].removeprefix(name): [member.removeprefix(name) for member in one["members"]]
        for one in found["teams"]
        if one["name"].startswith(name)
    }


async def put_skill(here: Surfaces, name: str) -> str:
    """Write a skill on the page."""
    await here.post("/skills/new", name=name, description=f"Does {name}.", instructions="Do it.")
    return name


async def put_changed_skill(here: Surfaces, name: str) -> str:
    """Write a skill and change it; its name and the row of the change."""
    await put_skill(here, name)
    page = await here.post(f"/skills/{name}/edit", text=write_text(name, "Do it well."))
    found = re.search(r'name="row" value="(\d+)"', page)
    assert found, page
    return f"{name} {found[1]}"


async def put_archived_skill(here: Surfaces, name: str) -> str:
    await put_skill(here, name)
    await here.post(f"/skills/{name}/archive")
    return name


async def put_pinned_skill(here: Surfaces, name: str) -> str:
    await put_skill(here, name)
    await here.post(f"/skills/{name}/pin")
    return name


async def switch_recall_off(here: Surfaces, name: str) -> str:
    await here.post("/tools/switch", tool="recall")
    return name


async def forget_model(here: Surfaces, name: str) -> str:
    await here.ask("PATCH", "/settings", {"model": ""})
    return name


def clear_agents(here: Surfaces) -> None:
    """Delete all agents and teams, of which there may be only so many."""
    for kind in ("agents", "teams"):
        shutil.rmtree(here.setup.home / kind, ignore_errors=True)


async def make_lonely_team(here: Surfaces, name: str) -> str:
    clear_agents(here)
    return await make_team(here, name)


async def make_unused_agent(here: Surfaces, name: str) -> str:
    clear_agents(here)
    await make_agent(here, name)
    await here.post("/agents/default/use")
    return name


async def make_two_teams(here: Surfaces, name: str) -> str:
    """Make a team of three, and one of two that the third may join."""
    clear_agents(here)
    for one in "abcde":
        await make_agent(here, f"{name}{one}")
    for team, members in (("x", "abc"), ("y", "de")):
        body = {"manager": "round_robin", "members": [f"{name}{one}" for one in members]}
        await here.ask("POST", "/teams", {"name": f"{name}{team}", **body})
    return name


async def install(here: Surfaces, name: str) -> None:
    folder = here.setup.home.parent / "elsewhere"
    write_skill(folder, name)
    await here.run("skills", "install", str(folder / name), "--yes")


async def edit_on_page(here: Surfaces, path: str, **changed: str) -> None:
    """Send a form of the page with the values that it comes with, but for what is changed."""
    page = (await here.read_page(path)).partition(f'action="{path}"')[2].partition("</form>")[0]
    fields = re.findall(r'<input[^>]* name="(\w+)"[^>]* value="([^"]*)"[^>]*( checked)?', page)
    form = [(name, value) for name, value, _ in fields if name not in changed]
    await here.post_all(path, [*form, *changed.items()])


async def give_task(here: Surfaces, do: Do, name: str) -> None:
    here.setup.model.plays = [say("Done.")]
    await do(here, name)


async def put_cases(here: Surfaces, name: str) -> str:
    """Write a skill, and beside it the cases of its test, which a person wrote and so count."""
    await put_skill(here, name)
    folder = here.setup.home / "skills" / name / "evals"
    folder.mkdir()
    checks = [{"kind": "contains", "value": "41.50"}]
    cases = [{"id": number, "prompt": "What is it?", "checks": checks} for number in range(3)]
    (folder / "evals.json").write_text(json.dumps({"evals": cases}))
    return name


async def prove_skill(here: Surfaces, do: Do, name: str) -> None:
    """Let only the skill help: six pairs of answers without and with it prove that."""
    here.setup.model.plays = [say("No idea."), say("It is 41.50.")] * 6
    await do(here, name)


async def look_at_test(here: Surfaces, name: str) -> Any:
    """Look how the tests of a skill ended that somebody asked for, without those that go on."""
    row = await here.read(skills.find, name=name)
    found = await here.read(
        lambda c: c.execute(
            "SELECT payload FROM tasks WHERE kind = :kind AND key LIKE :key",
            {"kind": skill_tests.KIND, "key": f"{row.id}:%"},
        ).fetchall()
    )
    tests = [json.loads(payload) for (payload,) in found]
    return [(one["result"], len(one["runs"])) for one in tests if one["is_asked"] and one["result"]]


async def export_agent(here: Surfaces, name: str) -> str:
    """Write an agent to a file; its path."""
    clear_agents(here)
    await make_agent(here, f"{name}-one")
    found = await here.ask("GET", f"/agents/{name}-one/file")
    path = here.setup.home.parent / f"{name}.af"
    path.write_text(json.dumps(found))
    return str(path)


async def look_at_imported(here: Surfaces, path: str) -> Any:
    name = path.rpartition("/")[2].removesuffix(".af")
    return await look_at_agents(here, name)


async def import_by_api(here: Surfaces, path: str) -> None:
    name = path.rpartition("/")[2].removesuffix(".af")
    data = await asyncio.to_thread(Path(path).read_bytes)
    await here.send(f"/agents/import?name={name}", data)


def on_skill(
    deed: str, verb: str, ready: Do, left: object, chat: Do | None = None, by: str = ""
) -> Row:
    """Do something to a skill that is there; with `by`, to the row of its change."""

    async def press(here: Surfaces, one: str) -> None:
        name, _, row = one.partition(" ")
        await here.post(f"/skills/{name}/{verb}", **({"row": row} if by else {}))

    return Row(
        deed=deed,
        ready=ready,
        by={
            **({"chat": chat} if chat else {}),
            "page": press,
            "terminal": lambda here, one: here.run("skills", verb, one.split()[-1 if by else 0]),
        },
        look=lambda here, one: look_at_skill(here, one.split()[0]),
        left=left,
    )


async def look_at_chosen(here: Surfaces, name: str) -> Any:
    return (await look_at_choice(here, name))[1] == name


async def connect_to_server(here: Surfaces, name: str) -> str:
    """Add a server at which each person signs in."""
    table = {"url": f"{here.server.url}/mcp", "local": True, "oauth": True, "people": ["*"]}
    add_mcp_server(here.setup.home, name, table, {})
    await here.wait_for_page("/connections", f'action="/connections/{name}/connect"')
    return name


async def sign_in(here: Surfaces, name: str) -> str:
    """Connect an account at a server of its own."""
    await connect_to_server(here, name)
    await connect_on_page(here, name)
    await here.wait_for(lambda: look_at_sign_in(here, name))
    return name


async def connect_on_page(here: Surfaces, name: str) -> None:
    page = await here.post(f"/connections/{name}/connect")
    link = re.search(r'href="(http[^"]+/door[^"]*)"', page)
    assert link, page
    await here.post("/connections/finish", address=await oauth_server.sign_in(link[1]))


async def connect_in_chat(here: Surfaces, name: str) -> None:
    shown, seen = here.setup.chat.shown, await here.chat(f"/connections connect {name}")
    await here.setup.chat.until(lambda: any("/door" in one.text for one in shown[seen:]))
    text = next(one.text for one in shown[seen:] if "/door" in one.text)
    link = re.search(r"http\S+/door[^\s)>]*", text)
    assert link, text
    await here.chat(f"/connections {await oauth_server.sign_in(link[0])}")


async def look_at_sign_in(here: Surfaces, name: str) -> Any:
    """Look whether Olga's account at a server may ask it."""
    olga = await here.olga()
    found = await here.read(mcp_accounts.find, person_id=olga.id, server=name)
    return found is not None and found.signed_in_at is not None


async def offer_tools(here: Surfaces, name: str) -> str:
    """Add a server that refuses at first, and opens up while the gateway waits for it."""
    key = f"key of {name}"
    head = {"Authorization": f"Bearer {key}"}
    table = {"url": f"{here.server.url}/mcp", "local": True, "headers": head}
    add_mcp_server(here.setup.home, name, table, {})
    await here.wait_for_page("/connections", f'action="/connections/{name}/retry"')
    here.server.tokens[key] = oauth_server.NOBODY
    return name


async def find_offer(here: Surfaces, name: str) -> str:
    """Wait until the tools of a server can be accepted; the form's token."""
    page = await here.wait_for_page("/connections", f'action="/connections/{name}/accept"')
    form = page.partition(f'action="/connections/{name}/accept"')[2]
    found = re.search(r'name="token" value="([^"]+)"', form)
    assert found, form
    return found[1]


async def accept_on_page(here: Surfaces, name: str) -> None:
    await here.post(f"/connections/{name}/retry")
    token = await find_offer(here, name)
    await here.post(f"/connections/{name}/accept", token=token)


async def accept_in_chat(here: Surfaces, name: str) -> None:
    await here.chat(f"/mcp retry {name}")
    await find_offer(here, name)
    await here.chat_and_press(f"/mcp {name}", "Accept")


async def look_at_pins(here: Surfaces, name: str) -> Any:
    return sorted((await here.read(read_pins, name)).accepted)


_AGENT = [{"fault": "", "disabled": [], "tools": None, "skills": []}]
_AGENTS = "Make, change, archive and restore agents"
_TEAM = [("round_robin", 2)]
_TEAMS = "Make and change teams of agents"

ROWS = (
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
        deed="Write a skill",
        by={
            "chat": lambda here, name: here.tell(
                "skill_manage", action="create", name=name, text=write_text(name)
            ),
            "page": put_skill,
            "terminal": install,
        },
        look=look_at_skill,
        left=("Do it.", False),
    ),
    Row(
        deed="Change a skill",
        ready=put_skill,
        by={
            "chat": lambda here, name: here.tell(
                "skill_manage", action="patch", name=name, old="Do it.", text="Do it well."
            ),
            "page": lambda here, name: here.post(
                f"/skills/{name}/edit", text=write_text(name, "Do it well.")
            ),
        },
        look=look_at_skill,
        left=("Do it well.", False),
    ),
    on_skill(
        *("Archive and restore a skill", "archive", put_skill, ("", False)),
        lambda here, name: here.tell("skill_manage", action="archive", name=name),
    ),
    on_skill(
        *("Archive and restore a skill", "restore", put_archived_skill, ("Do it.", False)),
        lambda here, name: here.tell("skill_manage", action="restore", name=name),
    ),
    on_skill(
        *("Undo a change of a skill", "undo", put_changed_skill, ("Do it.", False)),
        lambda here, one: here.chat(f"/undo skill {one.split()[0]}"),
        by="row",
    ),
    on_skill("Pin a skill, return to an older version", "pin", put_skill, ("Do it.", True)),
    on_skill(
        "Pin a skill, return to an older version", "unpin", put_pinned_skill, ("Do it.", False)
    ),
    on_skill(
        "Pin a skill, return to an older version", "rollback", put_changed_skill, ("Do it.", False)
    ),
    Row(
        deed="Switch tools on and off",
        ready=switch_recall_off,
        by={
            "chat": lambda here, _: here.chat("/tools on recall"),
            "page": lambda here, _: here.post("/tools/switch", tool="recall", on="yes"),
            "terminal": lambda here, _: here.run("tools", "enable", "olga", "recall"),
        },
        look=look_at_tools,
        left=(),
    ),
    Row(
        deed=_AGENTS,
        ready=make_agent,
        by={
            "chat": lambda here, name: here.chat(f"/agents change {name} description Reads"),
            "page": lambda here, name: edit_on_page(
                here, f"/agents/{name}/edit", description="Reads"
            ),
            "terminal": lambda here, name: here.run(
                "agents", "change", name, "--description", "Reads"
            ),
            "api": lambda here, name: here.ask(
                "PATCH", f"/agents/{name}", {"description": "Reads"}
            ),
        },
        look=look_at_description,
        left=["Reads"],
    ),
    Row(
        deed=_TEAMS,
        ready=make_team,
        by={
            "chat": lambda here, name: here.chat(f"/team change {name} description Reads"),
            "page": lambda here, name: here.post_all(
                f"/teams/{name}/edit",
                [
                    *(
                        ("manager", "round_robin"),
                        ("rounds", "1"),
                        ("steps", "5"),
                        ("dollars", "0"),
                    ),
                    *(("member", f"{name}a"), ("member", f"{name}b"), ("description", "Reads")),
                ],
            ),
            "terminal": lambda here, name: here.run(
                "teams", "change", name, "--description", "Reads"
            ),
            "api": lambda here, name: here.ask("PATCH", f"/teams/{name}", {"description": "Reads"}),
        },
        look=look_at_goal,
        left=["Reads"],
    ),
    Row(
        deed=_TEAMS,
        ready=make_two_teams,
        by={
            "chat": lambda here, name: here.chat(f"/team move {name}c {name}x {name}y"),
            "page": lambda here, name: here.post(
                f"/agents/{name}c/move", source=f"{name}x", target=f"{name}y"
            ),
            "terminal": lambda here, name: here.run(
                *("teams", "move", f"{name}c", f"{name}x", f"{name}y")
            ),
            "api": lambda here, name: here.ask(
                "POST", f"/agents/{name}c/move", {"source": f"{name}x", "target": f"{name}y"}
            ),
        },
        look=look_at_move,
        left={"x": ["a", "b"], "y": ["d", "e", "c"]},
    ),
    Row(
        deed="Give a team a task",
        ready=make_lonely_team,
        by={
            "chat": lambda here, name: give_task(
                here, lambda at, one: at.chat(f"/team {one} Count {one}"), name
            ),
            "page": lambda here, name: give_task(
                here, lambda at, one: at.post(f"/teams/{one}/task", task=f"Count {one}"), name
            ),
            "terminal": lambda here, name: give_task(
                here, lambda at, one: at.run("chat", given=f"/team {one} Count {one}\n"), name
            ),
        },
        look=lambda here, name: look_at_words(here, f"Count {name}"),
        left=1,
    ),
    Row(
        deed="Test a skill",
        ready=put_cases,
        by={
            "chat": lambda here, name: prove_skill(
                here, lambda at, one: at.chat(f"/skills agree {one}"), name
            ),
            "terminal": lambda here, name: prove_skill(
                here, lambda at, one: at.run("skills", "eval", one), name
            ),
        },
        look=look_at_test,
        left=[("passed", 12)],
    ),
    Row(
        deed="Bring an agent in from an agent file, and write one",
        ready=export_agent,
        by={
            "terminal": lambda here, path: here.run(
                *("agents", "import", path, "--person", "olga"),
                *("--name", path.rpartition("/")[2].removesuffix(".af")),
            ),
            "api": import_by_api,
        },
        look=look_at_imported,
        left=_AGENT,
    ),
    Row(
        deed="Choose the model",
        ready=forget_model,
        by={
            "chat": lambda here, _: here.chat("/model small"),
            "page": lambda here, _: here.post("/settings", model="small", shown="model"),
            "terminal": lambda here, _: here.run("people", "set", "olga", "model", "small"),
            "api": lambda here, _: here.ask("PATCH", "/settings", {"model": "small"}),
        },
        look=look_at_choice,
        left=("small", ""),
    ),
    Row(
        deed="Choose a named agent",
        ready=make_unused_agent,
        by={
            "chat": lambda here, name: here.chat(f"/agents use {name}"),
            "page": lambda here, name: here.post(f"/agents/{name}/use"),
        },
        look=look_at_chosen,
        left=True,
    ),
    Row(
        deed="Connect your account at an MCP server, end it",
        ready=connect_to_server,
        by={"chat": connect_in_chat, "page": connect_on_page},
        look=look_at_sign_in,
        left=True,
    ),
    Row(
        deed="Connect your account at an MCP server, end it",
        ready=sign_in,
        by={
            "chat": lambda here, name: here.chat(f"/connections end {name}"),
            "page": lambda here, name: here.post(f"/connections/{name}/end"),
        },
        look=look_at_sign_in,
        left=False,
    ),
    Row(
        deed="Accept the tools of an MCP server",
        ready=offer_tools,
        by={
            "chat": accept_in_chat,
            "page": accept_on_page,
            "terminal": lambda here, name: here.run("mcp", "accept", name, "--yes"),
        },
        look=look_at_pins,
        left=["inbox", "whoami"],
    ),
)
