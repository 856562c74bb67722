-- `agent` is the named agent that answers a person in private, or everybody in a group or channel.

ALTER TABLE people ADD COLUMN agent TEXT NOT NULL DEFAULT '';
