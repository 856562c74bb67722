"""The tools of the workspace, in a real sandbox."""

import asyncio
import base64
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.execution.local import LocalBackend
from agent_core.ids import CallId
from agent_core.state.engine.database import Database
from agent_core.tools.contract import ToolResult
from agent_core.tools.selection.built_in import BUILT_IN
from agent_core.tools.send_file import SendFileTool
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import ToolCallPart, make_source
from tests.agent_core.execution.backends import LIMITS, make_local, needs_bubblewrap
from tests.agent_core.tools.workspace.desk import SECRET, Desk
from tests.emulators.pictures import make_png
from tests.gateway.media.documents import lock, make_pdf

pytestmark = [pytest.mark.process, needs_bubblewrap]


async def test_every_tool_has_the_name_that_jobs_may_use(desk: Desk) -> None:
    tools = desk.tools
    acting = {name for name, offer in BUILT_IN.items() if offer.needs_backend}
    assert {tool.spec.name for tool in tools} == acting - {"delegate_task"}
    assert [tool.effect for tool in tools] == [
        *("unsafe", "unsafe", "read", "idempotent", "unsafe", "read", "unsafe")
    ]


async def test_a_command_runs_in_the_workspace_and_reports_its_status(desk: Desk) -> None:
    assert await desk.use("terminal", command="pwd") == ToolResult(
        text="/workspace", sources=(make_source("command", "pwd"),)
    )
    failed = await desk.use("terminal", command="ls missing")
    assert failed.is_error
    assert failed.text.endswith("No such file or directory\n[Exit status 2.]")
    assert await desk.say("terminal", command="true") == "[No output.]"
    await desk.say("terminal", command="mkdir -p a/b")
    assert await desk.say("terminal", command="pwd", workdir="/workspace/a/b") == "/workspace/a/b"


async def test_a_backend_may_give_a_command_less_time_than_the_tool(
    database: Database, tmp_path: Path
) -> None:
    desk = Desk(database, tmp_path, make_local(tmp_path, limits=replace(LIMITS, seconds=1)))
    said = await desk.say("terminal", command="echo begun; sleep 600", timeout=30)
    assert said.startswith("begun\n[It was stopped after 1 s.")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("yes", "[It was stopped after 8,000,000 bytes of output; filter it or write a file.]"),
        ("head -c 1G /dev/zero | tr '\\0' x", "[It was stopped after 8,000,000 bytes of output;"),
        ("sleep 600", "[It was stopped after 1 s. Ask for a longer `timeout`, do less, or use"),
        ("read -r x || echo nothing to read", "nothing to read"),
        ("setsid sleep 600 & disown; echo away", "away"),
        ("head -c 500 /dev/urandom; printf '\\0'", "or print it with xxd or strings.]"),
        ("for i in $(seq 99); do sleep 600 & done; wait", "it had too many processes"),
        ("for i in 1 2 3 4; do head -c 19M /dev/zero >f$i; done; sleep 9", "the disk is full"),
        ("kill -XCPU $$", "it took too much processor time"),
        ("python3 -c 'input()'", "EOFError: EOF when reading a line"),
        ("curl http://127.0.0.1/ || wget http://127.0.0.1/", "[Exit status"),
    ],
)
async def test_a_bad_command_gets_one_clear_sentence(
    desk: Desk, command: str, sentence: str
) -> None:
    said = await desk.say("terminal", command=command, timeout=1 if command == "sleep 600" else 10)
    assert sentence in said or ("99" in command and "Resource" in said)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"command": " "}, "`command` is empty."),
        ({"command": "a\0b"}, "`command` can't hold a NUL character."),
        ({"command": "x" * 200_000}, "`command` is too long; write a script with `write_file`."),
        ({"command": "ls", "workdir": "nowhere"}, "`nowhere` does not exist."),
        ({"command": "ls", "workdir": "/etc"}, "`/etc` leads out of the workspace."),
        ({"command": "ls", "timeout": 31}, "`timeout` must be smaller than or equal to 30."),
    ],
)
async def test_a_command_that_can_not_run_says_why(
    desk: Desk, arguments: dict[str, object], sentence: str
) -> None:
    result = await desk.use("terminal", **arguments)
    assert result.is_error
    assert result.text.endswith(sentence)


