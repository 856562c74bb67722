"""Speech becomes words: by a server, or by a program; and sentences where it does not."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from agent_core.execution.subprocesses.confinement import ScriptLimits
from gateway.app.credentials import Secrets
from gateway.app.media import make_transcriber
from gateway.app.tables import MediaSettings
from gateway.media.media_command import MediaCommand
from gateway.media.transcription import CommandTranscriber, NotHeard, ServerTranscriber
from gateway.texts import attachments
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.streaming import Fault

pytestmark = pytest.mark.process

VOICE = b"OggS" + bytes(2_000_000)


@pytest.fixture
async def api() -> AsyncIterator[OpenAIEmulator]:
    async with OpenAIEmulator(key="good-key") as api:
        yield api


def ears(
    api: OpenAIEmulator, *, key: str | None = "good-key", seconds: float = 5
) -> ServerTranscriber:
    return ServerTranscriber(
        address=f"{api.base_url}/", key=key, model="whisper-1", seconds=seconds
    )


LIMITS = ScriptLimits(memory=500_000_000, file=1_000_000, processes=10, has_network=False)


def program(
    script: str, *, seconds: float = 20, limits: ScriptLimits = LIMITS
) -> CommandTranscriber:
    words = (sys.executable, "-I", "-c", script, "--in={file}")
    return CommandTranscriber(command=run_by(words, seconds, limits))


def run_by(words: tuple[str, ...], seconds: float, limits: ScriptLimits = LIMITS) -> MediaCommand:
    return MediaCommand(
        words=words, environ={}, limits=limits, seconds=seconds, most_bytes=2_000_000
    )


async def sentence(ears: ServerTranscriber | CommandTranscriber) -> str:
    with pytest.raises(NotHeard) as caught:
        await ears.transcribe(VOICE, "audio/ogg")
    said = str(caught.value)
    assert said.endswith(".")
    assert "write" in said
    return said


async def test_a_server_is_sent_the_recording_and_gives_the_words(api: OpenAIEmulator) -> None:
    api.transcripts.append("  Buy milk. \n")
    assert await ears(api).transcribe(VOICE, "audio/ogg") == "Buy milk."
    (recording,) = api.recordings
    assert recording.data == VOICE
    assert (recording.name, recording.media_type) == ("voice.ogg", "audio/ogg")
    assert recording.model == "whisper-1"


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (401, "couldn't turn that recording into text"),
        (404, "couldn't turn that recording into text"),
        (413, "too long"),
        (429, "right now"),
        (503, "right now"),
        (400, "couldn't turn that recording into text"),
        (302, "couldn't turn that recording into text"),
        (200, "couldn't turn that recording into text"),
    ],
)
async def test_a_servers_refusal_becomes_a_sentence(
    api: OpenAIEmulator, status: int, why: str
) -> None:
    api.transcripts.append(Fault(status=status))
    assert why in await sentence(ears(api))


async def test_an_answer_nested_too_deeply_becomes_a_sentence() -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(text='{"text":' * 100_000, content_type="application/json")

    application = web.Application()
    application.router.add_post("/audio/transcriptions", answer)
    async with TestServer(application) as server:
        address = str(server.make_url(""))
        odd = ServerTranscriber(address=address, key=None, model="m", seconds=5)
        assert await sentence(odd) == attachments.UNHEARD_REFUSED()


async def test_a_wrong_key_is_reported(api: OpenAIEmulator) -> None:
    assert await sentence(ears(api, key="bad")) == attachments.UNHEARD_REFUSED()


async def test_a_missing_server_is_reported() -> None:
    nobody = ServerTranscriber(address="http://127.0.0.1:9/v1", key=None, model="m", seconds=5)
    assert await sentence(nobody) == attachments.UNHEARD_BUSY()


async def test_a_server_that_hangs_is_given_up(api: OpenAIEmulator) -> None:
    api.transcripts.append(Fault(then="hang"))
    assert await sentence(ears(api, seconds=0.2)) == attachments.UNHEARD_SLOW()


async def test_a_key_is_never_shown() -> None:
    server = ServerTranscriber(address="http://h", key="very-secret", model="m", seconds=1)
    assert "very-secret" not in repr(server)


async def test_a_program_reads_the_recording_from_a_temporary_file() -> None:
    script = (
        "import sys, pathlib\n"
        "path = pathlib.Path(sys.argv[1].removeprefix('--in='))\n"
        "print(path, path.stat().st_size, path.read_bytes()[:4])"
    )
    path, size, head = (await program(script).transcribe(VOICE, "audio/mpeg")).split()
    assert path.endswith("/voice.mp3")
    assert (size, head) == (str(len(VOICE)), "b'OggS'")
    assert not Path(path).parent.exists()


async def test_a_program_sees_no_secret_and_no_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "very-secret")
    show = "import os, sys; print(dict(os.environ), sys.argv[1:])"
    words = (sys.executable, "-c", show, "$HOME; {file}")
    made = make_transcriber(
        MediaSettings(transcription="command", transcription_command=words), Secrets()
    )
    assert made is not None
    said = await made.transcribe(VOICE, "audio/ogg")
    assert "'PATH'" in said
    assert "very-secret" not in said
    assert "'$HOME; /" in said


@pytest.mark.parametrize(
    ("script", "why"), [("raise SystemExit(1)", "couldn't"), ("import no_such_thing", "couldn't")]
)
async def test_a_program_that_fails_becomes_a_sentence(script: str, why: str) -> None:
    assert why in await sentence(program(script))


async def test_a_program_that_is_not_there_becomes_a_sentence() -> None:
    nobody = CommandTranscriber(command=run_by(("/nowhere/ears", "{file}"), 5))
    assert await sentence(nobody) == attachments.UNHEARD_REFUSED()


PEEK = """
import os, socket, sys
def tries(deed):
    try:
        return deed()
    except OSError as error:
        return type(error).__name__
