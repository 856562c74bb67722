-- The schema after every migration. It creates a new database; migrations bring an older one here, and
-- a test keeps both ways equal. `user_version` is the number of the newest migration. Times are integer milliseconds since the epoch, UTC. JSON is text.
-- `checksum` is a CRC-32 that detects a damaged row.

PRAGMA user_version = 62;

-- Single values of Talaria itself, by key.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- Memory owners: humans, rooms, the team and memory blocks, told apart by `kind`. A merged person
-- points to the person that absorbed it in `joined_to`; an erased person points to itself.
-- `quiet_from` and `quiet_until` are minutes of the local day. `days_off` is JSON (1 is Monday).
-- `context_cap` is in tokens. `home_platform` and `home_chat` receive reminders and digests.
-- `model` is the model that the person chose; empty for the deployment's. `spoken_answers` says which
-- answers follow as a voice message, too. `tools_off` names the tools that are switched off, with spaces.
-- `agent` is the named agent that answers the person in private, or in the room; empty for none.
-- `learning` says how the assistant learns from the person's finished turns, and `learning_summary`
-- how often they get one summary of it; empty for a message after each review.
CREATE TABLE "people" (
    id         INTEGER PRIMARY KEY,
    slug       TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    role       TEXT NOT NULL CHECK (role IN ('owner', 'member')),
    time_zone  TEXT,
    created_at INTEGER NOT NULL,
    kind TEXT NOT NULL DEFAULT 'human' CHECK (kind IN ('human', 'room', 'team', 'block')),
    language TEXT,
    quiet_from INTEGER,
    quiet_until INTEGER,
    verbosity TEXT NOT NULL DEFAULT 'normal' CHECK (verbosity IN ('quiet', 'normal', 'verbose')),
    asked_at INTEGER,
    joined_to INTEGER REFERENCES people (id),
    context_cap INTEGER,
    home_platform TEXT,
    home_chat TEXT,
    days_off TEXT NOT NULL DEFAULT '[]',
    model TEXT NOT NULL DEFAULT '',
    spoken_answers TEXT NOT NULL DEFAULT 'off'
        CHECK (spoken_answers IN ('off', 'voice', 'always')),
    tools_off TEXT NOT NULL DEFAULT '',
    agent TEXT NOT NULL DEFAULT '',
    learning TEXT NOT NULL DEFAULT 'quiet'
    CHECK (learning IN ('off', 'ask', 'quiet', 'tell')),
    learning_summary TEXT NOT NULL DEFAULT ''
    CHECK (learning_summary IN ('', 'daily', 'weekly'))
);

-- A platform account of a person. `came_from` is the person that it belonged to before a merge.
CREATE TABLE accounts (
    id           INTEGER PRIMARY KEY,
    person_id    INTEGER NOT NULL REFERENCES people (id),
    platform     TEXT NOT NULL,
    user_id      TEXT NOT NULL,
    display_name TEXT NOT NULL,
    admitted_by  TEXT NOT NULL CHECK (admitted_by IN ('list', 'code', 'local')),
    created_at   INTEGER NOT NULL,
    came_from INTEGER REFERENCES people (id),
    UNIQUE (platform, user_id)
);
CREATE INDEX accounts_by_person ON accounts (person_id);

-- A one-time code. `claim` makes an account an owner's; `pairing` asks an owner to admit it.
CREATE TABLE "link_codes" (
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
CREATE INDEX link_codes_by_account ON link_codes (platform, user_id);

-- A conversation of a person or a room. `scope` is the search scope of its messages. `kind` is as in
-- `ConversationKind`, and `agent` is the named agent that answers in it, '' for the assistant itself.
CREATE TABLE conversations (
    id         INTEGER PRIMARY KEY,
    key        TEXT NOT NULL UNIQUE,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    scope      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    room_id INTEGER REFERENCES rooms (id),
    removed_at INTEGER,
    kind TEXT NOT NULL DEFAULT '',
    agent TEXT NOT NULL DEFAULT ''
);
CREATE INDEX conversations_by_person ON conversations (person_id);

-- A frozen prompt: the system text and the tools exactly as they are sent. `shown` (JSON) is what
-- the prompt shows of memory.
CREATE TABLE prompts (
    hash       TEXT PRIMARY KEY,
    system     TEXT NOT NULL,
    tools      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    shown TEXT NOT NULL DEFAULT '[]',
    checksum INTEGER NOT NULL DEFAULT 0
);

-- A part of a conversation with one frozen prompt. /new starts the next one. A branch also shows
-- the messages of `branched_from` up to the message `branched_at`. `plan` is a list as JSON, or ''.
CREATE TABLE sessions (
    id              INTEGER PRIMARY KEY,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id),
    prompt_hash     TEXT REFERENCES prompts (hash),
    title           TEXT NOT NULL DEFAULT '',
    started_at      INTEGER NOT NULL,
    last_at         INTEGER NOT NULL,
    ended_at        INTEGER,
    account_id      INTEGER REFERENCES accounts (id),
    branched_from INTEGER REFERENCES sessions (id),
    branched_at INTEGER,
    plan TEXT NOT NULL DEFAULT ''
);
CREATE INDEX sessions_by_conversation ON sessions (conversation_id, id);
CREATE INDEX sessions_by_branch ON sessions (branched_from) WHERE branched_from IS NOT NULL;

