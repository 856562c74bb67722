-- The failed runs of a job on a day of the calendar.
CREATE INDEX job_runs_failed ON job_runs (job_id, slot_at) WHERE state = 'failed';
