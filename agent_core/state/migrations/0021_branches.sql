-- A branch of a session shows the messages of `branched_from` up to the message `branched_at`, and
-- then its own.

ALTER TABLE sessions ADD COLUMN branched_from INTEGER REFERENCES sessions (id);
ALTER TABLE sessions ADD COLUMN branched_at INTEGER;

CREATE INDEX sessions_by_branch ON sessions (branched_from) WHERE branched_from IS NOT NULL;