-- One request and its answer. `answers` is the platform message that it replies to. `run_id` is
-- set for the turn of a job run. `is_untrusted` marks a turn that read words of others. `detail` is
-- the error behind an ending, for owners.
CREATE TABLE turns (
    id              INTEGER PRIMARY KEY,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id),
    session_id      INTEGER NOT NULL REFERENCES sessions (id),
    person_id       INTEGER NOT NULL REFERENCES people (id),
    prompt_hash     TEXT REFERENCES prompts (hash),
    model           TEXT NOT NULL DEFAULT '',
    platform        TEXT NOT NULL,
    chat            TEXT NOT NULL,
    answers         TEXT,
    state           TEXT NOT NULL
        CHECK (state IN ('running', 'answered', 'stopped', 'refused', 'exhausted', 'failed')),
    reason          TEXT NOT NULL DEFAULT '',
    attempts        INTEGER NOT NULL DEFAULT 1,
    started_at      INTEGER NOT NULL,
    ended_at        INTEGER,
    account_id      INTEGER REFERENCES accounts (id),
    run_id INTEGER REFERENCES job_runs (id),
    waiting_since INTEGER,
    is_untrusted INTEGER NOT NULL DEFAULT 0,
    detail TEXT NOT NULL DEFAULT '',
    model_waits TEXT NOT NULL DEFAULT ''
);
CREATE INDEX turns_by_run ON turns (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX turns_by_conversation ON turns (conversation_id, id);
CREATE INDEX turns_by_person ON turns (person_id, id);
CREATE INDEX turns_running ON turns (id) WHERE state = 'running';
CREATE INDEX turns_untrusted ON turns (session_id) WHERE is_untrusted = 1;

-- The transcript: append-only. `parts` is what the model reads, `text` what people wrote or read;
-- `parts` holds its length only. `audience` is `private` or `room:<person id>`. A redacted message keeps its row and gets
-- `forgotten_at`.
CREATE TABLE messages (
    id              INTEGER PRIMARY KEY,
    session_id      INTEGER NOT NULL REFERENCES sessions (id),
    turn_id         INTEGER NOT NULL REFERENCES turns (id),
    person_id       INTEGER NOT NULL REFERENCES people (id),
    scope           TEXT NOT NULL,
    role            TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'tool')),
    parts           TEXT NOT NULL,
    text            TEXT NOT NULL,
    platform        TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    checksum        INTEGER NOT NULL,
    audience TEXT NOT NULL DEFAULT 'private',
    forgotten_at INTEGER
);
CREATE INDEX messages_by_session ON messages (session_id, id);
CREATE INDEX messages_by_turn ON messages (turn_id, id);

-- The full-text index of the transcript, an entry a passage: contentless, fed by
-- agent_core/state/tokenizer.py.
CREATE VIRTUAL TABLE message_search USING fts5 (
    words, content = '', columnsize = 0, detail = none, tokenize = "ascii tokenchars '_'"
);
INSERT INTO message_search (message_search, rank) VALUES ('automerge', 4);

-- One platform event. The payload stays until the event is done and its retention is over.
CREATE TABLE inbox (
    id          INTEGER PRIMARY KEY,
    platform    TEXT NOT NULL,
    event_id    TEXT NOT NULL,
    payload     TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('received', 'claimed', 'done', 'dead')),
    chat        TEXT,
    message_id  TEXT,
    turn_id     INTEGER REFERENCES turns (id),
    reason      TEXT NOT NULL DEFAULT '',
    received_at INTEGER NOT NULL,
    UNIQUE (platform, event_id)
);
CREATE INDEX inbox_open ON inbox (id) WHERE state IN ('received', 'claimed');
CREATE INDEX inbox_dead ON inbox (id) WHERE state = 'dead';
CREATE INDEX inbox_by_turn ON inbox (turn_id);

