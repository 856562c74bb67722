"""The Python client against a real server: its types, and each address of the API."""

import asyncio
import re
import sys
import threading
from typing import Any

import pytest

from agent_core.state.conversations import turns
from tests.architecture.source import ROOT
from tests.fakes.model import say
from tests.integration.interfaces.api_setup import Setup, make_token, read_spec
from tools.generate_client_types import TARGET, render_types

sys.path.insert(0, str(ROOT / "clients" / "python"))
from talaria_client import Talaria, TalariaError


class Recorder(Talaria):
    """A client that notes what it asked."""

    def __init__(self, address: str, token: str) -> None:
        super().__init__(address, token, timeout=60)
        self.asked: set[tuple[str, str]] = set()

    def _open(self, method: str, path: str, *rest: Any) -> Any:
        self.asked.add((method, f"/api{path.partition('?')[0]}"))
        return super()._open(method, path, *rest)


async def test_the_types_are_those_of_the_description(setup: Setup) -> None:
    spec = await read_spec(setup.served)
    assert TARGET.read_text() == render_types(spec), (
        "run tools/generate_client_types.py on /api/openapi.json"
    )


async def test_the_client_reaches_each_address(setup: Setup) -> None:
    setup.model.plays = [say("A heron."), say("Still ", "grey."), say("Done.")]
    token = await make_token(setup.home, "olga", "manage")
    talaria = Recorder(str(setup.served.address.origin()), token)
    await asyncio.to_thread(use, talaria)
    spec = await read_spec(setup.served)
    wanted = {
        (method.upper(), path)
        for path, methods in spec["paths"].items()
        if path.startswith("/api/")
        for method in methods
    }
    reached = {
        (method, path)
        for method, path in wanted
        for asked, address in talaria.asked
        if asked == method and re.fullmatch(re.sub("{[a-z]+}", "[^/]+", path), address)
    }
    assert wanted == reached
    assert await setup.served.gateway.database.read(turns.find_newest)


def use_blocks(talaria: Recorder) -> None:
    """Make, change, share, hide and delete a block."""
    made = talaria.make_block({"name": "Trips", "description": "where we go"})
    assert made["name"] == "trips"
    assert "2,000" in talaria.change_block("trips", {"limit": 2000, "is_read_only": True})["said"]
    assert "Zebrana" in talaria.share_block("trips", "zebrana")["said"]
    assert "Zebrana" in talaria.unshare_block("trips", "zebrana")["said"]
    assert [one["name"] for one in talaria.blocks()] == ["team", "block:trips"]
    assert "trips" in talaria.drop_block("block:trips")["said"]
    with pytest.raises(TalariaError, match="nothing with this id"):
        talaria.drop_block("trips")


def use(talaria: Recorder) -> None:
    """Ask everything once."""
    assert talaria.me()["slug"] == "olga"
    assert talaria.change_settings({"time_zone": "Vienna"})["time_zone"] == "Europe/Vienna"
    assert talaria.settings()["time_zone"] == "Europe/Vienna"
    assert talaria.change_settings({"time_zone": ""})["time_zone"] == ""
    with pytest.raises(TalariaError, match="isn't a time zone"):
        talaria.change_settings({"time_zone": "Atlantis"})
    assert [one["slug"] for one in talaria.people()] == ["zebrana", "olga"]
    told: list[str] = []
    listening = threading.Event()

    def listen() -> None:
        for _, name, _ in talaria.events("0---0-0"):
            told.append(name)
            listening.set()
            if name == "turn.ended":
                return

    listener = threading.Thread(target=listen)
    listener.start()
    sent = talaria.send("Which bird is grey?", key="bird")
    assert sent["answer"] == "A heron."
    assert talaria.ask("Which bird is grey?", key="bird") == "A heron."
    assert talaria.message(sent["id"]) == sent
    assert "".join(talaria.stream("Sure?")) == "Still grey."
    listener.join(timeout=60)
    assert "turn.ended" in told
    assert any(hit["text"] == "A heron." for hit in talaria.recall("heron"))
    conversation = next(talaria.conversations())
    assert next(talaria.messages(conversation["id"]))["text"] == "Still grey."
    said = next(talaria.messages(conversation["id"]))
    made = talaria.fork(conversation["id"], said["id"], key="f")
    assert talaria.fork(conversation["id"], said["id"], key="f") == made
    assert made["is_fork"]
    talaria.remove_conversation(made["id"])
    assert [one["id"] for one in talaria.removed_conversations()] == [made["id"]]
    assert made["id"] not in [one["id"] for one in talaria.conversations()]
    assert talaria.restore_conversation(made["id"]) == made
    with pytest.raises(TalariaError, match="only a copy of a conversation"):
        talaria.remove_conversation(conversation["id"])
    for use_file in (talaria.files, talaria.read_file, lambda path: talaria.add_file(path, b"tea")):
        with pytest.raises(TalariaError, match="my tools for files are switched off"):
            use_file("list.txt")
    newest = next(talaria.turns())
    assert talaria.turn(newest["id"])["answer"] == "Still grey."
    assert talaria.requests(newest["id"])["calls"]
    with pytest.raises(TalariaError, match="made with a skill"):
        talaria.judge(newest["id"], "good")
    talaria.memory(), talaria.blocks(), talaria.usage()
    use_blocks(talaria)
    use_agents(talaria)
    assert talaria.curator()["proposals"] == []
    assert talaria.tidy_up() == {"scope": "everything"}
    with pytest.raises(TalariaError, match="don't know that suggestion"):
        talaria.decide_proposal("1-1", "accept")
    assert talaria.export().startswith(b"PK")
    with pytest.raises(TalariaError, match="found nothing of yours"):
        talaria.forget_words("pelican")
    assert talaria.rooms() == []
    with pytest.raises(TalariaError, match="nothing with this id"):
        talaria.change_room(2**40, {"mode": "off"})
    assert [one["name"] for one in talaria.skills()]
    assert talaria.skill(talaria.skills()[0]["name"])["body"]
    assert talaria.questions() == talaria.dismissed() == talaria.approvals() == []
    made = talaria.remember("I keep bees")
    talaria.share(made)
    talaria.share(made, "nobody")
    changed = talaria.change_memory(made, "I keep a few bees")
    assert "I keep a few bees" in talaria.memory()["user"]
    gone = talaria.forget(changed)
    assert "I keep a few bees" not in talaria.memory()["user"]
    assert talaria.undo(gone) > gone > changed > made
    list(talaria.changes()), list(talaria.archive()), list(talaria.archive("heron"))
    job = talaria.create_job({"kind": "prompt", "text": "Water", "cron": "0 9 * * *"}, key="w")
    assert talaria.jobs()[0]["id"] == talaria.job(job["id"])["id"] == job["id"]
    assert talaria.change_job(job["id"], {"title": "Plants"})["title"] == "Plants"
    assert talaria.act_on_job(job["id"], "run")["state"] == "active"
    assert talaria.runs(job["id"])
    talaria.delete_job(job["id"])
    hook = talaria.add_webhook({"name": "all", "url": "https://localhost/"}, key="h")
    assert hook["secret"].startswith("whsec_")
    assert [one["id"] for one in talaria.webhooks()] == [talaria.webhook(hook["id"])["id"]]
    assert talaria.act_on_webhook(hook["id"], "test")["state"] == "active"
    assert talaria.act_on_webhook(hook["id"], "pause")["state"] == "paused"
    delivery = next(talaria.deliveries(hook["id"]))
    assert talaria.redeliver(hook["id"], delivery["id"])["state"] == "waiting"
    assert talaria.change_webhook(hook["id"], {"name": "ends"})["name"] == "ends"
    assert talaria.rotate_webhook(hook["id"])["secret"] != hook["secret"]
    talaria.remove_webhook(hook["id"])
    assert talaria.act_on_webhook(hook["id"], "restore")["name"] == "ends"
    for missing in (
        lambda: talaria.undo(2**40),
        lambda: talaria.note(2**40),
        lambda: talaria.file(newest["id"], 9),
        lambda: talaria.answer(2**40, "yes"),
        lambda: talaria.restore(2**40),
        lambda: talaria.revoke(2**40),
    ):
        with pytest.raises(TalariaError) as caught:
            missing()
        assert (caught.value.status, caught.value.code) == (404, "not_found")
    with pytest.raises(TalariaError, match="token is missing or wrong"):
        Talaria(f"http://{talaria._host}", "talaria_wrong").me()


