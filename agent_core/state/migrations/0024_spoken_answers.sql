-- `spoken_answers` says which answers a person gets as a voice message, too: none, those to their
-- own voice messages, or all.

ALTER TABLE people ADD COLUMN spoken_answers TEXT NOT NULL DEFAULT 'off'
    CHECK (spoken_answers IN ('off', 'voice', 'always'));