-- One tool call of a turn. The row exists before the tool runs; `outcome` follows. `sources` (JSON)
-- names whose words the outcome holds.
CREATE TABLE steps (
    id         INTEGER PRIMARY KEY,
    turn_id    INTEGER NOT NULL REFERENCES turns (id),
    call_id    TEXT NOT NULL,
    name       TEXT NOT NULL,
    effect     TEXT NOT NULL CHECK (effect IN ('read', 'idempotent', 'unsafe')),
    outcome    TEXT,
    is_error   INTEGER NOT NULL DEFAULT 0,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    sources TEXT NOT NULL DEFAULT '[]',
    images TEXT NOT NULL DEFAULT '[]',
    receipts TEXT NOT NULL DEFAULT '[]',
    UNIQUE (turn_id, call_id)
);

CREATE INDEX steps_images ON steps (turn_id) WHERE images <> '[]';

-- One platform message to send. `is_live` marks a message that still grows with its turn. `shown` is
-- what an unconfirmed attempt carried, `anchor` the platform's newest message id before it. `key` is
-- random; platforms recognise a repeat by it. `versions` are the ids of its edits and of a message that
-- it follows, each after a space.
CREATE TABLE outbox (
    id           INTEGER PRIMARY KEY,
    platform     TEXT NOT NULL,
    chat         TEXT NOT NULL,
    turn_id      INTEGER REFERENCES turns (id),
    person_id    INTEGER REFERENCES people (id),
    part         INTEGER NOT NULL DEFAULT 0,
    body         TEXT NOT NULL,
    answers      TEXT,
    is_silent    INTEGER NOT NULL DEFAULT 0,
    is_live      INTEGER NOT NULL DEFAULT 0,
    state        TEXT NOT NULL CHECK (state IN ('owed', 'sending', 'sent', 'unsure', 'dead')),
    message_id   TEXT,
    shown        TEXT,
    anchor       TEXT,
    attempts     INTEGER NOT NULL DEFAULT 0,
    reason       TEXT NOT NULL DEFAULT '',
    created_at   INTEGER NOT NULL,
    sent_at      INTEGER,
    checksum     INTEGER NOT NULL,
    kind TEXT NOT NULL DEFAULT 'message' CHECK (kind IN ('message', 'status')),
    buttons TEXT NOT NULL DEFAULT '',
    question_id INTEGER REFERENCES questions (id),
    file_key TEXT REFERENCES files (key),
    file_name TEXT,
    key TEXT NOT NULL DEFAULT '',
    outcome_at INTEGER,
    versions TEXT NOT NULL DEFAULT ''
);
CREATE INDEX outbox_open ON outbox (id) WHERE state IN ('owed', 'sending', 'unsure');
CREATE INDEX outbox_live ON outbox (id) WHERE is_live = 1;
CREATE INDEX outbox_by_turn ON outbox (turn_id, part);
CREATE INDEX outbox_dead ON outbox (id) WHERE state = 'dead';
CREATE INDEX outbox_by_chat ON outbox (platform, chat, id) WHERE message_id IS NOT NULL;

-- One model call: its tokens and cost. `request_hash` (SHA-256, hex) verifies a rebuilt request.
-- `micro_dollars` is NULL for a model without a price. `request_shape` (JSON) is what shaped its bytes
-- besides the transcript, the prompt and the limit.
CREATE TABLE usage (
    id                 INTEGER PRIMARY KEY,
    person_id          INTEGER NOT NULL REFERENCES people (id),
    turn_id            INTEGER REFERENCES turns (id),
    purpose            TEXT NOT NULL,
    model              TEXT NOT NULL,
    input_tokens       INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    micro_dollars      INTEGER,
    created_at         INTEGER NOT NULL,
    request_hash TEXT,
    asked_model TEXT,
    output_limit INTEGER,
    request_shape TEXT NOT NULL DEFAULT ''
);
CREATE INDEX usage_by_person ON usage (person_id, created_at);
CREATE INDEX usage_by_turn ON usage (turn_id);

