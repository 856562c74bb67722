"""The pages about named agents and teams: who answers, the forms of owners, and tasks of teams."""

import html
import json
import re
import tomllib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from agent_core.state.people import people
from tests.agent_core.agent.named.agent_folders import write
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.canaries import Planter
from tests.integration.harness import is_settled
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA
from tests.integration.interfaces.console_setup import browse_as, open_chat, submit
from tests.integration.interfaces.page_texts import read
from tests.integration.served import Served, served
from tests.patience import until


@dataclass
class Both:
    """An owner and a member, each with a browser."""

    running: Served
    home: Path
    model: FakeModel
    owner: aiohttp.ClientSession
    member: aiohttp.ClientSession

    def table(self, name: str) -> dict[str, object]:
        return tomllib.loads((self.home / "agents" / name / "agent.toml").read_text())


@pytest.fixture
async def both(home: Path) -> AsyncIterator[Both]:
    chat, model = FakeChat(limit=100_000), Planter()
    async with (
        served(home, adapters={"fake": chat}, model=model) as running,
        browse_as(running, chat, OLGA) as owner,
        browse_as(running, chat, ZEBRANA) as member,
    ):
        yield Both(running, home, model, owner, member)


NEW = [
    *(("name", "coder"), ("description", "Writes code"), ("soul", "You write code.")),
    *(("tags", "work, code"), ("tools", "only"), ("tool", "recall"), ("tool", "web_search")),
    *(("blocks", "all"), ("rule0_tool", "web_search"), ("rule0_most", "3")),
    *(("rule0_first", "yes"), ("rule0_callers", "direct")),
]


async def test_an_owner_makes_changes_and_puts_an_agent_away(both: Both) -> None:
    shown = await submit(both.owner, "/agents/new", NEW)
    assert "The agent “coder” is ready." in shown
    assert "at most 3 times in one answer; before any other tool; only in: direct chats" in shown
    assert both.table("coder") == {
        "description": "Writes code",
        "tools": ["recall", "web_search"],
        "tags": ["work", "code"],
        "rules": [
            {
                "tool": "web_search",
                "callers": ["direct"],
                "most_per_turn": 3,
                "must_run_first": True,
            }
        ],
    }
    form = await read(both.owner, "/agents/coder/edit")
    assert "You write code.</textarea>" in form, "its rules are not a part of its identity"
    assert 'name="tool" value="recall" checked' in form
    assert 'name="tool" value="web_fetch">' in form
    changed = [one for one in NEW if one[0] not in ("tools", "tool", "rule0_tool", "name")]
    everything = [("tools", "all"), *(("tool", name) for name in list_ticks(form))]
    shown = await submit(both.owner, "/agents/coder/edit", [*changed, *everything])
    assert "The agent “coder” has been changed." in shown
    assert "tools" not in both.table("coder")
    assert "web_fetch" in both.table("coder")["disabled"]  # type: ignore[operator]
    undo = [(name, value) for name, value in find_hidden(shown)]
    shown = await submit(both.owner, "/agents/coder/edit", undo)
    assert both.table("coder")["tools"] == ["recall", "web_search"]
    assert len(both.table("coder")["rules"]) == 1  # type: ignore[arg-type]
    assert (both.home / "agents" / "coder" / "SOUL.md").read_text().strip() == "You write code."
    shown = await submit(both.owner, "/agents/coder/archive", {})
    assert "The agent “coder” is archived." in shown
    assert not (both.home / "agents" / "coder").exists()
    assert "The agent “coder” is back." in await submit(both.owner, "/agents/coder/restore", {})


def find_hidden(text: str) -> list[tuple[str, str]]:
    """The fields of the button that undoes a change."""
    found = re.search(r'<form class="flash acts".*?</form>', text, re.DOTALL)
    assert found is not None, text
    fields = re.findall(r'name="(\w+)" value="([^"]*)"', found[0])
    return [(name, html.unescape(value)) for name, value in fields]


def list_ticks(text: str) -> list[str]:
    """The tools that have a tick in a form."""
    return re.findall(r'name="tool" value="(\w+)" checked', text)


async def test_a_wrong_form_keeps_what_was_typed_and_writes_nothing(both: Both) -> None:
    write(both.home, "taken")
    for change, sentence in (
        ({"name": "Not A Name"}, "A name has up to 32 small letters"),
        ({"name": ""}, "Please fill this in."),
        ({"name": "taken"}, "This name is taken. Choose another one."),
        ({"description": "x" * 201}, "longer than 200 characters"),
        ({"rule0_tool": "memory"}, "The tool memory must run first, but it has no such tool"),
    ):
        shown = await submit(both.owner, "/agents/new", list((dict(NEW) | change).items()))
        assert sentence in shown, change
        assert "You write code." in shown
    assert [one.name for one in (both.home / "agents").iterdir()] == ["taken"]


