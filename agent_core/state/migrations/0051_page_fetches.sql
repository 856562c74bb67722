-- Addresses from untrusted pages that the calls of a turn have fetched, counted by site. `turn_id`
-- is the turn that a person began, `caller_id` that of the call, which may be a helper's. `site` is
-- a hash.
CREATE TABLE page_fetches (
    turn_id   INTEGER NOT NULL REFERENCES turns (id),
    caller_id INTEGER NOT NULL REFERENCES turns (id),
    call_id   TEXT NOT NULL,
    site      TEXT NOT NULL,
    number    INTEGER NOT NULL,
    PRIMARY KEY (turn_id, caller_id, call_id, site)
);
CREATE INDEX page_fetches_by_caller ON page_fetches (caller_id);
