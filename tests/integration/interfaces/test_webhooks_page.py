"""The page about outgoing webhooks: forms, deliveries, secrets, and what comes back."""

import html
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.emulators.receiver import Plan, Receiver
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel
from tests.integration.interfaces.api_setup import OLGA, ZEBRANA
from tests.integration.interfaces.console_setup import browse_as
from tests.integration.served import served

Form = list[tuple[str, str]]


@pytest.fixture
def home(filled: Path, tmp_path: Path) -> Path:
    made = Path(shutil.copytree(filled, tmp_path / "home"))
    with (made / "config.toml").open("a") as file:
        file.write('[webhooks]\nallow_hosts = ["127.0.0.1"]\nper_person = 2\n')
    return made


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as one:
        yield one


async def send(session: aiohttp.ClientSession, path: str, form: Form = []) -> tuple[int, str]:  # noqa: B006
    """Send a form; the status and the page that follows."""
    async with session.post(path, data=form) as answer:
        return answer.status, html.unescape(await answer.text())


async def read(session: aiohttp.ClientSession) -> str:
    async with session.get("/webhooks") as answer:
        assert answer.status == 200
        return html.unescape(await answer.text())


def find_secret(text: str) -> str:
    found = re.search(r"<code>(whsec_[^<]+)</code>", text)
    assert found is not None
    return found[1]


def form_of(name: str, url: str, *kinds: str) -> Form:
    return [("name", name), ("url", url), *(("kinds", kind) for kind in kinds)]


async def test_a_webhook_is_added_tested_changed_and_gets_a_new_secret(
    home: Path, receiver: Receiver
) -> None:
    chat = FakeChat(limit=100_000)
    async with (
        served(home, adapters={"fake": chat}, model=FakeModel()) as running,
        browse_as(running, chat, ZEBRANA) as session,
    ):
        async with session.get("/settings") as answer:
            assert 'href="/webhooks"' in await answer.text()
        assert "No webhooks yet." in await read(session)
        status, text = await send(
            session, "/webhooks/add", form_of("ends", receiver.url, "turn.ended")
        )
        assert status == 200
        secret = find_secret(text)
        assert secret not in await read(session)
        receiver.answer(Plan(500), Plan(204))
        status, text = await send(session, "/webhooks/1/test")
        (tested,) = await receiver.gets(1)
        tested.verify(secret)
        text = ""
        while "it answers with status 500" not in text:
            text = await read(session)
        assert "a test event · waits · 1 attempt" in text
        assert "The last attempt failed" in text
        await send(session, "/webhooks/1/deliveries/1/redeliver")
        await receiver.gets(2)
        while "a test event · sent" not in text:
            text = await read(session)

        changed = form_of("all", receiver.url + "/new", "turn.started", "memory.changed")
        status, text = await send(session, "/webhooks/1/change", changed)
        assert (status, "The webhook “ends” has been changed." in text) == (200, True)
        assert "a request has started, memory has changed" in text
        status, text = await send(
            session, "/webhooks/1/change", form_of("ends", receiver.url, "turn.ended")
        )
        assert f"<dd>{receiver.url}</dd>" in text

        status, text = await send(session, "/webhooks/1/rotate")
        fresh = find_secret(text)
        assert "Events are signed with the former secret, too, until" in text
        await send(session, "/webhooks/1/test")
        for key in (secret, fresh):
            (await receiver.gets(3))[2].verify(key)
        status, text = await send(session, "/webhooks/1/pause")
        assert "<dd>paused" in text
        status, text = await send(session, "/webhooks/1/test")
        assert (status, "is not active; resume it" in text) == (409, True)
        status, text = await send(session, "/webhooks/1/resume")
        assert "<dd>active" in text


