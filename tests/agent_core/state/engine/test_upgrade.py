"""From any known schema to the newest, with a copy set aside, and never from a newer one."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from agent_core.errors import StoreError, StoreTooNew
from agent_core.ids import PersonId, SessionId, TurnId
from agent_core.state.conversations import messages
from agent_core.state.engine import meta
from agent_core.state.engine.connection import checksum
from agent_core.state.engine.database import Connection, Database
from agent_core.state.engine.opening import EngineLimits
from agent_core.state.engine.upgrade import FOLDER, KEPT_COPIES, load_migrations
from agent_core.state.search import message_index
from agent_core.state.search.message_index import Term
from agent_core.state.search.search_scope import SearchFilter
from agent_core.transcript import ImagePart, Message, TextPart, dump_parts
from tests.agent_core.state.conftest import read_file
from tests.agent_core.state.schema import migrate

KNOWN = len(load_migrations(FOLDER))
NEXT = KNOWN + 1

AddMigration = Callable[[str], EngineLimits]


@pytest.fixture
def add_migration(tmp_path: Path) -> AddMigration:
    """Return limits whose migrations are the real ones and one more."""

    def add(sql: str) -> EngineLimits:
        folder = tmp_path / "migrations"
        folder.mkdir(exist_ok=True)
        for migration in load_migrations(FOLDER):
            (folder / f"{migration.name}.sql").write_text(migration.read())
        (folder / f"{NEXT:04}_test.sql").write_text(sql)
        return EngineLimits(migrations=folder)

    return add


def _describe(connection: Connection) -> dict[str, str]:
    """Each table and index by name, its SQL without regard to white space."""
    return {
        name: "".join(sql.split())
        for name, sql in connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        )
    }


def _settings(connection: Connection) -> dict[str, list[object]]:
    """The rows of a database in which nothing was ever stored, by table.

    The shadow tables of an index hold binary states and counters of changes, not settings.
    """
    names = [
        str(name)
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not str(name).endswith(("_search", "_search_data", "_search_idx", "_search_docsize"))
    ]
    return {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in names}


def _version(connection: Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def _open_old(path: Path, version: int) -> Iterator[Connection]:
    """A database of an old schema, for plain SQL: the queries know the newest schema only."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, load_migrations(FOLDER)[:version])
        yield connection


async def _keep(path: Path, key: str) -> None:
    database = await Database.open(path)
    await database.write(key, lambda connection: meta.put(connection, key=key, value=key))
    await database.close()


