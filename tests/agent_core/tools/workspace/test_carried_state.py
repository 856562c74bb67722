"""What one command leaves behind never runs in the next one, nor beside a secret."""

import pytest

from agent_core.tools.policy.exports import list_exports
from tests.agent_core.execution.backends import needs_bubblewrap
from tests.agent_core.tools.workspace.desk import Desk
from tests.tables import check_each

pytestmark = [pytest.mark.process, needs_bubblewrap]

RAN = "touch /workspace/ran"
START_FILES = (".bashrc", ".bash_profile", ".profile", ".bash_logout", ".inputrc", ".env")
FORGED = {
    "script": f"declare -x A=1\n{RAN}\n$({RAN})\n",
    "substitution": f"/workspace\0A=$({RAN})\0",
    "function": f"/workspace\0BASH_FUNC_ls%%=() {{ {RAN}; }}\0",
    "start file": "/workspace\0BASH_ENV=/workspace/evil\0ENV=/workspace/evil\0",
    "path": "/workspace\0PATH=/workspace/bin\0",
    "preload": "/workspace\0LD_PRELOAD=/workspace/evil.so\0",
    "prompt": f"/workspace\0PROMPT_COMMAND={RAN}\0PS4=$({RAN})\0",
    "index": f"/workspace\0A[$({RAN})]=1\0A=1\0",
    "name": f"/workspace\0KEPT PATH=1\0x[$({RAN})]\0",
    "folder": f"$({RAN})\0",
    "option": "-P\0",
}


async def test_no_start_file_of_a_workspace_runs_in_a_shell(desk: Desk) -> None:
    desk.place.mkdir(parents=True)
    for name in START_FILES:
        (desk.place / name).write_text(f"{RAN}\n")
    for command in ("true", "bash -c true", "bash -ic true", "bash -lc true", "echo | bash -i"):
        await desk.say("terminal", command=command)
    await desk.say("process", action="wait", id="p1")
    started = await desk.say("terminal", command="true", background=True)
    assert started.startswith("Started as p1")
    await desk.say("process", action="wait", id="p1")
    await desk.say("execute_code", code="import subprocess; subprocess.run(['bash', '-ic', ':'])")
    assert not (desk.place / "ran").exists()


async def test_standard_input_is_never_a_socket(desk: Desk) -> None:
    for arguments in ({}, {"background": True}):
        await desk.say("terminal", command="readlink /proc/self/fd/0 >> inputs", **arguments)
    await desk.say("process", action="wait", id="p1")
    kinds = (desk.place / "inputs").read_text().split()
    assert len(kinds) == 2
    assert all(one.startswith(("pipe:", "/dev/null")) for one in kinds)


async def test_a_forged_state_of_the_shell_runs_nothing(desk: Desk) -> None:
    await desk.say("terminal", command="mkdir -p .shell bin; export KEPT=1 A=0")
    for folder, name in (("bin", "ls"), ("bin", "true"), (".", "evil")):
        (desk.place / folder / name).write_text(f"#!/bin/sh\n{RAN}\n")
        (desk.place / folder / name).chmod(0o755)
    for name, text in FORGED.items():
        (desk.place / ".shell" / "1").write_text(text)
        said = await desk.say("terminal", command="ls > /dev/null; /bin/true; bash -c :; pwd")
        assert not (desk.place / "ran").exists(), name
        assert said.endswith("/workspace"), name


async def test_only_exports_that_a_command_names_are_kept(desk: Desk) -> None:
    (desk.place).mkdir(parents=True)
    (desk.place / "env").write_text("export HIDDEN=1\n")
    said = await desk.say("terminal", command='. ./env; export OPEN="$(echo a b)" PATH="$PATH:/x"')
    assert said == "Not kept for the next command: PATH HIDDEN."
    said = await desk.say("terminal", command="echo $OPEN ${HIDDEN-unset} $PATH")
    assert said.startswith("a b unset /opt/talaria/git:/usr")
    assert "/x" not in said
    said = await desk.say("terminal", command="export LD_PRELOAD=x.so OTHER=2")
    assert "Not kept for the next command: LD_PRELOAD." in said
    assert await desk.say("terminal", command="set -eu; echo $OTHER") == "2"


async def test_a_home_is_empty_and_ends_with_its_command(desk: Desk) -> None:
    said = await desk.say("terminal", command="cd; echo x > notes; touch .bashrc; pwd")
    assert said == "/tmp/home\nFiles in $HOME are not kept; keep them in $WORKSPACE."
    assert "notes" not in await desk.say("terminal", command="ls -A ~")
    # Programs that ask the system for the home get the same one.
    said = await desk.say("terminal", command="cd /workspace; getent passwd $(id -u) | cut -d: -f6")
    assert said == "/tmp/home"


def test_names_of_exports_come_from_the_grammar_of_bash() -> None:
    rows = (
        ("export A=1 B", ("A", "B"), False),
        ("declare -x C=$(date); declare D=1", ("C",), False),
        ("if x; then export E='a b'; fi; F=1; export F", ("E", "F"), False),
        ("export $(cat list)", (), True),
        (". ./env", (), True),
        ("export PATH=./x LD_AUDIT=y GIT_DIR=z", (), False),
        ("echo export A=1", (), False),
    )

    def check(row: tuple[str, tuple[str, ...], bool]) -> None:
        text, names, has_others = row
        found = list_exports(text)
        assert (found.plain, found.has_others) == (names, has_others)

    check_each(rows, check)
