-- What is done at its time: jobs, their runs, what is held back for quiet hours, and where a
-- person is at home.
-- Times are integer milliseconds since the epoch, UTC. JSON is text.

-- Work to be done at set times. `timing` names local moments of the IANA zone in `zone`; see
-- `agent_core/schedule/timing.py`. `body` is a prompt, a message, a command line (JSON: a list) or
-- the name of one of the house's own works. `options` (JSON) is how a prompt is run; `targets`
-- (JSON) is where it goes. `next_slot` is due at `next_at`; a one-time job that has run has none.
CREATE TABLE jobs (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER REFERENCES people (id),
    room_id    INTEGER REFERENCES rooms (id),
    kind       TEXT NOT NULL CHECK (kind IN ('prompt', 'message', 'script', 'system')),
    title      TEXT NOT NULL,
    body       TEXT NOT NULL,
    timing     TEXT NOT NULL,
    zone       TEXT NOT NULL,
    late       TEXT NOT NULL CHECK (late IN ('catch_up', 'skip', 'all')),
    options    TEXT NOT NULL DEFAULT '{}',
    targets    TEXT NOT NULL DEFAULT '[]',
    is_urgent  INTEGER NOT NULL DEFAULT 0,
    state      TEXT NOT NULL CHECK (state IN ('active', 'paused', 'over', 'dropped')),
    reason     TEXT NOT NULL DEFAULT '',
    failures   INTEGER NOT NULL DEFAULT 0,
    next_slot  TEXT,
    next_at    INTEGER,
    actor      TEXT NOT NULL,
    call_key   TEXT UNIQUE,
    created_at INTEGER NOT NULL,
    checksum   INTEGER NOT NULL
);
CREATE INDEX jobs_by_person ON jobs (person_id, id);
CREATE INDEX jobs_by_room ON jobs (room_id) WHERE room_id IS NOT NULL;
CREATE INDEX jobs_due ON jobs (next_at) WHERE state = 'active' AND next_at IS NOT NULL;
CREATE UNIQUE INDEX jobs_of_the_house ON jobs (body) WHERE kind = 'system';

-- One due moment of a job; unique, so that it fires once. `missed` slots before it were passed
-- over. One that waits is taken up again at `due_at`: when its turn comes, or it is tried again.
CREATE TABLE job_runs (
    id         INTEGER PRIMARY KEY,
    job_id     INTEGER NOT NULL REFERENCES jobs (id),
    slot       TEXT NOT NULL,
    slot_at    INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'skipped')),
    missed     INTEGER NOT NULL DEFAULT 0,
    attempts   INTEGER NOT NULL DEFAULT 0,
    reason     TEXT NOT NULL DEFAULT '',
    started_at INTEGER,
    ended_at   INTEGER,
    UNIQUE (job_id, slot)
);
CREATE INDEX job_runs_open ON job_runs (due_at) WHERE state IN ('waiting', 'running');

-- The run that a turn is, if it is one.
ALTER TABLE turns ADD COLUMN run_id INTEGER REFERENCES job_runs (id);
CREATE INDEX turns_by_run ON turns (run_id) WHERE run_id IS NOT NULL;

-- A message that nobody asked for just now, kept until its person may be disturbed again.
CREATE TABLE held (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    run_id     INTEGER REFERENCES job_runs (id),
    turn_id    INTEGER REFERENCES turns (id),
    platform   TEXT NOT NULL,
    chat       TEXT NOT NULL,
    title      TEXT NOT NULL,
    body       TEXT NOT NULL,
    file_key   TEXT REFERENCES files (key),
    file_name  TEXT,
    release_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    checksum   INTEGER NOT NULL
);
CREATE INDEX held_until ON held (release_at);
CREATE INDEX held_by_person ON held (person_id);

-- Where a person wants what comes by itself, and on which weekdays nothing may (JSON: 1 is
-- Monday, 7 is Sunday).
ALTER TABLE people ADD COLUMN home_platform TEXT;
ALTER TABLE people ADD COLUMN home_chat TEXT;
ALTER TABLE people ADD COLUMN days_off TEXT NOT NULL DEFAULT '[]';
