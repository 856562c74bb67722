-- Earlier approvals of commands, files and addresses covered more than their words said. People are
-- asked once more. Those of servers' tools and of messages mean what they meant.
DELETE FROM approvals
WHERE scope <> 'once'
    AND subject NOT LIKE '%, "mcp:%'
    AND subject NOT LIKE '["send\_message", %' ESCAPE '\';
