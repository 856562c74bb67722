"""`talaria doctor`: what services say of tokens, the clock, the data, and safe fixes."""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from adapters.slack.settings import read_manifest_scopes
from agent_core.state.backups.places import find_newest
from tests.databases import place_database
from tests.emulators.openai import OpenAIEmulator
from tests.emulators.signal_world import ACCOUNT
from tests.integration.processes import Done, environ, talaria, talaria_beside
from tests.journeys.stage import Stage

DAY = 86_400


def findings(done: Done) -> dict[str, list[dict[str, Any]]]:
    """The findings by part."""
    found: dict[str, list[dict[str, Any]]] = {}
    for one in json.loads(done.out)["findings"]:
        found.setdefault(one["part"], []).append(one)
    return found


async def examine(deployment: Stage, **variables: str) -> tuple[int, dict[str, Any]]:
    done = await talaria_beside(
        deployment.home, "doctor", "--json", **(deployment.environ() | variables)
    )
    assert not done.err, done
    return done.code, findings(done)


def grant(deployment: Stage, scopes: Iterable[str]) -> None:
    world = deployment.slack.world
    world.app = replace(world.app, scopes=tuple(scopes))


async def test_it_signs_in_everywhere_and_says_what_a_bot_lacks(deployment: Stage) -> None:
    place_database(deployment.home / "state.db")
    scopes = read_manifest_scopes()
    grant(deployment, scopes)
    code, found = await examine(deployment)
    assert code == 0
    assert [one["text"] for one in found["telegram bot"]] == [
        "@talaria_bot, https://t.me/talaria_bot"
    ]
    assert len(found["slack bot"]) == len(found["discord bot"]) == 1
    assert found["model key"][0]["text"].startswith("claude-sonnet-5-5 is available; it reads")
    assert found["clock"][0]["text"] == "right to the minute"
    assert found["data"][0]["text"].startswith("no page is damaged")
    assert found["backups"][0]["state"] == "note"

    grant(deployment, scopes - {"reactions:write", "users:read"})
    deployment.discord.without_intents("message_content")
    code, found = await examine(deployment)
    assert code == 0
    assert "it lacks reactions:write, users:read." in found["slack bot"][1]["text"]
    assert "Message Content Intent is off" in found["discord bot"][1]["text"]
    _, found = await examine(deployment, TALARIA_DISCORD__MESSAGE_CONTENT="false")
    assert len(found["discord bot"]) == 1


async def test_a_refused_key_is_a_fault_with_its_fix(deployment: Stage) -> None:
    deployment.model.key = "another"
    wrong = {"TELEGRAM_BOT_TOKEN": "123456789:AAwrong-token-of-some-35-characters"}
    code, found = await examine(deployment, **wrong)
    assert code == 2
    for part, command in (("telegram bot", "setup telegram"), ("model key", "setup model")):
        assert found[part][0]["state"] == "fault"
        assert found[part][0]["fix"] == f"Run `talaria {command}`."


async def test_signal_and_whatsapp_have_rows_and_say_what_is_wrong(tmp_path: Path) -> None:
    async with Stage(tmp_path / "home", ("signal", "whatsapp")) as stage:
        code, found = await examine(stage)
        assert code == 0
        (signal,) = found["signal bot"]
        assert (signal["state"], signal["text"]) == (
            "ok",
            f"{ACCOUNT}, https://signal.me/#p/{ACCOUNT}",
        )
        number, waits = found["whatsapp bot"]
        assert (number["state"], number["text"]) == (
            "ok",
            "Talaria (+1 555-078-3881), https://wa.me/15550783881",
        )
        assert (waits["state"], "for 24 hours after" in waits["text"]) == ("note", True)
        _, found = await examine(stage, TALARIA_WHATSAPP__TEMPLATE="talaria_reminder")
        assert len(found["whatsapp bot"]) == 1

        stage.signal.account = "+4915119999999"
        code, found = await examine(stage, WHATSAPP_ACCESS_TOKEN="EAAwrong")
        assert code == 2
        said = "Meta does not take WHATSAPP_ACCESS_TOKEN: it is wrong, expired or withdrawn. Make"
        said += " a system user's token that never expires, and set it."
        expect_fault(found, "whatsapp", said, "Run `talaria setup whatsapp`.")
        said = f"signal-cli does not know the account {ACCOUNT}. Link it with"
        said += " `talaria setup signal`, or correct SIGNAL_ACCOUNT, and restart Talaria."
        expect_fault(found, "signal", said, "Run `talaria setup signal`.")
        stage.signal.account = ACCOUNT

        stage.signal.world.version = "0.11.2"
        _, found = await examine(stage)
        said = "signal-cli 0.11.2 is too old. Install 0.13 or newer, and restart Talaria."
        expect_fault(found, "signal", said, "")

        address = stage.environ()["SIGNAL_RPC_URL"]
        await stage.signal.stop()
        code, found = await examine(stage)
        assert (code, found["whatsapp bot"][0]["state"]) == (2, "ok")
        said = f"No signal-cli answers at {address}. Start its daemon, or correct SIGNAL_RPC_URL;"
        expect_fault(found, "signal", f"{said} see docs/signal.md.", "")


def expect_fault(found: dict[str, Any], platform: str, text: str, fix: str) -> None:
    """Expect one row, whose fix is a setup only if a setup repairs it."""
    (row,) = found[f"{platform} bot"]
    assert (row["state"], row["text"], row["fix"]) == ("fault", text, fix)


