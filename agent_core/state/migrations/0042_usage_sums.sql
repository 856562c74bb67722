-- Sums of model calls by quarter of an hour, for charts of the last weeks; `person_id` 0 is everyone.
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
INSERT INTO usage_sums
SELECT person_id, created_at / 900000, purpose, model, COUNT(*), SUM(input_tokens),
    SUM(cache_read_tokens), SUM(cache_write_tokens), SUM(output_tokens),
    COALESCE(SUM(micro_dollars), 0), SUM(CASE WHEN micro_dollars IS NULL
        THEN input_tokens + cache_read_tokens + cache_write_tokens + output_tokens ELSE 0 END)
FROM usage WHERE created_at >= (SELECT MAX(created_at) FROM usage) - 3456000000
GROUP BY 1, 2, 3, 4;
INSERT INTO usage_sums
SELECT 0, quarter, purpose, model, SUM(calls), SUM(input_tokens), SUM(cache_read_tokens),
    SUM(cache_write_tokens), SUM(output_tokens), SUM(micro_dollars), SUM(unpriced_tokens)
FROM usage_sums GROUP BY quarter, purpose, model;
