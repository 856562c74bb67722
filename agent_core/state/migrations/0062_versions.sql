-- The ids of a message's edits, each after a space, on platforms where an edit has an id. Look-ups are on record no more.
ALTER TABLE outbox ADD COLUMN versions TEXT NOT NULL DEFAULT '';
ALTER TABLE outbox DROP COLUMN look;
