-- The tools that a search found in messages that a compaction hides: a line each with the name and
-- the arguments, "" for none.
ALTER TABLE compactions ADD COLUMN found_tools TEXT NOT NULL DEFAULT '';
