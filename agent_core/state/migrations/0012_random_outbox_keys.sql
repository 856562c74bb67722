-- Each outbox message gets a random key. Row numbers repeat in a restored or new database, and a
-- platform that remembers the key takes the later message for a repeat. Messages from before keep
-- their number as the key: it was sent along with them.

ALTER TABLE outbox ADD COLUMN key TEXT NOT NULL DEFAULT '';
UPDATE outbox SET key = CAST(id AS TEXT);