print(tries(lambda: open(f"/proc/{sys.argv[2]}/environ").read()))
print(tries(lambda: os.kill(int(sys.argv[2]), 0)))
print(tries(lambda: socket.create_connection(("127.0.0.1", int(sys.argv[3])), 5).close()))
print(tries(lambda: socket.socket(socket.AF_UNIX).close()))
print(os.environ["TMPDIR"] == os.getcwd() == os.path.dirname(sys.argv[1]))
print(tries(lambda: open("big", "wb", buffering=0).write(bytes(2_000_000))))
"""


@pytest.mark.parametrize("has_network", [False, True])
async def test_a_program_can_not_reach_the_gateway_or_the_network(has_network: bool) -> None:
    """It has the limits of scripts, its own folder, and a network only where it is allowed."""
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    words = (sys.executable, "-I", "-c", PEEK, "{file}", str(os.getpid()), str(port))
    limits = replace(LIMITS, has_network=has_network)
    async with server:
        said = await CommandTranscriber(command=run_by(words, 20, limits)).transcribe(
            b"voice", "audio/ogg"
        )
    network = "None" if has_network else "PermissionError"
    assert said.split("\n") == [
        *("PermissionError", "PermissionError", network, network, "True", "1000000")
    ]


async def test_a_program_leaves_no_process_behind() -> None:
    leave = (
        "import os, time\nif pid := os.fork():\n print(pid)\nelse:\n os.setsid(); time.sleep(600)"
    )
    pid = await program(leave, seconds=30).transcribe(b"voice", "audio/ogg")
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


async def test_a_program_that_takes_too_much_memory_becomes_a_sentence() -> None:
    assert "couldn't" in await sentence(program("kept = bytearray(900_000_000); print(1)"))


async def test_a_program_that_takes_too_long_is_given_up() -> None:
    assert await sentence(program("import time; time.sleep(600)", seconds=0.3)) == (
        attachments.UNHEARD_SLOW()
    )


def test_the_settings_choose_the_transcriber() -> None:
    assert make_transcriber(MediaSettings(), Secrets(openai_api_key="k")) is None
    server = make_transcriber(MediaSettings(transcription="openai"), Secrets(openai_api_key="k"))
    assert server == ServerTranscriber(
        address="https://api.openai.com/v1", key="k", model="whisper-1", seconds=60
    )
    local = make_transcriber(
        MediaSettings(transcription="openai", transcription_model="base"),
        Secrets(openai_base_url="http://127.0.0.1:8000/v1"),
    )
    assert local == ServerTranscriber(
        address="http://127.0.0.1:8000/v1", key=None, model="base", seconds=60
    )
