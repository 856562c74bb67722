"""A disk that is really full: a small one, in a name space of its own."""

import subprocess
from pathlib import Path

import pytest

from tests.agent_core.state.conftest import RunScript

pytestmark = pytest.mark.process

MOUNT = ("unshare", "--mount", "--map-root-user", "sh", "-c")

SCRIPT = """
import asyncio, os, sys
from pathlib import Path
from agent_core.errors import StoreError
from agent_core.state.engine import meta
from agent_core.state.engine.database import Database

disk = Path(sys.argv[1])
path = disk / "home" / "state.db"
ballast = disk / "ballast"

def fill():
    with ballast.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError as error:
            print("filled:", error.strerror)

async def attempt(action):
    try:
        result = await action
    except StoreError as error:
        print(type(error).__name__, error)
    else:
        print("done")
        return result

def put(key):
    return lambda connection: meta.put(connection, key=key, value=key * 20_000)

async def main():
    database = await attempt(Database.open(path))
    await attempt(database.write("a", put("a")))
    fill()
    await attempt(database.write("b", put("b")))
    print(database.failure())
    print(await database.read(lambda c: c.execute("SELECT key FROM meta").fetchall()))
    await attempt(database.back_up(disk / "copy.db"))
    print(sorted(file.name for file in disk.iterdir()))
    ballast.unlink()
    await attempt(database.write("c", put("c")))
    print(repr(database.failure()))
    await attempt(database.close())
    fill()
    await attempt(Database.open(disk / "other" / "state.db"))
    await attempt(Database.open(path))

asyncio.run(main())
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> tuple[str, ...]:
    """The start of a command line that mounts 2 MB on tmp_path for the rest of it."""
    mount = (*MOUNT, f'mount -t tmpfs -o size=2m talaria {tmp_path} && exec "$@"', "sh")
    if subprocess.run([*mount, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets no user mount a small disk in a name space")
    return mount


def test_a_full_disk_is_told_and_survived(
    tmp_path: Path, run_script: RunScript, small_disk: tuple[str, ...]
) -> None:
    ended = run_script(SCRIPT, tmp_path, prefix=small_disk)
    assert ended.returncode == 0, ended.stderr
    database = tmp_path / "home" / "state.db"
    full = "is full; nothing was written"
    assert ended.stdout.splitlines() == [
        "done",
        "done",
        "filled: No space left on device",
        f"StoreFull the disk that holds {database} {full}",
        f"the disk that holds {database} {full}",
        "[('a',)]",
        f"StoreFull the disk that holds {tmp_path / 'copy.db.part'} {full}",
        "['ballast', 'home']",
        "done",
        "''",
        "done",
        "filled: No space left on device",
        f"StoreFull the disk that holds {tmp_path / 'other' / 'state.lock'} {full}",
        f"StoreFull the disk that holds {database} {full}",
    ]