async def test_a_member_uses_agents_and_changes_none(both: Both) -> None:
    write(both.home, "coder", 'description = "Writes code"')
    write(both.home, "broken", 'modle = "x"')
    listed = await read(both.member, "/agents")
    assert "Writes code" in listed
    assert "broken" not in listed
    assert "/agents/new" not in listed
    async with both.member.get("/agents/broken") as answer:
        assert answer.status == 404
    for path in ("new", "coder/edit", "coder/archive", "coder/restore", "coder/move"):
        await submit(both.member, f"/agents/{path}", NEW, status=409)
    assert (both.home / "agents" / "coder").is_dir()
    assert "The agent “coder” now answers you" in await submit(both.member, "/agents/coder/use", {})
    for path in ("/agents", "/agents/coder"):
        assert "Let the assistant answer me" in await read(both.member, path)
    found = await both.running.gateway.database.read(people.list_all)
    assert {one.slug: one.agent for one in found if one.agent} == {"zebrana": "coder"}
    both.model.plays = [say("A loop it is.")]
    async with open_chat(both.member) as page:
        await page.say("write a loop")
        await page.hear_text("A loop it is.")
    await until(lambda: is_settled(both.running.gateway))
    shown = await read(both.member, "/history")
    assert "write a loop" in shown
    assert "bluefish" not in shown
    assert "in our earlier conversation again" in await submit(
        both.member, "/agents/default/use", {}
    )
    assert "bluefishtitle" in await read(both.member, "/history")
    owner = await read(both.owner, "/agents")
    assert "an unknown key modle" in owner


async def test_a_team_gets_a_task_whose_turn_its_page_shows(both: Both) -> None:
    for name in ("writer", "checker", "editor"):
        write(both.home, name)
    form = [
        *(("name", "press"), ("manager", "round_robin"), ("supervisor", "editor")),
        *(("member", "writer"), ("member", "checker"), ("member", "")),
        *(("rounds", "1"), ("steps", "10"), ("dollars", "0,5"), ("description", "Texts")),
    ]
    assert "The team “press” is ready." in await submit(both.owner, "/teams/new", form)
    shown = await read(both.member, "/teams/press")
    assert "writer, checker. The members speak in turn, in this order." in shown
    assert "At most 1 round, 10 steps and $0.50 for one task." in shown
    wrong = [one for one in form if one[0] != "rounds"] + [("rounds", "many")]
    assert "Please enter a number." in await submit(both.owner, "/teams/press/edit", wrong)
    wrong = [one for one in form if one[0] != "rounds"] + [("rounds", "99")]
    refused = await submit(both.owner, "/teams/press/edit", wrong)
    assert "Rounds must be a number from 1 to 20" in refused
    asked = {"mode": "team", "to": "press", "text": "Two lines about owls"}
    both.model.plays = [
        ask(call("message_agent", json.dumps(asked))),
        say("Owls are quiet."),
        say("Owls hear well."),
        say("Two lines: quiet, and all ears."),
    ]
    task = {"task": "Two lines about owls", "key": "1"}
    assert "The team “press” has your task." in await submit(both.member, "/teams/press/task", task)
    await until(lambda: is_settled(both.running.gateway))
    shown = await read(both.member, "/teams/press")
    number = re.search(r'href="/turns/(\d+)"', shown)
    assert number is not None
    assert "Two lines about owls" in shown
    assert "all ears" in await read(both.member, f"/turns/{number[1]}")
    assert "You haven&#39;t given this team a task yet." in await read(both.owner, "/teams/press")
    await submit(both.member, "/teams/press/task", {"task": " ", "key": "2"}, status=409)
    await submit(both.member, "/teams/press/archive", {}, status=409)
    moved = [one for one in form if one[0] != "name"] + [("name", "desk")]
    moved = [one for one in moved if one != ("member", "writer")] + [("member", "editor")]
    await submit(both.owner, "/teams/new", moved)
    way = {"source": "press", "target": "desk"}
    refused = await submit(both.owner, "/agents/writer/move", way, status=409)
    assert "needs 2 to 8 members" in refused
    shown = await submit(both.owner, "/teams/press/archive", {})
    assert "The team “press” is archived" in shown
    assert 'action="/teams/press/restore"' in shown
    assert "The team “press” is back." in await submit(both.owner, "/teams/press/restore", {})
