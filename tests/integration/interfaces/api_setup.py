"""A gateway with two people, and a token of the API for each."""

import asyncio
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from agent_core.chats import Chat
from agent_core.ids import QuestionId
from agent_core.state.conversations import questions
from agent_core.state.conversations.questions import Choice, NewQuestion, QuestionKind
from agent_core.state.engine.database import Connection
from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.interfaces import client
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel
from tests.integration.served import Served
from tests.patience import PATIENCE

OLGA, ZEBRANA = "4711001", "4711002"


async def make_token(home: Path, slug: str, scope: str = "api", name: str = "laptop") -> str:
    asked = {"name": f"{name} {scope}", "person": slug, "scope": scope}
    return str((await asyncio.to_thread(client.ask, home, "tokens.create", asked))["secret"])


@dataclass
class Setup:
    """A gateway in which Olga (an owner) and Zebrana have talked, with a key for each."""

    served: Served
    chat: FakeChat
    model: FakeModel
    home: Path
    olga: str
    zebrana: str

    @property
    def url(self) -> str:
        return str((self.served.address / "v1").with_query(None))

    def connect(self, key: str) -> Any:
        openai = pytest.importorskip("openai")
        return openai.AsyncOpenAI(api_key=key, base_url=self.url, max_retries=0, timeout=PATIENCE)

    async def post(self, path: str, key: str, body: object, **headers: str) -> tuple[int, Any]:
        head = {"Authorization": f"Bearer {key}", "Content-Type": "application/json", **headers}
        data = io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{self.url}/{path}", data=data, headers=head) as answer,
        ):
            return answer.status, json.loads(await answer.read())


def chat_of(*words: str) -> dict[str, object]:
    return {"model": "talaria", "messages": [{"role": "user", "content": one} for one in words]}


async def read(setup: Setup, key: str, path: str, **headers: str) -> tuple[int, str, str]:
    """The status, the body and the tag of a resource."""
    url = f"{setup.served.address.origin()}{path}"
    head = {"Authorization": f"Bearer {key}", **headers}
    async with aiohttp.ClientSession() as session, session.get(url, headers=head) as answer:
        return answer.status, await answer.text(), answer.headers.get("ETag", "")


async def read_spec(running: Served) -> dict[str, Any]:
    """The description of the API."""
    url = f"{running.address.origin()}/api/openapi.json"
    head = {"Authorization": f"Bearer {running.token}"}
    async with aiohttp.ClientSession() as session, session.get(url, headers=head) as answer:
        spec: dict[str, Any] = json.loads(await answer.text())
        return spec


async def find_named(setup: Setup, slug: str) -> Person:
    """The person with this folder."""
    everybody = await setup.served.gateway.database.read(people.list_all)
    return next(one for one in everybody if one.slug == slug)


def ask_about_tea(
    connection: Connection, person: Person, now: int, kind: QuestionKind = "choice"
) -> QuestionId:
    """Ask somebody in their direct chat; the id of the question."""
    new = NewQuestion(
        person_id=person.id,
        kind=kind,
        text="Tea?",
        choices=(Choice(key="yes", label="Yes"), Choice(key="no", label="No")),
        secret="00000000",
        chat=Chat(platform="fake", address='["1",null,true]'),
        expires_at=now + 1_000_000,
    )
    return questions.ask(connection, new, now=now).id
