"""The command line: subcommands, exit codes, and error messages."""

import os
import pkgutil
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_core.state.engine.database import Database
from gateway.interfaces import cli, subcommands
from gateway.interfaces.parser import Parser
from gateway.interfaces.subcommands import SUBCOMMANDS
from tests.architecture.source import ROOT
from tests.emulators.anthropic import AnthropicEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.integration.processes import (
    PATIENCE,
    Done,
    bytes_below,
    environ,
    free_port,
    run_without_root,
    running,
    talaria,
    talaria_beside,
)

KEY = "sk-ant-a-key-that-only-the-emulator-knows"


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that does not exist yet, with a path short enough for sockets."""
    return tmp_path_factory.mktemp("h") / "home"


def test_every_word_has_a_module_and_every_module_a_word() -> None:
    modules = {found.name for found in pkgutil.iter_modules(cli.__path__)}
    assert modules == {subcommands.name_module(word).rpartition(".")[2] for word in SUBCOMMANDS}


def test_no_module_is_imported_for_a_word_that_is_none() -> None:
    with pytest.raises(KeyError):
        subcommands.load_run("fly")


def test_every_summary_starts_with_a_verb_and_fits_a_line() -> None:
    for summary in SUBCOMMANDS.values():
        assert summary[0].isupper()
        assert len(summary) <= 60


def test_help_lists_every_word(home: Path) -> None:
    done = talaria(home, "--help")
    assert done.code == 0
    for word, summary in SUBCOMMANDS.items():
        assert f"  {word}" in done.out
        assert summary in done.out


def test_a_word_tells_how_it_is_used(home: Path) -> None:
    done = talaria(home, "turns", "--help")
    assert done.code == 0
    assert "usage: talaria turns" in done.out


def test_a_word_without_a_verb_lists() -> None:
    """Only `batch` has verbs and no default: each of them needs a file."""
    refused = []
    for word in SUBCOMMANDS:
        parser = subcommands.make_parser(word)
        if verbs := parser.list_verbs():
            try:
                chosen = parser.read([]).verb or "list"
            except SystemExit:
                refused.append(word)
            else:
                assert chosen in verbs, word
    assert refused == ["batch"]
    assert subcommands.make_parser("turns").read(["--limit", "3"]).limit == 3


def test_every_help_ends_with_examples_that_the_parser_takes() -> None:
    for word in SUBCOMMANDS:
        parser = Parser(prog=f"talaria {word}")
        subcommands.load_arguments(word)(parser)
        for one in (parser, *parser.list_verbs().values()):
            text = one.format_help()
            assert text.startswith(f"usage: {one.prog}")
            assert one.examples, one.prog
            assert text.endswith("examples:\n  " + "\n  ".join(one.examples) + "\n")
            for example in one.examples:
                command = example.rpartition("| ")[2].partition(" > ")[0]
                while not command.startswith("talaria "):  # settings come first
                    command = command.partition(" ")[2]
                assert command.startswith(one.prog)
                parser.read(shlex.split(command)[2:])


@pytest.mark.parametrize("word", ["--version", "version"])
def test_the_version_is_that_of_the_package(home: Path, word: str) -> None:
    text = ROOT.joinpath("pyproject.toml").read_text()
    version = talaria(home, word).out.split()[1]
    assert f'version = "{version}"' in text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("rnu",), "There is no `talaria rnu`; did you mean run?\n"),
        (("run", "--fast"), "`talaria run` has no option --fast. See `talaria run --help`.\n"),
        (("batch",), "`talaria batch` needs to know what to do; it can do: run, "),
        (("jobs", "show", "5", "6"), "`talaria jobs show` does not need 6. See"),
        (("jobs", "show", "5", "", "a b"), "`talaria jobs show` does not need '' 'a b'. See"),
        (("restore", "a", "--", "--identity"), "`talaria restore` does not need --identity. See"),
        (("jobs", "show", "5", "--title"), "`talaria jobs show` has no option --title"),
        (("turns", "list", "--limit"), "--limit needs a value after it. See"),
        (("restore",), "`talaria restore` also needs FILE. See `talaria restore --help`"),
        (
            ("backup", "~nobody-here/b"),
            "The path can't be used: there is no home directory for ~nobody-here/b.\n",
        ),
        (
            ("restore", "~nobody-here/b"),
            "The path can't be used: there is no home directory for ~nobody-here/b.\n",
        ),
        (("turns", "show", "x"), "ID is a whole number, and x is none. See `talaria turns show"),
        (
            ("turns", "lsit"),
            "There is no `talaria turns lsit`; did you mean list? See `talaria tur",
        ),
        (
            ("turns", "list", "--limt", "3"),
            "`talaria turns list` has no option --limt; did you mean --limi",
        ),
        (
            ("jobs", "add", "--late", "al"),
            "--late: al is not known; did you mean all? See",
        ),
    ],
)
def test_a_wrong_use_is_one_sentence(home: Path, words: tuple[str, ...], sentence: str) -> None:
    done = talaria(home, *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(sentence)
    assert done.err.count("\n") == 1


def test_a_question_that_nobody_answers_ends_in_a_sentence(home: Path) -> None:
    assert talaria(home, "chat", given="hello\n").code == 0
    done = talaria(home, "people", "erase", "owner")
    assert done.code == 1
    assert done.err == "\nA question got no answer, so nothing more was done.\n"


def test_no_word_at_all_is_answered_with_help_and_code_2(home: Path) -> None:
    done = talaria(home)
    assert (done.code, done.out) == (2, "")
    assert "Usage: talaria COMMAND" in done.err


def test_a_closed_pipe_is_no_error(home: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "gateway", "--help"],
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=30,
        check=False,
        cwd=ROOT,
        env=environ(home),
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("word", ["--help", "check"])
def test_frequent_commands_import_nothing_heavy(home: Path, word: str) -> None:
    heavy = {"aiohttp", "telegram", "anthropic", "openai", "prompt_toolkit", "rich"}
    code = (
        f"import sys; from gateway.__main__ import main; main([{word!r}])\n"
        f"print(*sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        cwd=ROOT,
        env=environ(home),
    )
    assert done.stderr.strip() == ""


def unknown_key(home: Path) -> dict[str, str]:
    home.mkdir()
    home.joinpath("config.toml").write_text('[model]\nnmae = "x"\n')
    return {}


def malformed_toml(home: Path) -> dict[str, str]:
    home.mkdir()
    home.joinpath("config.toml").write_text("[model\n")
    return {}


def file_in_its_place(home: Path) -> dict[str, str]:
    home.write_text("mine")
    return {}


def file_above_it(home: Path) -> dict[str, str]:
    home.write_text("mine")
    return {"TALARIA_HOME": str(home / "below")}


def place_that_takes_no_folder(_: Path) -> dict[str, str]:
    return {"TALARIA_HOME": "/proc/talaria"}


def too_deep(home: Path) -> dict[str, str]:
    return {"TALARIA_HOME": str(home / ("d" * 100))}


def newer_database(home: Path) -> dict[str, str]:
    home.mkdir()
    connection = sqlite3.connect(home / "state.db")
    connection.execute("CREATE TABLE later (x)")
    connection.execute("PRAGMA user_version = 9999")
    connection.commit()
    connection.close()
    return {}


def damaged_database(home: Path) -> dict[str, str]:
    home.mkdir()
    home.joinpath("state.db").write_bytes(b"SQLite format 3\0" + b"\x07" * 8176)
    return {}


def file_for_the_logs(home: Path) -> dict[str, str]:
    home.mkdir()
    home.joinpath("logs").write_text("mine")
    return {}


def key_that_is_missing(_: Path) -> dict[str, str]:
    return {"TALARIA_MODEL__PROVIDER": "anthropic"}


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (unknown_key, "model.nmae is not known; did you mean model.name?"),
        (malformed_toml, "config.toml, line 1, column 7: "),
        (file_in_its_place, "is a file; TALARIA_HOME has to name a folder."),
        (file_above_it, "can't be read: Not a directory."),
        (place_that_takes_no_folder, "The home /proc/talaria can't be written: "),
        (too_deep, "is too long a path"),
        (newer_database, "was written by a newer Talaria (schema 9999"),
        (damaged_database, "is damaged"),
        (file_for_the_logs, "can't be written: File exists."),
        (key_that_is_missing, "model.provider is anthropic, but ANTHROPIC_API_KEY is not set."),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_failed_start_is_one_sentence_and_overwrites_nothing(
    home: Path, spoil: Callable[[Path], dict[str, str]], sentence: str
) -> None:
    variables = spoil(home)
    before = bytes_below(home.parent)
    done = talaria(home, "run", **variables)
    assert done.code == 2
    assert done.out == ""
    assert "Traceback" not in done.err
    assert sentence in reported(done)
    after = bytes_below(home.parent)
    assert {path: after.get(path) for path in before} == before


def reported(done: Done) -> str:
    """Return the error sentence; only log lines may precede it."""
    *log, sentence = done.err.splitlines()
    assert all(" INFO " in line or " WARNING " in line for line in log)
    assert sentence.endswith((".", "?"))
    return sentence


async def test_a_home_in_use_is_left_alone_and_its_process_named(home: Path) -> None:
    database = await Database.open(home / "state.db")
    try:
        done = await talaria_beside(home, "run")
    finally:
        await database.close()
    assert done.code == 2
    assert f"is already open by process {os.getpid()}" in reported(done)


async def test_a_second_gateway_says_so_before_it_looks_for_its_port(home: Path) -> None:
    async with running(home) as first:
        done = await talaria_beside(home, "run", TALARIA_HTTP__PORT=str(first.port))
        assert done.code == 2
        assert f"is already open by process {first.process.pid}" in reported(done)
        assert await first.stop() == 0


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's capabilities")
@pytest.mark.parametrize("is_above", [False, True], ids=["home", "folder-above"])
def test_a_home_of_somebody_else_is_one_sentence(tmp_path: Path, is_above: bool) -> None:
    home = tmp_path / "other" / ".talaria"
    home.mkdir(parents=True)
    closed = home.parent if is_above else home
    closed.chmod(0)
    try:
        tried = [run_without_root(home, *words) for words in (("run",), ("people", "list"))]
    finally:
        closed.chmod(0o700)
    sentence = (
        f"The home {home} is closed to you. Run this as its owner, or set TALARIA_HOME to a folder"
        " of yours.\n"
    )
    assert [(done.returncode, done.stdout, done.stderr) for done in tried] == [
        (2, "", sentence)
    ] * 2
    assert list(home.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's capabilities")
def test_a_folder_that_is_closed_is_one_sentence(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "hermes"
    other.mkdir()
    other.chmod(0)
    try:
        done = run_without_root(home, "import", "hermes", str(other))
    finally:
        other.chmod(0o700)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "is closed to you: Permission denied." in done.stderr


async def test_a_command_beside_a_gateway_that_starts_asks_to_try_again(home: Path) -> None:
    database = await Database.open(home / "state.db")
    try:
        done = await talaria_beside(home, "people", "list")
    finally:
        await database.close()
    assert (done.code, done.out) == (2, "")
    assert reported(done) == (
        f"Talaria is just starting or stopping for {home}, or another command works on it."
        " Try again in a few seconds."
    )


async def test_a_used_port_is_named_before_a_platform_connects(home: Path) -> None:
    async with TelegramEmulator() as api:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            done = await talaria_beside(
                home,
                "run",
                TALARIA_HTTP__PORT=str(port),
                TELEGRAM_BOT_TOKEN=api.token,
                TELEGRAM_API_BASE_URL=api.base_url,
            )
        assert not api.calls
    assert done.code == 2
    assert f"can't listen on 127.0.0.1 port {port}: Address already in use." in reported(done)


async def test_a_wrong_token_of_the_only_platform_stops_the_start(home: Path) -> None:
    async with TelegramEmulator() as api:
        done = await talaria_beside(
            home,
            "run",
            TELEGRAM_BOT_TOKEN="123456:wrong",
            TELEGRAM_API_BASE_URL=api.base_url,
        )
    assert done.code == 2
    assert "TELEGRAM_BOT_TOKEN" in done.err.splitlines()[-1]
    assert "Traceback" not in done.err
    assert "123456:wrong" not in done.err


async def test_a_model_that_does_not_exist_stops_the_start(home: Path) -> None:
    async with AnthropicEmulator(key=KEY) as api:
        done = await talaria_beside(
            home,
            "run",
            ANTHROPIC_API_KEY=KEY,
            ANTHROPIC_BASE_URL=api.url,
            TALARIA_MODEL__NAME="claude-nonesuch",
            TALARIA_HTTP__PORT=str(free_port()),
        )
    assert done.code == 2
    assert "claude-nonesuch" in reported(done)
    assert KEY not in done.err


def mode_of(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def test_run_prints_what_is_enabled_and_stops_normally(home: Path) -> None:
    async with running(home) as gateway:
        assert "scripted: stand-in" in gateway.banner
        assert f"http://127.0.0.1:{gateway.port}/?token=" in gateway.banner
        assert "ANTHROPIC_API_KEY" in gateway.banner
        assert "/claim" not in gateway.banner
        for name in ("gateway.sock", "console.sock", "http_token"):
            assert mode_of(home / name) == 0o600, name
        assert mode_of(home) == 0o700
        assert await gateway.stop(signal.SIGINT) == 0
    left = bytes_below(home)
    assert str(home / "gateway.sock") not in left
    assert left[str(home / "state.lock")].split()[1:] == [b"clean"]


async def test_run_prints_a_claim_code_for_a_platform_without_an_owner(home: Path) -> None:
    async with TelegramEmulator() as api:
        tokens = {"TELEGRAM_BOT_TOKEN": api.token, "TELEGRAM_API_BASE_URL": api.base_url}
        async with running(home, **tokens) as gateway:
            assert "To become the owner, send this to your bot:  /claim " in gateway.banner
            assert "telegram  connected" in gateway.banner
            assert api.token not in gateway.banner
            assert await gateway.stop() == 0


async def test_a_socket_left_by_a_killed_gateway_is_replaced(home: Path) -> None:
    async with running(home) as killed:
        assert await killed.stop(signal.SIGKILL) == -signal.SIGKILL
    assert mode_of(home / "gateway.sock") == 0o600
    async with running(home) as gateway:
        assert await gateway.stop() == 0


def test_the_log_and_the_page_are_set_by_variables_too(home: Path) -> None:
    done = talaria(home, "run", TALARIA_LOG__LEVEL="loud", TALARIA_HTTP__PORT=str(free_port()))
    assert done.code == 2
    assert "TALARIA_LOG__LEVEL must be one of" in reported(done)


@pytest.mark.thorough
def test_a_provider_whose_sdk_is_missing_names_the_extra_to_install(tmp_path: Path) -> None:
    """A failing module shadows the installed SDK on the path."""
    tmp_path.joinpath("openai.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'openai'\", name='openai')"
    )
    variables = {"PYTHONPATH": str(tmp_path), "OPENAI_API_KEY": "sk-no-such-key"}
    done = subprocess.run(
        [sys.executable, "-m", "gateway", "run"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        cwd=ROOT,
        env=environ(tmp_path / "home", **variables),
    )
    assert done.returncode == 2
    # An environment of uv has no pip: there, uv installs from outside.
    assert "pip install" in done.stderr
    assert sys.executable in done.stderr
    assert done.stderr.rstrip().endswith("'talaria[openai]'.")
