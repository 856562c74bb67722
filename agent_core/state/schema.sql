-- The whole schema as it stands after every migration, for reading. The program never runs
-- it: databases are made by the migrations, and a test holds the two equal.
-- Times are integer milliseconds since the epoch, UTC. JSON is text.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE people (
    id         INTEGER PRIMARY KEY,
    slug       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    role       TEXT NOT NULL CHECK (role IN ('owner', 'member')),
    time_zone  TEXT,
    created_at INTEGER NOT NULL
);

CREATE TABLE accounts (
    id           INTEGER PRIMARY KEY,
    person_id    INTEGER NOT NULL REFERENCES people (id),
    platform     TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    display_name TEXT NOT NULL,
    admitted_by  TEXT NOT NULL CHECK (admitted_by IN ('list', 'code', 'local')),
    created_at   INTEGER NOT NULL,
    UNIQUE (platform, user_id)
);
CREATE INDEX accounts_by_person ON accounts (person_id);

-- A one-time code: `claim` makes an account the owner's, `pairing` asks the owner to let it in.
CREATE TABLE link_codes (
    id           INTEGER PRIMARY KEY,
    purpose      TEXT NOT NULL CHECK (purpose IN ('claim', 'pairing')),
    code_hash    TEXT NOT NULL UNIQUE,
    platform     TEXT,
    user_id      TEXT,
    display_name TEXT,
    chat         TEXT,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    used_at      INTEGER
);
CREATE INDEX link_codes_by_account ON link_codes (platform, user_id);

CREATE TABLE conversations (
    id         INTEGER PRIMARY KEY,
    key        TEXT NOT NULL UNIQUE,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    scope      TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX conversations_by_person ON conversations (person_id);

-- A frozen prompt: the system text and the tools exactly as they are sent.
CREATE TABLE prompts (
    hash       TEXT PRIMARY KEY,
    system     TEXT NOT NULL,
    tools      TEXT NOT NULL,
    created_at INTEGER NOT NULL
);

-- An epoch of a conversation with one frozen prompt.
CREATE TABLE sessions (
    id              INTEGER PRIMARY KEY,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id),
    prompt_hash     TEXT REFERENCES prompts (hash),
    title           TEXT NOT NULL DEFAULT '',
    started_at      INTEGER NOT NULL,
    last_at         INTEGER NOT NULL,
    ended_at        INTEGER
);
CREATE INDEX sessions_by_conversation ON sessions (conversation_id, id);

CREATE TABLE turns (
    id              INTEGER PRIMARY KEY,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id),
    session_id      INTEGER NOT NULL REFERENCES sessions (id),
    person_id       INTEGER NOT NULL REFERENCES people (id),
    prompt_hash     TEXT REFERENCES prompts (hash),
    model           TEXT NOT NULL DEFAULT '',
    platform        TEXT NOT NULL,
    chat            TEXT NOT NULL,
    answers         TEXT,
    state           TEXT NOT NULL
        CHECK (state IN ('running', 'answered', 'stopped', 'refused', 'exhausted', 'failed')),
    reason          TEXT NOT NULL DEFAULT '',
    attempts        INTEGER NOT NULL DEFAULT 1,
    started_at      INTEGER NOT NULL,
    ended_at        INTEGER
);
CREATE INDEX turns_by_conversation ON turns (conversation_id, id);
CREATE INDEX turns_running ON turns (id) WHERE state = 'running';

-- The transcript: append-only. `parts` is what the model reads, `text` what people wrote or read.
CREATE TABLE messages (
    id              INTEGER PRIMARY KEY,
    session_id      INTEGER NOT NULL REFERENCES sessions (id),
    turn_id         INTEGER NOT NULL REFERENCES turns (id),
    person_id       INTEGER NOT NULL REFERENCES people (id),
    scope           TEXT NOT NULL,
    role            TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool')),
    parts           TEXT NOT NULL,
    text            TEXT NOT NULL,
    platform        TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    checksum        INTEGER NOT NULL
);
CREATE INDEX messages_by_session ON messages (session_id, id);
CREATE INDEX messages_by_turn ON messages (turn_id, id);

CREATE VIRTUAL TABLE message_search USING fts5 (
    scope, text, content = 'messages', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
);

