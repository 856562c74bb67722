-- A long-running command: whose it is, by its conversation, and whether it runs. What it is and what
-- it wrote is in the workspace. `lost` means that the gateway stopped before it had ended.
CREATE TABLE processes (
    id              INTEGER PRIMARY KEY,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id),
    turn_id         INTEGER NOT NULL REFERENCES turns (id),
    workspace       TEXT NOT NULL,
    wants_note      INTEGER NOT NULL DEFAULT 0,
    state           TEXT NOT NULL CHECK (state IN ('running', 'ended', 'lost')),
    status          INTEGER,
    reason          TEXT NOT NULL DEFAULT '',
    started_at      INTEGER NOT NULL,
    ended_at        INTEGER
);
CREATE INDEX processes_by_conversation ON processes (conversation_id);
CREATE INDEX processes_running ON processes (id) WHERE state = 'running';
CREATE INDEX processes_by_turn ON processes (turn_id);
