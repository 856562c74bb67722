"""`talaria backup` and `talaria restore`, whole, refused, and killed at any moment."""

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from agent_core.errors import StoreBusy
from agent_core.state.backups.encryption import Keys
from agent_core.state.backups.restoring import RestorePlace, restore
from agent_core.state.engine.complete_backups import list_complete
from agent_core.state.engine.lock import HomeLock
from gateway.home import RUNTIME_NAMES
from tests.architecture.source import ROOT
from tests.integration.processes import (
    environ,
    run_command,
    run_fork,
    run_without_root,
    talaria,
)
from tests.integration.served import served
from tests.journeys.terminal import at_terminal

KILLS = 6
SEED = 20261126
_EVENTS = frozenset(
    {
        *("open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.chmod"),
        *("os.symlink", "os.listdir", "os.scandir", "os.utime", "fcntl.flock"),
    }
)


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a person who said something, files of their own, and a token."""
    home = tmp_path_factory.mktemp("h")
    assert talaria(home, "chat", given="remember that the key is with Ada\n").code == 0
    (home / "workspaces" / "ada").mkdir(parents=True)
    (home / "workspaces" / "ada" / "notes.txt").write_text("mine")
    (home / ".env").write_text("GITHUB_TOKEN=abcdefghijkl\n")
    (home / ".env").chmod(0o600)
    return home


def data(home: Path) -> dict[str, object]:
    """Return what is data in a home: everything but what belongs to the machine."""
    return {
        path.relative_to(home).as_posix(): read(path)
        for path in home.rglob("*")
        if path.is_file() and path.relative_to(home).parts[0] not in RUNTIME_NAMES
    }


def read(path: Path) -> object:
    """Return the bytes of a file; of a database its rows, because its header changes."""
    if path.name != "state.db":
        return path.read_bytes()
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as connection:
        return [
            connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
            for table in ("meta", "messages", "ledger")
        ]


def killed(home: Path, near: Path, at: int, *words: str) -> tuple[int, int]:
    """Run a command that is killed at its event number `at` on files below `near`.

    Return its exit code, negative for a signal, and how many events there were.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("in", "out", "err")]
        files[0].touch()
        count = Path(folder, "count")
        given = environ(home)
        code = run_fork(_command_killed, files, words, given, (str(near), at, count))
        return code, int(count.read_text()) if count.exists() else 0


def _command_killed(
    files: Sequence[Path],
    words: Sequence[str],
    variables: Mapping[str, str],
    plan: tuple[str, int, Path],
) -> None:
    near, at, count = plan
    seen = 0

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        named = [str(one) for one in arguments if isinstance(one, str | os.PathLike)]
        is_lock = event == "fcntl.flock"
        if event in _EVENTS and (is_lock or any(name.startswith(near) for name in named)):
            seen += 1
            if seen == at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    try:
        run_command(files, words, variables)
    finally:
        count.write_text(str(seen))


def test_a_backup_brings_back_everything_but_the_tokens(home: Path, tmp_path: Path) -> None:
    target = tmp_path / "b.tar.gz"
    done = talaria(home, "backup", str(target))
    assert done.code == 0
    assert done.out.startswith(f"Backing up {home} ...\n{target} holds ")
    assert "It was read again and is complete.\nKeys and tokens are not in it;" in done.out
    before = data(home)

    (home / "workspaces" / "ada" / "notes.txt").write_text("changed")
    (home / "later.txt").write_text("made later")
    checked = talaria(home, "restore", str(target), "--check")
    assert (checked.code, checked.err) == (0, "")
    assert checked.out.endswith("Nothing was changed.\n")
    assert (home / "later.txt").exists()
    done = talaria(home, "restore", str(target))
    assert (done.code, done.err) == (0, "")
    assert f"{home} is restored. Start Talaria with `talaria run`.\n" in done.out
    assert data(home) == before
    (aside,) = (home / "backups").glob("before-*")
    assert (aside / "later.txt").read_text() == "made later"
    answer = talaria(home, "memory", "show", "--person", "owner")
    assert "the key is with Ada" in answer.out


