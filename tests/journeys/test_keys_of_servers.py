"""A key goes to no other server than the one that it was given for, whatever is set up."""

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from gateway.interfaces.model_connection import (
    ADDRESS,
    KEY,
    ModelWish,
    load_trial,
    sends_key_elsewhere,
)
from tests.emulators.local_servers import ollama
from tests.emulators.openai import OpenAIEmulator
from tests.integration.processes import environ
from tests.journeys.terminal import Terminal, at_terminal

SAVED = "sk-saved-key-of-another-server"
MODEL = "qwen3:8b"


class Listener(OpenAIEmulator):
    """A server of OpenAI's API and of Ollama's that keeps the keys it is sent."""

    def __init__(self) -> None:
        super().__init__(models=(MODEL,))
        self.keys: list[str] = []
        self.local = ollama(qwen3__8b=["completion", "tools"])

    async def respond(self, request: web.BaseRequest) -> web.StreamResponse:
        self.keys.append(request.headers.get("Authorization", ""))
        if request.path in self.local:
            return web.json_response(self.local[request.path])
        return await super().respond(request)


@pytest.mark.parametrize(
    ("present", "change", "is_elsewhere"),
    [
        ({}, {ADDRESS: "http://a/v1"}, False),
        ({KEY: "k"}, {}, False),
        ({KEY: "k"}, {ADDRESS: "http://a/v1"}, True),
        ({KEY: "k"}, {ADDRESS: "http://a/v1", KEY: "new"}, False),
        ({KEY: "k", ADDRESS: "http://a/v1"}, {ADDRESS: "http://a/v1/"}, False),
        ({KEY: "k", ADDRESS: "http://a/v1"}, {}, False),
        ({KEY: "k", ADDRESS: "http://a/v1"}, {ADDRESS: "http://b/v1"}, True),
        ({KEY: "k", ADDRESS: "http://a/v1"}, {ADDRESS: ""}, True),
        ({KEY: "k", ADDRESS: "http://a/v1"}, {ADDRESS: "", KEY: "new"}, False),
    ],
)
def test_a_change_of_the_server_needs_a_key_of_its_own(
    present: dict[str, str], change: dict[str, str], is_elsewhere: bool
) -> None:
    assert sends_key_elsewhere(present, change) is is_elsewhere


@pytest.mark.parametrize(
    ("secrets", "key", "address"),
    [
        ({ADDRESS: "", KEY: "new"}, "new", None),
        ({ADDRESS: "http://b/v1", KEY: ""}, None, "http://b/v1"),
        ({}, SAVED, "http://a/v1"),
    ],
)
def test_a_trial_has_nothing_of_the_saved_file_that_the_wish_removes(
    tmp_path: Path, secrets: dict[str, str], key: str | None, address: str | None
) -> None:
    (tmp_path / ".env").write_text(f"{KEY}={SAVED}\n{ADDRESS}=http://a/v1\n")
    present = {"TALARIA_HOME": str(tmp_path), KEY: SAVED, ADDRESS: "http://a/v1"}
    found = load_trial(present, ModelWish(provider="openai", secrets=secrets)).secrets
    assert (found.openai_api_key, found.openai_base_url) == (key, address)


def name_server(terminal: Terminal, address: str) -> None:
    """Choose another server in the setup, and give it no key."""
    row = terminal.wait_for(r"(\d)  Another server")
    terminal.wait_for(r"Choose \[1\]")
    terminal.type(f"{row[1]}\n")
    terminal.wait_for("Its address")
    terminal.type(f"{address}\n")
    terminal.wait_for("leave this empty if it needs none")
    terminal.type("\n")


async def test_the_setup_asks_before_a_key_goes_and_sends_it_nowhere(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".env").write_text(f"{KEY}={SAVED}\n")
    given = environ(home, TALARIA_MODEL__LOCAL_PORTS="")

    def dialogue(address: str) -> None:
        with at_terminal(given | {KEY: "sk-from-outside"}, "setup", "model") as terminal:
            name_server(terminal, address)
            terminal.wait_for("Remove it there first")
            terminal.wait_for(r"Choose \[1\]")
            assert terminal.leave() == 2
        with at_terminal(given, "setup", "model") as terminal:
            name_server(terminal, address)
            terminal.wait_for("The key in .env is for another server. Remove it")
            terminal.type("n\n")
            terminal.wait_for("Nothing is changed")
            assert SAVED in (home / ".env").read_text()
            name_server(terminal, address)
            terminal.wait_for("Remove it")
            terminal.type("y\n")
            terminal.wait_for("model's name")
            terminal.type("\n")
            terminal.wait_for("is ready")
        saved = (home / ".env").read_text()
        assert SAVED not in saved
        (home / ".env").write_text(saved.replace(f"{KEY}=", f"{KEY}={SAVED}"))
        with at_terminal(given, "setup", "model") as terminal:
            row = terminal.wait_for(r"(\d)  GPT")
            terminal.wait_for(r"Choose \[1\]")
            terminal.type(f"{row[1]}\n")
            terminal.wait_for(r"not shown\): $")
            terminal.type("\n")
            terminal.wait_for("The present key is for another server. OpenAI needs")
            terminal.wait_for(r"Choose \[1\]")
            assert terminal.leave() == 2

    async with Listener() as server:
        await asyncio.to_thread(dialogue, server.base_url)
    assert server.keys
    assert not [one for one in server.keys if SAVED in one or "outside" in one]


async def test_a_local_model_gets_no_key_of_another_server(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".env").write_text(f"{KEY}={SAVED}\n")

    def dialogue(port: int) -> None:
        given = environ(home, TALARIA_MODEL__LOCAL_PORTS=str(port))
        for answer, said in (("n", "Nothing is changed"), ("y", "is ready")):
            with at_terminal(given, "models", "local", "use", MODEL) as terminal:
                terminal.wait_for("The key in .env is for another server. Remove it")
                terminal.type(f"{answer}\n")
                terminal.wait_for(said)

    async with Listener() as server:
        await asyncio.to_thread(dialogue, server.port)
    assert server.keys
    assert not [one for one in server.keys if SAVED in one]
    assert SAVED not in (home / ".env").read_text()
