-- The name that one of our own people gave to a room. The title is the platform's, so a stranger's.
ALTER TABLE rooms ADD COLUMN name TEXT NOT NULL DEFAULT '';
