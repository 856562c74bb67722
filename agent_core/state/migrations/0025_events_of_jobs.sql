-- A run that an event started keeps what it is told of the event until it has ended: a short line,
-- then the details.
ALTER TABLE job_runs ADD COLUMN input TEXT NOT NULL DEFAULT '';

-- What a job has seen of its feed or its folder: the hash of an item, or of a file's path with its
-- size and time. The key '' says that the source was read once, so that only what comes later is new.
CREATE TABLE job_marks (
    job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    key    TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (job_id, key)
) WITHOUT ROWID;

CREATE INDEX jobs_on_event ON jobs (person_id) WHERE state = 'active' AND timing GLOB 'on *';
