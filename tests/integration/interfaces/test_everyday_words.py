"""The words that people try first: status, stop, config, upgrade, uninstall, help."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from gateway.interfaces.installation import find_installation, list_extras
from gateway.interfaces.subcommands import SUBCOMMANDS, make_parser
from tests.integration.processes import environ, free_port, running, talaria, talaria_beside
from tests.journeys.terminal import at_terminal
from tests.tables import check_each


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("h") / "home"


async def test_status_and_stop_follow_the_gateway(home: Path) -> None:
    stopped = talaria(home, "status")
    assert stopped.code == 1
    assert stopped.out.startswith(f"Talaria is not running for {home}.\n")
    assert talaria(home, "stop").out == f"Talaria is not running for {home}.\n"
    async with running(home) as gateway:
        status = await talaria_beside(home, "status")
        assert status.code == 0
        assert "healthy, up " in status.out
        assert f"The home is {home}. `talaria stop` stops Talaria." in status.out
        done = await talaria_beside(home, "stop")
        assert (done.code, done.out) == (0, "Stopped. Nothing is lost.\n")
        assert await gateway.process.wait() == 0
    assert home.joinpath("state.lock").read_text().split()[1:] == ["clean"]


def test_ctrl_c_says_that_nothing_is_lost(home: Path) -> None:
    home.mkdir()
    home.joinpath("config.toml").write_text("")
    with at_terminal(environ(home, TALARIA_HTTP__PORT=str(free_port())), "run") as terminal:
        terminal.wait_for(r"Ready\. Ctrl-C stops it\.")
        terminal.process.send_signal(signal.SIGINT)
        terminal.wait_for(r"Stopped\. Nothing is lost\.")
        assert terminal.process.join() == 0


def test_a_home_that_was_open_is_said_in_one_plain_sentence(home: Path) -> None:
    home.mkdir()
    home.chmod(0o755)
    home.joinpath("config.toml").write_text("")
    given = environ(home, TALARIA_HTTP__PORT=str(free_port()), TALARIA_NO_SUCH="1")
    with at_terminal(given, "run") as terminal:
        first = terminal.wait_for(r"(?s).*\n +Talaria |.*Talaria \d")[0]
        terminal.wait_for(r"Ready\. Ctrl-C stops it\.")
        terminal.process.send_signal(signal.SIGINT)
        terminal.wait_for(r"Stopped\. Nothing is lost\.")
        assert terminal.process.join() == 0
    said = f"The home {home} was open to other users of this computer. Now only you can open it."
    assert said in first.replace("\r\n", "\n").splitlines()
    assert "The variable TALARIA_NO_SUCH is not known" in first
    assert "WARNING" not in first
    assert said in (home / "logs" / "talaria.log").read_text()


def test_a_setting_is_changed_after_a_check(home: Path) -> None:
    done = talaria(home, "config", "set", "turns.per_person", "2")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"turns.per_person is 2. It stands in {home / 'config.toml'}.")
    assert talaria(home, "config", "set", "access.allow", "telegram:1,slack:U2").code == 0
    listed = talaria(home, "config", TALARIA_COST__HOUSE_DAY_USD="5").out
    assert "turns.per_person = 2" in listed
    assert 'access.allow = ["telegram:1", "slack:U2"]' in listed
    assert "(TALARIA_COST__HOUSE_DAY_USD)" in listed
    assert talaria(home, "config", "get", "turns.per_person").out == "2\n"
    again = talaria(home, "config", "unset", "turns.per_person")
    assert again.out.startswith("turns.per_person is ")
    assert "turns.per_person" not in talaria(home, "config").out


REFUSED = [
    ("turns.per_person", "many", "turns.per_person must be a whole number"),
    ("turns.per_persn", "2", "There is no setting turns.per_persn; did you mean turns.per_person?"),
    ("model.provider", "openai", "model.provider is openai, but neither"),
    ("anthropic_api_key", "x", "ANTHROPIC_API_KEY is a secret"),
    (
        "quiet_hours",
        "22-7",
        "quiet_hours is each person's own setting: they send /settings to Talaria.",
    ),
    ("nonsense", "x", "There is no setting nonsense; docs/configuration.md lists all."),
]


def test_a_setting_with_which_nothing_starts_is_refused(home: Path) -> None:
    def check(row: tuple[str, str, str]) -> None:
        name, value, sentence = row
        done = talaria(home, "config", "set", name, value)
        assert done.code == 2, done
        assert done.err.startswith(sentence), done.err
        assert not (home / "config.toml").exists()

    check_each(REFUSED, check)


def test_help_explains_a_command_and_a_verb(home: Path) -> None:
    assert talaria(home, "help").out == talaria(home, "--help").out
    assert talaria(home, "help", "jobs", "add").out.startswith("usage: talaria jobs add")
    assert talaria(home, "help", "jobs", "ad").err == (
        "There is no `talaria jobs ad`; did you mean add?\n"
    )
    assert talaria(home, "hlep").err == "There is no `talaria hlep`; did you mean help?\n"


UNDERSTOOD = [
    ("memory list", "show"),
    ("memory ls", "show"),
    ("people forget ada dentist", "forget"),
    ("people remove ada", "erase"),
    ("tokens delete 3", "revoke"),
    ("tokens new phone --person ada", "create"),
    ("jobs rm 3", "delete"),
    ("mcp rm files", "remove"),
    ("agents delete coder", "archive"),
    ("config change turns.per_person 2", "set"),
    ("logins revoke", "end"),
    ("service list", "status"),
    ("jobs --system", "list"),
    ("skills archive plants", "archive"),
]


def test_words_of_the_same_meaning_name_the_same_verb(home: Path) -> None:
    def check(row: tuple[str, str]) -> None:
        line, verb = row
        command, *words = line.split()
        assert make_parser(command).read(words).verb == verb

    check_each(UNDERSTOOD, check)
    assert not make_parser("people").find_verb("archive"), "what is archived can be restored"
    helped = talaria(home, "help", "people", "remove")
    assert helped.out.startswith("usage: talaria people erase")
    assert talaria(home, "reminders").err == "There is no `talaria reminders`; did you mean jobs?\n"


def test_each_command_that_lists_does_so_without_a_verb_and_with_list() -> None:
    def check(command: str) -> None:
        parser = make_parser(command)
        if "list" in parser.list_verbs() or parser.default_verb:
            assert parser.read([]).verb == parser.read(["list"]).verb == parser.default_verb

    check_each(SUBCOMMANDS, check)


def test_an_upgrade_without_a_terminal_only_shows_the_commands(home: Path) -> None:
    done = talaria(home, "upgrade")
    assert (done.code, done.err) == (0, "")
    assert "These commands upgrade it:" in done.out


def test_an_uninstall_deletes_the_data_after_a_typed_word_only(home: Path) -> None:
    assert talaria(home, "config", "set", "turns.per_person", "2").code == 0
    assert f"Your data is in {home}." in talaria(home, "uninstall").out
    given = environ(home, XDG_CONFIG_HOME=str(home.parent))
    for typed, is_there in (("yes\n", True), ("delete\n", False)):
        with at_terminal(given, "uninstall") as terminal:
            terminal.wait_for("type delete; Enter keeps them")
            terminal.type(typed)
            terminal.wait_for("Talaria was installed with")
            assert terminal.process.join() == 0
        assert home.exists() is is_there


async def test_the_data_of_a_running_gateway_stays(home: Path) -> None:
    def dialogue() -> None:
        with at_terminal(environ(home, XDG_CONFIG_HOME=str(home.parent)), "uninstall") as terminal:
            terminal.wait_for("Talaria is running, so its data stays")
            assert terminal.process.join() == 0

    async with running(home):
        await asyncio.to_thread(dialogue)
    assert home.joinpath("state.db").exists()


WHEEL = json.dumps({"url": "file:///t.whl", "archive_info": {}})
CHECKOUT = json.dumps({"url": "file:///home/ada/my%20code", "dir_info": {"editable": True}})
COPY = json.dumps({"url": "file:///home/ada/talaria", "dir_info": {}})
PULL = "git -C /home/ada/talaria pull"
PIPX, UV = "/home/ada/.local/pipx/venvs/talaria", "/home/ada/.local/share/uv/tools/talaria"
INSTALLED = [
    (PIPX, "", ("pipx upgrade talaria",), "pipx uninstall talaria"),
    (PIPX, COPY, (PULL, "pipx upgrade talaria"), "pipx uninstall talaria"),
    (PIPX, WHEEL, ("pipx install --force 'WHEEL[openai,web]'",), "pipx uninstall talaria"),
    (UV, "", ("uv tool upgrade talaria",), "uv tool uninstall talaria"),
    (UV, COPY, (PULL, "uv tool upgrade talaria"), "uv tool uninstall talaria"),
    (UV, WHEEL, ("uv tool install --force 'WHEEL[openai,web]'",), "uv tool uninstall talaria"),
    (
        "/v",
        COPY,
        (PULL, f"{sys.executable} -m pip install --upgrade '/home/ada/talaria[openai,web]'"),
        f"{sys.executable} -m pip uninstall talaria",
    ),
    (
        "/v",
        CHECKOUT,
        ("git -C '/home/ada/my code' pull", "make -C '/home/ada/my code' setup"),
        "rm -rf '/home/ada/my code'",
    ),
]


def test_each_installation_has_its_own_commands() -> None:
    def check(row: tuple[str, str, tuple[str, ...], str]) -> None:
        prefix, origin, upgrade, remove = row
        # In a container that somebody made, as on another machine.
        for is_contained in (False, True):
            found = find_installation(
                Path(prefix), origin, is_contained=is_contained, extras=("openai", "web")
            )
            assert (found.upgrade, found.remove) == (upgrade, (remove,))
            assert found.is_here == ("WHEEL" not in upgrade[0])

    check_each(INSTALLED, check)
    contained = find_installation(Path("/opt/talaria"), WHEEL, is_contained=True)
    assert contained.upgrade == ("git pull", "docker compose up -d --build")
    assert not contained.is_here


def test_an_upgrade_keeps_the_extras_that_are_installed() -> None:
    requires = (
        "aiohttp<4",
        "aiohttp>=3; extra == 'all'",
        "no-such-thing>=1; extra == 'all'",
        "aiohttp[speedups]>=3; sys_platform != 'win32' and extra == \"web\"",
        "no-such-thing; extra == 'none'",
    )
    assert list(list_extras(requires)) == ["web"]
