"""A model of this machine: what a start, a setup and `talaria models local` say and save."""

import asyncio
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent_core.models.local.servers import USUAL_PORTS, Choice, LocalModel, LocalServer
from gateway.app.local_models import decide, list_ports
from gateway.app.settings import load
from gateway.interfaces.cli.setup.local_models import describe_discovery
from tests.emulators.local_servers import Json, LocalServerEmulator, llama_cpp, ollama
from tests.integration.processes import environ, free_port, talaria_beside
from tests.journeys.terminal import at_terminal

TOOLS = ["completion", "tools"]


def searching(port: int) -> dict[str, str]:
    return {
        "TALARIA_MODEL__FIND_LOCAL": "true",
        "TALARIA_MODEL__LOCAL_PORTS": str(port),
        "TALARIA_HTTP__PORT": str(free_port()),
    }


def server(
    *, is_trusted: bool = True, owner: str | None = "ada", tools: bool = True
) -> LocalServer:
    model = LocalModel(name="qwen3:8b", calls_tools=tools)
    return LocalServer(
        kind="ollama", port=11434, models=(model,), owner=owner, is_trusted=is_trusted
    )


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ((), []),
        ((server(),), ["Found Ollama", "No model key is set, so qwen3:8b of Ollama answers."]),
        ((server(is_trusted=False),), ["Found Ollama", "belongs to ada, who could read"]),
        ((server(is_trusted=False, owner=None),), ["Found Ollama", "does not tell whose"]),
        ((server(tools=False),), ["Found Ollama", "None of its models can call tools"]),
    ],
)
def test_a_start_says_what_it_found(found: tuple[LocalServer, ...], said: list[str]) -> None:
    lines = list(describe_discovery(decide(found)))
    assert len(lines) == len(said)
    assert all(part in line for part, line in zip(said, lines, strict=True))


def test_a_server_that_needs_no_yes_comes_first() -> None:
    small = LocalServer(
        kind="vllm",
        port=8000,
        models=(LocalModel(name="small-1b", billions=1.0),),
        owner="root",
        is_trusted=True,
    )
    discovery = decide((server(is_trusted=False), small))
    assert discovery.choice == Choice(server=small, model=small.models[0])
    assert not discovery.needs_yes


@pytest.mark.parametrize(
    ("given", "searches"),
    [
        ({}, True),
        ({"TALARIA_MODEL__PROVIDER": "auto"}, True),
        ({"TALARIA_MODEL__PROVIDER": "scripted"}, False),
        ({"TALARIA_MODEL__NAME": "qwen3:8b"}, False),
        ({"ANTHROPIC_API_KEY": "key"}, False),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, False),
    ],
)
def test_only_a_home_without_a_model_searches(
    tmp_path: Path, given: Mapping[str, str], searches: bool
) -> None:
    assert load({"TALARIA_HOME": str(tmp_path), **given}).has_no_model is searches


def read_model(home: Path) -> tuple[Json, str]:
    config = tomllib.loads(home.joinpath("config.toml").read_text())
    return config["model"], home.joinpath(".env").read_text()


async def test_models_are_listed_downloaded_and_chosen(tmp_path: Path) -> None:
    home = tmp_path / "home"
    routes = ollama(qwen3__8b=TOOLS, gemma2__9b=["completion"])
    pulls: list[Json | int] = [{"status": "pulling manifest"}, {"status": "success"}]
    routes["/v1/models/qwen3:8b"] = {"id": "qwen3:8b", "object": "model"}
    async with LocalServerEmulator(routes, pulls=pulls) as emulator:
        given = searching(emulator.port)
        listed = await talaria_beside(home, "models", "local", "list", **given)
        pulled = await talaria_beside(home, "models", "local", "pull", "qwen3:4b", **given)
        missing = await talaria_beside(home, "models", "local", "use", "nothing", **given)
        used = await talaria_beside(home, "models", "local", "use", **given)
    assert "qwen3:8b: calls tools, 8 billion parameters, 5.2 GB  (the best here)" in listed.out
    assert "gemma2:9b: calls no tools" in listed.out
    assert "qwen3:4b is here." in pulled.out
    assert (missing.code, "There is no model nothing here." in missing.err) == (1, True)
    assert "qwen3:8b of Ollama is ready." in used.out
    model, saved = read_model(home)
    assert model == {"provider": "openai", "name": "qwen3:8b"}
    assert f"OPENAI_BASE_URL={emulator.url}/v1" in saved


