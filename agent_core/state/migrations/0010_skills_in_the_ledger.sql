-- Each skill has a number that stays, also while its folder is gone: rows of the ledger name it.
CREATE TABLE new_skills (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    seen_at      INTEGER NOT NULL,
    uses         INTEGER NOT NULL DEFAULT 0,
    last_used_at INTEGER,
    state        TEXT NOT NULL DEFAULT 'active'
        CHECK (state IN ('active', 'stale', 'archived', 'gone')),
    is_pinned    INTEGER NOT NULL DEFAULT 0,
    told_fault   TEXT NOT NULL DEFAULT ''
);
INSERT INTO new_skills (name, seen_at, uses, last_used_at, state, is_pinned, told_fault)
    SELECT name, seen_at, uses, last_used_at, state, is_pinned, told_fault FROM skills;
DROP TABLE skills;
ALTER TABLE new_skills RENAME TO skills;

-- `target` may be `skill`: `position` is then the skill's number, and an entry its whole SKILL.md.
CREATE TABLE new_ledger (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    target     TEXT NOT NULL CHECK (target IN ('memory', 'user', 'archive', 'soul', 'skill')),
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
    evidence, call_key, created_at, checksum, source_id, undoes, message_ids)
    SELECT id, person_id, target, operation, position, before, after, actor,
        evidence, call_key, created_at, checksum, source_id, undoes, message_ids FROM ledger;
DROP TABLE ledger;
ALTER TABLE new_ledger RENAME TO ledger;
CREATE INDEX ledger_by_person ON ledger (person_id, target, id);
CREATE INDEX ledger_by_undone ON ledger (undoes) WHERE undoes IS NOT NULL;
