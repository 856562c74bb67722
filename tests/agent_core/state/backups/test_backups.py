"""Backups hold a whole home, and one that was cut off, changed or made up is refused."""

import base64
import fcntl
import gzip
import io
import json
import os
import random
import re
import sqlite3
import tarfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pyrage
import pytest

from agent_core.errors import StoreBusy, StoreDamaged, StoreError, StoreTooNew
from agent_core.state.backups import making
from agent_core.state.backups.claims import claim_folder
from agent_core.state.backups.contents import HEADER, MANIFEST, HomeContent, Manifest
from agent_core.state.backups.encryption import Keys, Lock, read_recipient
from agent_core.state.backups.making import make_backup, read_backup
from agent_core.state.backups.restoring import RestorePlace, rehearse, restore
from agent_core.state.engine import meta
from agent_core.state.engine.complete_backups import list_complete
from agent_core.state.engine.database import Connection
from agent_core.state.people import browser_logins, people, rooms
from tests.databases import open_database

DATABASE, NOW = "state.db", 1_795_000_000_000
KEPT = {"backups", "logs", "state.lock", ".restore", ".rehearsal"}
IDENTITY = pyrage.x25519.Identity.generate()
LOCKS = {
    "plain": (Lock(), Keys()),
    "passphrase": (Lock(passphrase="correct horse"), Keys(passphrase="correct horse")),
    "key": (Lock(recipients=(str(IDENTITY.to_public()),)), Keys(identities=(str(IDENTITY),))),
}
"""Each use of a passphrase takes a second of processor time by design."""


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """A home with everything that a file system can hold, beside a copy of its database."""
    home = tmp_path / "home"
    database = await open_database(home / DATABASE)
    await database.write("fill", lambda c: meta.put(c, key="who", value="Ada"))
    await database.back_up(tmp_path / "copy.db")
    await database.close()
    work = home / "workspaces" / "ada"
    work.mkdir(parents=True)
    (home / "SOUL.md").write_text("You are kind.\n")
    (home / "empty").mkdir()
    (work / "big.bin").write_bytes(random.Random(7).randbytes(300_000))
    (work / "name with \udcff and\nline").write_text("odd")
    (work / "link").symlink_to("/etc/passwd")
    (work / "run").write_text("#!/bin/sh\n")
    (work / "run").chmod(0o750)
    (work / "closed").mkdir()
    (work / "closed" / "note").write_text("read only")
    (work / "closed").chmod(0o500)
    os.mkfifo(work / "pipe")
    (home / "logs").mkdir()
    (home / "logs" / "talaria.log").write_text("not data")
    return home


def snapshot(home: Path) -> dict[str, tuple[int, bytes]]:
    """Return mode and bytes of everything that is data."""
    found = {}
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home).as_posix()
        if name.split("/")[0] in KEPT or path.is_fifo():
            continue
        content = os.fsencode(path.readlink()) if path.is_symlink() else b""
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
        found[name] = (path.lstat().st_mode, content)
    return found


def back_up(home: Path, target: Path, lock: Lock = LOCKS["plain"][0]) -> Manifest:
    content = HomeContent(home=home, database=DATABASE, copy=home.parent / "copy.db", left_out=KEPT)
    return make_backup(content, target, lock, NOW)


def place_of(home: Path) -> RestorePlace:
    return RestorePlace(home=home, database=DATABASE, kept=KEPT)


@pytest.mark.parametrize("how", ["plain", "key"])
def test_a_restored_home_is_the_home_of_the_backup(home: Path, tmp_path: Path, how: str) -> None:
    lock, keys = LOCKS[how]
    target = tmp_path / "b"
    before = snapshot(home) | {DATABASE: (0o100600, (tmp_path / "copy.db").read_bytes())}
    written = back_up(home, target, lock)
    assert target.stat().st_mode & 0o777 == 0o600
    assert written.files == sum(mode >> 12 == 0o10 for mode, _ in before.values())
    assert (b"You are kind" in gzip.decompress(target.read_bytes())) if how == "plain" else True

    (home / "SOUL.md").write_text("You are rude.\n")
    (home / "new").write_text("made later")
    after = snapshot(home)
    rehearsed = rehearse(place_of(home), target, keys)
    assert snapshot(home) == after
    assert not (home / ".rehearsal").exists()
    aside = home / "backups" / "aside"
    assert restore(place_of(home), target, keys, aside, now=NOW) == rehearsed
    assert snapshot(home) == before
    assert snapshot(aside) == after
    assert (home / "logs" / "talaria.log").read_text() == "not data"
    assert not (home / ".restore").exists()