async def test_without_a_server_the_commands_say_how_to_get_one(tmp_path: Path) -> None:
    given = searching(9)
    for words in (("list",), ("use",)):
        done = await talaria_beside(tmp_path / "home", "models", "local", *words, **given)
        assert "No model server answers on this machine." in done.out + done.err
    pulled = await talaria_beside(tmp_path / "home", "models", "local", "pull", "x", **given)
    assert "Models are downloaded by Ollama" in pulled.err


@pytest.mark.parametrize(("switch", "model"), [("true", "qwen2.5-coder-1.5b"), ("false", "")])
async def test_an_unasked_setup_uses_what_is_there(tmp_path: Path, switch: str, model: str) -> None:
    home = tmp_path / "home"
    async with LocalServerEmulator(llama_cpp(caps={"supports_tools": True})) as emulator:
        given = {**searching(emulator.port), "TALARIA_MODEL__FIND_LOCAL": switch}
        done = await talaria_beside(home, "setup", "--non-interactive", "model", **given)
    assert done.code == 0, done.err
    if model:
        assert f"Found llama.cpp at 127.0.0.1:{emulator.port}" in done.out
        assert read_model(home)[0] == {"provider": "openai", "name": model}
    else:
        assert "a stand-in answers" in done.out
        assert not emulator.asked


OTHER: dict[str, Json] = {"/v1/models": {"object": "list", "data": [{"id": "some-7b"}]}}


@pytest.mark.parametrize(("answer", "uses"), [("y", True), ("n", False)])
async def test_a_start_asks_about_a_server_that_nobody_knows(
    tmp_path: Path, answer: str, uses: bool
) -> None:
    """The answer is kept: the next start asks no more."""
    home = tmp_path / "home"
    home.mkdir()
    home.joinpath("config.toml").write_text("")

    def start(port: int) -> None:
        with at_terminal(environ(home, **searching(port)), "run") as terminal:
            terminal.wait_for("nobody knows what kind of server it is")
            terminal.wait_for("Send what people write to a server with OpenAI's API")
            terminal.type(f"{answer}\n")
            terminal.wait_for("Ready")
            terminal.type("\x03")
            terminal.wait_for("$")

    async with LocalServerEmulator(OTHER) as emulator:
        await asyncio.to_thread(start, emulator.port)
    model = tomllib.loads(home.joinpath("config.toml").read_text())["model"]
    assert model == ({"provider": "openai", "name": "some-7b"} if uses else {"find_local": False})


