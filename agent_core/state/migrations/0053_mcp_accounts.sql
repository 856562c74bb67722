-- Who signed in at which MCP server, and the file that holds the tokens.
CREATE TABLE mcp_accounts (
    person_id    INTEGER NOT NULL REFERENCES people (id),
    server       TEXT NOT NULL,
    is_shared    INTEGER NOT NULL DEFAULT 0,
    key          TEXT NOT NULL UNIQUE,
    signed_in_at INTEGER,
    asked_at     INTEGER,
    listing      TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (person_id, server, is_shared)
) WITHOUT ROWID;
CREATE INDEX mcp_accounts_by_server ON mcp_accounts (server);
