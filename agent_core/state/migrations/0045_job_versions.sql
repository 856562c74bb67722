-- What a job was before a change: its words, times and targets, so that the change can be undone.
CREATE TABLE job_versions (
    id          INTEGER PRIMARY KEY,
    job_id      INTEGER NOT NULL REFERENCES jobs (id),
    title       TEXT NOT NULL,
    body        TEXT NOT NULL,
    timing      TEXT NOT NULL,
    zone        TEXT NOT NULL,
    late        TEXT NOT NULL,
    options     TEXT NOT NULL,
    targets     TEXT NOT NULL,
    is_urgent   INTEGER NOT NULL,
    replaced_at INTEGER NOT NULL,
    checksum    INTEGER NOT NULL
);
CREATE INDEX job_versions_by_job ON job_versions (job_id, id);
