"""The operation that brings the assistant of an export into this home."""

import asyncio
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from agent_core.errors import ToolArgumentError
from agent_core.ids import JobId, MessageId, SessionId, TurnId
from agent_core.memory.archive.entries import ArchiveContent
from agent_core.memory.archive.writes import insert_entry
from agent_core.memory.edits_within_limits import Edit, Refusal
from agent_core.memory.files import find_flaw, parse
from agent_core.privacy.export.reading import ExportRefused, Row, SignedExport, read_export
from agent_core.privacy.export.signer import KEY_NAME, name_key
from agent_core.privacy.export.signing import get_public, load_key
from agent_core.schedule.gates import read_gate
from agent_core.schedule.job_editor import (
    PAUSED_IMPORTED,
    PAUSED_MOVED,
    InvalidJob,
    check_brought,
    create_job,
    pause_job,
)
from agent_core.schedule.triggers import OnEvent, dump_timing, load_timing
from agent_core.schedule.wall_clock import find_zone
from agent_core.skills.catalog import SKILL_FILE
from agent_core.state.conversations import past_import, sessions
from agent_core.state.conversations.past_import import PastTurn
from agent_core.state.conversations.sessions import NewConversation
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from agent_core.state.jobs.jobs import JobKind, NewJob, Options, Target
from agent_core.state.memory import ledger
from agent_core.state.memory.ledger import Origin
from agent_core.state.people.people import Person
from agent_core.tools.secret_scan import find_secret
from agent_core.tools.settings_tool import DAYS, DAYS_OFF
from agent_core.transcript import (
    DocumentPart,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UntrustedSource,
    flatten,
    load_parts,
)
from gateway.errors import Declined, Mistaken
from gateway.operations import settings, skills
from gateway.operations.contract import Operation, OperationContext, find_person
from gateway.operations.privacy_types import ImportedPerson, ImportPerson
from gateway.operations.settings_types import SetSettings, Setting, ShowSettings
from gateway.operations.skill_types import WriteSkill
from gateway.operations.wire import typed