@pytest.mark.parametrize("how", ["plain", "key"])
def test_a_backup_that_was_cut_off_anywhere_is_refused(
    home: Path, tmp_path: Path, how: str
) -> None:
    lock, keys = LOCKS[how]
    back_up(home, tmp_path / "b", lock)
    whole, before = (tmp_path / "b").read_bytes(), snapshot(home)
    places = {0, 1, 9, 30, 200, len(whole) - 1}
    places |= {random.Random(how).randrange(len(whole)) for _ in range(8)}
    for at in places:
        (tmp_path / "cut").write_bytes(whole[:at])
        with pytest.raises(StoreError, match=r"cut off|not a backup of Talaria|damaged"):
            restore(place_of(home), tmp_path / "cut", keys, home / "backups" / "aside", now=NOW)
    assert snapshot(home) == before
    assert not (home / ".restore").exists()


@pytest.mark.parametrize("how", ["plain", "key"])
def test_a_backup_with_a_changed_byte_is_refused(home: Path, tmp_path: Path, how: str) -> None:
    lock, keys = LOCKS[how]
    back_up(home, tmp_path / "b", lock)
    whole = bytearray((tmp_path / "b").read_bytes())
    draw = random.Random(how)
    for at in [draw.randrange(600, len(whole)) for _ in range(8)]:
        whole[at] ^= 0x10
        (tmp_path / "changed").write_bytes(whole)
        with pytest.raises(StoreError):
            read_backup(tmp_path / "changed", keys)
        whole[at] ^= 0x10


def rewrite(source: Path, target: Path, change: Callable[[str, bytes], bytes]) -> None:
    """Copy a plain backup, with other bytes in some members."""
    with tarfile.open(source) as old, tarfile.open(target, "w:gz") as new:
        for member in old:
            file = old.extractfile(member) if member.isreg() else None
            if file is None:
                new.addfile(member)
                continue
            content = change(member.name, file.read())
            member.size = len(content)
            new.addfile(member, io.BytesIO(content))


