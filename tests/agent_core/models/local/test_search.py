"""The search for model servers: their kinds, their models, their owners, bad servers, time."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path

import pytest

from agent_core.models.local.kinds import read_server
from agent_core.models.local.owners import find_owners, find_ports
from agent_core.models.local.search import find_servers
from agent_core.models.local.servers import (
    USUAL_PORTS,
    LocalModel,
    LocalServer,
    choose,
    is_loopback,
    read_billions,
)
from tests.emulators.local_servers import (
    LM_STUDIO_UNKNOWN,
    Json,
    LocalServerEmulator,
    llama_cpp,
    lm_studio,
    ollama,
    vllm,
)

PLENTY = 64_000_000_000


@asynccontextmanager
async def running(*servers: LocalServerEmulator) -> AsyncIterator[list[int]]:
    async with AsyncExitStack() as stack:
        for one in servers:
            await stack.enter_async_context(one)
        yield [one.port for one in servers]


async def test_each_kind_is_known_by_its_own_api() -> None:
    servers = (
        LocalServerEmulator(ollama(qwen3__8b=["completion", "tools"], gemma2__9b=["completion"])),
        LocalServerEmulator(lm_studio(), unknown=LM_STUDIO_UNKNOWN),
        LocalServerEmulator(llama_cpp(caps={"supports_tools": True})),
        LocalServerEmulator(vllm()),
        LocalServerEmulator({"/v1/models": {"object": "list", "data": [{"id": "m"}]}}),
        LocalServerEmulator({"/version": {"version": "1"}, "/api/version": {"version": "1"}}),
    )
    async with running(*servers) as ports:
        found = await find_servers(ports, seconds=20)
    assert [one.kind for one in found] == ["ollama", "lm_studio", "llama_cpp", "vllm", "other"]
    big, small = found[0].models
    assert (big.name, big.calls_tools, big.billions) == ("qwen3:8b", True, 8.0)
    assert (small.name, small.calls_tools) == ("gemma2:9b", False)
    assert found[1].models == (
        LocalModel(name="qwen2.5-7b-instruct", calls_tools=True, billions=7.0, window=8192),
        LocalModel(name="gemma-2-9b-it", calls_tools=None, billions=9.0),
    )
    (coder,) = found[2].models
    assert (coder.calls_tools, coder.window, coder.weight) == (True, 8192, 1_060_000_000)
    assert found[3].models == (LocalModel(name="Qwen/Qwen3-8B", billions=8.0, window=40960),)
    assert all(one.is_trusted and one.owner for one in found), "they are this very process"


@pytest.mark.parametrize(
    ("routes", "calls"),
    [
        (llama_cpp(caps={"supports_tools": False}, template="tools"), False),
        (llama_cpp(), True),
        (llama_cpp(template="{{ messages }}"), False),
        (llama_cpp(template=""), None),
    ],
)
def test_a_template_without_tools_calls_none(routes: dict[str, Json], calls: bool | None) -> None:
    read = read_server(routes)
    assert read
    assert [one.calls_tools for one in read[1]] == [calls]


def test_models_of_the_cloud_and_those_that_hold_no_conversation_are_left_out() -> None:
    routes = ollama(qwen3__4b=["completion", "tools"])
    tag = routes["/api/tags"]["models"][0]
    routes["/api/tags"]["models"] += [
        {**tag, "name": "gpt-oss:120b-cloud", "remote_host": "https://ollama.com:443"},
        {**tag, "name": "nomic-embed-text:latest"},
        {"name": 7},
    ]
    read = read_server(routes)
    assert read
    assert [one.name for one in read[1]] == ["qwen3:4b"]


async def test_an_older_ollama_tells_its_tools_by_the_template() -> None:
    server = LocalServerEmulator(ollama(a__7b=[], b__7b=[], c__7b=["embedding"]))
    server.routes["/api/show a:7b"] = {"template": "{{ if .Tools }}{{ end }}"}
    server.routes["/api/show b:7b"] = {"template": "{{ .Prompt }}"}
    async with running(server) as ports:
        (found,) = await find_servers(ports, seconds=20)
    assert [(one.name, one.calls_tools) for one in found.models] == [
        ("a:7b", True),
        ("b:7b", False),
    ]


async def test_silence_costs_a_second_at_most_and_hides_nobody() -> None:
    silent = LocalServerEmulator({}, silent=["/api/tags", "/props", "/v1/models", "/version"])
    half = LocalServerEmulator(vllm(), silent=["/props", "/api/ps"])
    slow = LocalServerEmulator(ollama(qwen3__8b=["completion", "tools"]), silent=["/api/show"])
    async with running(silent, half, slow) as ports:
        began = time.monotonic()
        found = await find_servers(ports)
        took = time.monotonic() - began
    assert [one.kind for one in found] == ["vllm", "ollama"]
    assert [one.calls_tools for one in found[1].models] == [None], "it could not say"
    assert took < 3, "a second, on a busy machine"


@pytest.mark.thorough
async def test_a_busy_server_has_time_for_its_first_answer() -> None:
    busy = LocalServerEmulator(llama_cpp(), latency=2, silent=["/api/ps"])
    async with running(busy) as ports:
        (found,) = await find_servers(ports)
    assert [one.name for one in found.models] == ["qwen2.5-coder-1.5b"]


async def test_anything_else_on_a_port_is_passed_over() -> None:
    async def chatter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example.org ESMTP\r\n")
        writer.close()

    odd: list[tuple[int, Json | str]] = [(200, "[" * 100_000), (200, "null"), (302, "moved")]
    servers = [LocalServerEmulator({}, unknown=one) for one in odd]
    lists: dict[str, Json] = {
        "/v1/models": {"data": [7, None, {"id": 7}]},
        "/api/tags": {"models": 7},
    }
    servers.append(LocalServerEmulator({**lists, "/api/version": {"version": 1}}))
    mail = await asyncio.start_server(chatter, "127.0.0.1", 0)
    async with running(*servers) as ports, mail:
        found = await find_servers([*ports, mail.sockets[0].getsockname()[1]], seconds=20)
    assert [(one.kind, one.models) for one in found] in ([], [("ollama", ())], [("other", ())])


async def test_nothing_but_loopback_is_asked_and_proxies_are_not_obeyed(
    monkeypatch: pytest.MonkeyPatch, contacts: list[tuple[object, ...]]
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:1")
    async with running(LocalServerEmulator(vllm())) as ports:
        assert len(await find_servers(ports, seconds=20)) == 1
    assert {one[0] for one in contacts} <= {"127.0.0.1"}


def test_no_test_can_reach_a_developers_server() -> None:
    """See `tests/conftest.py`: a contact to a usual port fails, and processes never search."""
    assert os.environ["TALARIA_MODEL__FIND_LOCAL"] == "false"
    assert {11434, 1234, 8080, 8000} <= set(USUAL_PORTS)


ROW = "   {n}: {local}:{port:04X} 00000000:0000 {state} 0:0 00:0 0 {uid} 0 {inode} 1 0 100\n"


def write_table(proc: Path, *rows: Mapping[str, object], table: str = "tcp") -> None:
    proc.joinpath("net").mkdir(exist_ok=True)
    lines = [ROW.format(n=n, **one) for n, one in enumerate(rows)]
    proc.joinpath("net", table).write_text("  sl  local_address\n" + "".join(lines))


def row(
    uid: int, *, local: str = "0100007F", port: int = 11434, state: str = "0A", inode: int = 1
) -> dict[str, object]:
    return {"uid": uid, "local": local, "port": port, "state": state, "inode": inode}


def test_every_owner_of_a_port_counts(tmp_path: Path) -> None:
    me = os.getuid()
    others = (
        row(9999, port=11435),
        row(9999, state="01"),
        row(9999, local="0200007F"),
    )
    write_table(tmp_path, row(me), row(0, local="00000000"), *others)
    assert find_owners(11434, tmp_path).uids == {me, 0}
    assert find_owners(11434, tmp_path).is_trusted
    write_table(tmp_path, row(9999, local="0" * 32, inode=2), table="tcp6")
    shared = find_owners(11434, tmp_path)
    assert not shared.is_trusted, "one of the processes there is of somebody else"
    assert shared.name == "number 9999"
    unknown = find_owners(11436, tmp_path)
    assert (unknown.is_trusted, unknown.name) == (False, None)
    assert not find_owners(11434, tmp_path / "macos").is_trusted


def test_the_process_counts_as_well_as_who_opened_the_port(tmp_path: Path) -> None:
    write_table(tmp_path, row(0, inode=77))
    folder = tmp_path / "123" / "fd"
    folder.mkdir(parents=True)
    folder.joinpath("3").symlink_to("socket:[77]")
    assert find_owners(11434, tmp_path).uids == {0, os.getuid()}


_LISTEN = """
import socket, sys
socket = socket.create_server(("127.0.0.1", 0))
print(socket.getsockname()[1], flush=True)
sys.stdin.read()
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whose a port is")
def test_a_program_that_serves_models_is_found_at_any_port() -> None:
    """On 2026-11-30, `llama-server --port 18081` was not found: it is no usual port."""
    commands = [
        ["/opt/llama.cpp/llama-server", "-c", _LISTEN],
        [sys.executable, "-c", _LISTEN, "vllm"],
        [sys.executable, "-c", _LISTEN],
    ]
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    words,
                    executable=sys.executable,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                )
            )
            for words in commands
        ]
        ports = [int(one.stdout.readline()) for one in processes if one.stdout]
        found = find_ports()
    assert [port in found for port in ports] == [True, False, False]
    assert not set(ports) & set(find_ports()), "they have ended"


