-- `detail` is the error behind the ending of a turn, in the words of the provider or of Python.

ALTER TABLE turns ADD COLUMN detail TEXT NOT NULL DEFAULT '';