_MARK = "moved_in:"
"""Precedes a key, a person and a session; the value is what was written of the session."""
_PIECE = 50
"""Turns of one write."""
_LONGEST_TEXT = 100_000
_KEPT_PARTS = (TextPart, ToolCallPart, ToolResultPart, DocumentPart)
_LATEST = 1 << 53
"""The latest time of a slot, in milliseconds."""
_WRONG = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What a row raises that holds something else than Talaria writes."""
_SETTINGS = (
    *("time_zone", "language", "quiet_hours", DAYS_OFF, "verbosity"),
    *("context_cap", "spoken_answers", settings.LEARNING, settings.MODEL),
)
"""The settings that move, in the order in which they are made."""
_PLAIN = {"verbosity": "normal", "spoken_answers": "off", settings.LEARNING: "quiet"}
"""What a person has who has chosen nothing; "" for other settings."""
_DAY_MINUTES = 24 * 60
_MOST_SKILL_FILES = 200


async def import_person(context: OperationContext, asked: ImportPerson) -> ImportedPerson:
    """Bring a person's assistant into this home, once; what is here already stays.

    After a crash, the same import goes on where it was. Raises `Declined` and `StoreError`.
    """
    person = await context.database.read(find_person, asked.slug)
    try:
        found = await asyncio.to_thread(read_export, Path(asked.path))
    except ExportRefused as error:
        raise Declined(_end(str(error))) from error
    if asked.signed_by and asked.signed_by.strip().lower() != found.key:
        raise Declined(f"The file is signed by the key {found.key}, and not by the one you named.")
    own = await asyncio.to_thread(_name_own_key, context.exports.home)
    running = _Import(context=context, person=person, found=found, is_own=own == found.key)
    try:
        await asyncio.to_thread(running.check)
    except _WRONG as error:
        raise Declined("The file holds a row that no Talaria has written.") from error
    return await running.write()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """Says what is here of a session: its number, the last number there, and each pair of both."""

    last: int
    made: list[list[int]]
    session: SessionId | None = None


def _read_written(value: str | None) -> _Written:
    return _Written(**json.loads(value or '{"made": [], "last": 0}'))


@dataclass(slots=True, kw_only=True)
class _Import:
    """Records an import, and what became of it so far."""

    context: OperationContext
    person: Person
    found: SignedExport
    is_own: bool
    """Whether this very home wrote the file, which then holds what is here already."""
    messages: int = 0
    entries: int = 0
    jobs: int = 0
    paused: int = 0
    skills: int = 0
    left_out: list[str] = field(default_factory=list)
    numbers: dict[int, MessageId] = field(default_factory=dict)
    """The messages here, by their numbers in the file."""

    def check(self) -> None:
        """Read every row that `write` can't leave out. Raises some of `_WRONG`."""
        for session in self._rows("sessions"):
            for _ in _list_turns(self._list_said(session), 0, 0):
                pass
        for row in self._rows("archive"):
            _read_tags(row)
        for row in self._rows("person"):
            _read_settings(row)
        for row in self._rows("ledger"):
            self._read_evidence(row)

    async def write(self) -> ImportedPerson:
        """Write everything, the jobs last."""
        for session in self._rows("sessions"):
            await self._write_session(session)
        await self._write_memory()
        await self._write_archive()
        await self._write_settings()
        await self._write_skills()
        # Jobs come last: none runs before what it may need is here.
        await self.context.database.write("moves.jobs", self._write_jobs)
        self.context.forget_known()
        self.context.scheduling.wake()
        return ImportedPerson(
            name=self.person.name,
            signed_by=self.found.key,
            messages=self.messages,
            entries=self.entries,
            jobs=self.jobs,
            paused=self.paused,
            skills=self.skills,
            left_out=tuple(dict.fromkeys(self.left_out)),
        )

    def _rows(self, table: str) -> Sequence[Row]:
        return self.found.tables.get(table, ())

    def _list_said(self, session: Row) -> Sequence[Row]:
        return self.found.conversations.get(int(session["id"]), ())

    def _key(self, kind: str, value: object) -> str:
        """Return a key that the same thing of the same home has in each import."""
        digest = hashlib.sha256(f"{self.found.key}\0{kind}\0{value}".encode()).hexdigest()
        return f"import:{self.person.id}:{digest[:32]}"

    def _find_present(
        self, connection: Connection, table: past_import.Table, rows: Sequence[Row]
    ) -> set[int]:
        """Return which rows are those of this home, by their ids."""
        if not self.is_own:
            return set()
        given = [(int(row["id"]), int(row.get("created_at") or 0)) for row in rows]
        return past_import.list_present(connection, table, given, person_id=self.person.id)

    async def _write_session(self, session: Row) -> None:
        """Write what is new of a session, in pieces for which no chat waits long.

        Raises `Declined` if the same session comes in twice at once.
        """
        key, rows = f"{_MARK}{self._key('session', session['id'])}", self._list_said(session)
        now, person_id = self.context.now(), self.person.id
        title = flatten(str(session.get("title") or "")[:200], 200)

        def look(connection: Connection) -> tuple[str | None, set[int]]:
            present = self._find_present(connection, "messages", rows)
            return meta.get(connection, key=key), present

        found, present = await self.context.database.read(look)
        known = _read_written(found)
        new_rows = [row for row in rows if int(row["id"]) not in present]
        turns = list(_list_turns(new_rows, known.last, now))
        ids = await self.context.load_ids()
        for first in range(0, len(turns), _PIECE):
            piece = [(ids.next_turn(), *one) for one in turns[first : first + _PIECE]]
            fresh = ids.next_session()

            def work(
                connection: Connection,
                piece: Sequence[_NumberedTurn] = piece,
                before: _Written = known,
                fresh: SessionId = fresh,
            ) -> _Written:
                if _read_written(meta.get(connection, key=key)) != before:
                    raise Declined("This file is coming in already; wait for its end.")
                new = NewConversation(
                    key=sessions.name_direct(person_id),
                    kind="direct",
                    person_id=person_id,
                    is_direct=True,
                )
                direct = sessions.ensure_conversation(connection, new, now=now)
                session_id = before.session
                if session_id is None or not past_import.exists(connection, session_id=session_id):
                    session_id = fresh
                    past_import.begin_session(
                        connection,
                        direct,
                        session_id=session_id,
                        title=title,
                        began_at=piece[0][1].began_at,
                    )
                made = list(before.made)
                for turn_id, turn, numbers in piece:
                    written = past_import.insert_turn(connection, direct, session_id, turn_id, turn)
                    made += [[*pair] for pair in zip(numbers, written, strict=True)]
                last = max(before.last, *(max(numbers) for *_, numbers in piece))
                after = _Written(session=session_id, last=last, made=made)
                meta.put(connection, key=key, value=json.dumps(asdict(after)))
                return after

            known = await self.context.database.write("moves.session", work)
            self.messages += sum(len(numbers) for *_, numbers in piece)
        self.numbers |= {old: MessageId(at) for old, at in known.made}
        self.numbers |= {one: MessageId(one) for one in present}

    async def _write_memory(self) -> None:
        """Add the entries of both lists; those without room go to the archive."""
        for target, file in (("memory", "MEMORY.md"), ("user", "USER.md")):
            for text in parse(self.found.texts.get(f"memory/{file}", "")):
                if not self._may_keep(f"an entry of {file}", text):
                    continue
                origin = self._make_origin(target, text)
                edit = Edit(action="add", target=target, text=text)  # type: ignore[arg-type]
                key = str(origin.call_key)
                if await self.context.database.read(
                    ledger.find_call, person_id=self.person.id, call_key=key
                ):
                    continue
                outcome = await self.context.memory.change(
                    self.person.id, self.person.slug, edit, origin
                )
                if not isinstance(outcome, Refusal):
                    self.entries += 1
                elif outcome.fault == "full":
                    await self._archive(ArchiveContent(text=text, tags=("imported",)), origin)
                elif outcome.fault != "known":
                    self.left_out.append(f"an entry of {file}: {outcome.detail}")
        self.context.forget_known()

    def _make_origin(self, target: str, text: str) -> Origin:
        """Return the origin of an entry: what it rested on there, with the messages here."""
        row: Row = next(
            (
                one
                for one in reversed(self._rows("ledger"))
                if (one.get("target"), one.get("after")) == (target, text)
            ),
            {},
        )
        ids, sources = self._read_evidence(row)
        return Origin(
            actor="house",
            now=self.context.now(),
            evidence=str(row.get("evidence") or "")[:_LONGEST_TEXT] or "imported",
            call_key=self._key(target, text),
            message_ids=tuple(self.numbers[one] for one in ids if one in self.numbers),
            sources=sources,
        )

    @staticmethod
    def _read_evidence(row: Row) -> tuple[list[int], tuple[UntrustedSource, ...]]:
        """Return the messages, by their old numbers, and the sources of a change."""
        ids = [int(one) for one in json.loads(str(row.get("message_ids") or "[]"))]
        sources = json.loads(str(row.get("sources") or "[]"))
        return ids, tuple(UntrustedSource(str(one)) for one in sources)

    async def _write_archive(self) -> None:
        rows = self._rows("archive")
        present = await self.context.database.read(self._find_present, "archive", rows)
        for row in rows:
            text, tags = str(row["text"]), _read_tags(row)
            if int(row["id"]) not in present and self._may_keep("a note of the archive", text):
                origin = replace(self._make_origin("archive", text), evidence="imported")
                await self._archive(ArchiveContent(text=text, tags=tags), origin)

    async def _archive(self, content: ArchiveContent, origin: Origin) -> None:
        def work(connection: Connection) -> bool:
            before = connection.total_changes
            insert_entry(connection, person_id=self.person.id, content=content, origin=origin)
            return bool(connection.total_changes > before)

        try:
            self.entries += await self.context.database.write("moves.archive", work)
        except ToolArgumentError as error:
            self.left_out.append(f"a note of the archive: {error}")

    def _may_keep(self, what: str, text: str) -> bool:
        if secret := find_secret(text):
            self.left_out.append(f"{what}, because it contains {secret}")
        elif flaw := find_flaw(text):
            self.left_out.append(f"{what}: {flaw}")
        else:
            return True
        return False

    async def _write_settings(self) -> None:
        """Take over the settings that the person has not chosen here."""
        rows = self._rows("person")
        there = _read_settings(next((one for one in rows if not one.get("is_joined")), {}))
        shown = await settings.show(self.context, ShowSettings(person=self.person.slug))
        here = {one.name: one.value for one in shown.settings}
        for name in _SETTINGS:
            plain, value = _PLAIN.get(name, ""), there.get(name, "")
            if here.get(name) != plain or value in ("", plain):
                continue
            try:
                wanted = Setting(name=name, value=value)
                asked = SetSettings(person=self.person.slug, settings=(wanted,))
                await settings.change(self.context, asked)
            except Mistaken as error:
                self.left_out.append(f"the setting {name}: {error}")

    async def _write_skills(self) -> None:
        """Write the skills that the home does not have, each with its files."""
        found: dict[str, dict[str, bytes]] = {}
        for name, data in sorted(self.found.skills.items()):
            folder, _, file = name.removeprefix("skills/").partition("/")
            found.setdefault(folder, {})[file] = data
        for folder, files in found.items():
            if SKILL_FILE not in files:
                self.left_out.append(f"skills/{folder}: it is no skill")
                continue
            if not self.person.is_owner:
                self.left_out.append(f"the skill {folder}: everybody would get it, from a member")
                continue
            try:
                await self._write_skill(folder, files.pop(SKILL_FILE).decode())
            except (Declined, UnicodeDecodeError) as error:
                self.left_out.append(f"the skill {folder}: {error}")
                continue
            for file, data in [*files.items()][:_MOST_SKILL_FILES]:
                await self._write_skill_file(folder, file, data)
            if len(files) > _MOST_SKILL_FILES:
                more = len(files) - _MOST_SKILL_FILES
                self.left_out.append(f"{more:,} further files of the skill {folder}")

    async def _write_skill(self, name: str, text: str) -> None:
        """Write a skill that is not here. Raises `Declined` if there is another one."""
        known = await asyncio.to_thread(_read_skill_file, self.context, name, SKILL_FILE)
        if known is not None and known.strip() != text.strip().encode():
            raise Declined("there is another one of this name")
        if known is None:
            await skills.write(self.context, WriteSkill(name=name, text=text, is_new=True))
            self.skills += 1

    async def _write_skill_file(self, name: str, file: str, data: bytes) -> None:
        """Write a file of a skill, unless it is here already or nobody could trust it."""
        try:
            if await asyncio.to_thread(_read_skill_file, self.context, name, file) != data:
                await skills.add_file(self.context, name, file, data.decode())
        except UnicodeDecodeError:
            self.left_out.append(f"the file {file} of the skill {name}: it is no text")
        except Declined as error:
            self.left_out.append(f"the file {file} of the skill {name}: {error}")

    def _write_jobs(self, connection: Connection) -> None:
        """Create the jobs that run there: all in one transaction, each once."""
        rules, rows = self.context.scheduling.rules, self._rows("jobs")
        present = self._find_present(connection, "jobs", rows)
        numbers = {one: JobId(one) for one in present}
        for row in rows:
            if row.get("state") not in ("active", "paused") or int(row["id"]) in present:
                continue
            title = flatten(str(row.get("title")), 60)
            try:
                new = self._draft(row, numbers)
                known = jobs.find_call(
                    connection, person_id=self.person.id, call_key=str(new.call_key)
                )
                if known is None:
                    check_brought(new, rules=rules, now=self.context.now())
                made = known or create_job(connection, new, rules=rules, now=self.context.now())
            except (*_WRONG, InvalidJob, ToolArgumentError) as error:
                self.left_out.append(f"the job {title}: {flatten(str(error), 200)}")
                continue
            numbers[int(row["id"])] = made.id
            if known:
                continue
            self.jobs += 1
            if why := self._find_pause(row, new):
                self.paused += 1
                pause_job(connection, made, why)

    def _find_pause(self, row: Row, new: NewJob) -> str:
        """Return why a job waits for its person; "" if it goes on at its next slot."""
        was_running = row["state"] == "active" or row.get("reason") == PAUSED_MOVED
        if not was_running:
            return str(row.get("reason") or PAUSED_IMPORTED)[:200]
        has_command = new.kind == "script" or bool(new.options.gate)
        return "" if self.found.is_moved and not has_command else PAUSED_IMPORTED

    def _draft(self, row: Row, numbers: Mapping[int, JobId]) -> NewJob:
        if row.get("is_in_room"):
            raise ValueError("it belongs to a group")
        kind, late, options = row["kind"], row["late"], _read_options(str(row["options"]))
        if kind not in ("prompt", "message", "script") or late not in ("catch_up", "skip", "all"):
            raise ValueError("its kind is not known")
        if _has_command(kind, options) and not self.person.is_owner:
            # Whoever has a job can resume it in a chat, where nobody may bring in commands.
            raise ValueError("it runs a command; set it up again with `talaria jobs`")
        timing = load_timing(str(row["timing"]))
        if isinstance(timing, OnEvent) and timing.kind == "webhook":
            raise ValueError("it waits for a web request, whose secret address does not travel")
        if isinstance(timing, OnEvent) and timing.kind == "after":
            if timing.job_id not in numbers:
                raise ValueError("it comes after a job that is not here")
            value = f"{numbers[timing.job_id]} {timing.ending}"
            timing = OnEvent(kind="after", value=value)
        zone = str(row["zone"])
        find_zone(zone)
        slot, at = row.get("next_slot"), row.get("next_at")
        waits = (
            (slot, at) if isinstance(slot, str) and type(at) is int and 0 <= at <= _LATEST else None
        )
        if waits is None and not isinstance(timing, OnEvent):
            raise ValueError("its time is past")
        body = str(row["body"])
        if secret := find_secret(body):
            raise ValueError(f"it contains {secret}")
        return NewJob(
            person_id=self.person.id,
            room_id=None,
            kind=kind,
            title=str(row["title"])[:200],
            body=body[:_LONGEST_TEXT],
            timing=dump_timing(timing),
            zone=zone,
            late=late,
            options=options,
            targets=(Target(kind="home"),),
            is_urgent=bool(row["is_urgent"]),
            next_slot=waits,
            actor="house",
            call_key=self._key("job", row["id"]),
        )


