"""A person's assistant moves to another home: signed, once, and each slot of a job fires once."""

import json
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_core.privacy.export.reading import ExportRefused, read_export
from agent_core.privacy.export.signer import KEY_NAME, name_key
from agent_core.privacy.export.signing import get_public, load_key, sign
from agent_core.schedule.job_editor import pause_job
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from gateway.errors import Declined
from gateway.interfaces.contexts import open_context
from gateway.operations import moves, privacy
from gateway.operations.imports import import_line
from gateway.operations.privacy_types import ExportPerson, ImportedPerson, ImportPerson
from gateway.operations.settings import change
from gateway.operations.settings_types import SetSettings, Setting
from tests.fakes.model import say
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import ana, give_job, greet, greeted, looked, runs_of, texts

SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}
SECRET = "sk-ant-api03-" + "b" * 90


async def find_slug(harness: Harness) -> str:
    def read(connection: Connection) -> str:
        row = connection.execute("SELECT slug FROM people WHERE id = ?", (ana(connection),))
        return str(row.fetchone()[0])

    return await harness.read(read)


async def export(harness: Harness, target: Path, *, moves_on: bool = False) -> Path:
    asked = ExportPerson(slug=await find_slug(harness), target=str(target), moves=moves_on)
    await privacy.export(open_context(harness.gateway), asked)
    return target


async def bring(harness: Harness, path: Path, signed_by: str = "") -> ImportedPerson:
    asked = ImportPerson(slug=await find_slug(harness), path=str(path), signed_by=signed_by)
    return await moves.import_person(open_context(harness.gateway), asked)


async def remember(harness: Harness, text: str) -> None:
    asked = {"person": await find_slug(harness), "target": "user", "text": text, "origin": "test"}
    assert (await import_line(open_context(harness.gateway), asked))["state"] == "new"


async def count_all(harness: Harness) -> dict[str, int]:
    tables = ("messages", "turns", "sessions", "ledger", "archive", "jobs", "conversations")

    def read(connection: Connection) -> dict[str, int]:
        return {
            one: connection.execute(f"SELECT COUNT(*) FROM {one}").fetchone()[0] for one in tables
        }

    return await harness.read(read)


def rewrite(path: Path, name: str, edit: Callable[[bytes], bytes | None]) -> None:
    """Change one file of an archive, or remove it."""
    with zipfile.ZipFile(path) as archive:
        files = {one: archive.read(one) for one in archive.namelist()}
    changed = edit(files.pop(name, b""))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, data in files.items():
            archive.writestr(one, data)
        if changed is not None:
            archive.writestr(name, changed)


async def test_an_assistant_moves_once_and_whole(tmp_path: Path) -> None:
    clock, path = Clock(2026, 11, 20, 12, 0), tmp_path / "ana.zip"
    old_settings = SETTINGS | {"ANTHROPIC_API_KEY": SECRET}
    async with running(tmp_path / "old", greeted(say("Noted.")), now=clock, **old_settings) as old:
        await greet(old)
        await remember(old, "Ana's boiler is from 1987.")
        await old.chat.says("The boiler leaks again.")
        await old.chat.sees_text("Noted.")
        await old.at_rest()
        slug = await find_slug(old)
        wanted = SetSettings(person=slug, settings=(Setting(name="time_zone", value="Asia/Tokyo"),))
        await change(open_context(old.gateway), wanted)
        await give_job(old, "Take a pill.", "0 9 * * *")
        await export(old, path)
    found = read_export(path)
    assert found.key == name_key(get_public(load_key(tmp_path / "old")))
    async with running(tmp_path / "new", greeted(), now=clock, **SETTINGS) as new:
        await greet(new)
        before = await count_all(new)
        made = await bring(new, path, signed_by=found.key)
        assert (made.messages, made.entries, made.jobs, made.paused) == (4, 1, 1, 1)
        assert made.left_out == ()
        first = await count_all(new)
        assert first["messages"] == before["messages"] + 4
        again = await bring(new, path)
        assert (again.messages, again.entries, again.jobs) == (0, 0, 0)
        assert await count_all(new) == first, "nothing is doubled"

        def read(connection: Connection) -> tuple[str, str]:
            person = ana(connection)
            (row,) = connection.execute(
                "SELECT after, message_ids FROM ledger WHERE person_id = ?", (person,)
            ).fetchall()
            zone = connection.execute("SELECT time_zone FROM people WHERE id = ?", (person,))
            return row[0], zone.fetchone()[0]

        assert await new.read(read) == ("Ana's boiler is from 1987.", "Asia/Tokyo")
        with pytest.raises(Declined, match="and not by the one you named"):
            await bring(new, path, signed_by="0000-0000-0000-0000-0000")