-- Sums of a person's model calls in a quarter of an hour, counted since the epoch; `person_id` 0 is
-- everyone together. Charts of the last weeks are drawn from them; older ones are deleted.
CREATE TABLE usage_sums (
    person_id          INTEGER NOT NULL,
    quarter            INTEGER NOT NULL,
    purpose            TEXT NOT NULL,
    model              TEXT NOT NULL,
    calls              INTEGER NOT NULL,
    input_tokens       INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    micro_dollars      INTEGER NOT NULL,
    unpriced_tokens    INTEGER NOT NULL,
    PRIMARY KEY (person_id, quarter, purpose, model)
) WITHOUT ROWID;

-- The memory ledger: append-only. `target` is `memory`, `user`, `archive` (`position` is the archive
-- row's id), `soul` (one entry, the whole text) or `skill` (`position` is the skill's id, the entry
-- its whole SKILL.md). `actor` is `turn:N`, `hand`, `person`, `house`, `curator`, `tests`, `link:N` or
-- `unlink`. `position` is the entry's index at that moment, from 0, so that replaying the rows gives
-- the list. `undoes` is the row that this row reverts. `message_ids` (JSON) are its evidence,
-- `sources` (JSON) the files, quotes and pages that the model had read.
CREATE TABLE "ledger" (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    target     TEXT NOT NULL CHECK (target IN ('memory', 'user', 'archive', 'soul', 'skill')),
    operation  TEXT NOT NULL CHECK (operation IN ('add', 'replace', 'remove')),
    position   INTEGER NOT NULL,
    before     TEXT,
    after      TEXT,
    actor      TEXT NOT NULL,
    evidence   TEXT NOT NULL DEFAULT '',
    call_key   TEXT UNIQUE,
    created_at INTEGER NOT NULL,
    checksum   INTEGER NOT NULL,
    source_id INTEGER REFERENCES ledger (id),
    undoes INTEGER REFERENCES ledger (id),
    message_ids TEXT NOT NULL DEFAULT '[]',
    sources TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX ledger_by_person ON ledger (person_id, target, id);
CREATE INDEX ledger_by_number ON ledger (person_id, id);
CREATE INDEX ledger_by_undone ON ledger (undoes) WHERE undoes IS NOT NULL;

-- Queued background work.
CREATE TABLE tasks (
    id         INTEGER PRIMARY KEY,
    kind       TEXT NOT NULL,
    key        TEXT NOT NULL,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    payload    TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('owed', 'running', 'done', 'dead')),
    attempts   INTEGER NOT NULL DEFAULT 0,
    reason     TEXT NOT NULL DEFAULT '',
    due_at     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (kind, key)
);
CREATE INDEX tasks_open ON tasks (due_at) WHERE state IN ('owed', 'running');

-- A group, channel or server room. `mode` selects who answers mentions; `person_id` is the room as a
-- memory owner. In the mode `full`, `set_by` is the person whose direct conversation continues there;
-- `full_from` and `full_until` enclose the time in which that was ever so.
CREATE TABLE rooms (
    id         INTEGER PRIMARY KEY,
    platform   TEXT NOT NULL,
    chat_id    TEXT NOT NULL,
    person_id  INTEGER NOT NULL UNIQUE REFERENCES people (id),
    title      TEXT NOT NULL DEFAULT '',
    mode       TEXT NOT NULL DEFAULT 'person' CHECK (mode IN ('person', 'full', 'room', 'off')),
    set_by     INTEGER REFERENCES people (id),
    created_at INTEGER NOT NULL,
    full_asked_at INTEGER,
    full_from INTEGER,
    full_until INTEGER,
    name       TEXT NOT NULL DEFAULT '',
    UNIQUE (platform, chat_id)
);

-- Who was noticed in a group or channel. The first account stays in `user_id`; `others_at` is set for
-- good once a second account is noticed.
CREATE TABLE room_presence (
    platform  TEXT NOT NULL,
    chat_id   TEXT NOT NULL,
    user_id   TEXT NOT NULL,
    others_at INTEGER,
    PRIMARY KEY (platform, chat_id)
);

-- Messages of accounts that may not talk to the assistant: counted, and not kept. `told_at` is when
-- owners were told that the account waits to be let in.
CREATE TABLE strangers (
    platform TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    messages INTEGER NOT NULL,
    last_at  INTEGER NOT NULL,
    told_at  INTEGER,
    PRIMARY KEY (platform, user_id)
);

