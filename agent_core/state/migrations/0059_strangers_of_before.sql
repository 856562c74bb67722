-- Owners were told of each stranger that wrote before 2026-11-30, when `told_at` came.
UPDATE strangers SET told_at = last_at WHERE told_at IS NULL AND last_at < 1795996800000;
