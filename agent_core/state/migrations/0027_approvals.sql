-- What a person has allowed. Of scope `once`, `subject` is the SHA-256 of exactly one call, which is
-- used up before it runs; otherwise it is the shape of calls, as JSON.
CREATE TABLE approvals (
    id            INTEGER PRIMARY KEY,
    person_id     INTEGER NOT NULL REFERENCES people (id),
    decided_by    INTEGER REFERENCES people (id),
    scope         TEXT NOT NULL CHECK (scope IN ('once', 'session', 'always')),
    subject       TEXT NOT NULL,
    session_id    INTEGER REFERENCES sessions (id),
    holds_tainted INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER,
    used_at       INTEGER,
    CHECK (scope <> 'once' OR expires_at IS NOT NULL)
);
CREATE UNIQUE INDEX approvals_once ON approvals (subject) WHERE scope = 'once';
CREATE INDEX approvals_by_person ON approvals (person_id);
CREATE INDEX approvals_expiring ON approvals (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX approvals_of_session ON approvals (session_id) WHERE session_id IS NOT NULL;
CREATE UNIQUE INDEX approvals_of_person
    ON approvals (person_id, scope, subject, COALESCE(session_id, 0), holds_tainted)
    WHERE scope <> 'once';
