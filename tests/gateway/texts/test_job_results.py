"""Sentences about reminders that did not come."""

from gateway.texts import job_results


def test_a_reminder_stopped_by_a_limit_says_when_it_is_tried_next() -> None:
    """A weekly one isn't due tomorrow."""
    told = job_results.describe_spent("Digest", "The limit is used up.", "Mon 30 Nov, 8:00")
    assert told.startswith("**Digest** didn't come: The limit is used up. Next try: Mon 30 Nov,")
    once = job_results.describe_spent("Digest", "The limit is used up.", "")
    assert once.endswith("Ask me again if you still want it.")
