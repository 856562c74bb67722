-- How often a person gets one summary of what was learned; "" for a message after each review.
ALTER TABLE people ADD COLUMN learning_summary TEXT NOT NULL DEFAULT ''
    CHECK (learning_summary IN ('', 'daily', 'weekly'));
