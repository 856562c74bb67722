-- One person behind many accounts; rooms and who may see what there; questions; files.
-- Times are integer milliseconds since the epoch, UTC. JSON is text.

-- A room that remembers is somebody, too: `kind` tells it from people. `quiet_from` and
-- `quiet_until` are minutes after midnight where the person lives. `asked_at` is when the
-- model was told to ask for time zone and language. `joined_to` is who this one has become;
ALTER TABLE people ADD COLUMN kind TEXT NOT NULL DEFAULT 'human' CHECK (kind IN ('human', 'room'));
ALTER TABLE people ADD COLUMN language TEXT;
ALTER TABLE people ADD COLUMN quiet_from INTEGER;
ALTER TABLE people ADD COLUMN quiet_until INTEGER;
ALTER TABLE people ADD COLUMN verbosity TEXT NOT NULL DEFAULT 'normal'
    CHECK (verbosity IN ('quiet', 'normal', 'verbose'));
ALTER TABLE people ADD COLUMN asked_at INTEGER;
ALTER TABLE people ADD COLUMN joined_to INTEGER REFERENCES people (id);

-- Who an account was before it was joined to its person; empty if it was nobody else.
ALTER TABLE accounts ADD COLUMN came_from INTEGER REFERENCES people (id);

-- By which account a session was begun and a turn was asked for: what an account takes
-- along when it is split off again.
ALTER TABLE sessions ADD COLUMN account_id INTEGER REFERENCES accounts (id);
ALTER TABLE turns ADD COLUMN account_id INTEGER REFERENCES accounts (id);
CREATE INDEX turns_by_person ON turns (person_id, id);

-- Who may see a message: `private`, or `room:<id of the room's row in people>`.
ALTER TABLE messages ADD COLUMN audience TEXT NOT NULL DEFAULT 'private';

-- The row of another ledger that this one repeats, when two people turned out to be one.
ALTER TABLE ledger ADD COLUMN source_id INTEGER REFERENCES ledger (id);

-- A group, channel or server room. `mode` says how mentions are answered there; `person_id`
-- is the room as somebody who remembers.
CREATE TABLE rooms (
    id         INTEGER PRIMARY KEY,
    platform   TEXT NOT NULL,
    chat_id    TEXT NOT NULL,
    person_id  INTEGER NOT NULL UNIQUE REFERENCES people (id),
    title      TEXT NOT NULL DEFAULT '',
    mode       TEXT NOT NULL DEFAULT 'person' CHECK (mode IN ('person', 'full', 'room', 'off')),
    set_by     INTEGER REFERENCES people (id),
    created_at INTEGER NOT NULL,
    UNIQUE (platform, chat_id)
);

-- In which room a conversation is held; none for direct talks.
ALTER TABLE conversations ADD COLUMN room_id INTEGER REFERENCES rooms (id);

-- What of memories a prompt shows, for rooms: it must not outlive the leave to see it. JSON:
-- [[list, hash of the entry], …].
ALTER TABLE prompts ADD COLUMN shown TEXT NOT NULL DEFAULT '[]';

-- An entry of memory that others than its person may see: `everyone`, or `room:<person id>`.
-- What is not in here is private; an entry whose words change is private again.
CREATE TABLE shares (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    target     TEXT NOT NULL CHECK (target IN ('memory', 'user')),
    entry      TEXT NOT NULL,
    audience   TEXT NOT NULL,
    actor      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (person_id, target, entry, audience)
);

-- What somebody was asked, and the answer. `choices` is JSON: [[key, label, style], …].
-- `payload` is for whoever asked. `call_id` binds it to one tool call of one turn.
CREATE TABLE questions (
    id          INTEGER PRIMARY KEY,
    person_id   INTEGER NOT NULL REFERENCES people (id),
    turn_id     INTEGER REFERENCES turns (id),
    call_id     TEXT,
    kind        TEXT NOT NULL,
    text        TEXT NOT NULL,
    choices     TEXT NOT NULL,
    payload     TEXT NOT NULL DEFAULT '',
    secret      TEXT NOT NULL,
    platform    TEXT NOT NULL,
    chat        TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('open', 'answered', 'over')),
    answer      TEXT,
    answered_by INTEGER REFERENCES people (id),
    asked_at    INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    answered_at INTEGER,
    UNIQUE (turn_id, call_id)
);
CREATE INDEX questions_open ON questions (person_id, id) WHERE state = 'open';
CREATE INDEX questions_of_turn_open ON questions (turn_id) WHERE state = 'open';

