"""No program obeys a start file of the workspace, in any sandbox: one row for each program.

`start_files.toml` holds the files, each with a canary, and ordinary ways to run the programs.
"""

import os
import shutil
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agent_core.execution.contract import Backend, Command
from agent_core.execution.docker import ContainerSettings, DockerBackend
from agent_core.execution.ssh import RemoteSettings
from agent_core.execution.timed_command import run_command
from agent_core.ids import ConversationId
from agent_core.tools.workspace.shell import ShellNames, make_shell_command
from tests.agent_core.execution.accounts import LIMITS
from tests.agent_core.execution.backends import BACKENDS, make_local, needs_bubblewrap, open_backend
from tests.agent_core.execution.engine import IMAGE, remove_containers
from tests.agent_core.execution.plain_user import become_plain_user, open_to_user
from tests.agent_core.execution.sshd import run_server
from tests.tables import await_each

TABLE = tomllib.loads(Path(__file__).with_name("start_files.toml").read_text())
PROGRAMS = TABLE["programs"]
QUICK = ("bash", "sh", "python3", "curl", "less", "vim", "perl", "git")
PATH = "/usr/local/bin:/usr/bin:/bin"
WIDE = replace(
    LIMITS, memory=2_000_000_000, file=200_000_000, workspace=500_000_000, cpu_seconds=60
)
SECONDS = 120.0
MOUNTED = ("/usr/bin", "/usr/lib", "/usr/share", "/usr/include", "/etc/alternatives")
CONTROL = "export HOME=$WORKSPACE; unset PYTHONPATH IRBRC PERL5DB R_PROFILE_USER; "
"""Makes the workspace the home again, as it was once."""
WORDS = {
    "{python}": "import os; open(os.environ['WORKSPACE'] + '/ran-{name}', 'w').close()\n",
    "{perl}": 'open(my $f, ">", "$ENV{WORKSPACE}/ran-{name}"); close $f; 1;\n',
    "{ruby}": "File.write(ENV['WORKSPACE'] + '/ran-{name}', '')\n",
    "{node}": "require('fs').writeFileSync(process.env.WORKSPACE + '/ran-{name}', '')\n",
}

pytestmark = pytest.mark.process


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture
def tmp_path(folder: Path) -> Path:
    """A folder that other accounts can be let into."""
    return folder


@pytest.fixture
def plain_user(tmp_path: Path) -> Iterator[None]:
    open_to_user(tmp_path)
    with become_plain_user():
        yield


@pytest.fixture(scope="session")
def sshd() -> Iterator[RemoteSettings]:
    with TemporaryDirectory() as folder, run_server(Path(folder) / "server") as settings:
        yield settings


@asynccontextmanager
async def open_place(request: pytest.FixtureRequest, folder: Path) -> AsyncIterator[Backend]:
    """Make a backend; its programs are those of this machine, in a container, too."""
    if request.param not in ("docker", "podman"):
        async with open_backend(request, folder, WIDE) as backend:
            yield backend
        return
    mounts = tuple((path, path, False) for path in MOUNTED)
    settings = ContainerSettings(
        image=IMAGE, environ=os.environ, program=request.param, mounts=mounts
    )
    container = DockerBackend(folder / "workspaces", WIDE, settings)
    yield container
    await container.close()
    remove_containers(folder, request.param)


@pytest.fixture(params=BACKENDS)
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Backend]:
    plant(tmp_path / "workspaces" / "anna")
    if request.param == "ssh":
        request.getfixturevalue("sshd")
    async with open_place(request, tmp_path) as backend:
        yield backend


def plant(top: Path) -> None:
    """Write every start file, and the files that the runs name."""
    texts = {path: one["text"] for one in TABLE["files"] for path in one["paths"]}
    for path, text in {**texts, **TABLE["inputs"]}.items():
        full = text
        for sign, words in WORDS.items():
            full = full.replace(sign, words)
        file = top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(full.replace("{name}", path.replace("/", "+")))
        file.chmod(0o755 if text.startswith("#!") else 0o644)


def require(name: str) -> None:
    if shutil.which(name, path=PATH) is None:
        pytest.skip(f"{name} is not installed")


async def find_canaries(backend: Backend, top: Path, text: str) -> list[str]:
    conversation = ConversationId(1)
    argv = make_shell_command(text, conversation, "", ShellNames().add(conversation, text))
    command = Command(workspace="anna", argv=argv)
    done = await run_command(backend, command, seconds=SECONDS, most_bytes=8_000_000)
    assert done.limit == "", done.output[-1000:]
    return list_canaries(top)


def list_canaries(top: Path) -> list[str]:
    return sorted(path.name.removeprefix("ran-") for path in top.glob("ran-*"))


def join(name: str) -> str:
    return "".join(f"( {run}\n) < /dev/null\n" for run in PROGRAMS[name]["runs"])


@pytest.mark.thorough
@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_program_obeys_no_start_file_of_the_workspace(
    name: str, place: Backend, tmp_path: Path
) -> None:
    require(name)
    assert await find_canaries(place, tmp_path / "workspaces" / "anna", join(name)) == []


@needs_bubblewrap
async def test_common_programs_obey_no_start_file_of_the_workspace(tmp_path: Path) -> None:
    top = tmp_path / "workspaces" / "anna"
    plant(top)
    backend = make_local(tmp_path, limits=WIDE)

    async def check(name: str) -> None:
        assert await find_canaries(backend, top, join(name)) == []

    await await_each([name for name in QUICK if shutil.which(name, path=PATH)], check)


@needs_bubblewrap
@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name, one in PROGRAMS.items() if "obeys" in one])
async def test_the_canaries_sing_where_the_workspace_is_the_home(name: str, tmp_path: Path) -> None:
    require(name)
    top = tmp_path / "workspaces" / "anna"
    plant(top)
    found = await find_canaries(make_local(tmp_path, limits=WIDE), top, CONTROL + join(name))
    assert {path.replace("/", "+") for path in PROGRAMS[name]["obeys"]} <= {*found}
