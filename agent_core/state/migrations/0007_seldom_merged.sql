-- The index of what was said merges its pieces when eight have gathered instead of four, which makes
-- writing cheaper by an eighth; what that costs a search is made good every night, when the house
-- merges all of it (`Sweeper.work`).
INSERT INTO message_search (message_search, rank) VALUES ('automerge', 8);