-- `kind` tells what is owed from the status line of a running turn. `buttons` is JSON like
-- `choices`; `file_key` and `file_name` are of a file that the message carries.
ALTER TABLE outbox ADD COLUMN kind TEXT NOT NULL DEFAULT 'message'
    CHECK (kind IN ('message', 'status'));
ALTER TABLE outbox ADD COLUMN buttons TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox ADD COLUMN question_id INTEGER REFERENCES questions (id);
ALTER TABLE outbox ADD COLUMN file_key TEXT REFERENCES files (key);
ALTER TABLE outbox ADD COLUMN file_name TEXT;
CREATE INDEX outbox_by_message ON outbox (platform, chat, message_id)
    WHERE message_id IS NOT NULL;
CREATE INDEX outbox_by_question ON outbox (question_id) WHERE question_id IS NOT NULL;

-- Bytes that came in or go out, by the SHA-256 of them.
CREATE TABLE files (
    key        TEXT PRIMARY KEY,
    media_type TEXT NOT NULL,
    data       BLOB NOT NULL,
    created_at INTEGER NOT NULL
);

-- Files that a turn made, to be sent with its answer.
CREATE TABLE turn_files (
    id         INTEGER PRIMARY KEY,
    turn_id    INTEGER NOT NULL REFERENCES turns (id),
    call_id    TEXT NOT NULL,
    file_key   TEXT NOT NULL REFERENCES files (key),
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (turn_id, call_id)
);

-- How far each channel of a platform was read; see the `Inlet` of adapters.
CREATE TABLE marks (
    platform TEXT NOT NULL,
    channel  TEXT NOT NULL,
    position TEXT NOT NULL,
    PRIMARY KEY (platform, channel)
);

-- Places where nobody can be reached any more, until somebody writes from there again.
CREATE TABLE retired_chats (
    platform   TEXT NOT NULL,
    chat       TEXT NOT NULL,
    reason     TEXT NOT NULL,
    retired_at INTEGER NOT NULL,
    PRIMARY KEY (platform, chat)
);

-- A wish to join two accounts: asked for by `person_id` in a direct talk, `platform`/`chat`;
-- taken up with the code by the other account, and confirmed on the first side.
-- `other_person` is who that account was then, empty for a stranger.
CREATE TABLE link_requests (
    id             INTEGER PRIMARY KEY,
    person_id      INTEGER NOT NULL REFERENCES people (id),
    code_hash      TEXT NOT NULL UNIQUE,
    platform       TEXT NOT NULL,
    chat           TEXT NOT NULL,
    state          TEXT NOT NULL
        CHECK (state IN ('open', 'asked', 'joined', 'refused', 'over')),
    other_platform TEXT,
    other_user_id  TEXT,
    other_name     TEXT,
    other_chat     TEXT,
    other_person   INTEGER REFERENCES people (id),
    created_at     INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL,
    closed_at      INTEGER
);
CREATE INDEX link_requests_by_person ON link_requests (person_id, id);
CREATE INDEX link_requests_asked ON link_requests (other_platform, other_user_id)
    WHERE state = 'asked';

-- Wrong codes that an account has sent; `since` is when the first of them came, or, once they
-- are too many, the last.
CREATE TABLE guesses (
    platform TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    wrong    INTEGER NOT NULL,
    since    INTEGER NOT NULL,
    PRIMARY KEY (platform, user_id)
);

-- What was done about people, rooms and rights; append-only.
CREATE TABLE audit (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER REFERENCES people (id),
    actor      TEXT NOT NULL,
    action     TEXT NOT NULL,
    detail     TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX audit_by_person ON audit (person_id, id);
