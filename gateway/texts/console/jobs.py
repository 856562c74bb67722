"""Sentences of the pages about jobs: the calendar, the forms that change a job, and its undo."""

from collections.abc import Mapping

from agent_core.localization import Plural, Text

LIST = Text("List")
CALENDAR = Text("Calendar")
MONTH_OF = Text("{month} {year}")
WEEK_OF = Text("Week from {date}")
MONTH, WEEK = Text("Month"), Text("Week")
EARLIER, LATER = Text("Earlier"), Text("Later")
ABOUT_CALENDAR = Text("What ran, and what is planned. Times in {zone}.")
PLANNED = Text("planned")
RUNS_OF_DAY = Plural("{n} run", "{n} runs")
FAILED_OF_DAY = Plural("{n} failed", "{n} failed")
MORE_OF_DAY = Plural("and {n} more job", "and {n} more jobs")
MORE_ON = Plural("and {n} more job on {date}", "and {n} more jobs on {date}")
NO_ENTRIES = Text("Nothing ran here, and nothing is planned.")
DELETED_JOBS = Text("Deleted")
RESTORE = Text("Restore")
NO_UNDO_OF_RUN = Text("Each change can be undone, except a run: what it sent or did stays.")

CHANGE = Text("Change")
CHANGED = Text("The job is changed.")
NO_CHANGE = Text("Nothing was different, so nothing changed.")
VERSIONS = Text("Former versions")
ABOUT_VERSIONS = Text("What this job was before its last changes. Going back can be undone, too.")
UNTIL = Text("Until")
PUT_BACK = Text("Put back")
NO_MINUTES = Text("The interval is a number of minutes, like 90.")
WHAT, WHEN = Text("What it does"), Text("When it runs")
IN_WORDS = Text("In your own words")
ASK_TO_CHANGE = Text("Ask Talaria to change it, as in the chat")
WISH = Text("Change job {number} (“{title}”): ")
TITLE = Text("Title")
TEXT = Text("Text")
COMMAND = Text("Command")
ONLY_BY_COMMAND_LINE = Text("A command is changed with `talaria jobs change` only.")
SEND_TO = Text("Send to")
AS_NOW = Text("as now: {targets}")
HOME = Text("my home chat, or our latest direct conversation")
HINT_MODEL = Text("Its prompt runs with this model. Empty: the default.")
URGENT = Text("Also in quiet hours and on days off")
IF_MISSED = Text("If it misses runs")
LATE: Mapping[str, Text] = {
    "catch_up": Text("run the newest one late"),
    "skip": Text("skip them"),
    "all": Text("run all of them late"),
}
SCHEDULES: Mapping[str, Text] = {
    "times": Text("Times of day"),
    "every_minutes": Text("Interval"),
    "at": Text("Once"),
    "cron": Text("Cron"),
    "on": Text("Event"),
}
LABELS: Mapping[str, Text] = {
    "times": Text("Times"),
    "rule": Text("Days"),
    "skip": Text("Left out"),
    "starts": Text("From"),
    "until": Text("Until"),
    "place": Text("Place of the sun"),
    "every_minutes": Text("Minutes between two runs"),
    "at": Text("Date and time"),
    "cron": Text("Cron expression"),
    "on": Text("Event that starts it"),
    "zone": Text("Time zone"),
}
HINTS: Mapping[str, Text] = {
    "times": Text("Like 18:30, 09:00-17:00/90 (every 90 minutes), sunrise, sunset-30."),
    "rule": Text("An RRULE: FREQ=DAILY, or FREQ=WEEKLY;BYDAY=MO,FR. Empty: every day."),
    "skip": Text("Like 2026-12-24, 2026-12-24/2027-01-06, holidays, holidays:DE-BY."),
    "starts": Text("Like 2026-11-23 or 2026-11-23T08:00. Empty: at once."),
    "until": Text("The last day or time, included. Empty: no end."),
    "place": Text("Latitude and longitude, like 48.2,16.4. Empty: that of the time zone."),
    "at": Text("Like 2026-11-23T08:00."),
    "cron": Text("Minute, hour, day, month, weekday: 0 9 * * 1-5 is 09:00 from Monday to Friday."),
    "on": Text("Like after 12, message invoice, feed https://…, file *.pdf or webhook."),
    "zone": Text("The clock that it follows, like Europe/Vienna."),
}
