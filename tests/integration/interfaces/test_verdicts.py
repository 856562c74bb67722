"""A thumb on the page or over the API counts for the skills of an answer, as a reaction does."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent_core.state.engine.database import Connection
from tests.agent_core.skills.skill_folders import write_skill
from tests.fakes.chat import FakeChat
from tests.fakes.model import ask, call, say
from tests.integration.harness import is_settled
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA, Setup, make_token
from tests.integration.interfaces.console_setup import browse_as, open_browser, read
from tests.integration.interfaces.same_deeds.surfaces import Doer
from tests.integration.served import served
from tests.patience import until

READ = ask(call("skill_view", '{"name": "tidy"}'))


@dataclass(frozen=True)
class Swept:
    """A gateway in whose chat Zebrana got two answers: one by a skill, and one without."""

    setup: Setup
    page: aiohttp.ClientSession
    """Zebrana's."""

    async def find(self, text: str) -> dict[str, Any]:
        """What the page gets of a message."""
        history = json.loads(await read(self.page, "/history"))
        return next(dict(one) for one in history["entries"] if one["text"] == text)

    async def outcome(self) -> str:
        """What became of the use of the skill."""

        def look(connection: Connection) -> str:
            sql = "SELECT outcome FROM skill_uses JOIN skills ON skills.id = skill_id"
            row = connection.execute(f"{sql} WHERE name = 'tidy'").fetchone()
            return str(row[0])

        return await self.setup.served.gateway.database.read(look)


@pytest.fixture
async def swept(home: Path) -> AsyncIterator[Swept]:
    write_skill(home / "skills", "tidy")
    chat, model = FakeChat(limit=100_000), Doer()
    async with (
        served(home, adapters={"fake": chat}, model=model) as running,
        browse_as(running, chat, ZEBRANA) as page,
    ):
        model.plays = [READ, say("Swept."), say("A heron.")]
        for words, answer in (("tidy up", "Swept."), ("Which bird?", "A heron.")):
            await chat.says(words, user=ZEBRANA, chat=ZEBRANA, name="Z", id=words)
            await chat.sees_text(answer)
            await until(lambda: is_settled(running.gateway))
        yield Swept(Setup(running, chat, model, home, "", ""), page)


async def judge(page: aiohttp.ClientSession, turn: int, verdict: str) -> tuple[int, str]:
    async with page.post("/verdicts", json={"id": turn, "verdict": verdict}) as answer:
        return answer.status, await answer.text()


async def test_a_thumb_on_the_page_counts_until_it_is_taken_back(swept: Swept) -> None:
    shown = await swept.find("Swept.")
    assert (shown["verdict"], await swept.outcome()) == ("none", "done")
    for verdict, outcome in (
        ("good", "liked"),
        ("bad", "disliked"),
        ("bad", "disliked"),
        ("none", "done"),
        ("none", "done"),
        ("good", "liked"),
    ):
        status, text = await judge(swept.page, shown["turn"], verdict)
        assert (status, json.loads(text)) == (200, {"verdict": verdict})
        assert ((await swept.find("Swept."))["verdict"], await swept.outcome()) == (
            verdict,
            outcome,
        )


async def test_the_page_shows_and_takes_back_a_reaction_of_the_chat(swept: Swept) -> None:
    chat, turn = swept.setup.chat, (await swept.find("Swept."))["turn"]
    message = await chat.sees_text("Swept.")

    async def react(sign: str, *, is_on: bool) -> None:
        await chat.reacts(sign, message.id, is_on=is_on, user=ZEBRANA, chat=ZEBRANA)
        await until(lambda: is_settled(swept.setup.served.gateway))

    await react("🎉", is_on=True)
    assert ((await swept.find("Swept."))["verdict"], await swept.outcome()) == ("good", "liked")
    await judge(swept.page, turn, "none")
    assert ((await swept.find("Swept."))["verdict"], await swept.outcome()) == ("none", "done")
    # The sign still stands in the chat, but says nothing any more; a new one does.
    await react("🎉", is_on=False)
    assert await swept.outcome() == "done"
    await judge(swept.page, turn, "good")
    await react("👎", is_on=True)
    assert ((await swept.find("Swept."))["verdict"], await swept.outcome()) == ("bad", "disliked")


async def test_only_the_person_judges_and_only_an_answer_by_a_skill(swept: Swept) -> None:
    turn, bird = (await swept.find("Swept."))["turn"], await swept.find("A heron.")
    assert [(await swept.find(words))["verdict"] for words in ("tidy up", "A heron.")] == [None] * 2
    refused = (409, "Only an answer that was made with a skill can be judged.\n")
    assert await judge(swept.page, bird["turn"], "good") == refused
    assert await judge(swept.page, 2**70, "good") == refused
    running, chat = swept.setup.served, swept.setup.chat
    async with browse_as(running, chat, OLGA) as other:
        assert await judge(other, turn, "bad") == refused
    async with open_browser(running) as stranger:
        assert (await judge(stranger, turn, "bad"))[0] == 401
    assert await swept.outcome() == "done"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[1]", 400),
        (b"\xff", 400),
        (b'{"verdict": "good"}', 409),
        (b'{"id": 1, "verdict": "great"}', 409),
        (b'{"id": 1, "verdict": "good", "more": 1}', 409),
        (b"[" * 200, 400),
        (b"[" * 201, 413),
    ],
)
async def test_a_wrong_request_is_refused(swept: Swept, body: bytes, status: int) -> None:
    async with swept.page.post("/verdicts", data=body) as answer:
        assert answer.status == status
    assert await swept.outcome() == "done"


async def test_a_program_judges_as_the_page_does(swept: Swept) -> None:
    setup, shown = swept.setup, await swept.find("Swept.")
    tokens = [await make_token(setup.home, slug, "manage") for slug in ("zebrana", "olga")]
    path = f"{setup.served.address.origin()}/api/turns/{shown['turn']}/verdict"
    async with aiohttp.ClientSession() as session:
        for token, expected in zip(tokens, (200, 409), strict=True):
            head = {"Authorization": f"Bearer {token}"}
            async with session.put(path, json={"verdict": "bad"}, headers=head) as answer:
                assert answer.status == expected
    assert ((await swept.find("Swept."))["verdict"], await swept.outcome()) == ("bad", "disliked")
