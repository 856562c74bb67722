-- A browser's login to the console page; only a hash of its secret is kept.

CREATE TABLE browser_logins (
    id          INTEGER PRIMARY KEY,
    secret_hash TEXT NOT NULL UNIQUE,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL
);