async def test_every_configured_model_is_checked(deployment: Stage) -> None:
    wrong = {"TALARIA_MODEL__CHEAP": "claude-tiny", "TALARIA_MODEL__FALLBACKS": "claude-opus-5-5"}
    code, found = await examine(deployment, **wrong)
    assert code == 2
    assert found["model key"][0]["state"] == "ok"
    (other,) = found["other models"]
    assert other["text"].startswith("claude-tiny can't be used: ")
    assert "model.name" not in other["text"]  # that is the main model's


@asynccontextmanager
async def serving(date: str) -> AsyncIterator[str]:
    """A model's server whose clock shows the date."""

    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"data": []}, headers={"Date": date})

    application = web.Application()
    application.router.add_get("/{rest:.*}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("shift", "state", "words"),
    [(30, "ok", "right to the minute"), (-600, "fault", "s ahead"), (600, "fault", "s behind")],
)
async def test_a_clock_that_is_off_is_a_fault(
    tmp_path: Path, shift: int, state: str, words: str
) -> None:
    async with serving(formatdate(time.time() + shift, usegmt=True)) as address:
        done = await talaria_beside(tmp_path / "home", "doctor", "--json", OPENAI_BASE_URL=address)
    found = findings(done)["clock"][0]
    assert found["state"] == state
    assert words in found["text"]


async def test_a_model_address_without_its_path_is_said_with_the_right_one(
    tmp_path: Path,
) -> None:
    home, model = tmp_path / "home", {"TALARIA_MODEL__NAME": "gpt-5-mini"}
    async with OpenAIEmulator() as api:
        given = model | {"OPENAI_BASE_URL": api.url}
        done = await talaria_beside(home, "doctor", "--json", **given)
        (found,) = findings(done)["model key"]
        assert found["state"] == "fault"
        said = f"Nothing lies at {api.url}, but a model server answers at {api.url}/v1."
        assert said in str(found)
        assert "OPENAI_BASE_URL" in str(found)
        started = await talaria_beside(home, "run", **given)
        assert said in started.err
        checked = await talaria_beside(home, "check", **given)
        assert "set OPENAI_BASE_URL to it" in checked.out
        given["OPENAI_BASE_URL"] = f"{api.url}/v1"
        done = await talaria_beside(home, "doctor", "--json", **given)
        assert findings(done)["model key"][0]["state"] == "ok"


async def test_a_server_without_a_date_leaves_the_clock_open(tmp_path: Path) -> None:
    async with serving("yesterday") as address:
        done = await talaria_beside(tmp_path / "home", "doctor", "--json", OPENAI_BASE_URL=address)
    assert findings(done)["clock"][0]["state"] == "note"


def test_damage_and_old_backups_are_found(tmp_path: Path) -> None:
    home = tmp_path / "home"
    place_database(home / "state.db")
    backup = home / "backups" / "2026-11-01.db"
    backup.parent.mkdir()
    backup.write_bytes(home.joinpath("state.db").read_bytes())
    found = findings(talaria(home, "doctor", "--json"))
    assert (found["data"][0]["state"], found["backups"][0]["state"]) == ("ok", "ok")
    os.utime(backup, (time.time() - 3 * DAY, time.time() - 3 * DAY))
    with home.joinpath("state.db").open("r+b") as file:
        file.seek(3 * 4096)
        file.write(os.urandom(4096))
    done = talaria(home, "doctor", "--json")
    found = findings(done)
    assert done.code == 2
    assert found["data"][0]["state"] == "fault"
    assert found["backups"][0]["state"] == "note"


def test_fix_closes_what_others_could_open_and_nothing_else(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o755)
    secrets = home / ".env"
    secrets.write_text("GITHUB_TOKEN=x\n")
    secrets.chmod(0o644)
    shown = talaria(home, "doctor").out
    assert f"Fix: Run `chmod 600 {secrets}` or `talaria doctor --fix`." in shown
    done = talaria(home, "doctor", "--fix")
    assert done.code == 0
    assert done.out.splitlines()[1:3] == [
        f"{home} is closed to other users now.",
        f"{secrets} is closed to other users now.",
    ]
    assert (home.stat().st_mode & 0o777, secrets.stat().st_mode & 0o777) == (0o700, 0o600)
    assert [one.name for one in home.iterdir()] == [".env"]
    assert "closed" not in talaria(home, "doctor", "--fix").out


def test_a_folder_for_backups_that_cannot_be_used_is_a_fault(tmp_path: Path) -> None:
    place_database(tmp_path / "state.db")
    (tmp_path / "backups").write_text("a file")
    done = talaria(tmp_path, "doctor", "--json")
    assert (done.code, done.err) == (2, "")
    (found,) = findings(done)["backups"]
    assert found["state"] == "fault"
    assert found["text"] == f"{tmp_path / 'backups'} can't be used, so no backup can be made"
    assert find_newest(tmp_path / "backups") is None


async def test_a_terminal_shows_what_the_doctor_waits_for_and_a_pipe_does_not(
    deployment: Stage,
) -> None:
    ours, theirs = os.openpty()
    doctor = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "doctor", "--json"),
        env=environ(deployment.home, **deployment.environ()),
        stdout=asyncio.subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    await doctor.communicate()
    shown = ""
    with suppress(OSError):  # all was read, and nobody has it open any more
        while part := os.read(ours, 4096):
            shown += part.decode()
    os.close(ours)
    assert "Asking Telegram ...\r\x1b[K" in shown
    assert shown.endswith("\x1b[K")
    piped = await talaria_beside(deployment.home, "doctor", "--json", **deployment.environ())
    assert "Asking" not in piped.err
