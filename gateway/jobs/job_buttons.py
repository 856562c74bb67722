"""The buttons below a job: each sends a command."""

from agent_core.state.conversations.questions import Choice
from agent_core.state.jobs.jobs import Job
from gateway.outbound.command_buttons import stand_for
from gateway.texts import jobs as job_texts


def make_job_buttons(job: Job) -> tuple[Choice, ...]:
    """Return the buttons that pause or resume a job, run it now, and delete it."""
    if job.state == "paused":
        label = job_texts.RESUME_NUMBER(number=job.id)
        first = stand_for(f"jobs resume {job.id}", label, "good")
    else:
        first = stand_for(f"jobs pause {job.id}", job_texts.PAUSE_NUMBER(number=job.id))
    return (
        first,
        stand_for(f"jobs run {job.id}", job_texts.RUN_NUMBER(number=job.id)),
        stand_for(f"jobs drop {job.id}", job_texts.DROP_NUMBER(number=job.id), "danger"),
    )