def test_a_newer_backup_is_refused_before_anything_is_unpacked(home: Path, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b")

    def age(name: str, content: bytes) -> bytes:
        if name != HEADER:
            return content
        return json.dumps(json.loads(content) | {"schema": 9000}).encode()

    rewrite(tmp_path / "b", tmp_path / "newer", age)
    with pytest.raises(StoreTooNew, match="made by a newer Talaria; upgrade Talaria first"):
        rehearse(place_of(home), tmp_path / "newer", Keys())


def test_content_that_differs_from_the_manifest_is_refused(home: Path, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b")
    rewrite(
        tmp_path / "b",
        tmp_path / "other",
        lambda name, content: b"You are mean.\n" if name == "home/SOUL.md" else content,
    )
    with pytest.raises(StoreDamaged, match="doesn't hold what was written"):
        rehearse(place_of(home), tmp_path / "other", Keys())


@pytest.mark.parametrize("name", ["home/../../evil", "home//evil", "evil", "home/SOUL.md"])
def test_a_name_that_leaves_the_home_or_repeats_is_refused(
    home: Path, tmp_path: Path, name: str
) -> None:
    back_up(home, tmp_path / "b")
    with tarfile.open(tmp_path / "b") as old, tarfile.open(tmp_path / "e", "w:gz") as new:
        for member in old:
            if member.name == MANIFEST:
                evil = tarfile.TarInfo(name)
                evil.size = 4
                new.addfile(evil, io.BytesIO(b"evil"))
            new.addfile(member, old.extractfile(member) if member.isreg() else None)
    with pytest.raises(StoreDamaged):
        restore(place_of(home), tmp_path / "e", Keys(), home / "backups" / "aside", now=NOW)
    assert not list(tmp_path.rglob("evil"))


def test_a_backup_that_brings_a_kept_name_is_refused(home: Path, tmp_path: Path) -> None:
    content = HomeContent(
        home=home, database=DATABASE, copy=tmp_path / "copy.db", left_out={"backups"}
    )
    make_backup(content, tmp_path / "b", Lock(), NOW)
    with pytest.raises(StoreDamaged, match="doesn't hold what a backup of Talaria holds"):
        restore(place_of(home), tmp_path / "b", Keys(), home / "backups" / "aside", now=NOW)


@pytest.mark.parametrize(
    "content",
    [b"", b"text", b"\x1f\x8b", gzip.compress(b"a text", mtime=0), b"PK\x03\x04" * 99],
    ids=["empty", "text", "cut gzip", "gzip", "zip"],
)
def test_a_foreign_file_is_refused(home: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "foreign").write_bytes(content)
    with pytest.raises(StoreError, match=r"not a backup of Talaria|cut off"):
        rehearse(place_of(home), tmp_path / "foreign", Keys())


def test_a_foreign_archive_is_refused(home: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "foreign", "w:gz") as tar:
        tar.add(home / "SOUL.md", "home/SOUL.md")
    with pytest.raises(StoreError, match="not a backup of Talaria"):
        rehearse(place_of(home), tmp_path / "foreign", Keys())


WRONG_KEYS = {
    Keys(identities=(str(pyrage.x25519.Identity.generate()),)): "the given key doesn't open",
    Keys(identities=("no key",)): "holds no private key",
    Keys(): "is encrypted; name the file of its key with --identity",
}
WRONG_PASSPHRASES = {
    Keys(passphrase="wrong"): "the passphrase is wrong for",
    Keys(): "asks for the passphrase, or set BACKUP_PASSPHRASE",
}


def refuse(home: Path, backup: Path, wrong: Mapping[Keys, str]) -> None:
    for keys, sentence in wrong.items():
        with pytest.raises(StoreError, match=sentence):
            restore(place_of(home), backup, keys, home / "backups" / "aside", now=NOW)


def test_a_wrong_key_is_named(home: Path, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b", LOCKS["key"][0])
    refuse(home, tmp_path / "b", WRONG_KEYS)


@pytest.mark.thorough
def test_a_passphrase_is_wrong_or_for_a_faster_machine_whose_key_can_be_given(
    home: Path, tmp_path: Path
) -> None:
    lock, keys = LOCKS["passphrase"]
    back_up(home, tmp_path / "b", lock)
    refuse(home, tmp_path / "b", WRONG_PASSPHRASES)
    whole = (tmp_path / "b").read_bytes()
    for at in (0, 1, 9, 30, 200):
        (tmp_path / "cut").write_bytes(whole[:at])
        refuse(home, tmp_path / "cut", {keys: r"cut off|not a backup of Talaria|damaged"})
    end = whole.index(b"-----END AGE")
    begin, *lines = whole[:end].splitlines(keepends=True)
    slow = re.sub(rb"(-> scrypt \S+ )\d+", rb"\g<1>30", base64.b64decode(b"".join(lines)))
    text = base64.b64encode(slow)
    rows = b"".join(text[n : n + 64] + b"\n" for n in range(0, len(text), 64))
    (tmp_path / "slow").write_bytes(begin + rows + whole[end:])
    with pytest.raises(StoreError, match="too slow or too busy for the passphrase"):
        rehearse(place_of(home), tmp_path / "slow", keys)
    end = whole.index(b"\n", end) + 1
    own = pyrage.passphrase.decrypt(whole[:end], keys.passphrase).decode()
    assert rehearse(place_of(home), tmp_path / "slow", Keys(identities=(own,))).files > 0


def test_a_recipient_that_is_none_is_named() -> None:
    with pytest.raises(StoreError, match="is not a public key of age or SSH"):
        read_recipient("age1nonsense")


def test_a_backup_for_a_key_is_an_ordinary_age_file(home: Path, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b", LOCKS["key"][0])
    opened = pyrage.decrypt((tmp_path / "b").read_bytes(), [IDENTITY])
    with tarfile.open(fileobj=io.BytesIO(opened)) as tar:
        assert tar.getnames()[0] == HEADER


def test_a_copy_of_the_database_alone_replaces_the_database_alone(
    home: Path, tmp_path: Path
) -> None:
    before = snapshot(home)
    (home / "SOUL.md").write_text("You are rude.\n")
    (home / f"{DATABASE}-wal").write_bytes(b"")
    found = restore(
        place_of(home), tmp_path / "copy.db", Keys(), home / "backups" / "aside", now=NOW
    )
    assert found.files == 1
    assert (home / DATABASE).read_bytes() == (tmp_path / "copy.db").read_bytes()
    assert (home / "SOUL.md").read_text() == "You are rude.\n"
    assert not (home / f"{DATABASE}-wal").exists()
    assert set(snapshot(home / "backups" / "aside")) == {DATABASE, f"{DATABASE}-wal"}
    assert set(snapshot(home)) == set(before)


async def test_a_restore_ends_access_that_may_have_ended_since(home: Path, tmp_path: Path) -> None:
    def fill(connection: Connection) -> None:
        ada = people.insert(connection, slug="ada", name="Ada", role="owner", now=NOW)
        room = rooms.insert(
            connection, platform="x", chat_id="den", title="Den", slug="den", now=NOW
        )
        rooms.set_mode(connection, room_id=room.id, mode="full", by=ada.id, now=NOW)
        browser_logins.insert(
            connection, secret_hash="h", now=NOW, expires_at=NOW + 1000, person_id=ada.id
        )

    database = await open_database(home / DATABASE)
    await database.write("fill", fill)
    await database.back_up(tmp_path / "full.db")
    await database.close()
    later = NOW + 100
    aside = home / "backups" / "aside"
    restore(place_of(home), tmp_path / "full.db", Keys(), aside, now=later)
    database = await open_database(home / DATABASE)
    try:
        room = await database.read(lambda c: rooms.find(c, platform="x", chat_id="den"))
        login = await database.read(lambda c: browser_logins.find(c, secret_hash="h", now=later))
    finally:
        await database.close()
    assert room
    assert (room.mode, room.full_until) == ("full", later)  # the next start ends it
    assert login is None


def test_a_damaged_database_is_refused(home: Path, tmp_path: Path) -> None:
    whole = bytearray((tmp_path / "copy.db").read_bytes())
    whole[8192:12288] = bytes(4096)
    (tmp_path / "copy.db").write_bytes(whole)
    with pytest.raises(StoreDamaged, match=r"the database in .* is damaged"):
        rehearse(place_of(home), tmp_path / "copy.db", Keys())


def test_a_backup_in_the_home_contains_neither_itself_nor_a_part_of_the_database(
    home: Path,
) -> None:
    (home / f"{DATABASE}-wal").write_text("not whole")
    names = [entry.path for entry in back_up(home, home / "mine.tar.gz").entries]
    assert [name for name in names if name.startswith(("mine", DATABASE))] == [DATABASE]


def test_a_backup_replaces_no_file(home: Path, tmp_path: Path) -> None:
    (tmp_path / "b").write_text("mine")
    with pytest.raises(StoreError, match="exists already; name another file"):
        back_up(home, tmp_path / "b")
    assert (tmp_path / "b").read_text() == "mine"
    assert not list(tmp_path.glob(f"*{making.PART}"))


def test_two_backups_under_one_name_do_not_meet(home: Path, tmp_path: Path) -> None:
    part = tmp_path / f"b{making.PART}"
    part.write_bytes(b"of another process, and longer than a header")
    with part.open("rb+") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(StoreBusy, match="another backup is being written to"):
            back_up(home, tmp_path / "b")
        assert part.read_bytes().startswith(b"of another process")
    back_up(home, tmp_path / "b")
    assert not part.exists()
    assert read_backup(tmp_path / "b", Keys()).manifest.files


def test_only_complete_backups_are_listed(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    back_up(home, folder / "one.tar.gz")
    for name in ("two.tar.gz.part", ".copy-1.db", "notes.txt"):
        (folder / name).write_text("")
    assert [path.name for path in list_complete(folder)] == ["one.tar.gz"]


def test_another_programs_database_is_refused(home: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "foreign")) as connection:
        connection.execute("CREATE TABLE songs (title)")
    before = snapshot(home)
    for work in (
        lambda: rehearse(place_of(home), tmp_path / "foreign", Keys()),
        lambda: restore(
            place_of(home), tmp_path / "foreign", Keys(), home / "backups" / "aside", now=NOW
        ),
    ):
        with pytest.raises(StoreError, match="not a backup of Talaria"):
            work()
    assert snapshot(home) == before


def test_a_damaged_or_newer_copy_of_the_database_is_named_as_the_user_named_it(
    home: Path, tmp_path: Path
) -> None:
    (tmp_path / "cut.db").write_bytes((tmp_path / "copy.db").read_bytes()[:9000])
    with pytest.raises(StoreDamaged) as caught:
        rehearse(place_of(home), tmp_path / "cut.db", Keys())
    assert str(caught.value).startswith(f"the database in {tmp_path / 'cut.db'} is damaged (")
    assert str(caught.value).endswith("); use another backup")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection:
        connection.execute("PRAGMA user_version = 9000")
    with pytest.raises(StoreTooNew, match=r"copy\.db was made by a newer Talaria; upgrade"):
        rehearse(place_of(home), tmp_path / "copy.db", Keys())


@pytest.mark.parametrize("change", [{"made_at": "noon"}, {"made_at": 10**30}, {"left_out": 3}])
def test_a_header_that_no_talaria_wrote_is_refused(
    home: Path, tmp_path: Path, change: Mapping[str, object]
) -> None:
    back_up(home, tmp_path / "b")
    rewrite(
        tmp_path / "b",
        tmp_path / "other",
        lambda name, content: (
            json.dumps(json.loads(content) | change).encode() if name == HEADER else content
        ),
    )
    with pytest.raises(StoreDamaged, match="doesn't hold what was written"):
        rehearse(place_of(home), tmp_path / "other", Keys())


def test_a_path_too_long_for_a_restore_is_named(home: Path, tmp_path: Path) -> None:
    deep, folder = home / "deep", os.open(home, os.O_RDONLY)
    for _ in range(40):
        name = deep.name if deep.parent == home else "d" * 120
        os.mkdir(name, dir_fd=folder)
        inner = os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder, deep = inner, deep / name
    os.close(folder)
    long = back_up(home, tmp_path / "b").unreadable
    assert long
    assert min(map(len, long)) > 3900
    assert rehearse(place_of(home), tmp_path / "b", Keys()).unreadable == long


def test_leftovers_go_when_nobody_else_makes_a_backup(tmp_path: Path) -> None:
    folder, disk = tmp_path / "backups", tmp_path / "disk"
    kept = {".lock", ".stfolder", "nightly-1.tar.gz", "mine.part"}
    left = {".copy-1.db", ".copy-1.db.part", ".nightly.db", "manual-1.tar.gz.part"}
    for place in (folder, disk):
        place.mkdir()
        for name in kept | left:
            (place / name).touch()
    (folder / ".outgoing-1").mkdir()
    (folder / ".outgoing-1" / "manual-2.tar.gz.part").touch()
    with claim_folder(folder, disk):
        assert {path.name for path in folder.iterdir()} == kept
        assert "manual-1.tar.gz.part" not in {path.name for path in disk.iterdir()}
        (folder / ".copy-2.db").touch()
        with claim_folder(folder, disk):
            assert (folder / ".copy-2.db").exists()
    with claim_folder(folder):
        assert not (folder / ".copy-2.db").exists()