async def test_the_folder_and_exports_stay_for_the_next_command(desk: Desk, tmp_path: Path) -> None:
    await desk.say("terminal", command="mkdir -p a 'b c'; cd 'b c'; export WHO=$'two\\nlines' X=1")
    assert await desk.say("terminal", command='pwd; echo "$WHO"') == "/workspace/b c\ntwo\nlines"
    assert await desk.say("terminal", command="unset X; pwd", workdir="a") == "/workspace/a"
    again = Desk(desk.database, tmp_path, make_local(tmp_path))  # a gateway that has restarted
    said = await again.say("terminal", command="pwd; echo ${WHO-unset} $#; cd ../a; exit 3")
    # Anything in the workspace may write the file, so names count that this process has seen.
    note = "These exported variables have ended with a restart: WHO."
    assert said == f"{note}\n/workspace/b c\nunset 0\n[Exit status 3.]"
    assert await desk.say("terminal", command="pwd; rmdir ../a") == "/workspace/a"
    said = await desk.say("terminal", command="pwd; cd /tmp")
    assert said == "The folder /workspace/a no longer exists; this is /workspace.\n/workspace"


async def test_every_conversation_has_a_shell_of_its_own(desk: Desk) -> None:
    await desk.say("terminal", command="mkdir a; cd a; export X=1")
    said = (await desk.use("terminal", conversation=2, command="pwd; echo ${X-unset}")).text
    assert said == "/workspace\nunset"


async def test_variables_that_are_too_long_do_not_break_the_shell(desk: Desk) -> None:
    grow = "export X=$(head -c 120000 /dev/zero | tr '\\0' x); cd /tmp"
    assert await desk.say("terminal", command=grow) == (
        "The exported variables are too long to be kept."
    )
    assert await desk.say("terminal", command="pwd; ls -A | wc -l") == "/workspace\n0"


async def test_what_a_command_writes_as_its_state_stays_in_the_sandbox(desk: Desk) -> None:
    await desk.say("terminal", command="mkdir -p .shell; ln -s /etc/passwd .shell/1; exec true")
    assert await desk.say("terminal", command="pwd") == "/workspace"
    lure = "trap - EXIT; rm -f .shell/1; echo 'touch /etc/x && echo ESCAPED' > .shell/1"
    await desk.say("terminal", command=lure)
    assert "ESCAPED" not in await desk.say("terminal", command="true")


async def test_a_long_output_goes_to_a_file_that_can_be_read_on(desk: Desk) -> None:
    said = await desk.say("terminal", command="seq 1 20000")
    assert len(said) < 11_000
    assert said.startswith("1\n2\n3\n")
    assert said.endswith("19999\n20000")
    path = said.partition("all of it is in ")[2].partition(":")[0]
    assert path == ".output/toolu0001.txt"
    assert await desk.say("read_file", path=path, offset=10_000, limit=2) == (
        "10000\n10001\n[Lines 10,000 to 10,001 of 20,000; read on with offset 10002.]"
    )


async def test_colours_and_cursor_movements_do_not_reach_the_model(desk: Desk) -> None:
    command = r"printf '\033[31mred\033[0m \033]0;title\007 \033[2J end\r\nover\u202e'"
    assert await desk.say("terminal", command=command) == "red   end\nover"


async def test_a_secret_in_an_output_is_hidden(desk: Desk) -> None:
    assert await desk.say("terminal", command=f"echo key={SECRET}") == "key=[hidden]"


