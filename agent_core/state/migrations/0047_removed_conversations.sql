-- A conversation that its person removed can come back.
ALTER TABLE conversations ADD COLUMN removed_at INTEGER;