-- A memory entry that others may see: `everyone`, or `room:<person id>`. An entry without a row is
-- private. An entry whose text changes becomes private again.
CREATE TABLE shares (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    target     TEXT NOT NULL CHECK (target IN ('memory', 'user')),
    entry      TEXT NOT NULL,
    audience   TEXT NOT NULL,
    actor      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (person_id, target, entry, audience)
);

-- A question to a person, and its answer. `choices` is JSON: [[key, label, style], …]. `payload`
-- belongs to the asking component. `call_id` binds it to one tool call of one turn. `secret` is part
-- of the button keys, so that nobody can forge them.
CREATE TABLE questions (
    id          INTEGER PRIMARY KEY,
    person_id   INTEGER NOT NULL REFERENCES people (id),
    turn_id     INTEGER REFERENCES turns (id),
    call_id     TEXT,
    kind        TEXT NOT NULL,
    text        TEXT NOT NULL,
    choices     TEXT NOT NULL,
    payload     TEXT NOT NULL DEFAULT '',
    secret      TEXT NOT NULL,
    platform    TEXT NOT NULL,
    chat        TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('open', 'answered', 'over')),
    answer      TEXT,
    answered_by INTEGER REFERENCES people (id),
    asked_at    INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    answered_at INTEGER,
    UNIQUE (turn_id, call_id)
);
CREATE INDEX questions_by_person ON questions (person_id, id);
CREATE INDEX questions_open ON questions (person_id, id) WHERE state = 'open';
CREATE INDEX questions_of_turn_open ON questions (turn_id) WHERE state = 'open';

CREATE INDEX outbox_by_message ON outbox (platform, chat, message_id)
    WHERE message_id IS NOT NULL;
CREATE INDEX outbox_by_question ON outbox (question_id) WHERE question_id IS NOT NULL;

-- Attachment bytes, by their SHA-256.
CREATE TABLE files (
    key        TEXT PRIMARY KEY,
    media_type TEXT NOT NULL,
    data       BLOB NOT NULL,
    created_at INTEGER NOT NULL
);

-- Files that a turn made and sends with its answer.
CREATE TABLE turn_files (
    id         INTEGER PRIMARY KEY,
    turn_id    INTEGER NOT NULL REFERENCES turns (id),
    call_id    TEXT NOT NULL,
    file_key   TEXT NOT NULL REFERENCES files (key),
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (turn_id, call_id)
);

-- The position up to which each channel of a platform was read; see `Inlet` in adapters/contract.py.
CREATE TABLE "read_positions" (
    platform TEXT NOT NULL,
    channel  TEXT NOT NULL,
    position TEXT NOT NULL,
    PRIMARY KEY (platform, channel)
);

-- Chats that no longer accept messages, until somebody writes from there again.
CREATE TABLE "unreachable_chats" (
    platform   TEXT NOT NULL,
    chat       TEXT NOT NULL,
    reason     TEXT NOT NULL,
    retired_at INTEGER NOT NULL,
    PRIMARY KEY (platform, chat)
);

-- A request to link two accounts. `person_id` starts it in the direct chat `platform`/`chat`, the
-- other account sends the code, and the first side confirms. `other_person` is the owner of the
-- other account at that moment, NULL for a stranger.
CREATE TABLE link_requests (
    id             INTEGER PRIMARY KEY,
    person_id      INTEGER NOT NULL REFERENCES people (id),
    code_hash      TEXT NOT NULL UNIQUE,
    platform       TEXT NOT NULL,
    chat           TEXT NOT NULL,
    state          TEXT NOT NULL
        CHECK (state IN ('open', 'asked', 'joined', 'refused', 'over')),
    other_platform TEXT,
    other_user_id  TEXT,
    other_name     TEXT,
    other_chat     TEXT,
    other_person   INTEGER REFERENCES people (id),
    created_at     INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL,
    closed_at      INTEGER
);
CREATE INDEX link_requests_by_person ON link_requests (person_id, id);
CREATE INDEX link_requests_asked ON link_requests (other_platform, other_user_id)
    WHERE state = 'asked';

-- Wrong codes of an account. `since` is the time of the first one or, above the limit, the last.
CREATE TABLE guesses (
    platform TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    wrong    INTEGER NOT NULL,
    since    INTEGER NOT NULL,
    PRIMARY KEY (platform, user_id)
);

