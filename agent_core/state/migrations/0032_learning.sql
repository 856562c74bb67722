-- `learning` says how the assistant learns from a person's finished turns: never, only after a yes,
-- with a silent notice, or with a sound.

ALTER TABLE people ADD COLUMN learning TEXT NOT NULL DEFAULT 'quiet'
    CHECK (learning IN ('off', 'ask', 'quiet', 'tell'));

-- What was said before counts as reviewed: people did not know of it.
INSERT INTO tasks (kind, key, person_id, payload, state, due_at, created_at)
SELECT 'review', person_id || ':' || printf('%019d', MAX(id)), person_id,
    '{"after":0,"until":0,"calls":null,"kept":[],"held":[],"refused":{},"is_over":true}', 'done', 0, 0
FROM turns GROUP BY person_id;