-- One platform event, kept as it came until it is done.
CREATE TABLE inbox (
    id          INTEGER PRIMARY KEY,
    platform    TEXT NOT NULL,
    event_id    TEXT NOT NULL,
    payload     TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('received', 'claimed', 'done', 'dead')),
    chat        TEXT,
    message_id  TEXT,
    turn_id     INTEGER REFERENCES turns (id),
    reason      TEXT NOT NULL DEFAULT '',
    received_at INTEGER NOT NULL,
    UNIQUE (platform, event_id)
);
CREATE INDEX inbox_open ON inbox (id) WHERE state IN ('received', 'claimed');
CREATE INDEX inbox_dead ON inbox (id) WHERE state = 'dead';
CREATE INDEX inbox_by_turn ON inbox (turn_id);

-- One tool call of a turn: its row stands before it runs, its outcome after.
CREATE TABLE steps (
    id         INTEGER PRIMARY KEY,
    turn_id    INTEGER NOT NULL REFERENCES turns (id),
    call_id    TEXT NOT NULL,
    name       TEXT NOT NULL,
    effect     TEXT NOT NULL CHECK (effect IN ('read', 'idempotent', 'unsafe')),
    outcome    TEXT,
    is_error   INTEGER NOT NULL DEFAULT 0,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    UNIQUE (turn_id, call_id)
);

-- One platform message owed. `shown` is what an unconfirmed attempt carried, `anchor` the newest
-- message id of the platform that was known before it.
CREATE TABLE outbox (
    id           INTEGER PRIMARY KEY,
    platform     TEXT NOT NULL,
    chat         TEXT NOT NULL,
    turn_id      INTEGER REFERENCES turns (id),
    person_id    INTEGER REFERENCES people (id),
    part         INTEGER NOT NULL DEFAULT 0,
    body         TEXT NOT NULL,
    answers      TEXT,
    is_silent    INTEGER NOT NULL DEFAULT 0,
    is_live      INTEGER NOT NULL DEFAULT 0,
    state        TEXT NOT NULL CHECK (state IN ('owed', 'sending', 'sent', 'unsure', 'dead')),
    message_id   TEXT,
    shown        TEXT,
    anchor       TEXT,
    attempts     INTEGER NOT NULL DEFAULT 0,
    reason       TEXT NOT NULL DEFAULT '',
    created_at   INTEGER NOT NULL,
    sent_at      INTEGER,
    checksum     INTEGER NOT NULL
);
CREATE INDEX outbox_open ON outbox (id) WHERE state IN ('owed', 'sending', 'unsure');
CREATE INDEX outbox_live ON outbox (id) WHERE is_live = 1;
CREATE INDEX outbox_by_turn ON outbox (turn_id, part);
CREATE INDEX outbox_dead ON outbox (id) WHERE state = 'dead';
CREATE INDEX outbox_told ON outbox (platform, chat, id) WHERE message_id IS NOT NULL;

CREATE TABLE usage (
    id                 INTEGER PRIMARY KEY,
    person_id          INTEGER NOT NULL REFERENCES people (id),
    turn_id            INTEGER REFERENCES turns (id),
    purpose            TEXT NOT NULL,
    model              TEXT NOT NULL,
    input_tokens       INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    micro_dollars      INTEGER,
    created_at         INTEGER NOT NULL
);
CREATE INDEX usage_by_person ON usage (person_id, created_at);
CREATE INDEX usage_by_turn ON usage (turn_id);

-- What was learned: append-only. `actor` is `turn:N`, `hand` or `person`. `position` is the
-- entry's place in its list at that moment, from 0, so that replaying the rows gives the list.
CREATE TABLE ledger (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    target     TEXT NOT NULL CHECK (target IN ('memory', 'user')),
    operation  TEXT NOT NULL CHECK (operation IN ('add', 'replace', 'remove')),
    position   INTEGER NOT NULL,
    before     TEXT,
    after      TEXT,
    actor      TEXT NOT NULL,
    evidence   TEXT NOT NULL DEFAULT '',
    call_key   TEXT UNIQUE,
    created_at INTEGER NOT NULL,
    checksum   INTEGER NOT NULL
);
CREATE INDEX ledger_by_person ON ledger (person_id, target, id);

-- Background work owed.
CREATE TABLE tasks (
    id         INTEGER PRIMARY KEY,
    kind       TEXT NOT NULL,
    key        TEXT NOT NULL,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    payload    TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('owed', 'running', 'done', 'dead')),
    attempts   INTEGER NOT NULL DEFAULT 0,
    reason     TEXT NOT NULL DEFAULT '',
    due_at     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (kind, key)
);
CREATE INDEX tasks_open ON tasks (due_at) WHERE state IN ('owed', 'running');
