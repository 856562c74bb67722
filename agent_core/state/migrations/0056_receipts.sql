-- What the person reads about the changes that a tool call made: pairs of a line and its undo command.
ALTER TABLE steps ADD COLUMN receipts TEXT NOT NULL DEFAULT '[]';
