"""Conversations in the terminal: in a pipe, at the prompt, over a restart, beside a gateway."""

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from adapters.console.settings import find_account_name
from agent_core.safe_names import read_call_name
from gateway.interfaces.terminal.pipe import read_lines
from gateway.interfaces.terminal.socket_client import ConsoleLink, News, Shown, save_file
from gateway.texts import general
from tests.architecture.source import ROOT
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.processes import PATIENCE, environ, running, talaria, talaria_beside
from tests.integration.served import served
from tests.journeys.stage import Stage, calls
from tests.journeys.terminal import at_terminal

NAME = find_account_name()
CALLED = read_call_name(NAME)
BY = f" ({CALLED})" if CALLED else ""
"""How an answer names this account: not at all if the name means something, such as root."""
FACT = "the spare key is with Ada"
FIRST = asyncio.FIRST_COMPLETED
ASK = call("ask", '{"question": "Which colour?", "options": ["Red", "Blue"]}')


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("h") / "home"


def test_memories_survive_a_restart(home: Path) -> None:
    first = talaria(home, "chat", given=f"remember that {FACT}\n")
    assert (first.code, first.err) == (0, "")
    assert FACT in first.out
    second = talaria(home, "chat", given="what do you know about me?\n")
    assert second.code == 0
    assert FACT in second.out
    memory = home / "memories" / "people" / "owner"
    assert FACT in "".join(path.read_text() for path in memory.iterdir())


def test_each_line_is_answered_in_order_with_an_empty_line_between(home: Path) -> None:
    done = talaria(home, "chat", given="/whoami\n\n   \n/nonsense\n/stop")
    assert (done.code, done.err) == (0, "")
    whoami, nonsense, stop = done.out.split("\n\n")
    assert whoami.startswith(f"You are {NAME} (owner).\nAccounts: the console")
    assert nonsense == general.UNKNOWN_COMMAND(name="nonsense")
    assert stop == "Nothing is running here.\n"


def test_each_line_is_sent_after_the_previous_answer(home: Path) -> None:
    """A second line sent at once would steer the first turn."""
    done = talaria(home, "chat", given="count to 3\ncount to 2\n")
    assert done.out == "1 2 3\n\n1 2\n"
    shown = talaria(home, "turns", "list").out
    assert len(shown.splitlines()) == 2


def test_a_live_message_is_printed_once(home: Path) -> None:
    """It is shown live after one second, but only the final text is printed."""
    done = talaria(home, "chat", given="think for 1 second\n")
    assert done.code == 0
    assert len(done.out.strip().split("\n\n")) == 1


def test_a_pipe_is_asked_in_a_list_and_its_next_line_answers(home: Path) -> None:
    done = talaria(home, "chat", given="/settings\n/settings quiet_hours night\n")
    assert (done.code, done.err) == (0, "")
    assert "\n4. Quiet from 22:00" in done.out
    assert "Quiet hours: 22:00-07:00" in done.out


async def test_an_open_question_does_not_block_a_pipe(home: Path) -> None:
    model = FakeModel(ask(ASK, text="Let me see."), say("Blue it is."))
    async with served(home, model=model):
        done = await talaria_beside(home, "chat", given="paint my room\n2\n")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"Which colour?\n\n1. Red\n2. Blue\n\nWhich colour?\n\n→ Blue{BY}\n\nBlue it is.\n"
    )


def test_unusual_text_is_answered(home: Path) -> None:
    words = ("🦋" * 4000, "مرحبا \u202e\u200b\u200d", "\x1b[2J\x07\x00", "a" * 200_000)
    done = talaria(home, "chat", given="\n".join(words) + "\n")
    assert (done.code, done.err) == (0, "")
    assert "\x1b" not in done.out
    assert "200,000 characters" in done.out
    assert len(talaria(home, "turns", "list").out.splitlines()) == 3


async def test_a_chat_connects_to_the_running_gateway(home: Path) -> None:
    async with running(home) as gateway:
        done = await talaria_beside(home, "chat", given=f"remember that {FACT}\n")
        assert (done.code, done.err) == (0, "")
        assert FACT in done.out
        again = await talaria_beside(home, "chat", given="what do you know about me?\n")
        assert FACT in again.out
        assert gateway.process.returncode is None
        assert await gateway.stop() == 0


async def test_files_of_an_answer_are_named_or_saved_where_the_person_wants(stage: Stage) -> None:
    text = {"name": "tea.csv", "text": "day,cups\nMon,3\n"}
    file = {"type": "tool_use", "name": "send_file", "input": text}
    folder = stage.home / "kept" / "files"
    settings = stage.environ()
    del settings["TALARIA_HOME"]
    async with running(stage.home, **settings):
        stage.plan(calls(file), "Here it is.")
        done = await talaria_beside(stage.home, "chat", given="count my tea\n")
        assert "tea.csv: this file is on the console page." in done.out
        for name in ("tea.csv", "tea-2.csv"):
            stage.plan(calls(file), "Here it is.")
            saving = ("chat", "--save-files", str(folder))
            done = await talaria_beside(stage.home, *saving, given="count my tea\n")
            assert f"tea.csv: saved as {folder / name}" in done.out
            assert (folder / name).read_bytes() == b"day,cups\nMon,3\n"
    assert sorted(path.name for path in folder.iterdir()) == ["tea-2.csv", "tea.csv"]
    refused = talaria(stage.home, "chat", "--save-files", str(folder / "tea.csv"), given="hi\n")
    assert refused.code == 2
    assert "can't be made" in refused.err


