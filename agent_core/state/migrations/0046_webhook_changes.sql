-- A removed webhook can come back, and a replaced secret signs for a while beside the new one.
ALTER TABLE webhooks ADD COLUMN removed_at INTEGER;
ALTER TABLE webhooks ADD COLUMN old_secret TEXT NOT NULL DEFAULT '';
ALTER TABLE webhooks ADD COLUMN old_until INTEGER NOT NULL DEFAULT 0;
