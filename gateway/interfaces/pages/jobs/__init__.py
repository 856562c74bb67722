"""The pages about jobs: the list, the calendar, and the forms that change a job."""
