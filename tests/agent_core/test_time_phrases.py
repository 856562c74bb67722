"""Times as people and models say them, and what they mean."""

from datetime import datetime

from agent_core.spoken_times import SpokenTime, read_when
from tests.tables import check_each

NOW = datetime(2026, 11, 29, 12, 0)
"""A Sunday."""
SAID = """
tomorrow at 9:00|at=2026-11-30T09:00
tomorrow 9:00|at=2026-11-30T09:00
9:00 tomorrow|at=2026-11-30T09:00
at 9 tomorrow|at=2026-11-30T09:00
tomorrow at 9 am|at=2026-11-30T09:00
tomorrow 7pm|at=2026-11-30T19:00
7pm tomorrow|at=2026-11-30T19:00
Tomorrow at 9:00 AM.|at=2026-11-30T09:00
tomorrow morning|at=2026-11-30T08:00
tomorrow morning at 9|at=2026-11-30T09:00
tomorrow evening at 7|at=2026-11-30T19:00
tomorrow at 7 in the evening|at=2026-11-30T19:00
tomorrow afternoon|at=2026-11-30T15:00
tonight|at=2026-11-29T20:00
tonight at 9|at=2026-11-29T21:00
tonight at nine|at=2026-11-29T21:00
this evening at 18:30|at=2026-11-29T18:30
this evening|at=2026-11-29T20:00
today at 18:30|at=2026-11-29T18:30
at 18:30|at=2026-11-29T18:30
18:30|at=2026-11-29T18:30
6:30 pm|at=2026-11-29T18:30
half past six tomorrow|at=2026-11-30T06:30
tomorrow at quarter to seven|at=2026-11-30T06:45
tomorrow noon|at=2026-11-30T12:00
friday|at=2026-12-04T09:00
friday at 15:30|at=2026-12-04T15:30
Friday 3pm|at=2026-12-04T15:00
next friday at 15:30|at=2026-12-04T15:30
on fri at 15:30|at=2026-12-04T15:30
friday evening|at=2026-12-04T20:00
friday afternoon at 3|at=2026-12-04T15:00
24 december at 18:00|at=2026-12-24T18:00
December 24 at 6pm|at=2026-12-24T18:00
Dec 24th, 18:00|at=2026-12-24T18:00
december 24, 2027 at 18:00|at=2027-12-24T18:00
24 December 2027 18:00|at=2027-12-24T18:00
24.12. um 18 Uhr|at=2026-12-24T18:00
am 24.12.2027 um 18:00|at=2027-12-24T18:00
2026-12-24|at=2026-12-24T09:00
2026-12-24 18:00|at=2026-12-24T18:00
2026-12-24T18:00|at=2026-12-24T18:00
2026-12-24T18:00:00|at=2026-12-24T18:00
18:00 on 2026-12-24|at=2026-12-24T18:00
in 20 minutes|in=20
in twenty minutes|in=20
20 minutes from now|in=20
two hours from now|in=120
in half an hour|in=30
in an hour|in=60
in an hour and a half|in=90
in 1.5 hours|in=90
in 2 hours and 15 minutes|in=135
in 2 days|in=2880
in 3 days at 10:00|at=2026-12-02T10:00
in a week at 9|at=2026-12-06T09:00
every monday at 19:00|cron=0 19 * * 1
every monday 19:00|cron=0 19 * * 1
every Monday at 7 pm|cron=0 19 * * 1
mondays at 19:00|cron=0 19 * * 1
on mondays and thursdays at 7|cron=0 7 * * 1,4
every monday and thursday at 7|cron=0 7 * * 1,4
every mon, wed and fri at 7:30|cron=30 7 * * 1,3,5
19:00 every monday|cron=0 19 * * 1
weekly on monday at 9:00|cron=0 9 * * 1
every week on monday at 9:00|cron=0 9 * * 1
every day at 22:00|cron=0 22 * * *
daily at 22:00|cron=0 22 * * *
daily 22:00|cron=0 22 * * *
at 22:00 every day|cron=0 22 * * *
22:00 daily|cron=0 22 * * *
every day|cron=0 9 * * *
every morning|cron=0 8 * * *
every morning at 7|cron=0 7 * * *
every evening|cron=0 20 * * *
every evening at 7|cron=0 19 * * *
every day at 7 in the evening|cron=0 19 * * *
every weekday at 8:15|cron=15 8 * * 1-5
weekdays at 8:15|cron=15 8 * * 1-5
on weekdays at 8:15 am|cron=15 8 * * 1-5
every weekend at 10|cron=0 10 * * 6,0
weekends at 10:00|cron=0 10 * * 6,0
every 2 hours|every=120
every two hours|every=120
every hour|every=60
hourly|every=60
every half hour|every=30
every 90 minutes|every=90
on the 1st of every month at 10:00|cron=0 10 1 * *
on the first of every month at 10|cron=0 10 1 * *
the first day of each month at 10:00|cron=0 10 1 * *
every month on the 15th at 9:00|cron=0 9 15 * *
monthly on the 15th at 9:00|cron=0 9 15 * *
on day 15 of every month at 09:00|cron=0 9 15 * *
the last workday of every month at 16:00|cron=0 16 LW * *
the last day of every month at 16:00|cron=0 16 L * *
the first monday of every month at 9:00|cron=0 9 * * 1#1
the last friday of the month at 17:00|cron=0 17 * * 5L
every year on 24 december at 9:00|cron=0 9 24 12 *
every year on December 24 at 9:00|cron=0 9 24 12 *
yearly on 24 december at 9:00|cron=0 9 24 12 *
morgen um 7 Uhr|at=2026-11-30T07:00
morgen 7 Uhr|at=2026-11-30T07:00
morgen früh|at=2026-11-30T08:00
morgen abend um 8|at=2026-11-30T20:00
heute abend um 8|at=2026-11-29T20:00
übermorgen um 10|at=2026-12-01T10:00
jeden montag um 19 Uhr|cron=0 19 * * 1
montags um 19 Uhr|cron=0 19 * * 1
jeden tag um 9|cron=0 9 * * *
jede stunde|every=60
alle 2 stunden|every=120
in zwei stunden|in=120
in einer halben stunde|in=30
nächsten freitag um 10 uhr|at=2026-12-04T10:00
am 24. dezember um 18 uhr|at=2026-12-24T18:00
every 24 december at 9|cron=0 9 24 12 *
at 7 in the evening|at=2026-11-29T19:00
7 in the evening|at=2026-11-29T19:00
tomorrow night|at=2026-11-30T21:00
every day at noon|cron=0 12 * * *
at noon|at=2026-11-30T12:00
every friday afternoon|cron=0 15 * * 5
at 9:30 every weekday|cron=30 9 * * 1-5
at 3 pm on friday|at=2026-12-04T15:00
on friday, 10:00|at=2026-12-04T10:00
at 5|at=2026-11-29T17:00
at 5:30|at=2026-11-29T17:30
um 7 Uhr|at=2026-11-29T19:00
today at 5|at=2026-11-29T17:00
at 05:30|at=2026-11-30T05:30
at 7 in the morning|at=2026-11-30T07:00
um 5 uhr morgens|at=2026-11-30T05:00
um 8 uhr abends|at=2026-11-29T20:00
this morning at 7|at=2026-11-29T07:00
in a fortnight|in=20160
in two and a half hours|in=150
in zweieinhalb Stunden|in=150
christmas eve at 6pm|at=2026-12-24T18:00
every Christmas Eve at 18:00|cron=0 18 24 12 *
am 1. Weihnachtstag|at=2026-12-25T09:00
25/12 at 8|at=2026-12-25T08:00
12/25/26 at 8|at=2026-12-25T08:00
3/4/2027 at 9|
a week from friday|at=2026-12-11T09:00
friday week|at=2026-12-11T09:00
Sonntag in einer Woche|at=2026-12-06T09:00
am Dienstag in zwei Wochen um 8|at=2026-12-15T08:00
übernächsten Freitag|at=2026-12-11T09:00
next week on Tuesday|at=2026-12-01T09:00
Tuesday next week at 10|at=2026-12-01T10:00
übernächste Woche am Dienstag|at=2026-12-08T09:00
this weekend at 10|at=2026-12-05T10:00
am 3.4.|at=2027-04-03T09:00
am 30.2.|cron=0 9 30 2 *
in 3 months|at=2027-02-28T09:00
in einem Jahr um 10|at=2027-11-29T10:00
on the 15th|at=2026-12-15T09:00
am 31. um 10|at=2026-12-31T10:00
tomorow at 9|at=2026-11-30T09:00
wendesday at 10|at=2026-12-02T10:00
donerstag um 9|at=2026-12-03T09:00
montage um 9|
soon|
next week|
when it rains|
tomorrow at 25:00|
31 february at 10:00|cron=0 10 31 2 *
"""
ROWS = [tuple(line.split("|")) for line in SAID.strip().split("\n")]


def show(timing: SpokenTime | None) -> str:
    if timing is None:
        return ""
    if timing.at or timing.cron:
        return f"at={timing.at}" if timing.at else f"cron={timing.cron}"
    return f"in={timing.in_minutes}" if timing.in_minutes else f"every={timing.every_minutes}"


def test_words_for_a_time_mean_what_people_mean() -> None:
    assert len(ROWS) > 120

    def check(row: tuple[str, ...]) -> None:
        words, meaning = row
        assert show(read_when(words, NOW)) == meaning

    check_each(ROWS, check)
