-- Memory in full: who else remembers, an archive, talks made shorter, what outside providers
-- are told, and rows that say more of where they come from.
-- Times are integer milliseconds since the epoch, UTC. JSON is text.

-- The team and a named block are somebody who remembers, too, as a room is: `kind` tells them
-- apart. `context_cap` is the most tokens that a call for this person may read, as they wish it.
CREATE TABLE new_people (
    id         INTEGER PRIMARY KEY,
    slug       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    role       TEXT NOT NULL CHECK (role IN ('owner', 'member')),
    time_zone  TEXT,
    created_at INTEGER NOT NULL,
    kind TEXT NOT NULL DEFAULT 'human' CHECK (kind IN ('human', 'room', 'team', 'block')),
    language TEXT,
    quiet_from INTEGER,
    quiet_until INTEGER,
    verbosity TEXT NOT NULL DEFAULT 'normal' CHECK (verbosity IN ('quiet', 'normal', 'verbose')),
    asked_at INTEGER,
    joined_to INTEGER REFERENCES people (id),
    context_cap INTEGER
);
INSERT INTO new_people (id, slug, name, role, time_zone, created_at, kind, language, quiet_from,
    quiet_until, verbosity, asked_at, joined_to)
    SELECT id, slug, name, role, time_zone, created_at, kind, language, quiet_from,
        quiet_until, verbosity, asked_at, joined_to FROM people;
DROP TABLE people;
ALTER TABLE new_people RENAME TO people;

-- What was learned, now of every kind: `target` is `memory`, `user`, `archive` (`position` is
-- then the row's id there) or `soul` (one entry, the whole text). `undoes` is the row that this
-- one takes back. `message_ids` (JSON) are the messages that it rests on.
CREATE TABLE new_ledger (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    target     TEXT NOT NULL CHECK (target IN ('memory', 'user', 'archive', 'soul')),
    operation  TEXT NOT NULL CHECK (operation IN ('add', 'replace', 'remove')),
    position   INTEGER NOT NULL,
    before     TEXT,
    after      TEXT,
    actor      TEXT NOT NULL,
    evidence   TEXT NOT NULL DEFAULT '',
    call_key   TEXT UNIQUE,
    created_at INTEGER NOT NULL,
    checksum   INTEGER NOT NULL,
    source_id INTEGER REFERENCES ledger (id),
    undoes INTEGER REFERENCES ledger (id),
    message_ids TEXT NOT NULL DEFAULT '[]'
);
INSERT INTO new_ledger (id, person_id, target, operation, position, before, after, actor,
    evidence, call_key, created_at, checksum, source_id)
    SELECT id, person_id, target, operation, position, before, after, actor,
        evidence, call_key, created_at, checksum, source_id FROM ledger;
DROP TABLE ledger;
ALTER TABLE new_ledger RENAME TO ledger;
CREATE INDEX ledger_by_person ON ledger (person_id, target, id);
CREATE INDEX ledger_by_undone ON ledger (undoes) WHERE undoes IS NOT NULL;

-- A named block of memory, which several people and rooms may share. `person_id` is the block
-- as somebody who remembers; `made_by` is who made it, and may change and share it.
CREATE TABLE blocks (
    id           INTEGER PRIMARY KEY,
    person_id    INTEGER NOT NULL UNIQUE REFERENCES people (id),
    label        TEXT NOT NULL,
    description  TEXT NOT NULL,
    char_limit   INTEGER NOT NULL,
    is_read_only INTEGER NOT NULL DEFAULT 0,
    made_by      INTEGER NOT NULL REFERENCES people (id),
    created_at   INTEGER NOT NULL
);
CREATE INDEX blocks_by_maker ON blocks (made_by);

-- Who sees a block: a person, a room, or everybody (the team's row in `people`).
CREATE TABLE block_readers (
    block_id  INTEGER NOT NULL REFERENCES blocks (id),
    person_id INTEGER NOT NULL REFERENCES people (id),
    PRIMARY KEY (block_id, person_id)
);
CREATE INDEX block_readers_by_person ON block_readers (person_id);

-- The archive: what is remembered outside of the prompt. `tags` is JSON, a sorted list.
CREATE TABLE archive (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    text       TEXT NOT NULL,
    tags       TEXT NOT NULL DEFAULT '[]',
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    checksum   INTEGER NOT NULL
);
CREATE INDEX archive_by_person ON archive (person_id, id);

CREATE VIRTUAL TABLE archive_search USING fts5 (
    words, content = '', columnsize = 0, detail = none, tokenize = "ascii tokenchars '_'"
);

-- A talk made shorter for its next calls; the transcript stays whole. The newest row of a session
-- counts, for calls made when `made_after` was its newest message or later: messages up to
-- `folded_to` are told by `summary`, but for those in `kept` (JSON: message ids); of the others
-- up to `shortened_to` long outputs of tools are shown by their ends.
CREATE TABLE folds (
    id            INTEGER PRIMARY KEY,
    session_id    INTEGER NOT NULL REFERENCES sessions (id),
    person_id     INTEGER NOT NULL REFERENCES people (id),
    turn_id       INTEGER REFERENCES turns (id),
    made_after    INTEGER NOT NULL,
    shortened_to  INTEGER NOT NULL,
    folded_to     INTEGER NOT NULL,
    kept          TEXT NOT NULL DEFAULT '[]',
    summary       TEXT NOT NULL DEFAULT '',
    reason        TEXT NOT NULL CHECK (reason IN ('near', 'overflow', 'asked')),
    tokens_before INTEGER NOT NULL,
    tokens_after  INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    checksum      INTEGER NOT NULL
);
CREATE INDEX folds_by_session ON folds (session_id, id);

-- What a call was made of, to hold a rebuilt request against: SHA-256, in hex.
ALTER TABLE usage ADD COLUMN request_hash TEXT;

-- When the words of a message were taken out because its person wished so; its row stays.
ALTER TABLE messages ADD COLUMN forgotten_at INTEGER;

-- What an outside provider of memory is to be told, in this order.
CREATE TABLE mirror (
    id         INTEGER PRIMARY KEY,
    provider   TEXT NOT NULL,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    kind       TEXT NOT NULL CHECK (kind IN ('turn', 'memory', 'erase')),
    key        TEXT NOT NULL,
    payload    TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('owed', 'done', 'dead')),
    attempts   INTEGER NOT NULL DEFAULT 0,
    reason     TEXT NOT NULL DEFAULT '',
    due_at     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (provider, kind, key)
);
CREATE INDEX mirror_owed ON mirror (provider, id) WHERE state = 'owed';
CREATE INDEX mirror_by_person ON mirror (person_id);
