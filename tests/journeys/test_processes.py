"""`talaria run` as its own process: from the printed code to SIGTERM, and failed starts."""

import asyncio
import re
import signal
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from tests.emulators import telegram_faults as faults
from tests.emulators.anthropic import echo
from tests.emulators.streaming import Json, text_answer
from tests.emulators.telegram_cast import ANNA, BEN
from tests.integration.processes import Done, Running, running, talaria_beside
from tests.journeys.stage import PATIENCE, Stage, heard

WRONG_TOKEN = "123456789:AAwrong-token-of-some-35-characters"


def live(stage: Stage, **settings: str) -> AbstractAsyncContextManager[Running]:
    """Run `talaria run` with an empty allowlist, once it is ready."""
    return running(stage.home, **without_home(stage, **settings))


async def fail(stage: Stage, home: Path, **settings: str) -> Done:
    """Run `talaria run` until it exits."""
    return await talaria_beside(home, "run", **without_home(stage, **settings))


def without_home(stage: Stage, **settings: str) -> dict[str, str]:
    given = stage.environ(allow="", **settings)
    del given["TALARIA_HOME"]
    return given


async def until_shown(stage: Stage, words: str, user: int = ANNA) -> None:
    await stage.telegram.wait_for(
        lambda: any(words in text for text in stage.telegram.texts(user)), PATIENCE
    )


async def until_answered(stage: Stage, user: int, text: str, words: str) -> None:
    await stage.telegram.says(user, text)
    await until_shown(stage, words, user)


async def test_the_first_day_of_a_gateway(stage: Stage) -> None:
    """Start, claim with the printed code, approve a friend, stop with Ctrl-C."""
    async with live(stage) as harness:
        found = re.search(r"/claim [A-Z2-9]{4}-[A-Z2-9]{4}", harness.banner)
        assert found, harness.banner
        link = re.search(r"https://t\.me/talaria_bot\?start=(\S+)", harness.banner)
        assert link, harness.banner
        await until_answered(stage, ANNA, f"/start {link[1]}", "you're now the owner")
        await until_answered(stage, BEN, "hello", "I don't know you yet")
        code = re.search(r"/approve [A-Z2-9]{4}-[A-Z2-9]{4}", stage.telegram.texts(BEN)[-1])
        assert code
        await until_answered(stage, ANNA, code[0], "“Ben” can now talk to me")
        await until_answered(stage, BEN, "hello again", "echo: hello again")
        assert await harness.stop(signal.SIGINT) == 0


async def test_sigterm_stops_it_in_time_and_the_next_start_answers_each_once(
    stage: Stage,
) -> None:
    tale = " ".join(f"Sentence {number}." for number in range(100))
    settings = {
        "TALARIA_ACCESS__ALLOW": "*",
        "TALARIA_TELEGRAM__EDIT_INTERVAL": "0.2",
        "TALARIA_TURNS__DRAIN_SECONDS": "1",
    }
    called, never = asyncio.Event(), asyncio.Event()

    async def hold(body: Json) -> None:
        if heard(body) == ["and me?"]:
            called.set()
            await never.wait()

    stage.model.pace, stage.model.deltas, stage.model.before = 0.05, 100, hold
    async with live(stage, **settings) as harness:
        stage.plan(tale)
        await until_answered(stage, ANNA, "tell me a tale", "Sentence 0.")
        await stage.telegram.says(BEN, "and me?")
        async with asyncio.timeout(PATIENCE):
            await called.wait()
        assert await harness.stop() == 0  # though Ben's answer never comes
    (cut,) = stage.telegram.texts(ANNA)
    assert tale.startswith(cut)
    assert cut != tale
    assert stage.telegram.texts(BEN) == []

    stage.model.pace, stage.model.before = 0.0, None
    stage.model.answer = lambda body: text_answer(tale) if "tale" in heard(body)[0] else echo(body)
    async with live(stage, **settings) as harness:
        await until_shown(stage, tale)
        await until_shown(stage, "echo: and me?", BEN)
        assert await harness.stop() == 0
    assert stage.telegram.texts(ANNA) == [tale]
    assert stage.telegram.texts(BEN) == ["echo: and me?"]


async def test_a_wrong_token_fails_the_start_and_loses_nothing(stage: Stage) -> None:
    await stage.telegram.says(ANNA, "is anybody there?")
    done = await fail(stage, stage.home, TELEGRAM_BOT_TOKEN=WRONG_TOKEN)
    assert done.code == 2
    last = done.err.splitlines()[-1]
    assert "does not know the token in TELEGRAM_BOT_TOKEN" in last
    assert WRONG_TOKEN not in done.err
    assert "Traceback" not in done.err
    async with live(stage, TALARIA_ACCESS__ALLOW="*") as harness:
        await until_shown(stage, "echo: is anybody there?")
        assert await harness.stop() == 0


async def test_an_unknown_model_fails_the_start_in_one_sentence(stage: Stage) -> None:
    starts = {
        "claude-nonesuch": {"TALARIA_MODEL__NAME": "claude-nonesuch"},
        "claude-neverwas": {"TALARIA_MODEL__FALLBACKS": "claude-neverwas"},
    }
    homes = (stage.home / "1", stage.home / "2")  # short: the path of a socket has its limit
    ends = await asyncio.gather(
        *(fail(stage, home, **given) for home, given in zip(homes, starts.values(), strict=True))
    )
    for name, done in zip(starts, ends, strict=True):
        assert done.code == 2
        (sentence,) = done.err.splitlines()
        assert name in sentence
        assert "config.toml" in sentence


async def test_another_program_with_the_token_is_named_at_the_start(stage: Stage) -> None:
    conflict = faults.refused("Conflict: terminated by other getUpdates request", status=409)
    stage.telegram.fail("getUpdates", 1000, kind=conflict)
    async with live(stage) as harness:
        assert "Another program is receiving messages" in harness.banner
        assert await harness.stop() == 0


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="only Linux lists the sockets of a process")
async def test_a_gateway_listens_at_its_http_port_alone(deployment: Stage) -> None:
    async with live(deployment) as harness:
        assert list_listening(harness.process.pid) == [f"0100007F:{harness.port:04X}"]


def list_listening(pid: int) -> list[str]:
    """List the addresses, as the kernel writes them, at which a process can be reached."""
    process = Path(f"/proc/{pid}")
    own = {one.resolve().name for one in process.joinpath("fd").iterdir()}
    found = []
    for kind, states in (("tcp", {"0A"}), ("tcp6", {"0A"}), ("udp", {"07"}), ("udp6", {"07"})):
        for line in process.joinpath("net", kind).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] in states and f"socket:[{fields[9]}]" in own:
                found.append(fields[1])
    return found
