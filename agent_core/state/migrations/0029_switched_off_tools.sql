-- `tools_off` names the tools that a person has switched off, or that are off in a group or channel,
-- with spaces between them.

ALTER TABLE people ADD COLUMN tools_off TEXT NOT NULL DEFAULT '';
