-- `learning` says how the assistant learns from a person's finished turns: never, only after a yes,
-- with a silent notice, or with a sound.

ALTER TABLE people ADD COLUMN learning TEXT NOT NULL DEFAULT 'quiet'
    CHECK (learning IN ('off', 'ask', 'quiet', 'tell'));
