-- The index of what was said, anew: every word with its person in front, so that a search reads
-- and counts nothing of anybody else. `index_text` is given by the program; see `state/search.py`.

DROP TABLE message_search;
CREATE VIRTUAL TABLE message_search USING fts5 (
    words, content = '', columnsize = 0, detail = none, tokenize = "ascii tokenchars '_'"
);
-- Each piece of the index repeats the words of the others: few pieces make it a tenth smaller.
INSERT INTO message_search (message_search, rank) VALUES ('automerge', 2);
INSERT INTO message_search (rowid, words)
    SELECT id, told FROM (
        SELECT id, index_text(scope, role, platform, created_at, text) AS told FROM messages
    ) WHERE told IS NOT NULL;
