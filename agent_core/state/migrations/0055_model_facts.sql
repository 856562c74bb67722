-- What is known of a model at a server, and what shaped the bytes of a request.
CREATE TABLE model_facts (
    server     TEXT NOT NULL,
    model      TEXT NOT NULL,
    kind       TEXT NOT NULL,
    source     TEXT NOT NULL CHECK (source IN ('learned', 'fitness', 'owner')),
    value      TEXT NOT NULL,
    learned_at INTEGER NOT NULL,
    version    TEXT NOT NULL,
    PRIMARY KEY (server, model, kind, source)
) WITHOUT ROWID;
ALTER TABLE usage ADD COLUMN request_shape TEXT NOT NULL DEFAULT '';
