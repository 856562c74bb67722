"""`talaria check`: it finds faults, changes nothing, and asks the running gateway."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from agent_core.state.engine.upgrade import FOLDER, load_migrations
from gateway.config import load
from gateway.interfaces import diagnostics
from tests.integration.processes import bytes_below, running, talaria, talaria_beside


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("h") / "home"


def findings(home: Path, code: int, **variables: str) -> dict[str, Any]:
    """The findings by part, from the command's JSON."""
    done = talaria(home, "check", "--json", **variables)
    assert done.code == code, done
    report = json.loads(done.out)
    assert report["ok"] is (code == 0)
    return {one["part"]: one for one in report["findings"]}


def test_a_fresh_machine_has_no_faults_and_gets_no_home(home: Path) -> None:
    found = findings(home, 0)
    assert {one["state"] for one in found.values()} == {"ok", "note"}
    assert "is created at the first start" in found["home"]["text"]
    assert "stand-in" in found["model"]["text"]
    assert "TELEGRAM_BOT_TOKEN turns it on" in found["telegram"]["text"]
    assert not home.exists()


def test_the_table_has_a_line_for_every_part(home: Path) -> None:
    done = talaria(home, "check")
    assert done.code == 0
    assert [line.split()[1] for line in done.out.splitlines()] == list(findings(home, 0))


def test_an_unknown_variable_is_noted_with_the_nearest_name(home: Path) -> None:
    found = findings(home, 0, TALARIA_TURNS__AT_ONC="3")
    assert found["environment"]["state"] == "note"
    assert "did you mean TALARIA_TURNS__AT_ONCE?" in found["environment"]["text"]


def test_half_of_what_a_platform_needs_is_a_fault(home: Path) -> None:
    found = findings(home, 2, SLACK_BOT_TOKEN="xoxb-1")
    assert found["slack"]["state"] == "fault"
    assert "SLACK_APP_TOKEN" in found["slack"]["text"]
    found = findings(home, 0, SLACK_APP_TOKEN="xapp-1")
    assert found["slack"]["text"].startswith("off")
    tokens = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "s"}
    found = findings(home, 0, TALARIA_SLACK__MODE="http", **tokens)
    assert found["slack"]["state"] == "ok"


def test_secrets_are_named_and_never_shown(home: Path) -> None:
    token = "123456789:AAEabcdefghijklmnopqrstuvwxyz0123456"
    found = findings(home, 0, TELEGRAM_BOT_TOKEN=token, ANTHROPIC_API_KEY="sk-ant-secret-key")
    assert found["secrets"]["text"] == "set: TELEGRAM_BOT_TOKEN, ANTHROPIC_API_KEY"
    assert "AAE" not in json.dumps(found)
    assert "sk-ant" not in json.dumps(found)
    assert found["telegram"]["text"].startswith("on")
    assert found["model"]["text"].startswith("anthropic: ")


def test_a_home_that_is_used_is_left_byte_for_byte_as_it_is(home: Path) -> None:
    assert talaria(home, "chat", given="hello\n").code == 0
    before = bytes_below(home)
    found = findings(home, 0)
    assert found["database"]["text"].endswith(f"schema {len(load_migrations(FOLDER))}")
    assert found["gateway"]["text"] == "not running"
    assert bytes_below(home) == before


def test_a_home_that_others_can_open_is_a_note(home: Path) -> None:
    home.mkdir()
    home.chmod(0o755)
    found = findings(home, 0)["home"]
    assert found["state"] == "note"
    assert f"chmod 700 {home}" in found["text"]


@pytest.mark.parametrize(
    ("version", "content", "sentence"),
    [(9999, b"", "was written by a newer Talaria"), (0, b"no database" * 100, "is damaged")],
)
def test_a_database_that_can_not_be_opened_is_a_fault(
    home: Path, version: int, content: bytes, sentence: str
) -> None:
    home.mkdir()
    path = home / "state.db"
    if content:
        path.write_bytes(content)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute(f"PRAGMA user_version = {version}")
        connection.close()
    before = bytes_below(home)
    found = findings(home, 2)["database"]
    assert found["state"] == "fault"
    assert sentence in found["text"]
    assert bytes_below(home) == before


def test_a_home_that_lies_too_deep_is_a_fault(home: Path) -> None:
    assert "is too long a path" in findings(home / ("d" * 100), 2)["home"]["text"]


def test_a_home_below_a_file_is_a_fault(home: Path) -> None:
    """The doctor says it even where the settings did not stumble over it."""
    home.write_text("mine")
    found = diagnostics.examine(load({"TALARIA_HOME": str(home.parent)}))
    assert all(one.state != "fault" for one in found)
    done = talaria(home, "check", TALARIA_HOME=str(home / "below"))
    assert done.code == 2
    assert "Not a directory" in done.err


def test_settings_that_are_wrong_are_a_sentence(home: Path) -> None:
    done = talaria(home, "check", TALARIA_TURNS__AT_ONCE="0")
    assert (done.code, done.out) == (2, "")
    assert "TALARIA_TURNS__AT_ONCE must be a whole number from 1 to 10000, but is 0." in done.err


def test_live_fails_where_nothing_runs(home: Path) -> None:
    done = talaria(home, "check", "--live")
    assert (done.code, done.out) == (1, f"No gateway is running for {home}.\n")


async def test_live_asks_the_gateway_and_the_doctor_sees_it(home: Path) -> None:
    async with running(home) as gateway:
        done = await talaria_beside(home, "check", "--live", "--json")
        assert done.code == 0
        assert json.loads(done.out)["status"] == "ok"
        assert (await talaria_beside(home, "check", "--live")).out.startswith("Well, for ")
        beside = await talaria_beside(home, "check")
        assert beside.code == 0
        assert "healthy" in beside.out
        gateway.process.kill()
        await gateway.process.wait()
    assert (await talaria_beside(home, "check", "--live")).code == 1
    reported = (await talaria_beside(home, "check")).out
    assert (
        f"process {gateway.process.pid} opened the home directory and has not closed it" in reported
    )