async def test_a_start_asks_nobody_without_a_terminal(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with LocalServerEmulator(OTHER) as emulator:
        given = searching(emulator.port)
        done = await talaria_beside(home, "setup", "--non-interactive", "model", **given)
    assert "To use it, run `talaria models local use`." in done.out
    assert "a stand-in answers" in done.out


async def test_a_chat_that_starts_a_gateway_uses_what_is_here(tmp_path: Path) -> None:
    """In a pipe, only answers are on standard output."""
    async with LocalServerEmulator(llama_cpp(caps={"supports_tools": True})) as emulator:
        done = await talaria_beside(tmp_path / "home", "chat", **searching(emulator.port))
    assert "so qwen2.5-coder-1.5b of llama.cpp answers" in done.err
    assert (done.code, done.out) == (0, "")


async def test_a_proxy_at_localhost_is_no_model_of_this_machine(tmp_path: Path) -> None:
    async with LocalServerEmulator(OTHER) as emulator:
        given = {
            "TALARIA_MODEL__PROVIDER": "openai",
            "TALARIA_MODEL__NAME": "some-7b",
            "OPENAI_BASE_URL": f"{emulator.url}/v1",
        }
        before = await talaria_beside(tmp_path / "home", "doctor", **given)
        after = await talaria_beside(
            tmp_path / "home", "doctor", **given, TALARIA_MODEL__RUNS_HERE="false"
        )
    assert "gets one request at a time" in before.out
    assert "Set model.runs_here to false" in before.out
    assert "gets one request at a time" not in after.out
    assert "review conversations" not in after.out


async def test_a_setup_offers_what_is_here_first(tmp_path: Path) -> None:
    home = tmp_path / "home"

    def set_up(port: int) -> None:
        with at_terminal(environ(home, **searching(port)), "setup", "model") as terminal:
            terminal.wait_for("1  qwen2.5-coder-1.5b of llama.cpp, run by .*, without a key")
            terminal.type("\n")
            terminal.wait_for("qwen2.5-coder-1.5b of llama.cpp is ready")
            terminal.wait_for("Settings are in")

    async with LocalServerEmulator(llama_cpp(caps={"supports_tools": True})) as emulator:
        await asyncio.to_thread(set_up, emulator.port)
    assert read_model(home)[0] == {"provider": "openai", "name": "qwen2.5-coder-1.5b"}


@pytest.mark.thorough
async def test_all_find_a_busy_server(tmp_path: Path) -> None:
    """On 2026-11-30, a setup and the list found nothing, but doctor did."""
    home = tmp_path / "home"
    routes = llama_cpp(caps={"supports_tools": True})
    async with LocalServerEmulator(routes, latency=2) as emulator:
        given = searching(emulator.port)
        doctor = await talaria_beside(home, "doctor", **given)
        listed = await talaria_beside(home, "models", "local", "list", **given)
        set_up = await talaria_beside(home, "setup", "--non-interactive", "model", **given)
    assert "qwen2.5-coder-1.5b of llama.cpp is on this machine" in doctor.out
    assert "qwen2.5-coder-1.5b: calls tools" in listed.out
    assert f"Found llama.cpp at 127.0.0.1:{emulator.port}" in set_up.out


def test_the_server_in_use_is_looked_at_and_chosen_ports_are_kept(tmp_path: Path) -> None:
    home = {"TALARIA_HOME": str(tmp_path), "OPENAI_BASE_URL": "http://127.0.0.1:18081/v1"}
    model = {"TALARIA_MODEL__PROVIDER": "openai", "TALARIA_MODEL__NAME": "qwen3:8b"}
    usual = list_ports(load(home | model))
    assert usual[: len(USUAL_PORTS)] == USUAL_PORTS
    assert 18081 in usual
    chosen = {"TALARIA_MODEL__LOCAL_PORTS": "1, 2"}
    assert list_ports(load(home | model | chosen)) == (1, 2, 18081)
    assert list_ports(load({"TALARIA_HOME": str(tmp_path), **chosen})) == (1, 2)


async def test_doctor_tells_what_a_start_would_use_and_how(tmp_path: Path) -> None:
    home = tmp_path / "home"
    routes = llama_cpp(caps={"supports_tools": True})
    routes["/props"]["default_generation_settings"]["n_ctx"] = 4096
    async with LocalServerEmulator(routes) as emulator:
        given = searching(emulator.port)
        before = await talaria_beside(home, "doctor", **given)
        await talaria_beside(home, "models", "local", "use", **given)
        after = await talaria_beside(home, "doctor", **given)
        twice = await talaria_beside(home, "doctor", **given, TALARIA_MODEL__LOCAL_AT_ONCE="2")
    assert "qwen2.5-coder-1.5b of llama.cpp is on this machine" in before.out
    assert "the next start uses it" in before.out
    assert "gets one request at a time, people before background work" in after.out
    assert "llama.cpp reads only 4,096 tokens of qwen2.5-coder-1.5b" in after.out
    assert "once gave one person the other's answer" in twice.out


async def test_a_start_uses_what_is_there_and_writes_nothing_down(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.joinpath("config.toml").write_text("")

    def start(port: int) -> None:
        with at_terminal(environ(home, **searching(port)), "run") as terminal:
            terminal.wait_for("so qwen2.5-coder-1.5b of llama.cpp answers")
            terminal.wait_for("openai: qwen2.5-coder-1.5b")
            terminal.wait_for("Ready")
            terminal.type("\x03")
            terminal.wait_for("$")

    async with LocalServerEmulator(llama_cpp(caps={"supports_tools": True})) as emulator:
        await asyncio.to_thread(start, emulator.port)
    assert home.joinpath("config.toml").read_text() == ""
    assert not home.joinpath(".env").exists()