@pytest.mark.thorough
async def test_a_chart_is_drawn_in_characters(stage: Stage) -> None:
    spec = {"kind": "line", "title": "Cups", "labels": ["Mon", "Tue"], "values": [3, 1.5]}
    settings = stage.environ()
    del settings["TALARIA_HOME"]
    async with running(stage.home, **settings):
        stage.plan(calls({"type": "tool_use", "name": "chart", "input": spec}), "Less tea.")
        done = await talaria_beside(stage.home, "chat", given="draw my tea\n")
    assert (
        "Less tea.\n\n```\nCups\nMon  ████████████████████████ 3\nTue  ████████████ 1.50\n```\n\n"
        "📎 Cups.png: this file is on the console page."
    ) in done.out


@pytest.mark.parametrize("name", ["../../tea.png", "/etc/tea.png", "..\\tea.png", "...tea.png"])
def test_a_file_is_saved_in_the_folder_whatever_its_name(tmp_path: Path, name: str) -> None:
    assert save_file(tmp_path, name, b"tea") == tmp_path / "tea.png"


async def test_a_pipe_prints_unsolicited_messages(home: Path) -> None:
    """Like a reminder; here it is the answer to somebody else on the same console."""
    async with running(home):
        idle = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", "chat"),
            cwd=ROOT,
            env=environ(home),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert idle.stdin
        assert idle.stdout
        idle.stdin.write(b"/whoami\n")
        async with asyncio.timeout(PATIENCE):
            assert f"You are {NAME}".encode() in await idle.stdout.readline()
            done = await talaria_beside(home, "chat", given="count to 3\n")
            assert done.out == "1 2 3\n"
            while b"1 2 3" not in await idle.stdout.readline():
                pass
        idle.stdin.close()
        assert await idle.wait() == 0


def test_a_chat_that_can_not_open_the_gateway_says_why(home: Path) -> None:
    home.mkdir()
    home.joinpath("state.db").write_bytes(b"no database" * 100)
    done = talaria(home, "chat", given="hello\n")
    assert (done.code, done.out) == (2, "")
    assert "is damaged" in done.err
    assert "Traceback" not in done.err


def test_the_demo_of_the_makefile_is_a_conversation(home: Path) -> None:
    """The same lines as `make demo`; each has an answer."""
    makefile = ROOT.joinpath("Makefile").read_text()
    lines = re.findall(r"'([^']+)'", makefile.partition("demo:")[2].partition("bench:")[0])
    lines = [line for line in lines if not line.startswith("%")]
    assert len(lines) >= 3
    assigned = dict(re.findall(r"(TALARIA_MODEL\w+)=(\S+)", makefile.partition("demo:")[2]))
    assert assigned == {"TALARIA_MODEL__PROVIDER": "scripted"}, "a model of the machine may be slow"
    done = talaria(home, "chat", given="\n".join(lines), **assigned)
    assert (done.code, done.err) == (0, "")
    assert "stand-in" in done.out


async def test_lines_typed_during_downtime_are_sent_afterwards(
    home: Path,
) -> None:
    heard: list[str] = []
    is_answered = asyncio.Event()

    async def hear(news: News) -> None:
        if isinstance(news, Shown) and not news.is_live:
            heard.append(news.text)
            is_answered.set()

    link = ConsoleLink(home / "console.sock", hear)
    line = asyncio.create_task(link.run())
    saying = asyncio.create_task(link.say("/whoami"))
    try:
        async with asyncio.timeout(PATIENCE):
            async with served(home):
                await saying
                await is_answered.wait()
            is_answered.clear()
            saying = asyncio.create_task(link.say("/whoami"))
            async with served(home):
                await saying
                await is_answered.wait()
    finally:
        line.cancel()
        await asyncio.gather(line, return_exceptions=True)
    assert [text.partition("\n")[0] for text in heard] == [f"You are {NAME} (owner)."] * 2


async def test_lines_of_a_pipe_are_complete_whatever_the_chunks() -> None:
    reading, writing = os.pipe()
    try:
        lines = read_lines(reading)
        os.write(writing, "gr\xfc".encode()[:3])
        os.write(writing, "gr\xfc".encode()[3:] + b"n\nsecond\nthi")
        assert [await anext(lines), await anext(lines)] == ["gr\xfcn", "second"]
        os.write(writing, b"rd")
        os.close(writing)
        assert [line async for line in lines] == ["third"]
    finally:
        os.close(reading)


