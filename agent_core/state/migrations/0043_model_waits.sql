-- What a turn waited for a model that did not answer: `began-ended` for each wait, with a space behind.
ALTER TABLE turns ADD COLUMN model_waits TEXT NOT NULL DEFAULT '';