async def test_a_removed_webhook_comes_back_after_a_restart(home: Path, receiver: Receiver) -> None:
    chat = FakeChat(limit=100_000)
    async with (
        served(home, adapters={"fake": chat}, model=FakeModel()) as running,
        browse_as(running, chat, ZEBRANA) as session,
    ):
        for name in ("first", "second"):
            await send(session, "/webhooks/add", form_of(name, receiver.url, "turn.ended"))
        status, text = await send(session, "/webhooks/1/remove")
        assert status == 200
        assert "first" in text.partition('id="removed"')[2]
        assert (await send(session, "/webhooks/1/pause"))[0] == 404
    async with served(home, adapters={"fake": chat}, model=FakeModel()) as running:
        async with browse_as(running, chat, OLGA) as session:
            for path in ("1/restore", "2/pause", "2/rotate", "2/remove", "2/test", "2/change"):
                status, text = await send(session, f"/webhooks/{path}", form_of("x", receiver.url))
                assert (status, "second" in text) == (404, False), path
        async with browse_as(running, chat, ZEBRANA) as session:
            await send(session, "/webhooks/add", form_of("third", receiver.url, "turn.ended"))
            status, text = await send(session, "/webhooks/1/restore")
            assert (status, "no more are allowed" in text) == (409, True)
            await send(session, "/webhooks/3/remove")
            status, text = await send(session, "/webhooks/1/restore")
            assert status == 200
            assert 'id="webhook-1"' in text
            await send(session, "/webhooks/1/test")
            await receiver.gets(1)
            for _ in range(6):
                await send(session, "/webhooks/1/remove")
                await send(session, "/webhooks/1/restore")
            assert (await send(session, "/webhooks/1/restore"))[0] == 404


async def test_a_refusal_is_in_the_language_of_its_reader(home: Path, receiver: Receiver) -> None:
    chat = FakeChat(limit=100_000)
    async with (
        served(home, adapters={"fake": chat}, model=FakeModel()) as running,
        browse_as(running, chat, ZEBRANA) as session,
    ):
        assert (await send(session, "/settings", {"language": "de", "shown": "language"}))[0] == 200
        for name in ("first", "second"):
            await send(session, "/webhooks/add", form_of(name, receiver.url, "turn.ended"))
        for path, form, words in (
            ("1/resume", form_of("x", receiver.url), "Der Webhook „first“ ist schon aktiv."),
            ("add", form_of("-", receiver.url, "turn.ended"), "Der Name eines Webhooks hat"),
            ("add", form_of("x", "http://10.0.0.1/", "turn.ended"), "Sie muss mit https://"),
            ("add", form_of("x", receiver.url, "turn.ended"), "mehr sind nicht erlaubt"),
        ):
            status, text = await send(session, f"/webhooks/{path}", form)
            assert (status >= 400, words in text) == (True, True), (path, text)


@pytest.mark.parametrize(
    ("name", "url", "kinds", "words"),
    [
        ("x", "http://10.0.0.1/", ("turn.ended",), "it must begin with https://"),
        ("-", "https://a.example/", ("turn.ended",), "The name of a webhook has at most"),
        ("x", "https://a.example/", (), "Choose at least one event."),
        ("x", "https://a.example/", ("turn.eaten",), "There are no events turn.eaten"),
    ],
    ids=["address", "name", "none", "unknown"],
)
async def test_a_refused_webhook_says_why_and_keeps_its_fields(
    home: Path, name: str, url: str, kinds: tuple[str, ...], words: str
) -> None:
    chat = FakeChat(limit=100_000)
    async with (
        served(home, adapters={"fake": chat}, model=FakeModel()) as running,
        browse_as(running, chat, ZEBRANA) as session,
    ):
        status, text = await send(session, "/webhooks/add", form_of(name, url, *kinds))
        assert (status, words in text) == (422, True)
        assert f'value="{url}"' in text
        assert "No webhooks yet." in text
        await send(session, "/webhooks/add", form_of("good", "https://b.example/", "turn.ended"))
        status, text = await send(session, "/webhooks/1/change", form_of(name, url, *kinds))
        assert (status, words in text) == (422, True)
        assert "https://b.example/" in text
