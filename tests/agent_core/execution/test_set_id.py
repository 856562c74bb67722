"""No file of a workspace keeps the bits for another user or group, however they are set."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.execution import files
from agent_core.execution.contract import Backend, Command
from agent_core.execution.timed_command import run_command
from tests.agent_core.execution.backends import BACKENDS, open_backend
from tests.tables import await_each

pytestmark = pytest.mark.process

SECONDS = 45.0
_PYTHON = "import os, stat; "
WAYS = (
    *("chmod u+s f", "chmod 2755 f", "chmod 6755 f", "chmod g+s d", "chmod 7777 f"),
    *("install -m 4755 /bin/true i", "mkdir -m 2755 m", "cp --preserve=mode /usr/bin/passwd c"),
    _PYTHON + "os.fchmod(os.open('f', os.O_RDONLY), 0o4755)",
    _PYTHON + "os.chmod(os.open('f', os.O_RDONLY), 0o6755)",
    _PYTHON + "os.chmod('f', 0o4755, dir_fd=os.open('.', os.O_RDONLY))",
    _PYTHON + "os.umask(0); os.open('o', os.O_CREAT | os.O_WRONLY, 0o4755)",
    _PYTHON + "os.umask(0); os.mknod('n', stat.S_IFREG | 0o4755)",
    _PYTHON
    + "t = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o6755);"
    + " os.link(f'/proc/self/fd/{t}', 't', follow_symlinks=True)",
    _PYTHON + "import ctypes; ctypes.CDLL(None).creat(b'k', 0o4755)",
    _PYTHON
    + "import ctypes, struct; ctypes.CDLL(None).syscall(437, -100, b'w',"
    + " struct.pack('=QQQ', os.O_CREAT | os.O_WRONLY, 0o4755, 0), 24)",
    _PYTHON + "import ctypes; ctypes.CDLL(None).syscall(452, -100, b'f', 0o4755, 0)",
    "umask 0; printf 'x' > x; chmod 4755 x; mv x y; tar cf z.tar y; tar xpf z.tar",
)


@pytest.fixture(params=BACKENDS)
async def confined(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    async with open_backend(request, tmp_path) as backend:
        yield backend


async def test_nothing_sets_the_bits_for_another_user_or_group(
    confined: Backend, tmp_path: Path
) -> None:
    place = tmp_path / "workspaces" / "anna"

    async def run(text: str) -> str:
        words = ("python3", "-I", "-c", text)
        argv = words if text.startswith(_PYTHON) else ("/bin/bash", "-c", text)
        done = await run_command(
            confined, Command(workspace="anna", argv=argv), seconds=SECONDS, most_bytes=100_000
        )
        return done.output.decode()

    await run("touch f; mkdir d")

    async def check(text: str) -> None:
        said = await run(text)
        marked = [path for path in place.rglob("*") if path.lstat().st_mode & 0o6000]
        assert marked == [], said

    await await_each(WAYS, check)
    ordinary = "umask 022; touch a; chmod 755 a; chmod +t d; install -m 711 a b; stat -c %a a b"
    assert (await run(ordinary)).split() == ["755", "711"]


def test_bits_of_an_earlier_version_go_when_a_workspace_is_measured(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("one", "a/two"):
        (tmp_path / name).write_text("x")
        (tmp_path / name).chmod(0o6755)
    (tmp_path / "link").symlink_to("/usr/bin/passwd")
    assert len(list(files.walk_states(tmp_path))) == 4
    for name in ("one", "a/two"):
        assert (tmp_path / name).stat().st_mode & 0o7777 == 0o755
