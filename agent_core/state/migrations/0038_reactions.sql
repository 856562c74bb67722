-- The standing reactions of the person to a turn's messages: JSON of (message, sign), "" for none.
-- `spoken` is the outcome without them, while they count.
ALTER TABLE skill_uses ADD COLUMN spoken TEXT;
ALTER TABLE skill_uses ADD COLUMN reactions TEXT NOT NULL DEFAULT '';