def test_a_restore_asks_before_data_makes_way_and_says_what_is_missing(
    home: Path, tmp_path: Path
) -> None:
    target = tmp_path / "b.tar.gz"
    assert talaria(home, "backup", str(target)).code == 0
    (home / "later.txt").write_text("made later")
    for typed, code in (("\n", 1), ("y\n", 0)):
        with at_terminal(environ(home), "restore", str(target)) as terminal:
            terminal.wait_for(r"has data\. Put it aside, and restore the backup\? \[y/N\]")
            terminal.type(typed)
            terminal.wait_for("Nothing was changed" if code else "What was there before is in")
            assert terminal.process.join() == code
        assert (home / "later.txt").exists() is bool(code)
    moved = talaria(tmp_path / "other", "restore", str(target))
    assert "Not in the backup: keys and tokens (.env). `talaria setup` asks" in moved.out


@pytest.mark.parametrize("given", ["", "open sesame\n"])
def test_without_a_terminal_nobody_can_be_asked_for_a_passphrase(
    home: Path, tmp_path: Path, given: str
) -> None:
    target = tmp_path / "b.tar.gz.age"
    done = subprocess.run(
        [sys.executable, "-m", "gateway", "backup", str(target), "--passphrase"],
        input=given,
        env=environ(home, PYTHONWARNINGS="ignore"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        start_new_session=True,  # it must not find the terminal of the tester
        check=False,
    )
    assert done.returncode == 2
    assert "set BACKUP_PASSPHRASE and leave out --passphrase" in done.stderr
    assert "Traceback" not in done.stderr
    assert not target.exists()


@pytest.mark.thorough
def test_a_new_machine_is_set_up_from_an_encrypted_backup(home: Path, tmp_path: Path) -> None:
    target, new = tmp_path / "b.tar.gz.age", tmp_path / "new"
    assert talaria(home, "backup", str(target), BACKUP_PASSPHRASE="open sesame").code == 0
    refused = talaria(new, "restore", str(target), BACKUP_PASSPHRASE="wrong")
    assert (refused.code, refused.err) == (
        2,
        f"The passphrase is wrong for {target}; give the one that it was made with.\n",
    )
    assert not (new / "state.db").exists()
    done = talaria(new, "restore", str(target), BACKUP_PASSPHRASE="open sesame")
    assert (done.code, done.err) == (0, "")
    assert "What was there before" not in done.out
    assert data(new) == data(home)
    assert (new / ".env").stat().st_mode & 0o777 == 0o600


def test_tokens_are_in_a_plain_backup_on_request(home: Path, tmp_path: Path) -> None:
    target, new = tmp_path / "b.tar.gz", tmp_path / "new"
    done = talaria(home, "backup", str(target), "--secrets")
    assert "Keys and tokens" not in done.out
    assert talaria(new, "restore", str(target)).code == 0
    assert (new / ".env").read_text() == (home / ".env").read_text()


async def test_a_running_gateway_is_backed_up_and_never_restored_over(
    home: Path, tmp_path: Path
) -> None:
    target = tmp_path / "b.tar.gz"
    async with served(home):
        assert (await asyncio.to_thread(talaria, home, "backup", str(target))).code == 0
        rehearsed = await asyncio.to_thread(talaria, home, "restore", str(target), "--check")
        assert rehearsed.code == 0
        done = await asyncio.to_thread(talaria, home, "restore", str(target))
        assert (done.code, done.err) == (
            2,
            f"Talaria is running for {home}; stop it first, or rehearse with --check.\n",
        )
    assert not (home / "backups" / "before-restore").exists()


def test_a_restore_beside_another_command_is_refused(home: Path, tmp_path: Path) -> None:
    """The lock of the home counts, even where no socket answers."""
    target = tmp_path / "b.tar.gz"
    assert talaria(home, "backup", str(target)).code == 0
    before = data(home)
    code = run_fork(_hold_lock_and_restore, home, target)
    assert code == 0
    assert data(home) == before


def _hold_lock_and_restore(home: Path, target: Path) -> None:
    HomeLock.acquire(home / "state.lock", guarded=home / "state.db")
    place = RestorePlace(home=home, database="state.db", kept=RUNTIME_NAMES)
    try:
        restore(place, target, Keys(), home / "backups" / "aside", now=0)
    except StoreBusy:
        sys.exit(0)
    sys.exit(1)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "There is no file "),
        (b"a letter", "is not a backup of Talaria; name a file that `talaria backup` wrote."),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00", "is cut off: its end is missing; use another"),
    ],
)
def test_a_broken_backup_gets_one_sentence(
    home: Path, tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    target, before = tmp_path / "b", data(home)
    if content is not None:
        target.write_bytes(content)
    for flags in ((), ("--check",)):
        done = talaria(home, "restore", str(target), *flags)
        assert done.code == 2
        assert sentence in done.err
        assert done.err.count("\n") == 1
    assert data(home) == before


@pytest.mark.thorough
def test_a_killed_backup_leaves_no_file_that_looks_complete(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    code, events = killed(home, folder, 10**9, "backup", str(folder / "first.tar.gz"))
    assert code == 0
    assert events >= KILLS
    for at in random.Random(SEED).sample(range(1, events + 1), KILLS):
        target = folder / f"b{at}.tar.gz"
        assert killed(home, folder, at, "backup", str(target))[0] == -signal.SIGKILL
        for complete in list_complete(folder):
            assert talaria(home, "restore", str(complete), "--check").code == 0
    assert talaria(home, "backup", str(folder / "last.tar.gz")).code == 0


@pytest.mark.thorough
def test_a_killed_restore_leaves_the_old_home_or_the_new(home: Path, tmp_path: Path) -> None:
    backup = tmp_path / "b.tar.gz"
    assert talaria(home, "backup", str(backup)).code == 0
    new = data(home)

    def change() -> dict[str, object]:
        with closing(sqlite3.connect(home / "state.db")) as connection, connection:
            connection.execute("INSERT INTO meta VALUES ('test', 'later')")
        (home / "workspaces" / "ada" / "notes.txt").write_text("changed")
        (home / "later.txt").write_text("made later")
        return data(home)

    old = change()
    code, events = killed(home, home, 10**9, "restore", str(backup))
    assert code == 0
    assert data(home) == new
    draw = random.Random(SEED)
    ends = {"old": 0, "new": 0}
    for at in sorted([*draw.sample(range(1, events), KILLS), events - 1]):
        change()
        assert killed(home, home, at, "restore", str(backup))[0] == -signal.SIGKILL, at
        # Any command finishes what counts already.
        assert talaria(home, "check").code == 0
        found = data(home)
        assert found in (old, new), at
        ends["old" if found == old else "new"] += 1
        assert not (home / ".restore" / "ready").exists()
        assert talaria(home, "restore", str(backup)).code == 0
        assert data(home) == new
    assert all(ends.values()), ends


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's capabilities")
def test_closed_folders_are_named_and_read_only_ones_move(home: Path, tmp_path: Path) -> None:
    target, closed = tmp_path / "b.tar.gz", home / "workspaces" / "ada"
    (home / "mine").mkdir()
    (home / "mine").chmod(0o555)
    (closed / "\udcff").touch(mode=0)
    done = run_without_root(home, "backup", str(target))
    assert done.stderr == "Not in it, because it can't be read: workspaces/ada/\\udcff\n"
    target.unlink()
    closed.chmod(0)
    done = run_without_root(home, "backup", str(target))
    assert done.stderr == "Not in it, because it can't be read: workspaces/ada\n"
    done = run_without_root(home, "restore", str(target))
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nIt lacks workspaces/ada, which could not be read.\n" in done.stdout
    (aside,) = (home / "backups").glob("before-*")
    assert [(place / "mine").stat().st_mode & 0o777 for place in (home, aside)] == [0o555] * 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_a_folder_of_another_user_is_named_before_anything_moves(
    home: Path, tmp_path: Path
) -> None:
    target = tmp_path / "b.tar.gz"
    assert talaria(home, "backup", str(target)).code == 0
    (home / "mine").mkdir()
    os.chown(home / "mine", 12_345, 12_345)
    (home / "SOUL.md").write_text("changed")
    before = data(home)
    done = run_without_root(home, "restore", str(target))
    assert done.returncode == 2
    assert done.stderr.startswith(f"{home / 'mine'} belongs to another user, so it can't be moved;")
    assert data(home) == before
    assert not (home / ".restore").exists()


def test_backups_one_after_another_have_names_of_their_own(home: Path) -> None:
    for count in (1, 2, 3):
        done = talaria(home, "backup")
        assert (done.code, done.err) == (0, "")
        assert len(list_complete(home / "backups")) == count


@pytest.mark.thorough
def test_the_next_backup_deletes_what_killed_ones_left(home: Path) -> None:
    folder = home / "backups"
    code, events = killed(home, folder, 10**9, "backup")
    assert code == 0
    for at in random.Random(SEED).sample(range(1, events + 1), KILLS):
        assert killed(home, folder, at, "backup")[0] == -signal.SIGKILL
    assert talaria(home, "backup").code == 0
    left = {path.name for path in folder.iterdir()} - {".lock", "newest.json"}
    assert left == {path.name for path in list_complete(folder)}
