-- A skill that the agent wrote is a draft until its cases pass, then on trial until its use proves it.
-- `good_row` is the ledger row of the last text that was proved, or that a person wrote.
CREATE TABLE new_skills (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    seen_at      INTEGER NOT NULL,
    uses         INTEGER NOT NULL DEFAULT 0,
    last_used_at INTEGER,
    state        TEXT NOT NULL DEFAULT 'active'
        CHECK (state IN ('draft', 'trial', 'active', 'stale', 'archived', 'gone')),
    is_pinned    INTEGER NOT NULL DEFAULT 0,
    told_fault   TEXT NOT NULL DEFAULT '',
    good_row     INTEGER REFERENCES ledger (id)
);
INSERT INTO new_skills (id, name, seen_at, uses, last_used_at, state, is_pinned, told_fault)
    SELECT id, name, seen_at, uses, last_used_at, state, is_pinned, told_fault FROM skills;
DROP TABLE skills;
ALTER TABLE new_skills RENAME TO skills;

-- One skill in one turn, and what became of it.
CREATE TABLE skill_uses (
    id         INTEGER PRIMARY KEY,
    skill_id   INTEGER NOT NULL REFERENCES skills (id),
    turn_id    INTEGER NOT NULL REFERENCES turns (id),
    text_row   INTEGER REFERENCES ledger (id),
    outcome    TEXT CHECK (outcome IN ('done', 'corrected', 'retried', 'stopped', 'failed', 'liked',
        'disliked', 'void')),
    created_at INTEGER NOT NULL,
    decided_at INTEGER,
    UNIQUE (turn_id, skill_id)
);
CREATE INDEX skill_uses_by_skill ON skill_uses (skill_id, id);
CREATE INDEX skill_uses_by_outcome ON skill_uses (skill_id, outcome);
