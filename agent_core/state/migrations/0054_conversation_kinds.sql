-- The kind of a conversation and its named agent, which were read from its key until now.
ALTER TABLE conversations ADD COLUMN kind TEXT NOT NULL DEFAULT '';
ALTER TABLE conversations ADD COLUMN agent TEXT NOT NULL DEFAULT '';

-- 'agent:NAME:' and 'aside:NUMBER:' stand before the key of another conversation.
-- 'helper:TURN:NUMBER/NAME:CALL' names the agent that works; '/' is left out if none has a name.
UPDATE conversations SET agent = SUBSTR(named.rest, 1, INSTR(named.rest, ':') - 1)
FROM (
    SELECT id, SUBSTR(key, 7) AS rest FROM conversations WHERE key LIKE 'agent:%'
    UNION ALL
    SELECT id, SUBSTR(rest, 8) FROM (
        SELECT id, LTRIM(SUBSTR(key, 7), '0123456789') AS rest FROM conversations
        WHERE key LIKE 'aside:%'
    ) AS asides WHERE rest LIKE ':agent:%'
    UNION ALL
    SELECT id, SUBSTR(rest, 2) FROM (
        SELECT id, LTRIM(SUBSTR(LTRIM(SUBSTR(key, 8), '0123456789'), 2), '0123456789') AS rest
        FROM conversations WHERE key LIKE 'helper:%'
    ) AS helpers WHERE rest LIKE '/%'
) AS named
WHERE named.id = conversations.id;

UPDATE conversations SET kind = CASE
    WHEN key LIKE 'agent:%' AND SUBSTR(key, 8 + LENGTH(agent)) LIKE 'direct:%' THEN 'direct'
    WHEN key LIKE 'agent:%' THEN 'room'
    WHEN key LIKE 'program:%'
        AND LTRIM(SUBSTR(key, 9), '0123456789') LIKE '/@console/fork-%' THEN 'fork'
    ELSE SUBSTR(key, 1, INSTR(key, ':') - 1)
END
WHERE key LIKE 'direct:%' OR key LIKE 'room:%' OR key LIKE 'program:%' OR key LIKE 'client:%'
    OR key LIKE 'job:%' OR key LIKE 'aside:%' OR key LIKE 'helper:%' OR key LIKE 'task:%'
    OR key LIKE 'erased:%' OR key LIKE 'agent:%';
