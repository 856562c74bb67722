-- A token of the API either asks and reads, or changes data, too.

CREATE TABLE api_tokens_scoped (
    id           INTEGER PRIMARY KEY,
    person_id    INTEGER NOT NULL REFERENCES people (id),
    name         TEXT NOT NULL,
    scope        TEXT NOT NULL CHECK (scope IN ('mcp', 'api', 'manage')),
    secret_hash  TEXT NOT NULL UNIQUE,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER
);
INSERT INTO api_tokens_scoped
SELECT id, person_id, name, scope, secret_hash, created_at, last_used_at FROM api_tokens;
DROP TABLE api_tokens;
ALTER TABLE api_tokens_scoped RENAME TO api_tokens;
CREATE INDEX api_tokens_by_person ON api_tokens (person_id);
