-- A compaction may leave messages out that no summary covers yet, and may be made while a
-- conversation is idle. `reason` has a CHECK, so the table is made again.

CREATE TABLE compactions_new (
    id            INTEGER PRIMARY KEY,
    session_id    INTEGER NOT NULL REFERENCES sessions (id),
    person_id     INTEGER NOT NULL REFERENCES people (id),
    turn_id       INTEGER REFERENCES turns (id),
    made_after    INTEGER NOT NULL,
    shortened_to  INTEGER NOT NULL,
    summarized_to INTEGER NOT NULL,
    left_out_from INTEGER,
    kept          TEXT NOT NULL DEFAULT '[]',
    summary       TEXT NOT NULL DEFAULT '',
    reason        TEXT NOT NULL CHECK (reason IN ('near', 'overflow', 'asked', 'idle')),
    tokens_before INTEGER NOT NULL,
    tokens_after  INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    checksum      INTEGER NOT NULL
);
INSERT INTO compactions_new (
    id, session_id, person_id, turn_id, made_after, shortened_to, summarized_to, kept, summary,
    reason, tokens_before, tokens_after, created_at, checksum
) SELECT
    id, session_id, person_id, turn_id, made_after, shortened_to, summarized_to, kept, summary,
    reason, tokens_before, tokens_after, created_at, checksum
FROM compactions;
DROP TABLE compactions;
ALTER TABLE compactions_new RENAME TO compactions;
CREATE INDEX compactions_by_session ON compactions (session_id, id);
