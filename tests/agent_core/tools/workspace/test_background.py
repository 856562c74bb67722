"""Commands in the background: their output, their input, their end, and what is told of it."""

import asyncio
import json
from pathlib import Path

import pytest

from agent_core.ids import ProcessId
from agent_core.state.engine.database import Database
from agent_core.state.jobs import processes
from agent_core.state.lifecycle import erase_person
from agent_core.state.lifecycle.person_data import DataSubject
from agent_core.state.queues import inbox
from agent_core.tools.workspace.background import PROCESS_EVENTS
from agent_core.tools.workspace.process import ProcessTool
from tests.agent_core.execution.backends import make_local, needs_bubblewrap
from tests.agent_core.tools.workspace.desk import MOST_BACKGROUND, SECRET, Desk
from tests.patience import PATIENCE

pytestmark = [pytest.mark.process, needs_bubblewrap]


async def start(desk: Desk, command: str, *, notify: bool = False) -> str:
    said = await desk.say("terminal", command=command, background=True, notify=notify)
    assert said.startswith("Started as p"), said
    return said.removeprefix("Started as ").partition(";")[0]


async def events(database: Database) -> list[tuple[str, list[int]]]:
    rows = await database.read(inbox.list_received)
    assert {row.platform for row in rows} <= {PROCESS_EVENTS}
    return [(row.event_id, json.loads(row.payload)["processes"]) for row in rows]


async def test_a_long_command_is_started_read_and_waited_for(desk: Desk) -> None:
    process = await start(desk, "echo one; read -r line; echo $line; exit 3")
    assert process == "p1"
    async with asyncio.timeout(PATIENCE):
        while (said := await desk.say("process", action="read", id="p1")).startswith("[No new"):
            await asyncio.sleep(0.02)
    assert said.startswith("one\n[p1 has run")
    assert await desk.say("process", action="write", id="p1", text="two\n") == "Sent to p1."
    said = await desk.say("process", action="wait", id="p1")
    assert said == "two\n[p1 ended with exit status 3, after 0 s.]"
    assert (desk.place / ".processes/p1.log").read_text().endswith("exit 3\none\ntwo\n")
    whole = await desk.use("process", action="read", id="p1")
    assert whole.text.endswith("one\ntwo\n[p1 ended with exit status 3, after 0 s.]")
    assert whole.sources == ("command:p1",)
    assert await events(desk.database) == []


async def test_the_shell_of_the_conversation_is_used_and_not_changed(desk: Desk) -> None:
    await desk.say("terminal", command="mkdir a; cd a; export X=1")
    await start(desk, "pwd; echo $X; cd ..; export X=2")
    assert "/workspace/a\n1\n[p1 ended" in await desk.say("process", action="wait", id="p1")
    assert await desk.say("terminal", command="pwd; echo $X") == "/workspace/a\n1"


async def test_a_command_in_the_background_does_not_hold_up_others(desk: Desk) -> None:
    await start(desk, "while ! [ -e go ]; do sleep 0.02; done; echo gone")
    await desk.say("terminal", command="touch go")
    assert "gone\n[p1 ended" in await desk.say("process", action="wait", id="p1")


async def test_an_input_can_be_closed(desk: Desk) -> None:
    await start(desk, "wc -l")
    await desk.say("process", action="write", id="p1", text="one\n")
    said = await desk.say("process", action="write", id="p1", text="")
    assert said == "The input of p1 is closed."
    assert "1\n[p1 ended" in await desk.say("process", action="wait", id="p1")
    said = await desk.say("process", action="write", id="p1", text="more")
    assert said == "`process` failed: the command has ended."


async def test_a_killed_command_ends_with_all_it_started_and_tells_nobody(desk: Desk) -> None:
    beat = "while :; do date +%N > beat; sleep 0.02; done"
    await start(desk, f"setsid bash -c '{beat}' & {beat}", notify=True)
    said = await desk.say("process", action="kill", id="p1")
    assert said.endswith("[p1 was killed, after 0 s.]")
    assert await desk.say("terminal", command="a=$(cat beat); sleep 0.2; [ $a = $(cat beat) ]")
    assert await events(desk.database) == []
    assert (await desk.say("process", action="kill", id="p1")).endswith("Nothing was killed.")


async def test_the_end_is_told_once_if_that_was_wanted(desk: Desk) -> None:
    await start(desk, "read -r x; false", notify=True)
    desk.now = 5
    await desk.say("process", action="write", id="p1", text="\n")
    await desk.say("process", action="wait", id="p1")
    assert await events(desk.database) == [("1:end:0", [1])]
    assert desk.background.has_news.is_set()


async def test_only_the_newest_output_is_kept(desk: Desk) -> None:
    await start(desk, "seq 1 200000; echo over")
    said = await desk.say("process", action="wait", id="p1")
    assert said.startswith("[788,900 bytes of output are lost.]\n")
    assert said.endswith("over\n[p1 ended with exit status 0, after 0 s.]")
    log = (desk.place / ".processes/p1.log").read_text()
    assert log.startswith("$ seq 1 200000; echo over\n[788,900 bytes left out]\n")
    assert len(log) < 501_000


async def test_binary_output_and_secrets_stay_out_of_the_conversation(desk: Desk) -> None:
    await start(desk, "printf 'a\\0b'")
    assert "binary, 3 bytes" in await desk.say("process", action="wait", id="p1")
    await start(desk, f"echo {SECRET}")
    assert "[hidden]\n[p2 ended" in await desk.say("process", action="wait", id="p2")


