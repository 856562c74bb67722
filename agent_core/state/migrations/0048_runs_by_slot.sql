-- The newest runs of a job, and its first runs on each day of the calendar.
CREATE INDEX job_runs_by_job ON job_runs (job_id);
CREATE INDEX job_runs_by_slot ON job_runs (job_id, slot_at);