_NumberedTurn = tuple[TurnId, PastTurn, tuple[int, ...]]
"""A turn with its number here, and the numbers that its messages had there."""


def _list_turns(
    rows: Sequence[Row], after: int, now: int
) -> Iterator[tuple[PastTurn, tuple[int, ...]]]:
    """Yield the turns whose messages come after a number, with the numbers of their messages."""
    grouped: dict[int, list[Row]] = {}
    for row in rows:
        if int(row["id"]) > after:
            grouped.setdefault(int(row["turn"]), []).append(row)
    for group in grouped.values():
        said: list[tuple[Message, int]] = []
        numbers = []
        for row in group:
            if row["role"] not in ("user", "assistant", "tool"):
                raise ValueError("a message has no known role")
            parts = tuple(_keep_parts(load_parts(json.dumps(row["parts"]))))
            at = min(max(int(row["created_at"]), 0), now)
            said.append((Message(role=row["role"], parts=parts), at))
            numbers.append(int(row["id"]))
        began, ended = said[0][1], max(at for _, at in said)
        turn = PastTurn(began_at=began, ended_at=ended, said=tuple(said))
        yield turn, tuple(numbers)


def _read_tags(row: Row) -> tuple[str, ...]:
    """Return the tags of a note; each is a text."""
    if not isinstance(row["text"], str):
        raise TypeError("a note has no text")
    return tuple(map(str, json.loads(row["tags"])))


