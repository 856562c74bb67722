-- A login of a browser may belong to a person, who opened it with a one-time link; NULL is the login of
-- whoever has the printed address.
ALTER TABLE browser_logins ADD COLUMN person_id INTEGER REFERENCES people (id);
CREATE INDEX browser_logins_by_person ON browser_logins (person_id) WHERE person_id IS NOT NULL;

-- A link that opens one login of a person; only a hash of its secret is kept, until it is used.
CREATE TABLE login_links (
    id          INTEGER PRIMARY KEY,
    person_id   INTEGER NOT NULL REFERENCES people (id),
    secret_hash TEXT NOT NULL UNIQUE,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
);
CREATE INDEX login_links_by_person ON login_links (person_id);

-- The yes of a person that an owner may read their conversations for a time.
CREATE TABLE reading_consents (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    reader_id  INTEGER NOT NULL REFERENCES people (id),
    given_at   INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at   INTEGER
);
CREATE INDEX reading_consents_by_person ON reading_consents (person_id, reader_id);
CREATE INDEX reading_consents_by_reader ON reading_consents (reader_id);