async def test_a_file_is_written_read_patched_and_found(desk: Desk) -> None:
    said = await desk.say("write_file", path="src/app.py", content="def main():\n    return 1\n")
    assert said == "Wrote src/app.py (25 bytes)."
    read = await desk.use("read_file", path="src/app.py")
    assert read.text == "def main():\n    return 1\n"
    assert read.sources == (make_source("file", "src/app.py"),)
    patch = {"path": "src/app.py", "old": "return 1", "new": "return 2"}
    assert await desk.say("patch", **patch) == "Changed src/app.py at line 2."
    assert await desk.say("terminal", command="cat src/app.py") == "def main():\n    return 2"
    assert await desk.say("search_files", pattern="return \\d") == "src/app.py:2:    return 2"
    assert await desk.say("search_files", glob="*.py") == "src/app.py"
    assert await desk.say("search_files", pattern="nowhere") == "Nothing matches."


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("two", "2", "`old` occurs 2 times in `x`; add lines around it until it is unique."),
        ("four", "4", "`old` does not occur in `x`; read the file, and copy the text exactly."),
        ("", "4", "`old` is empty."),
        ("one", "one", "`old` and `new` are the same."),
    ],
)
async def test_a_patch_that_does_not_apply_changes_nothing(
    desk: Desk, old: str, new: str, sentence: str
) -> None:
    await desk.say("write_file", path="x", content="one\ntwo\ntwo\n")
    result = await desk.use("patch", path="x", old=old, new=new)
    assert (result.is_error, result.text) == (True, f"`patch` was not run: {sentence}")
    assert await desk.say("read_file", path="x") == "one\ntwo\ntwo\n"


async def test_a_picture_in_the_workspace_is_shown_to_the_model(desk: Desk) -> None:
    data = make_png(3, 2)
    code = base64.b64encode(data).decode()
    await desk.say("terminal", command=f"echo {code} | base64 -d > cat.txt; head -c 24 cat.txt > x")
    result = await desk.use("read_file", path="cat.txt")
    (image,) = result.images
    assert result.image_data == {image.file_key: data}
    assert result.text == f"A picture (image/png, 3 × 2 pixels, {len(data)} bytes)."
    assert make_source("file", "cat.txt") in result.sources
    cut = await desk.use("read_file", path="x")
    assert (cut.is_error, cut.images) == (True, ())
    assert "`x` is a picture (image/png), and it is broken." in cut.text


async def test_a_pdf_file_in_the_workspace_is_shown_with_its_text(desk: Desk) -> None:
    for name, data in (
        ("two.pdf", make_pdf("One", "Two")),
        ("scan.pdf", make_pdf("")),
        ("locked.pdf", lock(make_pdf("secret"), "abc")),
    ):
        code = base64.b64encode(data).decode()
        await desk.say("terminal", command=f"echo {code} | base64 -d > {name}")
    two = await desk.use("read_file", path="two.pdf")
    (file,) = two.images
    assert two.image_data == {file.file_key: make_pdf("One", "Two")}
    assert two.text == f"A PDF file (2 pages, {file.size:,} bytes).\nOne\n\nTwo"
    assert make_source("file", "two.pdf") in two.sources
    later = await desk.use("read_file", path="two.pdf", offset=3)
    assert (later.text.splitlines()[-1], later.images) == ("Two", ())
    beyond = await desk.use("read_file", path="two.pdf", offset=4)
    assert "the text of `two.pdf` has only 3 lines" in beyond.text
    scan = await desk.use("read_file", path="scan.pdf")
    assert (len(scan.images), scan.is_error) == (1, False)
    assert scan.text.endswith("\nIt holds no text, such as a scan.")
    locked = await desk.use("read_file", path="locked.pdf")
    assert (locked.is_error, locked.images) == (True, ())
    assert "`locked.pdf` can't be read: it is a PDF file with a password." in locked.text


@pytest.mark.parametrize(
    ("made", "path", "sentence"),
    [
        ("truncate -s 19M huge", "huge", "`huge` has 19,922,944 bytes, and at most 4,000,000"),
        ("printf 'a\\0b' > bin", "bin", "`bin` is binary (3 bytes); look at it in `terminal`"),
        ("mkdir folder", "folder", "`folder` is a folder."),
        ("mkfifo pipe", "pipe", "`pipe` is no plain file."),
        ("ln -s /etc/passwd link", "link", "`link` leads out of the workspace."),
        ("true", "missing", "`missing` does not exist."),
        ("true", "/home/user/.ssh/id_rsa", "leads out of the workspace."),
        ("true", "../ben/diary", "leads out of the workspace."),
    ],
)
async def test_a_file_that_can_not_be_read_says_why(
    desk: Desk, made: str, path: str, sentence: str
) -> None:
    await desk.say("terminal", command=made)
    result = await desk.use("read_file", path=path)
    assert result.is_error
    assert sentence in result.text