def _keep_parts(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts that need nothing else of the old home."""
    for part in parts:
        if isinstance(part, _KEPT_PARTS):
            yield part


def _read_options(text: str) -> Options:
    """Return the options of a job that this home knows, without what only the old one knew."""
    given = json.loads(text)
    kinds = {one.name: type(one.default) for one in fields(Options)}
    values: dict[str, Any] = {
        key: tuple(map(str, value)) if isinstance(value, list) else value
        for key, value in given.items()
        if key in kinds and isinstance(value, list if kinds[key] is tuple else kinds[key])
    }
    for key in ("gate_passed", "gate_seen", "gate_next", "agent", "model", "skills"):
        values.pop(key, None)
    return Options(**values)


def _has_command(kind: JobKind, options: Options) -> bool:
    """Return whether a job is a command, or has one as its gate. Raises `ValueError`."""
    return kind == "script" or bool(options.gate and read_gate(options.gate).kind == "script")


def _read_settings(row: Row) -> Mapping[str, str]:
    """Return the settings of a person's row in the form in which people enter them.

    What is no setting is left out: `settings.change` refuses wrong values, but no wrong types.
    """
    values = {name: row[name] for name in _SETTINGS if isinstance(row.get(name), str)}
    first, last = row.get("quiet_from"), row.get("quiet_until")
    hours = [at for at in (first, last) if type(at) is int and 0 <= at < _DAY_MINUTES]
    if len(hours) == 2:
        values["quiet_hours"] = "-".join(f"{at // 60:02}:{at % 60:02}" for at in hours)
    days = json.loads(str(row.get(DAYS_OFF) or "[]"))
    known = [DAYS[day - 1] for day in days if type(day) is int and 0 < day <= len(DAYS)]
    values[DAYS_OFF] = ",".join(known)
    if type(cap := row.get("context_cap")) is int:
        values["context_cap"] = str(cap)
    if isinstance(summary := row.get("learning_summary"), str) and settings.LEARNING in values:
        values[settings.LEARNING] = f"{values[settings.LEARNING]} {summary}".strip()
    return values


def _read_skill_file(context: OperationContext, name: str, file: str) -> bytes | None:
    """Return a file of a skill of the home; None if there is none. Blocks."""
    path = context.skills.catalog.folder / name / file
    try:
        is_below = path.resolve().is_relative_to(context.skills.catalog.folder.resolve())
        return path.read_bytes() if is_below and path.is_file() else None
    except (OSError, ValueError):
        return None  # a name that no file can have is refused when it is written


def _name_own_key(home: Path) -> str:
    """Return the short form of the key of this home; "" if it has signed nothing. Blocks."""
    return name_key(get_public(load_key(home))) if (home / KEY_NAME).exists() else ""


def _end(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}."


OPERATIONS: Mapping[str, Operation] = {"privacy.import": typed(import_person)}
"""The operations, by their names on the control socket."""
