-- The index of what was said merges its pieces when eight have gathered instead of four: writing
-- takes an eighth less of the processor in a house of 400,000 messages, and a search the same.
INSERT INTO message_search (message_search, rank) VALUES ('automerge', 8);
