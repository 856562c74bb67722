"""What sentences about events become, and how they are refused, stored and shown."""

import json
from dataclasses import dataclass

import fastjsonschema
import pytest

from agent_core.errors import ToolArgumentError
from agent_core.localization import use_language
from agent_core.schedule.descriptions import describe_next, describe_timing
from agent_core.schedule.job_fields import JobFields, read_fields
from agent_core.schedule.occurrences import first_slot, last_slot
from agent_core.schedule.requests import check_feed, read_request
from agent_core.schedule.said_times import fill_in
from agent_core.schedule.specs import SCHEDULE_JOB
from agent_core.schedule.triggers import (
    EventKind,
    OnEvent,
    dump_timing,
    load_timing,
    read_event,
)
from agent_core.schedule.wall_clock import find_zone
from agent_core.state.jobs.jobs import Options, Target

VIENNA = find_zone("Europe/Vienna")
NOW = 1_795_000_000_000
_validate = fastjsonschema.compile(json.loads(SCHEDULE_JOB.schema))


@dataclass(frozen=True)
class Happening:
    """A sentence, the `on` of its call, the event that it means, and how the person reads it."""

    text: str
    on: str
    kind: EventKind
    value: str
    meaning: str
    language: str = "en"


UNDERSTOOD = (
    Happening("after that", "after 3", "after", "3 done", "After reminder 3 is done"),
    Happening("when job 3 has run", "after job 3", "after", "3 done", "After reminder 3 is done"),
    Happening("if job #3 fails", "After #3 FAILED", "after", "3 failed", "After reminder 3 fails"),
    Happening(
        "once 3 ends, either way",
        "after 3 ended",
        "after",
        "3 ended",
        "After reminder 3 is done or has failed",
    ),
    Happening("whenever I write", "message", "message", "", "Whenever a message arrives"),
    Happening(
        "whenever I mention a new invoice",
        "message  new  invoice",
        "message",
        "new invoice",
        "Whenever a message contains “new invoice”",
    ),
    Happening(
        "when my deploy calls you",
        "webhook",
        "webhook",
        "",
        "Whenever a program calls this reminder's web address",
    ),
    Happening(
        "when https://example.org/feed has something new",
        "feed https://example.org/feed",
        "feed",
        "https://example.org/feed",
        "Whenever https://example.org/feed has something new",
    ),
    Happening("when a PDF arrives", "file *.pdf", "file", "*.pdf", "Whenever a file *.pdf arrives"),
    Happening("danach", "after 3", "after", "3 done", "Sobald Erinnerung 3 fertig ist", "de"),
    Happening(
        "sobald eine Rechnung kommt",
        "file *Rechnung*.pdf",
        "file",
        "*Rechnung*.pdf",
        "Immer wenn eine Datei *Rechnung*.pdf ankommt",
        "de",
    ),
)
REFUSED = (
    ("after my holidays", "after holidays", "names no job"),
    ("after job 3 is halfway", "after 3 halfway", "names no job"),
    ("when /etc/passwd changes", "file /etc/passwd", "not the pattern of a file name"),
    ("when a hidden file arrives", "file .netrc", "not the pattern of a file name"),
    ("when any file arrives", "file", "not an event"),
    ("when my disk's feed changes", "feed file:///etc/passwd", "not an event"),
    ("when my address is called with a key", "webhook abc", "not an event"),
    ("when the moon is full", "moon full", "can't be read"),
    ("wenn es regnet", "Regen", "can't be read"),
)


def understand(on: str) -> OnEvent:
    """The event of a call that the tool's schema allows, read back from how it is stored."""
    _validate({"text": "Look.", "when": on})
    home, options = Target(kind="home"), Options()
    given = fill_in(JobFields(), on, zone=VIENNA.key, now=NOW, old=None)
    request = read_request(given, here=home, zone=VIENNA.key, known=options, now=NOW, calendars={})
    assert isinstance(request.timing, OnEvent)
    assert load_timing(dump_timing(request.timing)) == request.timing
    return request.timing


@pytest.mark.parametrize("one", UNDERSTOOD, ids=lambda one: one.text)
def test_a_sentence_becomes_the_event_that_it_means(one: Happening) -> None:
    event = understand(one.on)
    assert event == OnEvent(kind=one.kind, value=one.value)
    assert first_slot(event, VIENNA, NOW) is None
    assert last_slot(event, VIENNA, NOW) is None
    with use_language(one.language):
        assert describe_timing(event, VIENNA) == one.meaning
        assert describe_next(event, VIENNA, None, VIENNA)


@pytest.mark.parametrize(("text", "on", "reason"), REFUSED)
def test_what_is_no_event_is_refused_with_the_nearest_one(text: str, on: str, reason: str) -> None:
    with pytest.raises(ToolArgumentError, match="nearest") as refusal:
        understand(on)
    assert reason in str(refusal.value), text


@pytest.mark.parametrize("extra", [{"cron": "0 8 * * *"}, {"until": "2027-01-01"}, {"count": 3}])
def test_an_event_goes_with_no_time(extra: dict[str, object]) -> None:
    home, options = Target(kind="home"), Options()
    with pytest.raises(ToolArgumentError):
        read_request(
            read_fields({"on": "webhook", **extra}),
            here=home,
            zone=VIENNA.key,
            known=options,
            now=NOW,
            calendars={},
        )


def test_a_very_long_event_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 1000 characters"):
        read_event("message " + "word " * 300)


def test_only_a_feed_that_the_person_wrote_is_read() -> None:
    call = read_fields({"on": "feed https://evil.example/?q=secret"})
    with pytest.raises(ToolArgumentError, match="does not contain this address"):
        check_feed(call, "Watch https://example.org/feed for me.")
    check_feed(call, "Watch https://evil.example/?q=secret for me.")
    check_feed(call, None)
    check_feed(read_fields({"on": "message secret"}), "")
