"""A person's assistant moves to another home: signed, once, and each slot of a job fires once."""

import asyncio
import hashlib
import json
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from agent_core.ids import MessageId, PersonId
from agent_core.memory.archive.entries import ArchiveContent
from agent_core.memory.archive.writes import insert_entry
from agent_core.memory.edits_within_limits import Edit
from agent_core.privacy.export.reading import ExportRefused, read_export
from agent_core.privacy.export.signer import KEY_NAME, name_key
from agent_core.privacy.export.signing import get_public, load_key, sign
from agent_core.schedule.job_editor import pause_job
from agent_core.schedule.triggers import dump_timing, read_every
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import Options
from agent_core.state.memory.ledger import Origin
from gateway.errors import Declined
from gateway.interfaces.contexts import open_context
from gateway.operations import moves, privacy
from gateway.operations.import_types import ImportLine
from gateway.operations.imports import import_line
from gateway.operations.privacy_types import ExportPerson, ImportedPerson, ImportPerson
from gateway.operations.settings import change, show
from gateway.operations.settings_types import SetSettings, Setting, ShowSettings
from tests.fakes.model import say
from tests.integration.clock import Clock
from tests.integration.harness import Harness, running
from tests.integration.jobs_support import ana, give_job, greet, greeted, looked, runs_of, texts

SETTINGS = {"TALARIA_PEOPLE__TIME_ZONE": "Europe/Berlin"}
SKILL = "---\nname: kettle\ndescription: Boil water. Use for tea.\n---\nFill it.\n"
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


def find_leak(connection: Connection) -> tuple[PersonId, MessageId]:
    """Return Ana, and the message in which she said that the boiler leaks."""
    (row,) = connection.execute(
        "SELECT id FROM messages WHERE text LIKE 'The boiler leaks%' AND role = 'user'"
    ).fetchall()
    return ana(connection), MessageId(row[0])


def make_owner(connection: Connection) -> None:
    connection.execute("UPDATE people SET role = 'owner' WHERE id = ?", (ana(connection),))


async def remember(harness: Harness, text: str) -> None:
    slug = await find_slug(harness)
    asked = ImportLine(person=slug, target="user", text=text, origin="test")
    assert (await import_line(open_context(harness.gateway), asked)).state == "new"


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


CHOSEN = {
    "time_zone": "Asia/Tokyo",
    "quiet_hours": "22:30-06:15",
    "days_off": "sat,sun",
    "verbosity": "quiet",
    "learning": "tell weekly",
}
"""Settings that a person has chosen in the old home."""


async def test_an_assistant_moves_once_and_whole(tmp_path: Path) -> None:
    clock, path = Clock(2026, 11, 20, 12, 0), tmp_path / "ana.zip"
    old_settings = SETTINGS | {"ANTHROPIC_API_KEY": SECRET}
    async with running(tmp_path / "old", greeted(say("Noted.")), now=clock, **old_settings) as old:
        await greet(old)
        await remember(old, "Ana's boiler is from 1987.")
        place = tmp_path / "old" / "skills" / "kettle"
        place.mkdir(parents=True, exist_ok=True)
        (place / "SKILL.md").write_text(SKILL)
        (place / "scripts").mkdir()
        (place / "scripts" / "boil.py").write_text("print('hot')\n")
        (place / "scripts" / "boil.bin").write_bytes(b"\xff\xfe\x00")
        await old.chat.says("The boiler leaks again.")
        await old.chat.sees_text("Noted.")
        await old.at_rest()
        slug = await find_slug(old)
        person, leaks = await old.read(find_leak)
        await old.gateway.database.write("test.owner", make_owner)
        origin = Origin(
            actor="turn:2", now=clock(), evidence="The boiler leaks again.", message_ids=(leaks,)
        )
        edit = Edit(action="add", target="user", text="Ana's boiler leaks.")
        await open_context(old.gateway).memory.change(person, slug, edit, origin)
        chosen = tuple(Setting(name=name, value=value) for name, value in CHOSEN.items())
        await change(open_context(old.gateway), SetSettings(person=slug, settings=chosen))
        await give_job(old, "Take a pill.", "0 9 * * *")
        await export(old, path)
    found = read_export(path)
    assert found.key == name_key(get_public(load_key(tmp_path / "old")))
    async with running(tmp_path / "new", greeted(), now=clock, **SETTINGS) as new:
        await greet(new)
        await new.gateway.database.write("test.owner", make_owner)
        before = await count_all(new)
        made = await bring(new, path, signed_by=found.key)
        assert (made.messages, made.entries, made.jobs, made.paused) == (4, 2, 1, 1)
        assert made.skills == 1
        skill = tmp_path / "new" / "skills" / "kettle" / "SKILL.md"
        assert skill.read_text() == SKILL
        assert (skill.parent / "scripts" / "boil.py").read_text() == "print('hot')\n"
        assert made.left_out == ("the file scripts/boil.bin of the skill kettle: it is no text",)
        first = await count_all(new)
        assert first["messages"] == before["messages"] + 4
        again = await bring(new, path)
        assert (again.messages, again.entries, again.jobs) == (0, 0, 0)
        assert await count_all(new) == first, "nothing is doubled"

        def read(connection: Connection) -> tuple[list[tuple[str, str, str]], str]:
            person = ana(connection)
            rows = connection.execute(
                "SELECT after, evidence, message_ids FROM ledger WHERE person_id = ? ORDER BY id",
                (person,),
            ).fetchall()
            zone = connection.execute("SELECT time_zone FROM people WHERE id = ?", (person,))
            return rows, zone.fetchone()[0]

        shown = await show(open_context(new.gateway), ShowSettings(person=await find_slug(new)))
        assert CHOSEN.items() <= {one.name: one.value for one in shown.settings}.items()

        (_, (after, evidence, ids)), zone = await new.read(read)
        _, leaks = await new.read(find_leak)
        assert (after, evidence) == ("Ana's boiler leaks.", "The boiler leaks again.")
        assert json.loads(ids) == [leaks], "it rests on the same message, with its number here"
        assert zone == "Asia/Tokyo"
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


