"""Read words for a calendar rule, such as "half an hour before sunset on Fridays, ten times". Pure.

`spoken_times` reads single moments and plain repetitions; these are what a cron expression can't
say: several times of a day, times of the sun, steps within hours, several weekdays of a month,
working days, days that are left out, and an end.
"""

import re
from datetime import date, datetime, timedelta
from typing import Any

from agent_core.spoken_times import DAY_NAMES, PLACES, name_days, number_of, read_when
from agent_core.time_phrases import MONTHS, rewrite

Fields = dict[str, Any]
"""The fields of a job that say when it is due."""

_MONTH = "|".join(name for names in MONTHS for name in names)
_NOT = (
    r",? (?:except(?: for)?|but not|but|not|apart from|other than|außer|ausser|nicht|ausgenommen"
    r"|bis auf)"
)
_HOLIDAYS = re.compile(
    rf"{_NOT} (?:on |at |an |am )?(?:public |bank )?(?:holidays|feiertagen|feiertags)$"
)
_LEFT_OUT = re.compile(
    rf"{_NOT} (?:from|vom|von) (?P<first>.+?) (?:to|until|bis)(?: zum)? (?P<last>.+)$"
)
_COUNT = re.compile(r",? (?P<count>\d{1,4}) ?(?:times|mal)$")
_UNTIL = re.compile(r",? (?:until|bis)(?: zum)? (?P<end>.+)$")
_LASTS = re.compile(
    r",? (?:(?:for|für) (?:the next |die nächsten )?(?P<n>\d{1,3}|an?|eine[nm]?)"
    r" (?P<unit>(?:day|week|month|year|tag|woche|monat|jahr)(?:s|e|en|n)?)"
    r"|(?P<anzahl>\d{1,3}|eine[nm]?)"
    r" (?P<einheit>(?:tag|woche|monat|jahr)(?:e|en|n)?) lang)$"
)
"""How long a repetition lasts: "for two weeks"."""
_PERIOD_END = re.compile(
    r"(?:the )?end of (?:the|this) (?P<period>month|year)"
    r"|ende (?:des|dieses) (?P<zeit>monat|jahr)e?s|(?P<kurz>monats|jahres)ende"
)
_MONTH_END = re.compile(rf"(?:the )?(?:end of|ende) (?P<month>{_MONTH})")
_SUN = re.compile(
    r"(?:(?P<earlier>.+?),? )??"
    r"(?:(?P<n>\d{1,3}|an?|half an|eine|eine halbe) (?P<unit>min\w*|hours?|stunden?)"
    r" (?P<side>before|after|vor|nach) |(?:at|bei) )?"
    r"(?P<event>sunset|sunrise|sonnenuntergang|sonnenaufgang)(?:,? (?P<days>.+))?"
)
_HOUR = r"(?:\d{1,2}(?:[:.]\d\d)?)(?: ?[ap]\.?m\b\.?| uhr)?"
_STEPS = re.compile(
    rf"(?:every|alle) (?P<n>\d{{1,3}}) (?P<unit>min\w*|hours?|stunden?)"
    rf" (?:between|from|zwischen|von) (?:at |um )?(?P<first>{_HOUR})"
    rf" (?:and|to|until|till|und|bis) (?:at |um )?(?P<last>{_HOUR})"
    r"(?:,? (?P<days>.+))?"
)
_CLOCK = rf"(?: (?:at|um) {_HOUR}| (?:at |um )?(?:noon|midnight|mittag|mitternacht))"
_SEVERAL = re.compile(
    rf"(?P<days>.*?) ?(?:at|um) (?P<clocks>{_HOUR}(?:(?:, and |, und |, | and | und )(?:at |um )?"
    rf"{_HOUR})+)"
)
_EACH_CLOCK = re.compile(_HOUR)
_DAY = "|".join(DAY_NAMES)
_WEEKDAYS = rf"(?:{_DAY}|weekend|wochenende)s?"
_LEFT_OUT_DAYS = re.compile(
    rf"(?P<days>.+?){_NOT} (?:on |am |an |at |the |den |dem )*"
    rf"(?P<without>{_WEEKDAYS}(?:(?:, and |, | and | und | or | oder )(?:on |am )?{_WEEKDAYS})*)"
    rf"(?P<clock>,?{_CLOCK})?"
)
_PLACE = "|".join(name for names in PLACES for name in names)
_SEVERAL_PLACES = re.compile(
    rf"(?:on |am |an )?(?:the |every |each |jede[nrms]? )?(?P<places>(?:{_PLACE})(?:[nrs]|\.)?"
    rf"(?:(?:, and |, | and | und )(?:the |every |am |jeden )?(?:{_PLACE})(?:[nrs]|\.)?)+)"
    rf" (?P<weekday>{_DAY})s?"
    rf"(?: (?:of|in) (?:(?:the|every|each|a) )?month| (?:im|des|(?:in )?jede[mns]|eines) monats?)?"
    rf"(?P<clock>{_CLOCK})?"
)
_PLACE_NAME = re.compile(_PLACE)
_DATE = r"(?:the |den )?\d{1,2}(?:st|nd|rd|th|\.)?"
_SEVERAL_DATES = re.compile(
    rf"(?:on |am )?(?:every |jeden )?(?P<dates>{_DATE}(?:(?:, and |, und |, | and | und ){_DATE})+)"
    r" (?:(?:of|in) (?:the|each|every) month|(?:des|jeden|jedes|im|eines) monats?)"
    rf"(?P<clock>{_CLOCK})?"
)
_BEFORE_DATE = re.compile(
    r"(?:on |am )?(?P<n>\d{1,3}|an?|one|the|einen?|eine[mn]?|ein)? ?"
    r"(?P<unit>days?|weeks?|tage?n?|wochen?) (?:before|vor) (?:the |dem |den )?(?P<date>.+?)"
    rf"(?P<clock>{_CLOCK})?"
)
_PLACED = re.compile(
    r"(?:on |am )?(?:the )?(?P<which>first|1st|erste[nr]?|last|letzte[nr]?)"
    r" (?P<work>work(?:ing )?|business |arbeits|werk)?(?:day|tag) "
    r"(?:(?:of|in) (?:the|each|every) month|(?:des|jeden|jedes|im|eines) monats?)(?P<clock> .+)?"
)
_BEFORE_END = re.compile(
    r"(?P<n>\d{1,2}) (?:days?|tage?) (?:before the (?:month ends|end of (?:the|each) month)"
    r"|vor (?:dem )?monatsende)(?P<clock> .+)?"
)
_WORKING_DAYS = "BYDAY=MO,TU,WE,TH,FR"
_BARE_HOUR = re.compile(r"\d{1,2}(?:[:.]\d\d)?(?: uhr)?")
_ANY_DAY = datetime(2000, 1, 1)
_USUAL = "09:00"
_LAST_DAY = 31
_PLAIN = re.compile(r"(\d+) (\d+) (\d+|\*|L|LW) (\d+|\*) (\*|[\d,#-]+L?)")
_NUMBERED = re.compile(r"(\d)(?:#(\d)|(L))?")
_DAYS = ("SU", "MO", "TU", "WE", "TH", "FR", "SA", "SU")
_EVERY_DAY_OF_WEEK = {"FREQ=DAILY": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR,SA,SU"}
_SUN_NAMES = {"sonnenuntergang": "sunset", "sonnenaufgang": "sunrise"}


def read_spoken(words: str, now: datetime) -> Fields | None:
    """Return the fields that words for a time mean, by any reader; None for other words."""
    return speak(words, now) or read_several(words, now) or read_rule(words, now)


def speak(words: str, now: datetime) -> Fields | None:
    """Return the fields of a single moment or a plain repetition; see `spoken_times`."""
    spoken = read_when(words, now)
    if spoken is None:
        return None
    fields: Fields = {
        "at": spoken.at,
        "cron": spoken.cron,
        "in_minutes": spoken.in_minutes,
        "every_minutes": spoken.every_minutes,
        "rule": spoken.rule,
        "times": (spoken.times,) if spoken.times else (),
    }
    return {name: value for name, value in fields.items() if value}


def read_several(words: str, now: datetime) -> Fields | None:
    """Read "every day at 9 and 21:00"; None for days that don't repeat."""
    found = _SEVERAL.fullmatch(rewrite(words))
    if found is None:
        return None
    times = tuple(_read_clock(f" at {one}") for one in _EACH_CLOCK.findall(found["clocks"]))
    days = speak(f"{found['days'].strip(' ,') or 'today'} at 9:00", now)
    rule = make_rule(days["cron"]) if days and "cron" in days else days
    return {**rule, "times": times} if rule and "rule" in rule and all(times) else None


def read_rule(words: str, now: datetime) -> Fields | None:
    """Return the times, the rule and the limits that words mean; None for other words."""
    said = rewrite(words)
    plain, limits = _take_limits(said, now)
    if not limits and (at := _read_before(plain, now)):
        return {"at": at}
    readers = (_read_sun, _read_steps, _read_place, _read_places, _read_dates, _read_without)
    found = next((one for read in readers if (one := read(plain, now))), None)
    if found is None and limits:
        found = _read_repeated(plain, now)
    repeats = found is not None and ("rule" in found or "every_minutes" in found)
    if found and "until" in limits and _LASTS.search(said) and _comes_today(found, now):
        limits["until"] = f"{date.fromisoformat(limits['until']) - timedelta(days=1)}"
    return {**found, **limits} if found and repeats else None


def _comes_today(found: Fields, now: datetime) -> bool:
    """Return whether the first time of day is still to come."""
    return bool(min(found.get("times", ("",))) > f"{now:%H:%M}")


def make_rule(cron: str) -> Fields | None:
    """Return the calendar rule of a plain cron expression, which limits may follow."""
    found = _PLAIN.fullmatch(cron)
    if found is None:
        return None
    minute, hour, day, month, weekdays = found.groups()
    times = {"times": (f"{int(hour):02}:{int(minute):02}",)}
    in_month = "" if month == "*" else f";BYMONTH={month}"
    frequency = "YEARLY" if in_month else "MONTHLY"
    if weekdays == "*":
        if day == "LW":
            return {**times, "rule": f"FREQ={frequency}{in_month};BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1"}
        number = "-1" if day == "L" else day
        plain = f"FREQ=DAILY{in_month}" if day == "*" else ""
        return {**times, "rule": plain or f"FREQ={frequency}{in_month};BYMONTHDAY={number}"}
    if day != "*" or in_month:
        return None
    if numbered := _NUMBERED.fullmatch(weekdays):
        place = numbered[2] or ("-1" if numbered[3] else "")
        name = _DAYS[int(numbered[1])]
        return {**times, "rule": f"FREQ={'MONTHLY' if place else 'WEEKLY'};BYDAY={place}{name}"}
    return {**times, "rule": f"FREQ=WEEKLY;BYDAY={name_days(weekdays)}"}


def _read_repeated(words: str, now: datetime) -> Fields | None:
    """Read a plain time; its days are a rule where they repeat."""
    found = speak(words, now) or read_several(words, now)
    return make_rule(found["cron"]) if found and "cron" in found else found


def _take_limits(plain: str, now: datetime) -> tuple[str, Fields]:
    """Return words without the limits at their end, and the limits."""
    limits: Fields = {}
    while True:
        if found := _HOLIDAYS.search(plain):
            limits["skip"] = (*limits.get("skip", ()), "holidays")
        elif (found := _LEFT_OUT.search(plain)) and (span := _read_span(found, now)):
            limits["skip"] = (*limits.get("skip", ()), span)
        elif found := _COUNT.search(plain):
            limits["count"] = int(found["count"])
        elif ((found := _UNTIL.search(plain)) and (end := _read_end(found["end"], now))) or (
            (found := _LASTS.search(plain)) and (end := _reckon_end(found, now))
        ):
            limits["until"] = end
        else:
            return plain, limits
        plain = plain[: found.start()]


def _read_span(found: re.Match[str], now: datetime) -> str:
    first, last = _read_day(found["first"], now), _read_day(found["last"], now)
    if not first or not last:
        return ""
    if last < first:  # from December to January
        year = date.fromisoformat(last).year + 1
        last = f"{year}{last[4:]}"
    return f"{first}/{last}"


def _read_end(words: str, now: datetime) -> str:
    if period := _PERIOD_END.fullmatch(words):
        is_month = next(filter(None, period.groups())).startswith("mon")
        number = now.month if is_month else len(MONTHS)
    elif found := _MONTH_END.fullmatch(words):
        number = next(at for at, names in enumerate(MONTHS, 1) if found["month"] in names)
    else:
        return _read_day(words, now)
    year = now.year + (number < now.month)
    following = date(year + number // 12, number % 12 + 1, 1)
    return f"{following - timedelta(days=1)}"


def _reckon_end(found: re.Match[str], now: datetime) -> str:
    """Return the last day of "for two weeks", reckoned from tomorrow."""
    count, unit = found["n"] or found["anzahl"], found["unit"] or found["einheit"]
    return _read_day(f"in {count} {unit} at 9:00", now)


def _read_day(words: str, now: datetime) -> str:
    """Return the date that words name; "" for other words."""
    return ((speak(words, now) or {}).get("at") or "")[:10]


def _read_clock(words: str) -> str:
    """Return the time of day that words such as " at 9" name, `09:00`; "" for other words."""
    return ((speak(f"2000-01-01{words}", _ANY_DAY) or {}).get("at") or "")[11:16]


def _read_days(words: str | None, now: datetime) -> str | None:
    """Return the rule of days that repeat; None for others."""
    if not words:
        return "FREQ=DAILY"
    found = _read_repeated(f"{words} at 9:00", now) or {}
    return found.get("rule")


def _read_sun(plain: str, now: datetime) -> Fields | None:
    found = _SUN.fullmatch(plain)
    days = (found["earlier"] or found["days"]) if found else None
    rule = _read_days(days, now) if days else None
    if found is None or rule is None:
        return None
    event = _SUN_NAMES.get(found["event"], found["event"])
    if not found["n"]:
        return {"times": (event,), "rule": rule}
    minutes = _reckon(found["n"], found["unit"])
    sign = "-" if found["side"] in ("before", "vor") else "+"
    return {"times": (f"{event}{sign}{minutes}",), "rule": rule}


def _reckon(count: str, unit: str) -> int:
    """Return the minutes of "half an hour", "an hour" or "20 minutes"."""
    size = 1 if unit.startswith("min") else 60
    if count in ("half an", "eine halbe"):
        return size // 2
    return (int(count) if count.isdecimal() else 1) * size


def _read_steps(plain: str, now: datetime) -> Fields | None:
    found = _STEPS.fullmatch(plain)
    rule = _read_days(found["days"], now) if found else None
    if found is None or rule is None:
        return None
    first, last = (_read_clock(f" at {found[name]}") for name in ("first", "last"))
    if last <= first and _BARE_HOUR.fullmatch(found["last"]):  # "between 9 and 5"
        last = _read_clock(f" at {found['last']} pm")
    if not first or last <= first:
        return None
    return {"times": (f"{first}-{last}/{_reckon(found['n'], found['unit'])}",), "rule": rule}


def _read_place(plain: str, now: datetime) -> Fields | None:
    """Read the first or last day, or working day, of each month, and days before its end."""
    if found := _BEFORE_END.fullmatch(plain):
        days = f"BYMONTHDAY=-{int(found['n']) + 1}"
    elif found := _PLACED.fullmatch(plain):
        place = -1 if found["which"].startswith(("last", "letzt")) else 1
        is_work = found["work"] is not None
        days = f"{_WORKING_DAYS};BYSETPOS={place}" if is_work else f"BYMONTHDAY={place}"
    else:
        return None
    clock = _read_clock(found["clock"] or "")
    return {"times": (clock,), "rule": f"FREQ=MONTHLY;{days}"} if clock else None


def _read_places(plain: str, now: datetime) -> Fields | None:
    """Read several weekdays of each month: "the second and fourth Wednesday"."""
    del now
    found = _SEVERAL_PLACES.fullmatch(plain)
    clock = _read_clock(found["clock"]) if found and found["clock"] else _USUAL
    if found is None or not clock:
        return None
    day = _DAYS[number_of(found["weekday"])]
    named = _PLACE_NAME.findall(found["places"])
    places = [next(at for at, names in enumerate(PLACES, 1) if one in names) for one in named]
    days = ",".join(f"{-1 if at == len(PLACES) else at}{day}" for at in places)
    return {"times": (clock,), "rule": f"FREQ=MONTHLY;BYDAY={days}"}


def _read_dates(plain: str, now: datetime) -> Fields | None:
    """Read several days of each month: "the 1st and 15th of every month"."""
    del now
    found = _SEVERAL_DATES.fullmatch(plain)
    clock = _read_clock(found["clock"]) if found and found["clock"] else _USUAL
    days = [int(one) for one in re.findall(r"\d+", found["dates"])] if found else []
    if not clock or not days or not all(1 <= day <= _LAST_DAY for day in days):
        return None
    return {"times": (clock,), "rule": f"FREQ=MONTHLY;BYMONTHDAY={','.join(map(str, days))}"}


def _read_without(plain: str, now: datetime) -> Fields | None:
    """Read days of the week without some of them: "weekdays except Friday at 7"."""
    found = _LEFT_OUT_DAYS.fullmatch(plain)
    base = _read_repeated(f"{found['days']}{found['clock'] or ''}", now) if found else None
    if found is None or base is None or "rule" not in base:
        return None
    rule = str(base["rule"])
    rule = _EVERY_DAY_OF_WEEK.get(rule, rule)
    days = re.fullmatch(r"FREQ=WEEKLY;BYDAY=([A-Z,]+)", rule)
    if days is None:
        return None
    gone = _list_weekdays(found["without"])
    left = [day for day in days[1].split(",") if day not in gone]
    if not left or len(left) == len(days[1].split(",")):
        return None
    return {**base, "rule": f"FREQ=WEEKLY;BYDAY={','.join(left)}"}


def _list_weekdays(words: str) -> list[str]:
    named = [one.removesuffix("s") for one in re.findall(_WEEKDAYS, words)]
    weekend = ["SA", "SU"]
    return [
        day
        for one in named
        for day in (weekend if one in ("weekend", "wochenende") else [_DAYS[number_of(one)]])
    ]


def _read_before(plain: str, now: datetime) -> str:
    """Return the next moment of "two days before 24 December at 9"; "" for other words."""
    found = _BEFORE_DATE.fullmatch(plain)
    day = _read_day(found["date"], now) if found else ""
    clock = _read_clock(found["clock"]) if found and found["clock"] else _USUAL
    if found is None or not day or not clock:
        return ""
    count = int(found["n"]) if (found["n"] or "").isdecimal() else 1
    span = timedelta(weeks=count) if found["unit"].startswith("w") else timedelta(days=count)
    at = datetime.fromisoformat(f"{day}T{clock}") - span
    if at <= now.replace(tzinfo=None):
        later = _read_day(f"{found['date']}", now.replace(year=now.year + 1))
        at = datetime.fromisoformat(f"{later or day}T{clock}") - span
    return f"{at:%Y-%m-%dT%H:%M}" if at > now.replace(tzinfo=None) else ""
