-- Outgoing webhooks: where a person's events go, and each event on its way there.
CREATE TABLE webhooks (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    name       TEXT NOT NULL,
    url        TEXT NOT NULL,
    kinds      TEXT NOT NULL,
    secret     TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('active', 'paused', 'dead')),
    reason     TEXT NOT NULL DEFAULT '',
    place      TEXT NOT NULL,
    failures   INTEGER NOT NULL DEFAULT 0,
    due_at     INTEGER NOT NULL DEFAULT 0,
    key        TEXT UNIQUE,
    created_at INTEGER NOT NULL
);
CREATE INDEX webhooks_by_person ON webhooks (person_id);
CREATE INDEX webhooks_active ON webhooks (id) WHERE state = 'active';
CREATE TABLE webhook_deliveries (
    id         INTEGER PRIMARY KEY,
    webhook_id INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event_id   TEXT NOT NULL,
    kind       TEXT NOT NULL,
    payload    TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'failed')),
    attempts   INTEGER NOT NULL DEFAULT 0,
    due_at     INTEGER NOT NULL,
    status     INTEGER,
    reason     TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    ended_at   INTEGER,
    UNIQUE (webhook_id, event_id)
);
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (webhook_id, due_at, id)
    WHERE state = 'waiting';

-- What is new of a person is found without looking at what is new of others.
CREATE INDEX ledger_by_number ON ledger (person_id, id);
CREATE INDEX questions_by_person ON questions (person_id, id);