async def test_a_signed_file_with_odd_rows_changes_nothing(tmp_path: Path) -> None:
    async with running(tmp_path / "old", greeted(), **SETTINGS) as old:
        await greet(old)
        await give_job(old, "Hourly.", "0 * * * *")
        good = (await export(old, tmp_path / "ana.zip")).read_bytes()
        before, key = await count_all(old), load_key(tmp_path / "old")
        path, huge = tmp_path / "odd.zip", 10**400
        talk = next(
            one for one in zipfile.ZipFile(tmp_path / "ana.zip").namelist() if "direct" in one
        )
        talk = talk.removesuffix(".md").removesuffix(".json") + ".json"
        message = {"id": 1, "turn": 1, "role": "user", "created_at": 1, "parts": []}
        for name, rows in (
            ("sessions.json", [{}]),
            ("sessions.json", [{"id": "x"}]),
            (talk, [message | {"role": "system"}]),
            (talk, [message | {"parts": [1]}]),
            (talk, [message | {"parts": [{"kind": "evil"}]}]),
            (talk, [message | {"created_at": "soon"}]),
            (talk, [message | {"id": None}]),
            ("archive.json", [{"text": 7, "tags": "[]"}]),
            ("archive.json", [{"text": "x", "tags": "5"}]),
            ("ledger.json", [{"message_ids": "{"}]),
            ("jobs.json", 5),
            ("person.json", [{"days_off": "{"}]),
            ("person.json", [{"days_off": "5"}]),
        ):
            path.write_bytes(good)
            sign_again(path, key, name, rows)
            with pytest.raises(Declined, match=r"The file holds a row|in the file is no list"):
                await bring(old, path)
        assert await count_all(old) == before
        job = {"id": 1, "state": "active", "title": "Odd", "kind": "message", "late": "skip"}
        job |= {"timing": "cron 0 * * * *", "zone": "UTC", "body": "b", "options": "{}"}
        job |= {"is_urgent": 0, "next_slot": "s", "next_at": 1, "reason": ""}
        odd: list[dict[str, object]] = [
            {"next_at": huge},
            {"zone": "../etc/passwd"},
            {"timing": "on webhook abc"},
            {"timing": "on after 99 done"},
            {"timing": "cron x"},
            {"kind": "system"},
            {"options": "[]"},
            {"kind": "prompt", "timing": dump_timing(read_every(60, 0))},
            {"options": '{"tools": ["recall"]}'},
            {"is_in_room": 1},
            {"body": f"Use {SECRET}"},
        ]
        path.write_bytes(good)
        sign_again(path, key, "jobs.json", [job | one for one in odd])
        made = await bring(old, path)
        assert (made.jobs, len(made.left_out)) == (0, len(odd))
        assert SECRET not in repr(made)


async def test_hostile_files_of_skills_stay_out(tmp_path: Path) -> None:
    async with running(tmp_path / "old", greeted(), **SETTINGS) as old:
        await greet(old)
        await old.gateway.database.write("test.owner", make_owner)
        path = await export(old, tmp_path / "ana.zip")
        bad = {
            "kettle/scripts/../../../evil.py": b"1",
            "kettle//etc/evil": b"1",
            "kettle/.bashrc": b"1",
            "kettle/scripts/" + "n" * 300: b"1",
            "kettle/scripts/hidden.py": "print('a\u202eb')".encode(),
            "kettle/scripts/key.py": SECRET.encode(),
            "kettle/scripts/large.py": b"x" * 300_000,
            "../evil/SKILL.md": SKILL.encode(),
            "odd/SKILL.md": b"\xff",
            "two/SKILL.md": b"no front matter",
        }
        files = {"kettle/SKILL.md": SKILL.encode(), "kettle/scripts/good.py": b"1\n", **bad}
        signed = {f"skills/{name}": data for name, data in files.items()}
        sign_more(path, load_key(tmp_path / "old"), signed)
        made = await bring(old, path)
        assert made.skills == 1
        assert len(made.left_out) == len(bad), made.left_out
        assert SECRET not in repr(made)
        place = tmp_path / "old" / "skills"
        found = {str(one.relative_to(place)) for one in place.rglob("[!.]*") if one.is_file()}
        assert found == {"kettle/SKILL.md", "kettle/scripts/good.py"}
        assert not (tmp_path / "old" / "evil.py").exists()
        assert not (tmp_path / "old" / "evil").exists()
        again = await bring(old, path)
        assert (again.skills, again.left_out) == (0, made.left_out)


