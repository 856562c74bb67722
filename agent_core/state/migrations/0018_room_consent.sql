-- Who was noticed in a group or channel. The first account stays in `user_id`; `others_at` is set for
-- good once a second account is noticed.
CREATE TABLE room_presence (
    platform  TEXT NOT NULL,
    chat_id   TEXT NOT NULL,
    user_id   TEXT NOT NULL,
    others_at INTEGER,
    PRIMARY KEY (platform, chat_id)
);
INSERT INTO room_presence (platform, chat_id, user_id, others_at)
    SELECT platform, chat_id, '', created_at FROM rooms WHERE id IN (
        SELECT room_id FROM conversations WHERE room_id IS NOT NULL
        GROUP BY room_id HAVING COUNT(DISTINCT person_id) > 1
    );

-- A person's direct conversation continues in a room (`full`) only after they agreed there.
-- `full_from` and `full_until` enclose the time in which that was ever so.
ALTER TABLE rooms ADD COLUMN full_asked_at INTEGER;
ALTER TABLE rooms ADD COLUMN full_from INTEGER;
ALTER TABLE rooms ADD COLUMN full_until INTEGER;
UPDATE rooms SET full_from = seen.first_at, full_until = seen.last_at FROM (
    SELECT turns.platform AS platform, json_extract(turns.chat, '$[0]') AS chat_id,
        MIN(turns.started_at) AS first_at, MAX(COALESCE(turns.ended_at, turns.started_at)) AS last_at
    FROM turns JOIN conversations ON conversations.id = turns.conversation_id
    WHERE conversations.room_id IS NULL AND turns.run_id IS NULL
        AND CASE WHEN json_valid(turns.chat) THEN json_extract(turns.chat, '$[2]') = 0 ELSE 0 END
    GROUP BY 1, 2
) AS seen WHERE seen.platform = rooms.platform AND seen.chat_id = rooms.chat_id;
UPDATE rooms SET mode = 'person', set_by = NULL WHERE mode = 'full';

-- Messages of accounts that may not talk to the assistant: counted, and not kept.
CREATE TABLE strangers (
    platform TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    messages INTEGER NOT NULL,
    last_at  INTEGER NOT NULL,
    PRIMARY KEY (platform, user_id)
);
UPDATE inbox SET payload = '' WHERE state = 'done' AND reason IN ('stranger', 'not for us');
