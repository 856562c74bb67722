-- The untrusted sources of a tool result and of a change, and the turns that read any.

ALTER TABLE steps ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';
ALTER TABLE ledger ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';
ALTER TABLE turns ADD COLUMN is_untrusted INTEGER NOT NULL DEFAULT 0;
CREATE INDEX turns_untrusted ON turns (session_id) WHERE is_untrusted = 1;