async def test_a_member_brings_no_commands_and_no_skills(tmp_path: Path) -> None:
    async with (
        running(tmp_path / "old", greeted(), **SETTINGS) as old,
        running(tmp_path / "new", greeted(), **SETTINGS) as new,
    ):
        await greet(old)
        await greet(new)
        await old.gateway.database.write("test.owner", make_owner)
        place = tmp_path / "old" / "skills" / "kettle"
        place.mkdir(parents=True)
        (place / "SKILL.md").write_text(SKILL)
        await give_job(old, "touch /tmp/x", "0 9 * * *", kind="script")
        for gate in ("script touch /tmp/x", "page https://example.org"):
            options = Options(gate=gate)
            await give_job(old, gate, "0 9 * * *", kind="prompt", options=options)
        path = await export(old, tmp_path / "ana.zip", moves_on=True)
        made = await bring(new, path)
        assert (made.jobs, made.paused, made.skills) == (1, 1, 0)
        assert sum("it runs a command" in one for one in made.left_out) == 2
        assert not (tmp_path / "new" / "skills" / "kettle").exists()
        await new.gateway.database.write("test.owner", make_owner)
        made = await bring(new, path)
        assert (made.jobs, made.paused, made.skills) == (2, 2, 1)


def sign_again(path: Path, key: Ed25519PrivateKey, name: str, rows: object) -> None:
    """Put other rows into an archive, and sign it as its home would."""
    data = json.dumps(rows).encode()
    rewrite(path, name, lambda _: data)
    _sign(path, key, {name: data})


def sign_more(path: Path, key: Ed25519PrivateKey, files: dict[str, bytes]) -> None:
    """Put further files into an archive, and sign it as its home would."""
    with zipfile.ZipFile(path, "a") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    _sign(path, key, files)


def _sign(path: Path, key: Ed25519PrivateKey, files: dict[str, bytes]) -> None:
    def note(manifest: bytes) -> bytes:
        said = json.loads(manifest)
        said["files"] |= {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        return json.dumps(said).encode()

    rewrite(path, "manifest.json", note)
    manifest = zipfile.ZipFile(path).read("manifest.json")
    rewrite(path, "manifest.sig", lambda _: sign(key, manifest))


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


async def test_a_home_takes_nothing_twice_of_its_own_export(tmp_path: Path) -> None:
    clock, path = Clock(2026, 11, 20, 12, 0), tmp_path / "ana.zip"
    async with running(tmp_path / "home", greeted(say("Noted.")), now=clock, **SETTINGS) as home:
        await greet(home)
        await remember(home, "Ana sails.")
        await home.chat.says("The boiler leaks again.")
        await home.chat.sees_text("Noted.")
        await home.at_rest()
        await give_job(home, "Take a pill.", "0 9 * * *")
        person, _ = await home.read(find_leak)
        note = ArchiveContent(text="The fern is from Lisbon.", tags=())
        origin = Origin(actor="person", now=clock())
        await home.gateway.database.write(
            "test.note", insert_entry, person_id=person, content=note, origin=origin
        )
        await export(home, path, moves_on=True)
        before = await count_all(home)
        made = await bring(home, path)
        assert (made.messages, made.entries, made.jobs) == (0, 0, 0)
        assert await count_all(home) == before
        # What is gone here comes back.
        await home.gateway.database.write("test.drop", forget_messages)
        assert (await bring(home, path)).messages == before["messages"]


def forget_messages(connection: Connection) -> None:
    connection.execute("UPDATE messages SET created_at = created_at + 1")


async def test_a_file_that_comes_in_twice_at_once_doubles_nothing(tmp_path: Path) -> None:
    async with running(tmp_path / "old", greeted(say("Noted."))) as old:
        await greet(old)
        await old.chat.says("The boiler leaks again.")
        await old.chat.sees_text("Noted.")
        await old.at_rest()
        path = await export(old, tmp_path / "ana.zip")
    async with running(tmp_path / "new", greeted()) as new:
        await greet(new)
        before = await count_all(new)
        both = await asyncio.gather(bring(new, path), bring(new, path), return_exceptions=True)
        # The slower one is refused, or finds everything there.
        assert {*map(type, both)} <= {ImportedPerson, Declined}
        assert sum(one.messages for one in both if isinstance(one, ImportedPerson)) == 4
        after = await count_all(new)
        assert after["messages"] == before["messages"] + 4
        assert after["sessions"] == before["sessions"] + 1
        assert (await bring(new, path)).messages == 0
