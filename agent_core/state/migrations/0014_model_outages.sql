-- `waiting_since` is the moment from which a turn waits for a model that does not answer. `model` is
-- the model that a person chose; empty for the deployment's.

ALTER TABLE turns ADD COLUMN waiting_since INTEGER;
ALTER TABLE people ADD COLUMN model TEXT NOT NULL DEFAULT '';