def _look(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return connection.execute(sql).fetchall()


async def test_the_migrations_from_zero_make_the_schema_that_is_written_down(
    database: Database,
) -> None:
    """A new database is written down at once, an old one comes there by migrations."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        migrated = _describe(connection), _settings(connection)
    assert await database.read(lambda c: (_describe(c), _settings(c))) == migrated
    assert await database.read(_version) == KNOWN


async def test_a_copy_is_set_aside_before_a_migration(
    path: Path, add_migration: AddMigration
) -> None:
    await _keep(path, "before")
    limits = add_migration("CREATE TABLE extra (id INTEGER PRIMARY KEY);\nDELETE FROM meta;")
    database = await Database.open(path, limits=limits)
    assert await database.read(_version) == NEXT
    assert await database.read(lambda c: c.execute("SELECT * FROM meta").fetchall()) == []
    assert await database.write("keys", lambda c: c.execute("PRAGMA foreign_keys").fetchone()) == (
        1,
    )
    await database.close()
    (copy,) = (path.parent / "backups").iterdir()
    assert copy.name.startswith(f"state-before-{NEXT}-20")
    assert copy.name.endswith("Z.db")
    assert _look(copy, "SELECT key FROM meta") == [("before",)]
    assert _look(copy, "PRAGMA user_version") == [(KNOWN,)]


async def test_a_new_or_known_database_needs_no_copy(path: Path) -> None:
    await _keep(path, "new")
    await _keep(path, "known")
    assert not (path.parent / "backups").exists()


async def test_a_migration_that_fails_leaves_nothing_of_itself(
    path: Path, add_migration: AddMigration
) -> None:
    await _keep(path, "before")
    limits = add_migration(
        "CREATE TABLE extra (id INTEGER PRIMARY KEY);\nINSERT INTO nowhere VALUES (1);"
    )
    with pytest.raises(StoreError, match="no such table: nowhere"):
        await Database.open(path, limits=limits)
    assert _look(path, "PRAGMA user_version") == [(KNOWN,)]
    assert _look(path, "SELECT key FROM meta") == [("before",)]
    assert _look(path, "SELECT name FROM sqlite_master WHERE name = 'extra'") == []


async def test_a_migration_that_leaves_orphans_is_refused(
    path: Path, add_migration: AddMigration
) -> None:
    await _keep(path, "before")
    limits = add_migration(
        "INSERT INTO conversations (key, person_id, scope, created_at) VALUES ('k', 9, '', 0);"
    )
    with pytest.raises(StoreError, match="without its row of people"):
        await Database.open(path, limits=limits)
    assert _look(path, "SELECT * FROM conversations") == []


async def test_a_table_with_children_can_be_rebuilt(
    path: Path, add_migration: AddMigration
) -> None:
    database = await Database.open(path)

    def add_parent_and_child(connection: Connection) -> None:
        connection.execute(
            "INSERT INTO people (id, slug, name, role, created_at) VALUES (1, 'a', 'A', 'owner', 0)"
        )
        connection.execute(
            "INSERT INTO conversations (key, person_id, scope, created_at) VALUES ('k', 1, '', 0)"
        )

    await database.write("family", add_parent_and_child)
    await database.close()
    limits = add_migration(
        "CREATE TABLE people_new (id INTEGER PRIMARY KEY, slug TEXT, born INTEGER);"
        "INSERT INTO people_new (id, slug) SELECT id, slug FROM people;"
        "DROP TABLE people; ALTER TABLE people_new RENAME TO people;"
    )
    await (await Database.open(path, limits=limits)).close()
    assert _look(path, "SELECT slug FROM people JOIN conversations ON people.id = person_id") == [
        ("a",)
    ]


async def test_a_migration_that_fails_at_every_start_does_not_fill_the_disk_with_copies(
    path: Path, add_migration: AddMigration
) -> None:
    await _keep(path, "before")
    backups = path.parent / "backups"
    backups.mkdir()
    for number in range(5):
        (backups / f"state-before-{NEXT}-2020010{number}T000000Z.db").write_text("old")
    (backups / "mine.db").write_text("not to be touched")
    limits = add_migration("nonsense;")
    with pytest.raises(StoreError, match="nonsense"):
        await Database.open(path, limits=limits)
    kept = sorted(backups.glob(f"state-before-{NEXT}-*.db"))
    assert len(kept) == KEPT_COPIES
    assert _look(kept[-1], "SELECT key FROM meta") == [("before",)]
    assert (backups / "mine.db").exists()


async def test_without_room_for_the_copy_there_is_no_migration(
    path: Path, add_migration: AddMigration
) -> None:
    await _keep(path, "before")
    (path.parent / "backups").write_text("a file in the place of the folder")
    limits = add_migration("DELETE FROM meta;")
    with pytest.raises(StoreError, match="backups can't be used: there is a file"):
        await Database.open(path, limits=limits)
    assert _look(path, "SELECT key FROM meta") == [("before",)]


@pytest.mark.parametrize("mark", ["1 clean", "1 running"])
async def test_a_database_of_a_newer_version_is_refused_and_not_touched(
    path: Path, mark: str
) -> None:
    await _keep(path, "before")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {NEXT}")
    path.with_name("state.lock").write_text(f"{mark}\n")
    before = read_file(path)
    with pytest.raises(StoreTooNew, match=f"schema {NEXT}, this one knows {KNOWN}") as caught:
        await Database.open(path)
    assert str(path) in str(caught.value)
    assert read_file(path) == before
    assert path.with_name("state.lock").read_text().split()[1] == mark.split()[1]


def test_migrations_with_a_gap_or_a_double_are_refused(tmp_path: Path) -> None:
    (tmp_path / "0001_a.sql").write_text("")
    (tmp_path / "0003_c.sql").write_text("")
    with pytest.raises(StoreError, match="not numbered 1 to 2"):
        load_migrations(tmp_path)
    (tmp_path / "0002_b.sql").write_text("")
    assert [migration.name for migration in load_migrations(tmp_path)] == [
        "0001_a",
        "0002_b",
        "0003_c",
    ]
    (tmp_path / "0002_bb.sql").write_text("")
    with pytest.raises(StoreError, match="not numbered 1 to 4"):
        load_migrations(tmp_path)


async def test_what_was_said_before_the_index_was_made_anew_is_found_after(path: Path) -> None:
    """A database of the second schema, with an index of words that belonged to all."""
    with _open_old(path, 2) as connection:
        connection.executescript(
            "INSERT INTO people (id, slug, name, role, created_at)"
            " VALUES (1, 'ann', 'Ann', 'member', 0);"
            " INSERT INTO conversations (id, key, person_id, scope, created_at)"
            " VALUES (1, 'telegram:ann', 1, 'p1 c1', 0);"
            " INSERT INTO sessions (id, conversation_id, started_at, last_at) VALUES (1, 1, 0, 0);"
            " INSERT INTO turns (id, conversation_id, session_id, person_id, platform, chat, state,"
            " started_at) VALUES (1, 1, 1, 1, 'telegram', '{}', 'answered', 0);"
            " INSERT INTO messages (session_id, turn_id, person_id, scope, role, parts, text,"
            " platform, created_at, checksum)"
            " VALUES (1, 1, 1, 'p1 c1', 'user', '[]', 'The dogs', 'telegram', 0, 0)"
        )
    database = await Database.open(path)
    field = SearchFilter(person_id=PersonId(1), scope="p1", except_turn=TurnId(0))
    for word, expected in (("dog", [1]), ("the", [])):
        found = await database.read(
            lambda connection, word=word: message_index.list_holders(
                connection, field=field, terms=[Term(word=word)], limit=9
            )
        )
        assert [message_index.message_of(one) for one in found] == expected
    await database.close()


_PEOPLE = (
    "INSERT INTO people (id, slug, name, role, created_at)"
    " VALUES (1, 'ann', 'Ann', 'member', 0), (2, 'bob', 'Bob', 'member', 0),"
    " (3, 'den', 'Den', 'member', 0), (4, 'attic', 'Attic', 'member', 0),"
    " (5, 'barn', 'Barn', 'member', 0);"
)
_TURN = (
    "INSERT INTO turns (conversation_id, session_id, person_id, platform, chat, state, started_at,"
    " ended_at) VALUES (:conversation, :conversation, :person, 'fake', :chat, 'answered', :start,"
    " :end)"
)


async def test_the_text_of_messages_is_stored_once_and_reads_as_before(path: Path) -> None:
    picture = ImagePart(file_key="k", media_type="image/png", size=1)
    said = [
        Message(
            role="user", parts=(TextPart(text="Now: noon", is_fact=True), TextPart(text="Ä\nb"))
        ),
        Message(role="user", parts=(TextPart(text="one\n\n"), picture, TextPart(text="two"))),
        Message(role="assistant", parts=(TextPart(text="three"),)),
    ]
    redacted = Message(role="user", parts=(TextPart(text="[forgotten]"),))
    with _open_old(path, 21) as connection:
        connection.executescript(
            _PEOPLE + "INSERT INTO conversations (id, key, person_id, scope, created_at)"
            " VALUES (1, 'fake:ann', 1, 'p1 c1', 0);"
            " INSERT INTO sessions (id, conversation_id, started_at, last_at) VALUES (1, 1, 0, 0)"
        )
        connection.execute(
            _TURN, {"conversation": 1, "person": 1, "chat": "[]", "start": 0, "end": 1}
        )
        for message, text in [*((one, one.text) for one in said), (redacted, "")]:
            parts = dump_parts(message.parts)
            connection.execute(
                "INSERT INTO messages (session_id, turn_id, person_id, scope, role, parts, text,"
                " platform, created_at, checksum) VALUES (1, 1, 1, 'p1 c1', ?, ?, ?, 'fake', 0, ?)",
                (message.role, parts, text, checksum(message.role, parts, text)),
            )
    database = await Database.open(path)
    stored = await database.read(
        lambda c: messages.list_session(c, session_id=SessionId(1), person_id=PersonId(1))
    )
    assert [one.message for one in stored] == [*said, redacted]
    await database.close()
    held = [str(row[0]) for row in _look(path, "SELECT parts FROM messages ORDER BY id")]
    assert not any(word in parts for parts in held[:3] for word in ("one", "two", "three", "Ä"))


async def test_rooms_of_an_older_version_lose_full_and_know_who_was_seen(path: Path) -> None:
    """Ann's direct conversation went on in the den; the attic heard two people, the barn one."""
    with _open_old(path, 17) as connection:
        connection.executescript(
            _PEOPLE + "INSERT INTO rooms (id, platform, chat_id, person_id, mode, set_by,"
            " created_at) VALUES (1, 'fake', 'den', 3, 'full', 1, 7),"
            " (2, 'fake', 'attic', 4, 'person', 2, 8), (3, 'fake', 'barn', 5, 'room', NULL, 9);"
            " INSERT INTO conversations (id, key, person_id, scope, created_at, room_id) VALUES"
            " (1, 'fake:ann', 1, 'p1 c1', 0, NULL), (2, 'attic:ann', 1, 'p1 c2', 0, 2),"
            " (3, 'attic:bob', 2, 'p2 c3', 0, 2), (4, 'barn:bob', 2, 'p2 c4', 0, 3);"
            " INSERT INTO sessions (id, conversation_id, started_at, last_at)"
            " SELECT id, id, 0, 0 FROM conversations;"
            " INSERT INTO inbox (platform, event_id, payload, state, reason, received_at) VALUES"
            " ('fake', '1', 'words', 'done', 'stranger', 0),"
            " ('fake', '2', 'words', 'done', 'not for us', 0),"
            " ('fake', '3', 'words', 'received', 'stranger', 0),"
            " ('fake', '4', 'words', 'done', 'command', 0);"
        )
        direct, den, attic = '["me",null,1]', '["den",null,0]', '["attic",null,0]'
        for conversation, person, chat, start, end in [
            (1, 1, direct, 10, 11),
            (1, 1, den, 20, 21),
            (1, 1, den, 30, None),
            (2, 1, attic, 40, 41),
            (1, 1, "not JSON", 50, 51),
        ]:
            values = {"conversation": conversation, "person": person, "chat": chat}
            connection.execute(_TURN, values | {"start": start, "end": end})
    await (await Database.open(path)).close()
    rooms = "SELECT chat_id, mode, set_by, full_asked_at, full_from, full_until FROM rooms"
    assert _look(path, f"{rooms} ORDER BY id") == [
        ("den", "person", None, None, 20, 30),
        ("attic", "person", 2, None, None, None),
        ("barn", "room", None, None, None, None),
    ]
    assert _look(path, "SELECT * FROM room_presence") == [("fake", "attic", "", 8)]
    assert _look(path, "SELECT event_id FROM inbox WHERE payload <> '' ORDER BY id") == [
        ("3",),
        ("4",),
    ]
    assert _look(path, "SELECT * FROM strangers") == []


async def test_approvals_that_were_wider_than_their_words_end(path: Path) -> None:
    kept = [
        '["db__query", "run", "mcp:db"]',
        '["send_message", "send", "chat", "#Kitchen"]',
    ]
    ended = [
        '["terminal", "send", "a.example", "git", "push"]',
        '["terminal", "read", "outside", "/etc"]',
        '["web_fetch", "fetch", "a.example", "a.example"]',
        '["sendXmessage", "send", "chat", "#Kitchen"]',
    ]
    with _open_old(path, 49) as connection:
        connection.executescript(_PEOPLE)
        for scope, subject in [("once", "0f"), *(("always", one) for one in (*kept, *ended))]:
            connection.execute(
                "INSERT INTO approvals (person_id, decided_by, scope, subject, created_at,"
                " expires_at) VALUES (1, 1, :scope, :subject, 0, :expires)",
                {"scope": scope, "subject": subject, "expires": 9 if scope == "once" else None},
            )
    await (await Database.open(path)).close()
    rows = _look(path, "SELECT subject FROM approvals ORDER BY id")
    assert [row[0] for row in rows] == ["0f", *kept]


async def test_the_kind_and_the_agent_of_a_conversation_come_from_its_key(path: Path) -> None:
    expected = {
        "direct:7": ("direct", ""),
        "agent:coder:direct:7": ("direct", "coder"),
        "room:telegram:-100:5:7": ("room", ""),
        "room:discord:agent:x:7": ("room", ""),
        "agent:code-2:room:slack:direct:1::all": ("room", "code-2"),
        "program:7/@console/x:7": ("program", ""),
        "program:7/bot/fork-1:7": ("program", ""),
        "program:7/@console/fork-12-k:8": ("fork", ""),
        "client:7:laptop": ("client", ""),
        "job:3:7:2": ("job", ""),
        "aside:12:direct:7": ("aside", ""),
        "aside:12:agent:coder:direct:7": ("aside", "coder"),
        "helper:4:2:c": ("helper", ""),
        "helper:4:2/coder:c": ("helper", "coder"),
        "helper:4:2:x/coder:y": ("helper", ""),
        "helper:4:2:/y": ("helper", ""),
        "task:4:2:c": ("task", ""),
        "erased:9": ("erased", ""),
        "fake:ann": ("", ""),
    }
    with _open_old(path, 53) as connection:
        connection.executescript(_PEOPLE)
        connection.executemany(
            "INSERT INTO conversations (key, person_id, scope, created_at) VALUES (?, 1, '', 0)",
            [(key,) for key in expected],
        )
    await (await Database.open(path)).close()
    found = _look(path, "SELECT key, kind, agent FROM conversations")
    assert {key: (kind, agent) for key, kind, agent in found} == expected
