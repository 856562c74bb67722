-- What an owner has to know: one row for each thing that is wrong now, or that is over and was told.
CREATE TABLE incidents (
    kind     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    details  TEXT NOT NULL,
    since    INTEGER NOT NULL,
    told_at  INTEGER,
    ended_at INTEGER,
    PRIMARY KEY (kind, subject)
) WITHOUT ROWID;
