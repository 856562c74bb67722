-- The language and time zone of the account that asks with a code, for the greeting that it gets.

ALTER TABLE link_codes ADD COLUMN language TEXT;
ALTER TABLE link_codes ADD COLUMN time_zone TEXT;
