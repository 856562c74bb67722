-- The pictures in the result of a tool call, as the transcript names them.

ALTER TABLE steps ADD COLUMN images TEXT NOT NULL DEFAULT '[]';
CREATE INDEX steps_images ON steps (turn_id) WHERE images <> '[]';