def test_a_button_is_pressed_by_its_number_at_the_prompt(home: Path) -> None:
    with at_terminal(environ(home), "chat") as terminal:
        terminal.wait_for("›")
        terminal.type("/settings\r")
        terminal.wait_for(r"1\xa0Answers only · 2\xa0Progress if it takes long · 3\xa0Every step")
        for _ in range(2):  # an unchanged setting is shown again
            terminal.type("3\r")
            terminal.wait_for("› Every step")
            terminal.wait_for("What you see of my work: Every step")
            terminal.wait_for("4\xa0Quiet from 22:00")
        terminal.type("99\r")
        terminal.wait_for("You wrote: “99”")
        terminal.wait_for("›")
        terminal.type("1\r")  # the newest message has no buttons now
        terminal.wait_for("You wrote: “1”")
        terminal.wait_for("›")
        assert terminal.leave() == 0


async def test_a_question_of_a_turn_is_answered_by_its_number_at_the_prompt(home: Path) -> None:
    model = FakeModel(ask(ASK), say("It is painted."))

    def dialogue() -> None:
        with at_terminal(environ(home), "chat") as terminal:
            terminal.wait_for("›")
            terminal.type("paint my room\r")
            terminal.wait_for("Which colour")
            terminal.wait_for("1\xa0Red · 2\xa0Blue")
            terminal.type("2\r")
            terminal.wait_for(f"→ Blue{re.escape(BY)}")
            terminal.wait_for(r"It is painted\.")
            terminal.wait_for("›")
            assert terminal.leave() == 0

    async with served(home, model=model):
        await asyncio.to_thread(dialogue)


async def test_a_prompt_says_that_the_gateway_went_and_came_back(home: Path) -> None:
    """One line each; what was typed in between is kept and answered."""
    loop, going, coming = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()

    def dialogue() -> None:
        with at_terminal(environ(home), "chat") as terminal:
            terminal.wait_for("›")
            terminal.type("count to 2\r")
            terminal.wait_for("1 2\\s")
            loop.call_soon_threadsafe(going.set)
            terminal.wait_for(r"Talaria has stopped\. What you write is kept until it is back\.")
            terminal.type("count to 3\r")
            terminal.wait_for("› count to 3")
            loop.call_soon_threadsafe(coming.set)
            terminal.wait_for(r"Talaria is back\.")
            terminal.wait_for("1 2 3\\s")
            terminal.wait_for("›")
            assert terminal.leave() == 0

    async with served(home):
        talking = asyncio.create_task(asyncio.to_thread(dialogue))
        await asyncio.wait({talking, asyncio.create_task(going.wait())}, return_when=FIRST)
    await asyncio.wait({talking, asyncio.create_task(coming.wait())}, return_when=FIRST)
    async with served(home):
        await talking
    shown = await talaria_beside(home, "turns", "list")
    assert len(shown.out.splitlines()) == 2


async def test_a_prompt_names_what_it_could_not_send(home: Path) -> None:
    loop, going = asyncio.get_running_loop(), asyncio.Event()

    def dialogue() -> None:
        with at_terminal(environ(home), "chat") as terminal:
            terminal.wait_for("›")
            terminal.type("count to 2\r")
            terminal.wait_for("1 2\\s")
            loop.call_soon_threadsafe(going.set)
            terminal.wait_for("Talaria has stopped")
            terminal.type("are you there?\r")
            terminal.wait_for("› are you there")
            terminal.wait_for("›")
            terminal.insist("\x04", "Not sent: are you there")

    async with served(home):
        talking = asyncio.create_task(asyncio.to_thread(dialogue))
        await asyncio.wait({talking, asyncio.create_task(going.wait())}, return_when=FIRST)
    await talking


def test_a_conversation_at_the_prompt(home: Path) -> None:
    with at_terminal(environ(home), "chat") as terminal:
        terminal.wait_for("a stand-in answers")
        terminal.wait_for("this chat started one")
        terminal.wait_for("›")
        terminal.type("/sta")
        terminal.wait_for(r"/status\s+Show what I'm doing")
        terminal.type("tus\r")
        terminal.wait_for("Model: scripted: stand-in")
        terminal.type(f"remember that {FACT}\r")
        terminal.wait_for("I'll remember that.")
        terminal.type("think for 60 seconds\r")
        terminal.wait_for("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]")
        terminal.type("\x03")
        terminal.wait_for(r"\(Stopped\.")
        terminal.wait_for("›")  # before the redraw, the terminal itself handles Ctrl-D
        assert terminal.leave() == 0
    assert home.joinpath("chat_history").stat().st_mode & 0o777 == 0o600
    assert FACT in home.joinpath("chat_history").read_text()
    assert home.joinpath("state.lock").read_text().split()[1:] == ["clean"]
