"""Backups go to another folder, to a bucket or to a program; the nightly ones, too."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_core.errors import StoreError
from agent_core.state.backups.places import BucketPlace, FolderPlace, find_newest, record_newest
from gateway.jobs import system_jobs
from tests.emulators.s3 import KEY, KEY_ID, REGION, S3Emulator
from tests.integration.clock import Clock
from tests.integration.harness import running
from tests.integration.jobs_support import greeted
from tests.integration.processes import talaria, talaria_beside
from tests.integration.system_jobs import START, ZONE, outcome


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("h")
    assert talaria(home, "chat", given="remember that the key is with Ada\n").code == 0
    return home


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[S3Emulator]:
    # The tests have no certificates; the client of S3 wants some, even for plain HTTP.
    monkeypatch.delenv("SSL_CERT_DIR")
    async with S3Emulator() as emulator:
        yield emulator


def bucket(server: S3Emulator, **changes: str) -> dict[str, str]:
    """Return the variables of a bucket."""
    return {
        "TALARIA_BACKUP__S3": "s3://box/home",
        "TALARIA_BACKUP__S3_ENDPOINT": server.address,
        "TALARIA_BACKUP__S3_REGION": REGION,
        "AWS_ACCESS_KEY_ID": KEY_ID,
        "AWS_SECRET_ACCESS_KEY": KEY,
        **changes,
    }


async def test_a_bucket_keeps_a_backup_and_gives_it_back(
    home: Path, tmp_path: Path, server: S3Emulator
) -> None:
    # Larger than one part of an upload, and incompressible.
    (home / "big.bin").write_bytes(os.urandom(12_000_000))
    done = await talaria_beside(home, "backup", **bucket(server))
    assert (done.code, done.err) == (0, "")
    ((key, _),) = server.objects.items()
    assert f"s3://{key} holds" in done.out
    assert not server.refused
    assert not list((home / "backups").glob("**/*.tar.gz"))
    new = tmp_path / "new"
    for flags in (("--check",), ()):
        done = await talaria_beside(new, "restore", f"s3://{key}", *flags, **bucket(server))
        assert (done.code, done.err) == (0, "")
    assert (new / "big.bin").read_bytes() == (home / "big.bin").read_bytes()
    again = await talaria_beside(home, "restore", f"s3://{key}", **bucket(server))
    assert (again.code, again.err) == (0, "")
    assert [one.name for one in (home / "backups").glob("tmp*")] == []


async def test_a_bucket_that_refuses_is_named(home: Path, server: S3Emulator) -> None:
    wrong = bucket(server, AWS_SECRET_ACCESS_KEY="wrong")
    done = await talaria_beside(home, "backup", **wrong)
    assert done.code == 2
    assert done.err == (
        "s3://box/home can't be used: AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID.\n"
    )
    assert "wrong" not in done.err
    assert server.refused
    server.is_full = True
    done = await talaria_beside(home, "backup", **bucket(server))
    assert done.code == 2
    assert "QuotaExceeded" in done.err
    assert not list((home / "backups").glob("**/nightly-*"))


async def test_a_bucket_loses_old_nightly_backups_only(tmp_path: Path, server: S3Emulator) -> None:
    for name in ("nightly-1.tar.gz", "nightly-2.tar.gz", "nightly-3.tar.gz", "mine.tar.gz"):
        server.objects[f"box/home/{name}"] = b"x"
    server.objects["box/other/nightly-0.tar.gz"] = b"x"
    place = BucketPlace(
        address="s3://box/home", endpoint=server.address, region=REGION, key_id=KEY_ID, key=KEY
    )
    await asyncio.to_thread(place.prune, 2)
    assert sorted(server.objects) == [
        "box/home/mine.tar.gz",
        "box/home/nightly-2.tar.gz",
        "box/home/nightly-3.tar.gz",
        "box/other/nightly-0.tar.gz",
    ]
    (tmp_path / "taken").touch()
    with pytest.raises(StoreError, match="can't be used: there is no such file in the bucket"):
        await asyncio.to_thread(place.fetch, "missing", tmp_path / "new")


def write_script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_program_gets_the_backup_on_its_input(home: Path, tmp_path: Path) -> None:
    script = write_script(tmp_path / "keep", f'cat > "{tmp_path}/$1"')
    done = talaria(home, "backup", TALARIA_BACKUP__COMMAND=f"{script},got-{{name}}")
    assert (done.code, done.err) == (0, "")
    (kept,) = tmp_path.glob("got-manual-*.tar.gz")
    assert talaria(home, "restore", str(kept), "--check").code == 0


def test_a_program_that_fails_or_is_missing_is_named(home: Path, tmp_path: Path) -> None:
    script = write_script(tmp_path / "fail", "cat > /dev/null; echo no room >&2; exit 3")
    done = talaria(home, "backup", TALARIA_BACKUP__COMMAND=str(script))
    assert (done.code, done.err) == (2, "backup.command ended with 3: no room.\n")
    done = talaria(home, "backup", TALARIA_BACKUP__COMMAND="no-such-program")
    assert done.code == 2
    assert "no-such-program, which is not installed" in done.err


def test_settings_that_exclude_each_other_or_lack_keys_are_refused(
    home: Path, tmp_path: Path
) -> None:
    done = talaria(
        home, "check", TALARIA_BACKUP__S3="s3://box", TALARIA_BACKUP__FOLDER=str(tmp_path)
    )
    assert "backup.folder and backup.s3 exclude each other" in done.out + done.err
    done = talaria(home, "backup", TALARIA_BACKUP__S3="s3://box")
    assert (done.code, "needs AWS_ACCESS_KEY_ID" in done.err) == (2, True)
    done = talaria(home, "backup", TALARIA_BACKUP__FOLDER="near")
    assert (done.code, "must be an absolute path" in done.err) == (2, True)
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/none")):
        done = talaria(home, "backup", TALARIA_BACKUP__FOLDER=str(folder))
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert done.err.startswith(f"{folder} can't be used: ")


@pytest.mark.thorough
async def test_nightly_backups_go_to_another_disk_encrypted_and_old_ones_go(
    tmp_path: Path,
) -> None:
    clock, home, folder = Clock(*START), tmp_path / "home", tmp_path / "disk" / "talaria"
    given = {
        "TALARIA_BACKUP__FOLDER": str(folder),
        "BACKUP_PASSPHRASE": "open sesame",
        "TALARIA_JOBS__BACKUPS": "2",
    }
    async with running(home, greeted(), now=clock, **ZONE, **given) as harness:
        (folder).mkdir(parents=True)
        (folder / "nightly-20260101T000000Z.tar.gz.age.part").touch()
        for name in ("mine.tar.gz", *(_encrypted(day) for day in (18, 19, 20))):
            (folder / name).touch()
        told = await outcome(harness, clock, system_jobs.BACKUP, count=1, days=1)
        assert told == f"{folder / _encrypted(21)} made and read again"
        assert sorted(path.name for path in folder.iterdir()) == [
            *("mine.tar.gz", _encrypted(20), _encrypted(21)),
        ]
        assert find_newest(home / "backups") == (clock(), str(folder / _encrypted(21)))


def _encrypted(day: int) -> str:
    return f"nightly-202611{day}T110000Z.tar.gz.age"


async def test_nightly_backups_reach_a_bucket(tmp_path: Path, server: S3Emulator) -> None:
    clock = Clock(*START)
    async with running(tmp_path, greeted(), now=clock, **ZONE, **bucket(server)) as harness:
        told = await outcome(harness, clock, system_jobs.BACKUP, count=1, days=1)
    name = "box/home/nightly-20261121T110000Z.tar.gz"
    assert told == f"s3://{name} made and read again"
    assert list(server.objects) == [name]
    assert find_newest(tmp_path / "backups") == (clock(), f"s3://{name}")


def test_the_age_of_a_deleted_or_unreadable_record_does_not_count(tmp_path: Path) -> None:
    assert find_newest(tmp_path) is None
    record_newest(tmp_path, str(tmp_path / "gone.tar.gz"), 5)
    assert find_newest(tmp_path) is None
    record_newest(tmp_path, "s3://box/b", 5)
    assert find_newest(tmp_path) == (5, "s3://box/b")
    (tmp_path / "newest.json").write_text("{")
    assert find_newest(tmp_path) is None
    assert FolderPlace(folder=tmp_path).store(tmp_path / "b") == str(tmp_path / "b")
