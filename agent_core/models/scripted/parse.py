"""Parse a person's message into a command for the stand-in; pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from agent_core.models.scripted.commands import (
    AnythingElse,
    AskWhen,
    CancelAll,
    ChangeSetting,
    Count,
    Courtesy,
    Forget,
    LeaveIt,
    ManageJob,
    NoTime,
    Remember,
    Remind,
    Search,
    ShowHelp,
    ShowJobs,
    ShowMemory,
    StandInCommand,
    TellTime,
    Think,
)
from agent_core.models.scripted.reminders import (
    ME,
    find_unread,
    leave_out_please,
    names_other_day,
    read_reminder,
    read_untimed,
)
from agent_core.spoken_settings import read_introduction, read_settings

_MOST_NUMBERS = 1000
_LONGEST_THOUGHT = 600
"""The largest number to count to, and the longest time to think in seconds."""
_LONGEST_COMMAND = 4000
"""Characters; a longer message is a text, not a command."""
_POLITE = (
    r"(?:(?:please|bitte|hey|hi|hallo|ok|now|jetzt|can you|could you|would you|will you|kannst du"
    r"|könntest du|i want you to|i['’]?d like you to)[\s,]+)*"
)
_NEVER_MIND = (
    r"(?:no|nope|never ?mind|forget it|not at all|nein|nö|egal|schon gut|vergiss es|lass es)"
    r"(?:,? (?:thanks|thank you|danke))?"
)
_SHOW = (
    r"what (?:do|did) you (?:know|remember|have (?:noted|stored))(?: (?:about|of) (?:me|us))?",
    r"what have you (?:remembered|noted|learned)(?: (?:about|of) me)?",
    r"(?:show|list|tell)(?: me)? (?:your|my|the) (?:memory|memories|notes)",
    r"(?:show|list) (?:memory|memories|notes)",
    r"was wei(?:ß|ss)t du über mich",
)
_OF = r"(?: (?:about|of|regarding))? (?P<q>.+)"
_SEARCH = (
    r"(?:recall|search(?: for)?|find|look up|look for)(?: what (?:i|we) said)?" + _OF,
    r"(?:do you (?:remember|recall|know) )?(?:what|when|where) did (?:i|we) "
    r"(?:say|tell(?: you)?|write|mention|talk)" + _OF,
    r"(?:do you (?:remember|recall|know) )(?:what|when|where) (?:i|we) "
    r"(?:said|told(?: you)?|wrote|mentioned|talked)" + _OF,
    r"was habe? ich (?:über|zu[mr]?) (?P<q>.+) (?:gesagt|erzählt|geschrieben)",
)
_ABOUT_ME = (
    (r"(?:remember|note|keep)(?: this)? about me(?: that)?[:,]? (?P<t>.+)", "{}"),
    (r"(?:remember(?: that)? )?my name is (?P<t>.+)", "Name: {}"),
    (r"(?:ich heiße|mein name ist) (?P<t>.+)", "Name: {}"),
    (r"(?:remember to )?(?:please )?call me (?P<t>.+)", "Wants to be called {}"),
    (r"nenne? mich (?:bitte )?(?P<t>.+)", "Möchte {} genannt werden"),
)
_REMEMBER = (
    r"(?:remember|memorize|memorise|keep in mind|note(?: down)?|don['’]?t forget|do not forget|"
    r"merke? dir)(?: this)?,?(?: that|(?P<clause> dass))?[:,]? (?P<t>.+)"
)
_CLAUSE = r"(?P<who>ich|wir|du|er|sie|es|man) (?P<what>[^,;:.!?]+) (?P<verb>\w+)[.!]?"
"""A German clause after "dass" whose verb stands at its end."""
_FORGET = r"(?:forget|unlearn|vergiss)(?: about| that| this)?[:,]? (?P<t>.+)"
_COUNT = (
    r"(?:count(?: up)?(?: slowly)?(?: from (?:1|one))? (?:up )?to"
    r"|zähle?(?: mal)?(?: langsam)?(?: von (?:1|eins))? bis) (?P<n>\d{1,6})"
)
_THINK = (
    r"(?:think (?:for )?|denke? (?:mal )?)(?P<n>\d{1,4}(?:\.\d+)?) ?"
    r"(?P<unit>s|secs?|seconds?|sekunden?|m|mins?|minutes?|minuten?)?(?: (?:lang )?nach)?"
)
_JOBS = (
    r"(?:(?:show|list|tell)(?: me)?(?: all)?(?: my| your| the)? (?:jobs|reminders|schedule)|"
    r"(?:what|which) reminders (?:do i have|are there|are set)(?: .+)?|(?:my )?reminders|"
    r"zeige?(?: mir)?(?: alle)?(?: meine)? (?:erinnerungen|jobs)|(?:meine )?erinnerungen|"
    r"(?:welche|was für) erinnerungen (?:habe? ich|gibt es|stehen an)(?: .+)?)"
)
_KEEP_OUT = r"(?:(?:the|my|die|den|das|meine|meinen|mein) )?"
_CANCEL_ALL = (
    r"(?:cancel|delete|remove|clear|stop) all (?:of )?(?:my |the |your )?reminders"
    r"|(?:lösche?|streiche?|entferne?) (?:alle|sämtliche) ?(?:meine |die )?erinnerungen"
    r"|alle (?:meine )?erinnerungen (?:löschen|streichen|entfernen)"
)
_CANCEL = (
    r"stop reminding (?:me|us) (?:to|about|of) (?P<t>.+)",
    r"erinnere? (?:mich|uns) nicht (?:mehr|länger) (?:an|ans) (?:die |den |das )?(?P<t>.+)",
    rf"(?:cancel|delete|remove) {_KEEP_OUT}(?:reminder (?:about|for|to) )?(?P<t>.+?)(?: reminder)?",
    (
        rf"(?:lösche?|streiche?) {_KEEP_OUT}(?:erinnerung an (?:die |den |das )?)?(?P<t>.+?)"
        r"(?:[- ]?erinnerung)?"
    ),
)
_OF_REMINDER = r"(?:[- ]?(?:reminder|erinnerung))?"
_PAUSE: Mapping[Literal["pause", "resume"], Sequence[str]] = {
    "pause": (rf"(?:pause|pausiere?) {_KEEP_OUT}(?P<t>.+?){_OF_REMINDER}",),
    "resume": (
        rf"(?:resume|unpause) {_KEEP_OUT}(?P<t>.+?){_OF_REMINDER}",
        rf"(?:setze?|führe?) {_KEEP_OUT}(?P<t>.+?){_OF_REMINDER} fort",
    ),
}
_MOVE = (
    rf"(?:move|change|shift|reschedule|push) {_KEEP_OUT}(?P<t>.+?)(?: reminder)? to (?P<w>.+)",
    rf"(?:verschiebe?|lege?) {_KEEP_OUT}(?P<t>.+?) auf (?P<w>.+)",
)
_HELP = (
    r"(?:help(?: me)?|hilfe|was kannst du(?: alles)?|what can (?:you|i) do(?: for me)?"
    r"|how does this work|commands)"
)


_COURTESIES: Mapping[Literal["hello", "thanks", "fine"], str] = {
    "hello": r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|moin|servus|guten (?:morgen"
    r"|tag|abend))(?: (?:there|talaria|zusammen))?",
    "thanks": r"(?:thanks?|thank you|thx|ty|many thanks|danke|dankeschön|vielen lieben dank"
    r"|(?:vielen|herzlichen|besten|lieben) dank|merci)(?: (?:a lot|so much|you|schön|dir|euch|sehr"
    r"|vielmals|very much))*",
    "fine": r"(?:ok|okay|fine|great|cool|perfect|super|good|gut|alles klar|passt|schön|prima|bye"
    r"|good night|gute nacht|tschüss|tschüß)",
}
_TIME = r"(?:what time is it(?: now)?|what['’]?s the time|wie spät ist es|wie viel uhr ist es)"


def _read_setting(words: str) -> ChangeSetting | None:
    """Read a wish for settings; the tool knows their values."""
    said = read_settings(words)
    return ChangeSetting(name=said[0].name, value=said[0].value, more=said[1:]) if said else None


def _read_courtesy(line: str, now: datetime | None) -> StandInCommand | None:
    """Read a greeting, thanks, or the question what time it is."""
    if now and _match(_TIME, line):
        return TellTime(at=now)
    return next(
        (
            Courtesy(kind=kind, words=line)
            for kind, said in _COURTESIES.items()
            if _match(said, line.rstrip(" ,"))
        ),
        None,
    )


def read_answer(words: str, wish: AskWhen, now: datetime | None) -> Remind | LeaveIt | None:
    """Return the reminder of a wish, if these words name its time; or that it is taken back."""
    line = " ".join(words.split()).rstrip("?!. ")
    if _match(_NEVER_MIND, line):
        return LeaveIt()
    planned = read_reminder(f"remind me {line} to {wish.text}", _match, now)
    return planned if planned and planned.text == wish.text else None


def read_commands(words: str, now: datetime | None = None) -> tuple[StandInCommand, ...]:
    """Return the commands in a message: several only in one that introduces its person."""
    told = read_introduction(words) if len(words) <= _LONGEST_COMMAND else None
    if told is None:
        return (read_command(words, now),)
    first, *more = told.settings
    setting = ChangeSetting(name=first.name, value=first.value, more=tuple(more))
    return (setting, read_command(told.clause, now))


def read_command(words: str, now: datetime | None = None) -> StandInCommand:
    """Return the command in a message; `now` is the time on the person's clock, if known."""
    if len(words) > _LONGEST_COMMAND:
        return AnythingElse(words=words.strip())
    line = " ".join(words.split()).rstrip("?!. ")
    if _match(_HELP, line):
        return ShowHelp()
    if any(_match(pattern, line) for pattern in _SHOW):
        return ShowMemory()
    if understood := _read_courtesy(line, now) or _read_setting(words):
        return understood
    if _match(_JOBS, line):
        return ShowJobs(now=now)
    plain = leave_out_please(line)
    if managed := _read_management(plain):
        return managed
    if planned := read_reminder(line, _match, now):
        return replace(planned, text=_unquote(planned.text))
    if untimed := read_untimed(line, _match):
        return AskWhen(text=_unquote(untimed))
    if _match(rf"(?:.+ )?{ME} .+", line):
        read, unread = find_unread(line, _match, now)
        is_day = names_other_day(read, unread, now)
        read = read if unread else ""
        return NoTime(words=words.strip(), read=read, unread=unread, is_day=is_day)
    for pattern in _SEARCH:
        if found := _match(pattern, line):
            return Search(query=_unquote(found["q"]))
    for pattern, form in _ABOUT_ME:
        if found := _match(pattern, line):
            return Remember(target="user", text=form.format(_unquote(found["t"])))
    if found := _match(_REMEMBER, line):
        kept = _unquote(found["t"])
        return Remember(target="memory", text=_as_sentence(kept) if found["clause"] else kept)
    if found := _match(_FORGET, line):
        return Forget(words=_unquote(found["t"]))
    if found := _match(_COUNT, line):
        return Count(to=max(1, min(int(found["n"]), _MOST_NUMBERS)))
    if found := _match(_THINK, line):
        scale = 60 if (found["unit"] or "s").startswith("m") else 1
        return Think(seconds=min(float(found["n"]) * scale, _LONGEST_THOUGHT))
    return AnythingElse(words=words.strip())


