-- An owner can invite somebody: a code lets one account in. `display_name` is whom it is for.

CREATE TABLE link_codes_invited (
    id           INTEGER PRIMARY KEY,
    purpose      TEXT NOT NULL CHECK (purpose IN ('claim', 'pairing', 'invite')),
    code_hash    TEXT NOT NULL UNIQUE,
    platform     TEXT,
    user_id      TEXT,
    display_name TEXT,
    chat         TEXT,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    used_at      INTEGER,
    language TEXT,
    time_zone TEXT
);
INSERT INTO link_codes_invited
SELECT id, purpose, code_hash, platform, user_id, display_name, chat, created_at, expires_at,
    used_at, language, time_zone FROM link_codes;
DROP TABLE link_codes;
ALTER TABLE link_codes_invited RENAME TO link_codes;
CREATE INDEX link_codes_by_account ON link_codes (platform, user_id);
