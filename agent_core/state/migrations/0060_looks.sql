-- Whether a look-up for the message was begun: by this process ('begun'), or by one that was killed ('cut').
ALTER TABLE outbox ADD COLUMN look TEXT NOT NULL DEFAULT 'none' CHECK (look IN ('none', 'begun', 'cut'));