def _read_management(line: str) -> StandInCommand | None:
    """Read a wish to delete, move, pause or resume reminders."""
    if _match(_CANCEL_ALL, line):
        return CancelAll()
    for pattern in _MOVE:
        if found := _match(pattern, line):
            return ManageJob(action="change", words=_unquote(found["t"]), when=found["w"])
    for pattern in _CANCEL:
        if found := _match(pattern, line):
            return ManageJob(action="delete", words=_unquote(found["t"]))
    for action, patterns in _PAUSE.items():
        for pattern in patterns:
            if found := _match(pattern, line):
                return ManageJob(action=action, words=_unquote(found["t"]))
    return None


def _match(pattern: str, line: str) -> re.Match[str] | None:
    return re.fullmatch(_POLITE + pattern, line, re.IGNORECASE)


def _as_sentence(clause: str) -> str:
    """Turn "ich Tee mag", the words after "dass", into "ich mag Tee"; other words stay."""
    found = re.fullmatch(_CLAUSE, clause, re.IGNORECASE)
    return f"{found['who']} {found['verb']} {found['what']}" if found else clause


def _unquote(text: str) -> str:
    """Remove the quotation marks around a text."""
    bare = text.strip()
    if len(bare) > 2 and bare[0] + bare[-1] in ('""', "''", "“”", "‘’", "„“", "«»"):
        return bare[1:-1].strip()
    return bare