async def test_odd_files_are_read_as_well_as_they_can_be(desk: Desk) -> None:
    await desk.say("write_file", path="empty", content="")
    assert await desk.say("read_file", path="empty") == "`empty` is empty."
    await desk.say("terminal", command="printf 'caf\\xe9\\n' > latin; seq 5 > few")
    assert await desk.say("read_file", path="latin") == "caf\ufffd\n"
    assert (await desk.say("read_file", path="few", offset=9)).endswith("has only 5 lines.")
    await desk.say("terminal", command="head -c 50000 /dev/zero | tr '\\0' x > long")
    said = await desk.say("read_file", path="long")
    assert said.endswith(
        "[Line 1 goes on for 38,000 more characters; read them in `terminal` with cut -c.]"
    )


async def test_a_search_is_bounded_and_takes_no_option_for_a_path(desk: Desk) -> None:
    await desk.say("terminal", command="seq 1000 > n; mkdir -- -x; echo deep > ./-x/y")
    said = await desk.say("search_files", pattern=".")
    assert said.endswith("[There is more than these 100 lines; search for something rarer.]")
    assert await desk.say("search_files", pattern="deep", path="-x") == "-x/y:1:deep"
    failed = await desk.use("search_files", pattern="(")
    assert (failed.is_error, failed.sources) == (True, ("command:search_files",))
    assert await desk.say("search_files", pattern="deep", path="/workspace/-x")
    for looks_for in ({"pattern": "deep"}, {"glob": "*"}, {}):
        missing = await desk.use("search_files", path="-z", **looks_for)
        assert (missing.text, missing.is_error) == ("The search failed: there is no -z", True)


async def test_changes_of_files_come_one_after_the_other(desk: Desk) -> None:
    await desk.say("write_file", path="n", content="12345")
    async with asyncio.TaskGroup() as group:
        for digit in "12345":
            group.create_task(desk.use("patch", path="n", old=digit, new=chr(ord(digit) + 48)))
    assert await desk.say("read_file", path="n") == "abcde"


async def test_a_group_has_no_workspace(desk: Desk) -> None:
    for name, arguments in (("terminal", {"command": "ls"}), ("process", {"action": "list"})):
        said = await desk.say(name, is_in_room=True, **arguments)
        assert said == f"`{name}` was not run: there is no workspace in a group or channel."


async def test_a_backend_that_is_lost_is_an_error_that_the_model_reads(
    database: Database, tmp_path: Path
) -> None:
    desk = Desk(database, tmp_path, LocalBackend(tmp_path, LIMITS, program="/missing/bwrap"))
    for arguments in ({}, {"background": True}):
        result = await desk.use("terminal", command="ls", **arguments)
        assert result.is_error
        assert result.text.startswith("`terminal` failed: the sandbox can't start:")
    assert await desk.say("process", action="list") == "No command runs in the background."


async def test_the_notes_of_a_files_folders_come_once_and_the_nearest_first(desk: Desk) -> None:
    files = {
        "CLAUDE.md": "Use tabs.",
        "a/AGENTS.md": "Use spaces.\n# Rules",
        "a/.cursorrules": "Be kind.",
        "c/AGENTS.md": "Of another folder.",
        "a/b/x.py": "x = 1",
    }
    for path, content in files.items():
        await desk.say("write_file", path=path, content=content)
    read = await desk.use("read_file", path="a/b/x.py")
    places = [read.text.index(word) for word in ("Use spaces.", "Be kind.", "Use tabs.", "x = 1")]
    assert places == sorted(places)
    assert "Of another folder." not in read.text
    assert "\n> # Rules" in read.text
    assert make_source("file", "a/AGENTS.md") in read.sources
    assert await desk.say("read_file", path="/workspace/a/b/x.py") == "x = 1"
    assert "Use tabs." in (await desk.use("read_file", conversation=2, path="a/b/x.py")).text
    await desk.say("write_file", path="CLAUDE.md", content="Use both.")
    again = await desk.say("read_file", path="a/b/x.py")
    assert "Use both." in again
    assert "Be kind." not in again


