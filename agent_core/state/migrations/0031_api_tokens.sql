-- The tokens with which a person's other programs act for them; only a hash of each is kept.

CREATE TABLE api_tokens (
    id           INTEGER PRIMARY KEY,
    person_id    INTEGER NOT NULL REFERENCES people (id),
    name         TEXT NOT NULL,
    scope        TEXT NOT NULL CHECK (scope IN ('mcp')),
    secret_hash  TEXT NOT NULL UNIQUE,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER
);
CREATE INDEX api_tokens_by_person ON api_tokens (person_id);
