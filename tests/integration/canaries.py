"""Plant unique words in every place of a person's data, and search all files for them."""

import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from agent_core.models.contract import ModelAnswer, ModelRequest, TextDelta
from agent_core.state.engine.connection import checksum
from agent_core.state.engine.database import Connection
from tests.emulators.pictures import make_png
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.accounts import ChatAccount, make_owner
from tests.integration.harness import Harness
from tests.integration.harness import running as in_this_process

PLACES = (
    *("said", "answer", "thought", "memory", "wish", "dropped", "kept", "tag", "found", "filename"),
    *("filewords", "given", "givenwords", "asked", "option", "title", "summary", "quoted"),
    *("caption", "hand"),
)
_SEARCH = """
import pathlib, sys
home, *words = sys.argv[1:]
for path in sorted(pathlib.Path(home).rglob("*")):
    if path.is_file() and "logs" not in path.parts:
        data = path.read_bytes().lower()
        for word in words:
            if word.encode() in data:
                print(word, path.relative_to(home))
"""


class Planter(FakeModel):
    """Plays its script, and otherwise answers something plain."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextDelta | ModelAnswer, None]:
        if not self.plays:
            self.plays.append(say("Plain."))
        async for piece in super().stream(request):
            yield piece


def words(family: str) -> list[str]:
    """Return all canaries of a family; each begins with its name."""
    return [f"{family}{place}" for place in PLACES]


def search(home: Path, *looked_for: str) -> list[str]:
    """Return which words are in which files of a home, byte for byte.

    A separate process searches, because only SQLite may open a database in this one.
    """
    done = subprocess.run(
        [sys.executable, "-c", _SEARCH, str(home), *looked_for],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.splitlines()


async def plant(harness: Harness, account: ChatAccount, family: str) -> None:
    """Plant a canary in every place that a person's words can reach."""
    model = harness.model
    assert isinstance(model, Planter)
    chat = harness.chat

    def word(place: str) -> str:
        return f"{family}{place}"

    remember = [
        ("m1", "add", "memory", f"Likes {word('memory')}"),
        ("m2", "add", "user", f"Wants {word('wish')}"),
        ("m3", "add", "memory", f"Had {word('dropped')}"),
    ]
    calls = [
        call("memory", json.dumps({"action": a, "target": t, "text": w}), i)
        for i, a, t, w in remember
    ]
    model.plays += [
        ask(*calls, text=f"I note {word('thought')}."),
        ask(
            call(
                "memory",
                json.dumps({"action": "remove", "target": "memory", "old": word("dropped")}),
                "m4",
            ),
            call(
                "archive",
                json.dumps(
                    {"action": "insert", "text": f"Kept {word('kept')}", "tags": [word("tag")]}
                ),
                "a1",
            ),
            call(
                "send_file",
                json.dumps({"name": f"{word('given')}.txt", "text": word("givenwords")}),
                "f1",
            ),
        ),
        say(f"Noted, {word('answer')}."),
    ]
    await account.says(f"remember {word('said')}")
    model.plays += [
        ask(call("recall", json.dumps({"query": word("said")}), "r1")),
        say(f"I found {word('found')}."),
    ]
    await account.says("what was it?")
    chat.attached["doc"] = f"All about {word('filewords')}".encode()
    chat.attached["png"] = make_png()
    attachments = [
        {"kind": "file", "file_id": "doc", "name": f"{word('filename')}.txt"},
        {"kind": "image", "file_id": "png", "name": "a.png"},
    ]
    await account.says(f"look at {word('caption')}", attachments=attachments)
    question = {
        "question": f"Is it {word('asked')}?",
        "options": [f"Yes, {word('option')}", "No"],
    }
    model.plays += [ask(call("ask", json.dumps(question), "q1")), say("So it is.")]
    await chat.says("ask me", user=account.user, chat=account.user, name=account.name)
    await harness.until(lambda: bool(harness.gateway.questions.answers._futures))
    label = f"Yes, {word('option')}"
    await chat.until(lambda: any(label in shown.labels for shown in chat.shown))
    await account.presses(label)
    await account.says("/memory")
    await account.says("/new")
    await account.says(f"afresh, as in {word('quoted')}")
    await harness.gateway.database.write("plant", lambda c: _plant_rows(c, account, family))
    folder = Path(harness.gateway.settings.home) / "memories" / "people" / account.name.lower()
    with (folder / "MEMORY.md").open("a") as file:
        file.write(f"- By {word('hand')}\n")
    await account.says("/memory")


def _plant_rows(connection: Connection, account: ChatAccount, family: str) -> None:
    """Plant what a named, planned and compacted conversation leaves."""
    summary, plan = f"In short {family}summary", f"1. [active] Buy {family}planned"
    tools = f"{family}searched()"
    row = connection.execute(
        "SELECT sessions.id, conversations.person_id, MAX(messages.id) FROM accounts"
        " JOIN conversations ON conversations.person_id = accounts.person_id"
        " JOIN sessions ON sessions.conversation_id = conversations.id"
        " JOIN messages ON messages.session_id = sessions.id WHERE accounts.user_id = :user",
        {"user": account.user},
    ).fetchone()
    connection.execute(
        "INSERT INTO compactions (session_id, person_id, made_after, shortened_to, summarized_to,"
        " summary, plan, found_tools,"
        " reason, tokens_before, tokens_after, created_at, checksum)"
        " VALUES (?, ?, ?, 0, 0, ?, ?, ?, 'asked', 1, 1, 1, ?)",
        (*row, summary, plan, tools, checksum(row[2], 0, 0, "[]", summary, plan, tools)),
    )
    connection.execute(
        "UPDATE sessions SET title = ?, plan = ? WHERE id = ?",
        (f"About {family}title", f'[["active", "Buy {family}todo"]]', row[0]),
    )


def make_chat() -> FakeChat:
    return FakeChat(limit=100_000)


async def fill(home: Path) -> None:
    """Make a home with an owner, and a member with canaries everywhere."""
    async with in_this_process(home, Planter(), chat=make_chat()) as harness:
        olga = ChatAccount(harness, "4711001", "Olga")
        await olga.says("hello")
        await make_owner(harness, olga.user)
        await plant(harness, ChatAccount(harness, "4711002", "Zebrana"), "bluefish")
