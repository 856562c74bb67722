-- Five tables, one column and two indexes get plain names. The rows do not change.
-- SQLite keeps an index on its table through a rename but keeps its old name, too, so each index
-- is made again.

ALTER TABLE held RENAME TO deferred_messages;
DROP INDEX held_until;
DROP INDEX held_by_person;
CREATE INDEX deferred_messages_due ON deferred_messages (release_at);
CREATE INDEX deferred_messages_by_person ON deferred_messages (person_id);

ALTER TABLE marks RENAME TO read_positions;

ALTER TABLE retired_chats RENAME TO unreachable_chats;

ALTER TABLE folds RENAME TO compactions;
ALTER TABLE compactions RENAME COLUMN folded_to TO summarized_to;
DROP INDEX folds_by_session;
CREATE INDEX compactions_by_session ON compactions (session_id, id);

ALTER TABLE mirror RENAME TO external_sync;
DROP INDEX mirror_owed;
DROP INDEX mirror_by_person;
CREATE INDEX external_sync_owed ON external_sync (provider, id) WHERE state = 'owed';
CREATE INDEX external_sync_by_person ON external_sync (person_id);

DROP INDEX jobs_of_the_house;
CREATE UNIQUE INDEX jobs_of_the_system ON jobs (body) WHERE kind = 'system';

DROP INDEX outbox_told;
CREATE INDEX outbox_by_chat ON outbox (platform, chat, id) WHERE message_id IS NOT NULL;