def use_agents(talaria: Recorder) -> None:
    """Make agents and teams, and change them."""
    writer = talaria.make_agent({"name": "writer", "soul": "You write.", "tags": ["press"]})
    assert (writer["tools"], writer["tags"]) == (None, ["press"])
    assert talaria.make_agent({"name": "writer", "soul": "You write.", "tags": ["press"]}) == writer
    with pytest.raises(TalariaError, match="There is an agent writer already"):
        talaria.make_agent({"name": "writer", "soul": "You sing."})
    with pytest.raises(TalariaError, match=r"There is no tool recal \(did you mean recall"):
        talaria.change_agent("writer", {"tools": ["recal"]})
    rule: Any = {"tool": "web_search", "must_run_first": True}
    with pytest.raises(
        TalariaError, match="The tool web_search must run first, but it has no such tool"
    ):
        talaria.change_agent("writer", {"tools": ["recall"], "rules": [rule]})
    changed = talaria.change_agent("writer", {"tools": ["web_search"], "rules": [rule]})
    assert (changed["tools"], changed["rules"][0]["must_run_first"]) == (["web_search"], True)
    talaria.make_agent({"name": "editor"})
    talaria.make_agent({"name": "cook"})
    desk: Any = {"name": "desk", "supervisor": "editor", "members": ["writer", "cook"]}
    assert talaria.make_team(desk) == talaria.team("desk")
    talaria.make_team({"name": "radio", "manager": "free", "members": ["cook", "editor"]})
    with pytest.raises(TalariaError, match="Steps must be a number from 1 to 200"):
        talaria.change_team("desk", {"steps": 999})
    assert talaria.change_team("desk", {"rounds": 2})["rounds"] == 2
    assert talaria.move_agent("writer", "desk", "radio")["teams"] == ["radio"]
    with pytest.raises(
        TalariaError, match="The agent writer belongs to the team radio; take it out"
    ):
        talaria.act_on_agent("writer", "archive")
    talaria.act_on_team("radio", "archive")
    talaria.act_on_agent("writer", "archive")
    assert [one["name"] for one in talaria.teams()] == ["desk"]
    assert [one["name"] for one in talaria.agents()] == ["cook", "editor"]
    talaria.act_on_agent("writer", "restore")
    talaria.act_on_team("radio", "restore")
    assert talaria.agent("writer")["teams"] == ["radio"]
    file = talaria.export_agent("writer")
    assert talaria.import_agent(file, name="scribe")["name"] == "scribe"
    with pytest.raises(TalariaError, match="There is an agent scribe already; take another name"):
        talaria.import_agent(file, name="scribe")
    with pytest.raises(TalariaError, match="The file is not valid JSON"):
        talaria.import_agent(b"{")