async def test_a_person_may_run_only_so_many(desk: Desk) -> None:
    for _ in range(MOST_BACKGROUND):
        await start(desk, "sleep 600")
    said = await desk.say("terminal", command="sleep 600", background=True)
    assert said.startswith("`terminal` was not run: 2 commands run in the background already;")
    await desk.say("process", action="kill", id="p1")
    await start(desk, "true")
    await desk.say("process", action="kill", id="p2")


async def test_a_command_has_a_longest_time(database: Database, tmp_path: Path) -> None:
    desk = Desk(database, tmp_path, make_local(tmp_path), seconds=0.2)
    await start(desk, "sleep 600", notify=True)
    said = await desk.say("process", action="wait", id="p1")
    assert said.endswith("[p1 was stopped because it took longer than allowed, after 0 s.]")
    assert await events(database) == [("1:end:0", [1])]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"action": "read"}, "`id` is missing."),
        ({"action": "read", "id": "p9"}, "there is no command `p9`; `list` shows them."),
        ({"action": "kill", "id": "p" + "9" * 40}, "`list` shows them."),
        ({"action": "read", "id": "p²"}, "`list` shows them."),
        ({"action": "jump", "id": "p1"}, "`action` must be one of"),
        ({"action": "write", "id": "p1", "text": "x" * 60_000}, "`text` is too long;"),
    ],
)
async def test_a_bad_call_gets_one_clear_sentence(
    desk: Desk, arguments: dict[str, object], sentence: str
) -> None:
    await start(desk, "true")
    result = await desk.use("process", **arguments)  # type: ignore[arg-type]
    assert result.is_error
    assert sentence in result.text


async def test_only_input_is_judged_because_it_may_be_a_command(desk: Desk) -> None:
    tool = next(tool for tool in desk.tools if isinstance(tool, ProcessTool))
    context = desk.context()
    assert tool.list_actions({"action": "write", "text": "rm -rf x\n"}, context)
    for action in ("list", "read", "wait", "kill"):
        assert tool.list_actions({"action": action, "id": "p1"}, context) == ()


async def test_a_command_that_does_not_read_says_so_and_can_be_killed(desk: Desk) -> None:
    await start(desk, "sleep 600")
    said = ""
    while "Sent" in said or not said:
        said = await desk.say("process", action="write", id="p1", text="x" * 50_000)
    assert said == "`process` failed: the command does not read its input now."
    assert "was killed" in await desk.say("process", action="kill", id="p1")


async def test_nobody_else_reaches_a_command(desk: Desk) -> None:
    await start(desk, "sleep 600")
    for action in ("read", "kill", "wait", "write"):
        said = await desk.say("process", person=2, action=action, id="p1")
        assert "there is no command `p1`" in said
    assert "No command" in await desk.say("process", person=2, action="list")
    await desk.say("process", action="kill", id="p1")


async def test_a_restart_reports_what_was_lost_exactly_once(
    desk: Desk, database: Database, tmp_path: Path
) -> None:
    await start(desk, "echo begun; sleep 600")
    await start(desk, "sleep 600")
    assert (await desk.say("process", action="read", id="p1")).startswith("begun")
    again = Desk(database, tmp_path, make_local(tmp_path))
    again.now = 7
    await again.background.recover()
    assert await events(database) == [("1:lost:7", [1, 2])]
    said = await again.say("process", action="read", id="p1")
    assert said.endswith("[p1 was lost when Talaria restarted; it no longer runs.]")
    another = Desk(database, tmp_path, make_local(tmp_path))
    another.now = 9
    await another.background.recover()
    assert await events(database) == [("1:lost:7", [1, 2])]
    # The first one still runs here, because nothing has ended: its end is not told again.
    await desk.say("process", action="kill", id="p1")
    await desk.say("process", action="kill", id="p2")
    assert await events(database) == [("1:lost:7", [1, 2])]


async def test_what_this_process_runs_is_not_lost(desk: Desk) -> None:
    await start(desk, "sleep 600")
    await desk.background.recover()
    assert await events(desk.database) == []
    await desk.say("process", action="kill", id="p1")


async def test_an_erased_person_has_no_commands(desk: Desk) -> None:
    await start(desk, "sleep 600", notify=True)
    log = desk.background.find_log(ProcessId(1))
    assert log
    subject = DataSubject(person_ids=(1,), accounts=(), chats=())  # type: ignore[arg-type]
    await desk.database.write("test", lambda c: erase_person.erase_processes(c, subject=subject))
    desk.background.kill_erased()
    async with asyncio.timeout(PATIENCE):
        await log.over.wait()
    assert (
        await desk.database.read(lambda c: processes.find_any(c, process_ids=[ProcessId(1)])) == []
    )
    assert await events(desk.database) == []


async def test_later_commands_of_the_conversation_reach_a_server(desk: Desk) -> None:
    serve = "echo hello > index.html; exec python3 -m http.server 8000 --bind 127.0.0.1"
    await desk.say("terminal", command=serve, background=True)
    ask = "curl -sS --retry 20 --retry-connrefused --retry-delay 0 http://localhost:8000/"
    assert (await desk.say("terminal", command=ask)).endswith("hello")
    code = "import urllib.request as r; print(r.urlopen('http://localhost:8000').read().decode())"
    desk.turn = 2
    assert "hello" in await desk.say("terminal", command=f'python3 -c "{code}"')
    foreign = await desk.use("terminal", conversation=2, command="curl -sS http://localhost:8000/")
    assert foreign.is_error
    assert "Failed to connect" in foreign.text
