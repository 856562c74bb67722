-- The index of messages gets one entry for each passage of a message, so that long ones are found by
-- the place that answers. `index_entries` is a function of the program; see `state/index_entries.py`.
-- 16 is its `PLACES`.

INSERT INTO message_search (message_search) VALUES ('delete-all');
INSERT INTO message_search (rowid, words)
    SELECT messages.id * 16 + entries.key, entries.value
    FROM messages, json_each(
        index_entries(scope, role, platform, messages.created_at, messages.text)
    ) AS entries
    ORDER BY messages.id, entries.key;