-- Changes to people, rooms and rights: append-only.
CREATE TABLE audit (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER REFERENCES people (id),
    actor      TEXT NOT NULL,
    action     TEXT NOT NULL,
    detail     TEXT NOT NULL,
    created_at INTEGER NOT NULL
);
CREATE INDEX audit_by_person ON audit (person_id, id);

-- A named memory block, shared by people and rooms. `person_id` is the block as a memory owner;
-- `made_by` may change and share it. `char_limit` is in characters of its file.
CREATE TABLE blocks (
    id           INTEGER PRIMARY KEY,
    person_id    INTEGER NOT NULL UNIQUE REFERENCES people (id),
    label        TEXT NOT NULL,
    description  TEXT NOT NULL,
    char_limit   INTEGER NOT NULL,
    is_read_only INTEGER NOT NULL DEFAULT 0,
    made_by      INTEGER NOT NULL REFERENCES people (id),
    created_at   INTEGER NOT NULL
);
CREATE INDEX blocks_by_maker ON blocks (made_by);

-- Readers of a block: a person, a room, or everyone (the team's row in `people`).
CREATE TABLE block_readers (
    block_id  INTEGER NOT NULL REFERENCES blocks (id),
    person_id INTEGER NOT NULL REFERENCES people (id),
    PRIMARY KEY (block_id, person_id)
);
CREATE INDEX block_readers_by_person ON block_readers (person_id);

-- The archive: memory outside the prompt. `tags` is JSON, a sorted list.
CREATE TABLE archive (
    id         INTEGER PRIMARY KEY,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    text       TEXT NOT NULL,
    tags       TEXT NOT NULL DEFAULT '[]',
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    checksum   INTEGER NOT NULL
);
CREATE INDEX archive_by_person ON archive (person_id, id);

-- The full-text index of the archive; built like `message_search`.
CREATE VIRTUAL TABLE archive_search USING fts5 (
    words, content = '', columnsize = 0, detail = none, tokenize = "ascii tokenchars '_'"
);

-- A compaction of a session; the transcript stays whole. The newest row counts, for calls made when
-- `made_after` was the newest message or later. `summary` replaces messages up to `summarized_to`,
-- except those in `kept` (JSON: message ids). Long tool outputs of the others, up to `shortened_to`,
-- are shortened to both ends. `left_out_from` is the oldest replaced message that the summary does
-- not cover yet. `found_tools` has a line for each tool that a search found in what is hidden.
CREATE TABLE "compactions" (
    id            INTEGER PRIMARY KEY,
    session_id    INTEGER NOT NULL REFERENCES sessions (id),
    person_id     INTEGER NOT NULL REFERENCES people (id),
    turn_id       INTEGER REFERENCES turns (id),
    made_after    INTEGER NOT NULL,
    shortened_to  INTEGER NOT NULL,
    summarized_to INTEGER NOT NULL,
    left_out_from INTEGER,
    kept          TEXT NOT NULL DEFAULT '[]',
    summary       TEXT NOT NULL DEFAULT '',
    reason        TEXT NOT NULL CHECK (reason IN ('near', 'overflow', 'asked', 'idle')),
    tokens_before INTEGER NOT NULL,
    tokens_after  INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    checksum      INTEGER NOT NULL,
    plan          TEXT NOT NULL DEFAULT '',
    found_tools   TEXT NOT NULL DEFAULT ''
);
CREATE INDEX compactions_by_session ON compactions (session_id, id);

-- The queue of changes for an external memory provider, in this order.
CREATE TABLE "external_sync" (
    id         INTEGER PRIMARY KEY,
    provider   TEXT NOT NULL,
    person_id  INTEGER NOT NULL REFERENCES people (id),
    kind       TEXT NOT NULL CHECK (kind IN ('turn', 'memory', 'erase')),
    key        TEXT NOT NULL,
    payload    TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('owed', 'done', 'dead')),
    attempts   INTEGER NOT NULL DEFAULT 0,
    reason     TEXT NOT NULL DEFAULT '',
    due_at     INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (provider, kind, key)
);
CREATE INDEX external_sync_owed ON external_sync (provider, id) WHERE state = 'owed';
CREATE INDEX external_sync_by_person ON external_sync (person_id);

-- A scheduled job. `timing` names local moments of the IANA zone in `zone`; see
-- agent_core/schedule. `body` is a prompt, a message, a command line (JSON: a list) or the name of a
-- system job. `options` (JSON) configures a prompt job; `targets` (JSON) are its chats. `next_slot`
-- is due at `next_at`; both are NULL once a one-time job has run, and for a job that an event starts.
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
CREATE INDEX jobs_on_event ON jobs (person_id) WHERE state = 'active' AND timing GLOB 'on *';
CREATE UNIQUE INDEX jobs_of_the_system ON jobs (body) WHERE kind = 'system';

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

