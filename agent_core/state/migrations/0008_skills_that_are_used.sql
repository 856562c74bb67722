-- What is known of each skill besides its files: how often jobs used it, and how it stands. Disuse
-- is counted from its last use or from `seen_at`: when it was first seen, or taken back.
-- `told_fault` is the hash of the fault that the owners were told of last, '' for none.
CREATE TABLE skills (
    name         TEXT PRIMARY KEY,
    seen_at      INTEGER NOT NULL,
    uses         INTEGER NOT NULL DEFAULT 0,
    last_used_at INTEGER,
    state        TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'stale', 'archived')),
    is_pinned    INTEGER NOT NULL DEFAULT 0,
    told_fault   TEXT NOT NULL DEFAULT ''
);