async def test_each_slot_of_a_moved_job_fires_once(tmp_path: Path) -> None:
    clock, path = Clock(2026, 11, 20, 12, 0), tmp_path / "ana.zip"
    async with (
        running(tmp_path / "old", greeted(), now=clock, **SETTINGS) as old,
        running(tmp_path / "new", greeted(), now=clock, **SETTINGS) as new,
    ):
        await greet(old)
        await greet(new)
        job = await give_job(old, "Hourly.", "0 * * * *")
        slept = await give_job(old, "Off.", "0 * * * *")
        await old.gateway.database.write("test.pause", lambda c: pause_job(c, slept, "as asked"))
        clock.move(old, hours=1)
        await looked(old)
        await export(old, path, moves_on=True)
        # A slot passes before the import; the late rule of the job catches it up in the new home.
        clock.move(old, hours=1)
        await looked(old)
        made = await bring(new, path)
        assert (made.jobs, made.paused) == (2, 1)
        await bring(new, path)
        await looked(new)
        for _ in range(3):
            clock.move(old, hours=1)
            clock.move(new)
            await looked(old)
            await looked(new)
        (moved,) = [
            one
            for one in await new.read(lambda c: jobs.list_of_person(c, person_id=ana(c)))
            if one.title == "Hourly."
        ]
        slots = [one.slot for one in (*await runs_of(old, job.id), *await runs_of(new, moved.id))]
        assert sorted(slots) == [f"2026-11-20T{hour}:00:00Z" for hour in range(13, 18)]
        told = Counter((*texts(old), *texts(new)))
        assert (
            told["⏰ Hourly."] + sum("Hourly." in one for one in told if one != "⏰ Hourly.") == 5
        )
        assert not any("Off." in one for one in told)


async def test_a_move_that_can_not_be_written_leaves_the_jobs_as_they_were(
    tmp_path: Path,
) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    async with running(tmp_path / "old", greeted(), now=clock, **SETTINGS) as old:
        await greet(old)
        job = await give_job(old, "Hourly.", "0 * * * *")
        with pytest.raises(Declined, match="can't be written"):
            await export(old, tmp_path / "none" / "ana.zip", moves_on=True)
        assert await old.read(lambda c: jobs.find(c, job_id=job.id)) == job


async def test_a_changed_file_says_so_and_changes_nothing(tmp_path: Path) -> None:
    async with running(tmp_path / "old", greeted(), **SETTINGS) as old:
        await greet(old)
        await remember(old, "Ana sails.")
        good = (await export(old, tmp_path / "ana.zip")).read_bytes()
        other = load_key(tmp_path)
        before = await count_all(old)

        def sign_as_another(data: bytes) -> bytes:
            return sign(other, data)

        edits: list[tuple[str, Callable[[bytes], bytes | None], str]] = [
            ("memory/USER.md", lambda _: b"- Ana owes Eve.\n", "memory/USER.md is not as it was"),
            ("jobs.json", lambda _: None, "jobs.json is missing"),
            ("more.json", lambda _: b"[]", "more.json is not in its manifest"),
            ("manifest.json", lambda x: x.replace(b"Ana", b"Eve"), "its signature does not fit"),
            ("manifest.sig", lambda _: b"nonsense", "its signature does not fit"),
            ("manifest.sig", lambda _: None, "The file is not signed"),
            (
                "manifest.json",
                lambda x: x.replace(b'"version": 1', b'"version": 2'),
                "The file has version 2 of the format, and this Talaria reads version 1",
            ),
        ]
        path = tmp_path / "bad.zip"
        for name, edit, fault in edits:
            path.write_bytes(good)
            rewrite(path, name, edit)
            with pytest.raises(Declined) as caught:
                await bring(old, path)
            assert fault in str(caught.value)
        for data, fault in ((b"PK", "no export"), (good[:-2000], "no export"), (b"", "no export")):
            path.write_bytes(data)
            with pytest.raises(Declined, match=fault):
                await bring(old, path)
        assert await count_all(old) == before


async def test_no_secret_and_no_key_travels(tmp_path: Path) -> None:
    settings = SETTINGS | {"ANTHROPIC_API_KEY": SECRET}
    async with running(tmp_path / "old", greeted(), **settings) as old:
        await greet(old)
        path = await export(old, tmp_path / "ana.zip")
    key = (tmp_path / "old" / KEY_NAME).read_bytes().strip()
    assert (tmp_path / "old" / KEY_NAME).stat().st_mode & 0o077 == 0
    with zipfile.ZipFile(path) as archive:
        whole = b"".join(archive.read(one) for one in archive.namelist())
    assert SECRET.encode() not in whole
    assert key not in whole
    assert json.loads(zipfile.ZipFile(path).read("manifest.json"))["format"] == "talaria-assistant"
    with pytest.raises(ExportRefused, match="can't be read"):
        read_export(tmp_path / "none.zip")