async def test_a_file_of_five_gigabytes_gets_one_sentence(
    desk: Desk, database: Database, tmp_path: Path
) -> None:
    await desk.say("terminal", command="echo needle > small")
    with (desk.place / "giant").open("wb") as file:
        file.truncate(5 * 1024**3)
    sentence = "`giant` has 5,368,709,120 bytes"
    read = await desk.use("read_file", path="giant")
    changed = await desk.use("patch", path="giant", old="a", new="b")
    sender = Toolbox([SendFileTool(database, make_local(tmp_path))])
    call = ToolCallPart(call_id=CallId("c1"), name="send_file", arguments='{"path":"giant"}')
    sent = await sender.run(call, desk.context())
    for result in (read, changed, sent):
        assert result.is_error
        assert sentence in result.text
        assert "\n" not in result.text
    assert await desk.say("search_files", pattern="needle") == "small:1:needle"


async def test_git_runs_no_program_of_a_folder_that_looks_like_a_repository(desk: Desk) -> None:
    """A cloned repository can hold such a folder, and its config would name a program."""
    config = "[core]\nbare = false\nworktree = ../w\nfsmonitor = touch /workspace/ran; false\n"
    await desk.say("terminal", command="git init -q --bare a/b && mkdir a/w")
    await desk.say("write_file", path="a/b/config", content=config)
    said = await desk.say("terminal", command="cd a/b && git status")
    assert "cannot use bare repository" in said
    assert not (desk.place / "ran").exists()
    assert "On branch" in await desk.say("terminal", command="cd ~ && git init -q && git status")
    shown = "export A=1; export B=2; tr '\\0' '\\n' < .shell/1"
    assert "GIT_" not in await desk.say("terminal", command=shown)


async def test_git_is_guarded_that_a_script_starts(desk: Desk) -> None:
    made = "git init -q a && git -C a config core.fsmonitor 'touch /workspace/ran; false'"
    await desk.say("terminal", command=f"{made} && echo x > a/b && git -C a add b")
    assert "On branch" in await desk.say(
        "terminal", command="cd a && make -f - <<< 'x:;git status'"
    )
    assert not (desk.place / "ran").exists()


async def test_a_search_shows_lines_around_or_only_files_or_counts(desk: Desk) -> None:
    await desk.say("write_file", path="a.py", content="one\ntwo TODO\nthree\nfour TODO\n")
    await desk.say("write_file", path="d/b.py", content="TODO\n")
    await desk.say("write_file", path="c.txt", content="nothing\n")
    around = await desk.say("search_files", pattern="two", context=1)
    assert around.splitlines() == ["a.py-1-one", "a.py:2:two TODO", "a.py-3-three"]
    assert await desk.say("search_files", pattern="TODO", show="files") == "a.py\nd/b.py"
    assert await desk.say("search_files", pattern="TODO", show="count") == "a.py:2\nd/b.py:1"
    assert await desk.say("search_files", pattern="nowhere", show="count") == "Nothing matches."
    assert await desk.say("search_files", glob="*.py", show="count") == "2"
    assert await desk.say("search_files", glob="*.py", show="files") == "a.py\nd/b.py"


async def test_a_search_leaves_out_what_talaria_itself_keeps(desk: Desk) -> None:
    for path in ("a", ".output/x.txt", ".processes/p1.log", ".shell/1", ".github/b"):
        await desk.say("write_file", path=path, content="needle\n")
    assert await desk.say("search_files", pattern="needle") == ".github/b:1:needle\na:1:needle"
    assert await desk.say("search_files", glob="*") == ".github/b\na"
    found = await desk.say("search_files", pattern="needle", path=".output")
    assert found == ".output/x.txt:1:needle"
    assert "x.txt" in await desk.say("search_files", path="/workspace/.output")


