"""`talaria check` finds faults, changes nothing, and asks the running gateway."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_core.execution.subprocesses.confinement import find_protection
from agent_core.execution.subprocesses.landlock import SIGNALS_SINCE
from agent_core.state.engine.upgrade import FOLDER, load_migrations
from gateway.app.settings import load
from gateway.interfaces.diagnostics import offline
from tests.agent_core.execution.backends import needs_bubblewrap
from tests.architecture.source import ROOT
from tests.integration.processes import bytes_below, environ, running, talaria, talaria_beside


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
    assert "it needs TELEGRAM_BOT_TOKEN" in found["telegram"]["text"]
    assert not home.exists()


def test_the_table_has_a_line_for_every_part(home: Path) -> None:
    done = talaria(home, "check")
    assert done.code == 0
    lines = [line for line in done.out.splitlines() if not line.startswith(" ")]
    assert [line.split()[1] for line in lines] == list(findings(home, 0))


def test_an_unknown_variable_is_noted_with_the_nearest_name(home: Path) -> None:
    found = findings(home, 0, TALARIA_TURNS__AT_ONC="3")
    assert found["environment"]["state"] == "note"
    assert "did you mean TALARIA_TURNS__AT_ONCE?" in found["environment"]["text"]


def test_an_account_of_an_unknown_platform_is_noted(home: Path) -> None:
    found = findings(home, 0, TALARIA_ACCESS__ALLOW="telegrm:5,discord:7")
    assert found["access"] == {
        "part": "access",
        "state": "note",
        "text": 'access.allow has "telegrm:5", but Talaria knows no platform telegrm',
        "fix": "Did you mean telegram?",
    }
    assert "access" not in findings(home, 0, TALARIA_ACCESS__ALLOW="discord:7,*")


def test_it_says_whether_the_console_page_is_on(home: Path) -> None:
    page = "on: talaria chat, and the console page"
    assert findings(home, 0)["console"]["text"] == page
    token = {"TELEGRAM_BOT_TOKEN": "1:abc"}
    assert "without the console page" in findings(home, 0, **token)["console"]["text"]
    assert findings(home, 0, TALARIA_HTTP__PORT="8123", **token)["console"]["text"] == page


def test_incomplete_platform_settings_are_a_fault(home: Path) -> None:
    found = findings(home, 2, SLACK_BOT_TOKEN="xoxb-1")
    assert found["slack"]["state"] == "fault"
    assert "SLACK_APP_TOKEN" in found["slack"]["text"]
    found = findings(home, 0, SLACK_APP_TOKEN="xapp-1")
    assert found["slack"]["text"].startswith("off")
    tokens = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "s"}
    found = findings(home, 0, TALARIA_SLACK__MODE="http", **tokens)
    assert found["slack"]["state"] == "ok"


def test_whatsapp_is_noted_until_meta_has_an_address_to_call(home: Path) -> None:
    names = ("ACCESS_TOKEN", "PHONE_NUMBER_ID", "APP_SECRET", "VERIFY_TOKEN")
    given = {f"WHATSAPP_{name}": "1" for name in names} | {"TALARIA_HTTP__PORT": "8123"}
    for address in ("", "http://talaria.example.org"):
        found = findings(home, 0, TALARIA_HTTP__PUBLIC_URL=address, **given)["whatsapp"]
        assert found["state"] == "note"
        assert found["text"] == (
            "on, but its servers can't call Talaria: it needs a public HTTPS address, whose"
            " /hooks/whatsapp leads to port 8123"
        )
        assert "`talaria config set http.public_url https://YOUR-ADDRESS`" in found["fix"]
    address = {"TALARIA_HTTP__PUBLIC_URL": "https://talaria.example.org/"}
    found = findings(home, 0, **address, **given)["whatsapp"]
    assert found["state"] == "ok"
    assert found["text"] == "on; its callback URL is https://talaria.example.org/hooks/whatsapp"


def test_secrets_are_named_and_never_shown(home: Path) -> None:
    token = "123456789:AAEabcdefghijklmnopqrstuvwxyz0123456"
    found = findings(home, 0, TELEGRAM_BOT_TOKEN=token, ANTHROPIC_API_KEY="sk-ant-secret-key")
    assert found["secrets"]["text"] == "set: ANTHROPIC_API_KEY, TELEGRAM_BOT_TOKEN"
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


def test_a_home_with_a_too_long_path_is_a_fault(home: Path) -> None:
    assert "is too long a path" in findings(home / ("d" * 100), 2)["home"]["text"]


def test_a_home_below_a_file_is_a_fault(home: Path) -> None:
    """It is a fault even if loading the settings accepts it."""
    home.write_text("mine")
    found = offline.examine(load({"TALARIA_HOME": str(home.parent)}))
    assert all(one.state != "fault" for one in found)
    done = talaria(home, "check", TALARIA_HOME=str(home / "below"))
    assert done.code == 2
    assert "Not a directory" in done.err


def test_settings_that_are_wrong_are_a_sentence(home: Path) -> None:
    done = talaria(home, "check", TALARIA_TURNS__AT_ONCE="0")
    assert (done.code, len(done.out.splitlines())) == (2, 1)
    assert "TALARIA_TURNS__AT_ONCE must be a whole number from 1 to 10000, but is 0." in done.err


def test_live_fails_where_nothing_runs(home: Path) -> None:
    done = talaria(home, "check", "--live")
    assert (done.code, done.out) == (1, f"No gateway is running for {home}.\n")


async def test_live_asks_the_gateway_and_the_doctor_sees_it(home: Path) -> None:
    async with running(home) as gateway:
        done = await talaria_beside(home, "check", "--live", "--json")
        assert done.code == 0
        assert json.loads(done.out)["status"] == "ok"
        assert (await talaria_beside(home, "check", "--live")).out.startswith("Healthy. Up for ")
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


OLD_KERNEL = """
import sys
from agent_core.execution.subprocesses.seccomp import Denial, deny
from gateway.__main__ import main
deny([Denial(call="landlock_create_ruleset", error=38)])
sys.exit(main(["check", "--json"]))
"""


def test_it_reports_how_readers_and_scripts_are_confined(home: Path) -> None:
    protection = find_protection()
    found = findings(home, 0)["confinement"]
    is_whole = protection.landlock >= SIGNALS_SINCE and protection.seccomp
    assert found["state"] == ("ok" if is_whole else "note")


@pytest.mark.skipif(not find_protection().seccomp, reason="this kernel has no seccomp")
def test_it_reports_a_kernel_without_landlock(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OLD_KERNEL],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=environ(home),
    )
    found = {one["part"]: one for one in json.loads(done.stdout)["findings"]}["confinement"]
    assert found["state"] == "note"
    assert found["text"] == ("this kernel lacks Landlock (Linux 5.13), so readers can open files")


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
async def test_the_environment_of_a_running_gateway_holds_no_token(home: Path) -> None:
    tokens = {"GITHUB_TOKEN": "ghp_" + "a" * 36, "HONCHO_API_KEY": "hch-only-a-test"}
    async with running(home, is_forked=False, **tokens) as gateway:
        for name in ("environ", "cmdline"):
            try:  # root may read every process, whatever its protection
                shown = await asyncio.to_thread(
                    Path(f"/proc/{gateway.process.pid}/{name}").read_bytes
                )
            except PermissionError:
                continue
            assert not any(token.encode() in shown for token in tokens.values())


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


def open_home(home: Path) -> Path:
    home.mkdir()
    home.chmod(0o755)
    return home


def test_it_says_which_mcp_servers_are_open_or_wrong(home: Path) -> None:
    home.mkdir(mode=0o700)
    text = '[servers.free]\ncommand = "cat"\nunsandboxed = true\n[servers.wrong]\n'
    text += '[servers.team]\nurl = "https://a.example/"\noauth = true\nshared_account = true\n'
    (home / "mcp.toml").write_text(text, encoding="utf-8")
    found = offline.examine(load({"TALARIA_HOME": str(home)}))
    said = [(one.state, one.text) for one in found if one.part == "mcp"]
    assert said == [
        ("note", "the server free runs without a sandbox, with all rights of this user"),
        ("note", "everyone who may use the server team uses one account"),
        ("note", "the server wrong needs either `command` or `url`"),
    ]


def test_it_says_that_context_files_are_words_of_others(home: Path, tmp_path: Path) -> None:
    settings = {"TALARIA_PROMPT__FOLDER": str(tmp_path)}
    found = findings(home, 0, **settings)["prompt"]
    assert (found["state"], "set prompt.trust_files" in found["text"]) == ("note", True)
    assert "prompt" not in findings(home, 0, **settings, TALARIA_PROMPT__TRUST_FILES="true")


def test_it_says_how_the_web_is_searched(home: Path) -> None:
    found = findings(home, 0)["web"]
    assert (found["state"], found["text"]) == ("ok", "searches with ddgs; reads pages as Markdown")
    found = findings(home, 0, TALARIA_TOOLS__SEARCH="")["web"]
    assert found["text"] == "tools.search is off; reads pages as Markdown"


def test_it_says_whether_commands_can_run(home: Path) -> None:
    assert 'tools.backend = "local" allows them' in findings(home, 0)["tools"]["text"]


@pytest.mark.thorough
def test_it_says_why_commands_can_not_run_elsewhere(home: Path) -> None:
    nobody = {"TALARIA_TOOLS__DOCKER_IMAGE": "x", "DOCKER_HOST": "unix:///nobody.sock"}
    found = findings(home, 0, TALARIA_TOOLS__BACKEND="docker", **nobody)["tools"]
    assert found["state"] == "note"
    assert found["text"].startswith("commands and files are off: ")
    unknown = {"TALARIA_TOOLS__SSH_HOST": "127.0.0.1", "TALARIA_TOOLS__SSH_PORT": "1"}
    found = findings(home, 0, TALARIA_TOOLS__BACKEND="ssh", **unknown)["tools"]
    assert found["text"].startswith("commands and files are off: ")
    nobody = {"DAYTONA_API_KEY": "only-a-test", "DAYTONA_API_URL": "http://127.0.0.1:1/api"}
    found = findings(home, 0, TALARIA_TOOLS__BACKEND="daytona", **nobody)["tools"]
    assert found["text"].startswith("commands and files are off: Daytona does not answer")
    token = {"MODAL_TOKEN_ID": "only-a-test", "MODAL_TOKEN_SECRET": "only-a-test"}
    nobody = {**token, "MODAL_SERVER_URL": "http://127.0.0.1:1"}
    found = findings(home, 0, TALARIA_TOOLS__BACKEND="modal", **nobody)["tools"]
    assert found["text"].startswith("commands and files are off: Modal does not answer")


@needs_bubblewrap
def test_it_starts_the_sandbox_of_commands_and_leaves_nothing(home: Path) -> None:
    found = findings(home, 0, TALARIA_TOOLS__BACKEND="local")["tools"]
    assert (found["state"], found["text"]) == (
        "ok",
        "commands run in a sandbox on this machine, without network",
    )
    assert not (home / "workspaces").exists()
    allowed = {"PEOPLE": "ada", "HOSTS": "example.org"}
    settings = {f"TALARIA_TOOLS__NETWORK_{name}": value for name, value in allowed.items()}
    found = findings(home, 0, TALARIA_TOOLS__BACKEND="local", **settings)["tools"]
    assert found["text"].endswith("with a network for ada to example.org")
    people = {"TALARIA_TOOLS__BACKENDS": "ben docker", "TALARIA_TOOLS__DOCKER_IMAGE": "x"}
    nobody = {"DOCKER_HOST": "unix:///nobody.sock", **people}
    found = findings(home, 0, TALARIA_TOOLS__BACKEND="local", **nobody)["tools"]
    assert found["state"] == "note"
    assert found["text"].startswith("docker does not work: ")
    assert "commands run in a sandbox on this machine" in found["text"]
    assert found["text"].endswith("those of ben in a container for each person, without network")


def test_it_says_whose_commands_have_no_sandbox(home: Path) -> None:
    chosen = {"TALARIA_TOOLS__BACKENDS": "ben unsandboxed"}
    found = findings(home, 0, TALARIA_TOOLS__BACKEND="local", **chosen)["tools"]
    assert found["state"] == "note"
    assert found["text"].endswith(
        "those of ben WITHOUT a sandbox, with all rights and the network of this user"
    )


def test_it_says_where_named_backends_run_and_what_they_cost(home: Path) -> None:
    boxes = "box local usd_per_hour=0.25, gpu_cluster modal gpu=T4"
    token = {"MODAL_TOKEN_ID": "ak-1", "MODAL_TOKEN_SECRET": "as-1"}
    named = {"TALARIA_TOOLS__NAMED_BACKENDS": boxes, "TALARIA_TOOLS__BACKEND": "box", **token}
    text = findings(home, 0, **named)["tools"]["text"]
    assert text.startswith("commands run box: ")
    costs = "; box costs $0.25 an hour, as you say; gpu_cluster costs about $0.61 an hour"
    assert costs in text
    unused = findings(home, 0, **(named | {"TALARIA_TOOLS__BACKEND": ""}))["tools"]["text"]
    assert unused.startswith("no commands or files; ")
    assert costs in unused
    named["TALARIA_TOOLS__NAMED_BACKENDS"] = boxes.replace("local", "docker")
    image = {"TALARIA_TOOLS__DOCKER_IMAGE": "x", "DOCKER_HOST": "unix:///nobody.sock"}
    unreachable = findings(home, 0, **named, **image)["tools"]["text"]
    assert unreachable.startswith("commands and files are off: ")
    assert costs in unreachable


def test_the_check_reports_an_open_home_and_changes_nothing(home: Path) -> None:
    found = findings(open_home(home), 0)["home"]
    assert (found["state"], mode_of(home)) == ("note", 0o755)
    assert found["text"].endswith("is open to other users (mode 755); the next start closes it")


async def test_a_start_warns_of_people_who_are_not_there(home: Path) -> None:
    (open_home(home) / "config.toml").write_text(
        '[tools]\nnetwork_people = ["*", "nobody"]\n'
        '[[tools.backends]]\nperson = "adda"\nbackend = "local"\n'
    )
    async with running(home):
        log = await asyncio.to_thread((home / "logs" / "talaria.log").read_text)
    assert "tools.backends names adda, but there is no such person" in log
    assert "tools.network_people names nobody, but" in log
    assert "names *" not in log


async def test_a_start_closes_an_open_home_to_others(home: Path) -> None:
    async with running(open_home(home)):
        assert mode_of(home) == 0o700
        log = await asyncio.to_thread((home / "logs" / "talaria.log").read_text)
    assert "was open to other users of this computer. Now only you can open it." in log
    assert findings(home, 0)["home"]["state"] == "ok"


UNCHANGEABLE = """
import sys
from agent_core.execution.subprocesses.seccomp import Denial, deny
from gateway.__main__ import main
deny([Denial(call="chmod"), Denial(call="fchmodat")])
sys.exit(main(["run"]))
"""


@pytest.mark.thorough
@pytest.mark.skipif(not find_protection().seccomp, reason="this kernel has no seccomp")
def test_a_home_that_stays_open_is_refused(home: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNCHANGEABLE],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environ(open_home(home)),
    )
    assert done.returncode == 2
    assert f"The home {home} is open to other users (mode 755)" in done.stderr
    assert list(home.iterdir()) == []


PREPARED = """
import sys
from pathlib import Path
from agent_core.execution.subprocesses.seccomp import Denial, deny
from gateway.home import make_home
deny([Denial(call="chmod"), Denial(call="fchmodat")])
print(make_home(Path(sys.argv[1])))
"""


@pytest.mark.skipif(not find_protection().seccomp, reason="this kernel has no seccomp")
def test_a_volume_that_only_its_group_can_open_is_used_as_it_is(home: Path) -> None:
    home.mkdir()
    home.chmod(0o770)
    words = [sys.executable, "-c", PREPARED, str(home)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"The home {home} belongs to another user, and its group can open it.\n"