-- One slot of a job; unique, so that it fires once. `missed` counts the slots skipped before it. A
-- waiting run continues at `due_at`: when a place is free, or when it is retried. `input` is what a
-- run is told of the event that started it: a short line, then the details; '' once it has ended.
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
    input      TEXT NOT NULL DEFAULT '',
    UNIQUE (job_id, slot)
);
CREATE INDEX job_runs_by_job ON job_runs (job_id);
CREATE INDEX job_runs_by_slot ON job_runs (job_id, slot_at);
CREATE INDEX job_runs_failed ON job_runs (job_id, slot_at) WHERE state = 'failed';
CREATE INDEX job_runs_open ON job_runs (due_at) WHERE state IN ('waiting', 'running');

-- What a job has seen of its feed or its folder: the hash of an item, or of a file's path with its
-- size and time. The key '' says that the source was read once, so that only what comes later is new.
CREATE TABLE job_marks (
    job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    key    TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (job_id, key)
) WITHOUT ROWID;

-- A long-running command: whose it is, by its conversation, and whether it runs. What it is and what
-- it wrote is in the workspace. `lost` means that the gateway stopped before it had ended.
CREATE TABLE processes (
    id              INTEGER PRIMARY KEY,
    conversation_id INTEGER NOT NULL REFERENCES conversations (id),
    turn_id         INTEGER NOT NULL REFERENCES turns (id),
    workspace       TEXT NOT NULL,
    wants_note      INTEGER NOT NULL DEFAULT 0,
    state           TEXT NOT NULL CHECK (state IN ('running', 'ended', 'lost')),
    status          INTEGER,
    reason          TEXT NOT NULL DEFAULT '',
    started_at      INTEGER NOT NULL,
    ended_at        INTEGER
);
CREATE INDEX processes_by_conversation ON processes (conversation_id);
CREATE INDEX processes_running ON processes (id) WHERE state = 'running';
CREATE INDEX processes_by_turn ON processes (turn_id);

