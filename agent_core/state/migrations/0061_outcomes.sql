-- Where the outcome of a question begins in the body, in characters, if its person has to learn of it.
ALTER TABLE outbox ADD COLUMN outcome_at INTEGER;
