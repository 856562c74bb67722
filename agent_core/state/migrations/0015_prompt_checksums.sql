-- Prompts get a checksum, as messages have: a conversation must not go on under an altered prompt.

ALTER TABLE prompts ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
UPDATE prompts SET checksum = checksum(system, tools, shown);
