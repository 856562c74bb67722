-- When owners were told that this account waits to be let in; NULL if they were not.
ALTER TABLE strangers ADD COLUMN told_at INTEGER;