def test_a_program_is_known_by_its_first_words(tmp_path: Path) -> None:
    write_table(tmp_path, *(row(0, port=port, inode=port) for port in (1, 2, 3, 4)))
    commands = ("python3 -m vllm.entrypoints.openai.api_server", "/usr/bin/Ollama serve")
    for number, words in enumerate((*commands, "grep -r x y ollama", "llama"), 1):
        folder = tmp_path / str(number)
        folder.joinpath("fd").mkdir(parents=True)
        folder.joinpath("fd", "3").symlink_to(f"socket:[{number}]")
        folder.joinpath("cmdline").write_text(words.replace(" ", "\0") + "\0")
    assert find_ports(tmp_path) == (1, 2)
    assert find_ports(tmp_path / "macos") == ()


def server(*models: LocalModel, port: int = 1) -> LocalServer:
    return LocalServer(kind="ollama", port=port, models=models)


def model(name: str, *, calls_tools: bool | None = True) -> LocalModel:
    return LocalModel(name=name, calls_tools=calls_tools, billions=read_billions(name))


@pytest.mark.parametrize(
    ("names", "memory", "chosen"),
    [
        ([model("a-4b"), model("b-8b"), model("c-70b", calls_tools=None)], PLENTY, "b-8b"),
        ([model("a-4b"), model("b-70b")], 16_000_000_000, "a-4b"),
        ([model("a-70b"), model("b-120b")], 16_000_000_000, "a-70b"),
        ([model("a-1b", calls_tools=None), model("b-9b", calls_tools=False)], PLENTY, "a-1b"),
        ([model("b-9b", calls_tools=False)], PLENTY, None),
        ([], PLENTY, None),
    ],
)
def test_tools_come_first_then_the_largest_that_fits(
    names: list[LocalModel], memory: int, chosen: str | None
) -> None:
    for one in (names, names[::-1]):
        choice = choose([server(*one)], memory)
        assert (choice and choice.model.name) == chosen


def test_sizes_are_read_from_names_and_addresses_from_text() -> None:
    assert [read_billions(one) for one in ("qwen3:0.6b", "7.6B", "Llama-3.1-8B-Instruct", "b")] == [
        0.6,
        7.6,
        8.0,
        None,
    ]
    assert is_loopback("http://localhost:11434/v1")
    assert is_loopback("http://[::1]:8080")
    assert is_loopback("http://127.8.8.8/v1")
    assert not is_loopback("http://127.0.0.1.example.org/v1")
    assert not is_loopback("http://192.168.1.2:11434/v1")
    assert not is_loopback("")
