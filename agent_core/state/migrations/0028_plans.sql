-- The plan that the model keeps for a session: its steps as JSON, "" for none. A compaction shows it
-- again, as it stood then, because the calls that made it may be replaced.
ALTER TABLE sessions ADD COLUMN plan TEXT NOT NULL DEFAULT '';
ALTER TABLE compactions ADD COLUMN plan TEXT NOT NULL DEFAULT '';