async def test_a_home_that_models_name_is_the_workspace(desk: Desk) -> None:
    await desk.say("write_file", path="~/d/a", content="1\n")
    assert (desk.place / "d" / "a").read_text() == "1\n"
    for path in ("$HOME/d/a", "${HOME}/d/a", "$WORKSPACE/d/a", "~/d/a", "d/a"):
        assert await desk.say("read_file", path=path) == "1\n"
    await desk.say("patch", path="$HOME/d/a", old="1", new="2")
    assert await desk.say("search_files", path="~/d", pattern="2") == "d/a:1:2"
    assert await desk.say("search_files", path="~", pattern="2") == "d/a:1:2"
    escaped = await desk.use("read_file", path="~/../ben/a")
    assert escaped.is_error
    assert "leads out of the workspace" in escaped.text
    await desk.say("write_file", path="./~/b", content="3")
    assert (desk.place / "~" / "b").read_text() == "3"


async def test_several_edits_are_made_in_their_order_or_not_at_all(desk: Desk) -> None:
    await desk.say("write_file", path="a", content="x = 1\ny = x\nz = x\n")
    edits = [{"old": "x = 1", "new": "w = 1"}, {"old": "x", "new": "w", "all": True}]
    said = await desk.say("patch", path="a", edits=edits)
    assert said == "Changed a at line 1; 2 places, first at line 2."
    assert (desk.place / "a").read_text() == "w = 1\ny = w\nz = w\n"
    wrong = await desk.use(
        "patch", path="a", edits=[{"old": "w = 1", "new": "v"}, {"old": "q", "new": "r"}]
    )
    assert wrong.is_error
    assert "edit 2 can't be made, so none was: `old` does not occur in `a`" in wrong.text
    assert (desk.place / "a").read_text() == "w = 1\ny = w\nz = w\n"
    assert await desk.say("patch", path="a", old="w", new="u", all=True) == (
        "Changed a at 3 places, first at line 1."
    )
    several = await desk.use("patch", path="a", old="u", new="t")
    assert "occurs 3 times" in several.text
    for arguments in (
        {"old": "u"},
        {},
        {"old": "u", "new": "t", "edits": [{"old": "u", "new": "t"}]},
    ):
        said = await desk.say("patch", path="a", **arguments)
        assert "give either `old` and `new`, or `edits`" in said
    refused = await desk.use("patch", path="a", edits=[{"old": "", "new": "t"}])
    assert "`old` is empty" in refused.text


async def test_some_pages_of_a_pdf_are_read_alone(desk: Desk) -> None:
    (desk.place).mkdir(parents=True, exist_ok=True)
    (desk.place / "a.pdf").write_bytes(make_pdf("first", "second", "third"))
    read = await desk.use("read_file", path="a.pdf", pages="2-3")
    assert "second" in read.text
    assert "third" in read.text
    assert "first" not in read.text
    assert read.images == ()
    assert "third" in await desk.say("read_file", path="a.pdf", pages="3")
    for pages, sentence in (
        ("4", "has only 3 pages"),
        ("0", "counts from 1"),
        ("3-2", "counts from 1"),
        ("all", "is a number or a range"),
    ):
        refused = await desk.use("read_file", path="a.pdf", pages=pages)
        assert refused.is_error
        assert sentence in refused.text


@pytest.mark.parametrize(
    "text",
    [
        "export PYTHONUTF8=7",
        "export PYTHONIOENCODING=nope",
        "export POSIXLY_CORRECT=1",
        "export LC_ALL=xx_YY 2>/dev/null",
        "export BASH_COMPAT=nope 2>/dev/null",
        "export FUNCNEST=1 EXECIGNORE='*' GLOBIGNORE='*'",
        "export IFS=x WORKSPACE=/nowhere UID=5 SHELLOPTS 2>/dev/null",
        "export A='unclosed",
        "export BIG=$(head -c 99000 /dev/zero | tr '\\0' x)",
        "export BIG=$(python3 -c 'print(\"\\u00fc\" * 99_000)')",
    ],
)
async def test_a_broken_export_breaks_no_later_command(desk: Desk, text: str) -> None:
    await desk.say("terminal", command="export GOOD=1")
    await desk.say("terminal", command=text)
    check = "python3 -c 'print(2)'; git --version | cut -c1-3; echo 'x y' | wc -w; echo $GOOD; pwd"
    assert await desk.say("terminal", command=check) == "2\ngit\n2\n1\n/workspace"