-- An unsolicited message that waits for the end of its person's quiet hours.
CREATE TABLE "deferred_messages" (
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
CREATE INDEX deferred_messages_due ON deferred_messages (release_at);
CREATE INDEX deferred_messages_by_person ON deferred_messages (person_id);

-- State of a skill besides its files. Disuse counts from `last_used_at`, or from `seen_at` (first
-- seen, or restored). `told_fault` is the hash of the fault last reported to the owners, '' for
-- none. The row outlives the skill, because the ledger refers to its id. A skill that the agent wrote
-- is a draft until its cases pass, then on trial until its use proves it. `good_row` is the ledger row
-- of the last text that was proved, or that a person wrote.
CREATE TABLE "skills" (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL UNIQUE,
    seen_at      INTEGER NOT NULL,
    uses         INTEGER NOT NULL DEFAULT 0,
    last_used_at INTEGER,
    state        TEXT NOT NULL DEFAULT 'active'
        CHECK (state IN ('draft', 'trial', 'active', 'stale', 'archived', 'gone')),
    is_pinned    INTEGER NOT NULL DEFAULT 0,
    told_fault   TEXT NOT NULL DEFAULT '',
    good_row     INTEGER REFERENCES ledger (id)
);

-- One skill in one turn, and what became of it: NULL while the turn runs. `text_row` is the ledger row
-- of the skill's text then; NULL for a skill that the ledger has no text of. `reactions` are the
-- person's standing ones to the turn's messages: JSON of (message, sign), "" for none. `spoken` is the
-- outcome without them, while they count.
CREATE TABLE skill_uses (
    id         INTEGER PRIMARY KEY,
    skill_id   INTEGER NOT NULL REFERENCES skills (id),
    turn_id    INTEGER NOT NULL REFERENCES turns (id),
    text_row   INTEGER REFERENCES ledger (id),
    outcome    TEXT CHECK (outcome IN ('done', 'corrected', 'retried', 'stopped', 'failed', 'liked',
        'disliked', 'void')),
    created_at INTEGER NOT NULL,
    decided_at INTEGER,
    spoken TEXT,
    reactions TEXT NOT NULL DEFAULT '',
    UNIQUE (turn_id, skill_id)
);
CREATE INDEX skill_uses_by_skill ON skill_uses (skill_id, id);
CREATE INDEX skill_uses_by_outcome ON skill_uses (skill_id, outcome);

-- A browser's login to the console page; only a hash of its secret is kept. It belongs to the person who
-- opened it with a one-time link; NULL is the login of whoever has the printed address.
CREATE TABLE browser_logins (
    id          INTEGER PRIMARY KEY,
    secret_hash TEXT NOT NULL UNIQUE,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    person_id   INTEGER REFERENCES people (id)
);
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

-- What a person has allowed. Of scope `once`, `subject` is the SHA-256 of exactly one call, which is
-- used up before it runs; otherwise it is the shape of calls, as JSON.
CREATE TABLE approvals (
    id            INTEGER PRIMARY KEY,
    person_id     INTEGER NOT NULL REFERENCES people (id),
    decided_by    INTEGER REFERENCES people (id),
    scope         TEXT NOT NULL CHECK (scope IN ('once', 'session', 'always')),
    subject       TEXT NOT NULL,
    session_id    INTEGER REFERENCES sessions (id),
    holds_tainted INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER,
    used_at       INTEGER,
    CHECK (scope <> 'once' OR expires_at IS NOT NULL)
);
CREATE UNIQUE INDEX approvals_once ON approvals (subject) WHERE scope = 'once';
CREATE INDEX approvals_by_person ON approvals (person_id);
CREATE INDEX approvals_expiring ON approvals (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX approvals_of_session ON approvals (session_id) WHERE session_id IS NOT NULL;
CREATE UNIQUE INDEX approvals_of_person
    ON approvals (person_id, scope, subject, COALESCE(session_id, 0), holds_tainted)
    WHERE scope <> 'once';

-- The tokens with which a person's other programs act for them; only a hash of each is kept.
CREATE TABLE "api_tokens" (
    id           INTEGER PRIMARY KEY,
    person_id    INTEGER NOT NULL REFERENCES people (id),
    name         TEXT NOT NULL,
    scope        TEXT NOT NULL CHECK (scope IN ('mcp', 'api', 'manage')),
    secret_hash  TEXT NOT NULL UNIQUE,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER
);
CREATE INDEX api_tokens_by_person ON api_tokens (person_id);

-- Who signed in at which MCP server. `key` names the file with the tokens, which are never here: a file
-- whose key is in no row is revoked and deleted. `is_shared` marks the one account that everybody uses,
-- where an owner wants that. `asked_at` is when a link was last sent without being asked for. `listing`
-- (JSON) are the tools as this account last saw them.
CREATE TABLE mcp_accounts (
    person_id    INTEGER NOT NULL REFERENCES people (id),
    server       TEXT NOT NULL,
    is_shared    INTEGER NOT NULL DEFAULT 0,
    key          TEXT NOT NULL UNIQUE,
    signed_in_at INTEGER,
    asked_at     INTEGER,
    listing      TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (person_id, server, is_shared)
) WITHOUT ROWID;
CREATE INDEX mcp_accounts_by_server ON mcp_accounts (server);

-- One thing that an owner has to know, as long as it is wrong, and until its end was told. `subject`
-- tells incidents of a kind apart; `details` (JSON) are the values of its sentence.
CREATE TABLE incidents (
    kind     TEXT NOT NULL,
    subject  TEXT NOT NULL,
    details  TEXT NOT NULL,
    since    INTEGER NOT NULL,
    told_at  INTEGER,
    ended_at INTEGER,
    PRIMARY KEY (kind, subject)
) WITHOUT ROWID;

-- An outgoing webhook: where a person's events of some kinds go. `place` is the place in the stream
-- of events up to which they are stored as deliveries. No request is made before `due_at`;
-- `failures` counts those in a row. `key` names the request that
-- added it, so that a repeat adds nothing.
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
    created_at INTEGER NOT NULL,
    removed_at INTEGER,
    old_secret TEXT NOT NULL DEFAULT '',
    old_until  INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX webhooks_by_person ON webhooks (person_id);
CREATE INDEX webhooks_active ON webhooks (id) WHERE state = 'active';

-- One event on its way to a webhook. `event_id` is the same in every attempt, so that the receiver
-- knows a repeat.
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

-- What is known of a model at a server, by the server's address: learned from its answers, found by
-- a fitness test, or said by an owner. `value` is JSON; `version` is the version of Talaria.
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
