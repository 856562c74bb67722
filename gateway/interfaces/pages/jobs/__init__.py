"""The pages about jobs: the list, the calendar, and the forms that change a job."""

from gateway.interfaces.pages.jobs.calendar import show_calendar
from gateway.interfaces.pages.jobs.editing import change, put_back, show_job
from gateway.interfaces.pages.jobs.listing import act, show

__all__ = ["act", "change", "put_back", "show", "show_calendar", "show_job"]
