"""Digests: a job that gathers, draws a chart, writes by its skill, and sends everything."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.ids import CallId
from agent_core.skills.catalog import SkillCatalog
from tests.architecture.source import ROOT
from tests.emulators.sources import Sources
from tests.fakes.model import FakeModel, ask, call, list_offered, say
from tests.integration.accounts import make_owner
from tests.integration.clock import Clock
from tests.integration.harness import running
from tests.integration.jobs.asked_jobs import SETTINGS, digest, ended, makes, schedule, states
from tests.integration.jobs_support import give_skills
from tests.integration.model_requests import facts_of

CALENDAR = (
    "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:1\nDTSTART:20261123T090000Z\n"
    "SUMMARY:Dentist\nEND:VEVENT\nEND:VCALENDAR\n"
)
FEED = """<rss version="2.0"><channel><title>News</title>
<item><title>Newest</title><link>https://news.example/new</link>
<pubDate>Mon, 23 Nov 2026 05:30:00 GMT</pubDate></item></channel></rss>"""
GATHER = call("gather", '{"sources": [{"kind": "calendar", "at": "home.ics"}]}', "g1")
CHART = call(
    "chart", '{"kind": "bar", "title": "Week", "labels": ["Mon", "Tue"], "values": [1, 2]}', "h1"
)


def tools(model: FakeModel, number: int) -> set[str]:
    """Return the tools offered in a call."""
    return list_offered(model.requests[number])


async def test_a_digest_is_gathered_drawn_and_sent_as_the_skill_says(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(
        digest(cron="0 8 * * 1", skills=["digest"]),
        say("yes please"),
        ask(GATHER, CHART),
        say("Dentist at 10:00"),
    )
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "home.ics").write_text(CALENDAR)
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        job = await makes(harness)
        assert job.options.skills == ("digest",)
        clock.move(harness, days=2, hours=19)
        await harness.chat.sees_text("Dentist at 10:00")
        await ended(harness, 1, job.id)
        await harness.at_rest()
        files = [shown.file for shown in harness.chat.shown if shown.file]
        assert [file.name for file in files] == ["Week.png"]
        assert files[0].data.startswith(b"\x89PNG")
        skill = SkillCatalog(tmp_path / "skills").load("digest")
        asked = model.requests[2].messages[0]
        assert f"Do it as the skill `digest` says:\n{skill.body}" in facts_of(asked)
        assert asked.text == "Write my digest."
        assert "Mon 2026-11-23 10:00" in str(model.requests[3].messages[-1])


async def test_a_digest_without_the_extra_for_charts_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # its import fails
    clock = Clock(2026, 11, 20, 12, 0)
    again = replace(CHART, call_id=CallId("h2"))
    model = FakeModel(
        digest(cron="0 8 * * 1"), say("yes please"), ask(CHART), ask(again), say("3 reviews wait.")
    )
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        job = await makes(harness)
        clock.move(harness, days=2, hours=19)
        await harness.chat.sees_text("3 reviews wait.")
        await ended(harness, 1, job.id)
        await harness.at_rest()
        assert await states(harness) == ["done"]
        [shown] = [shown for shown in harness.chat.shown if "3 reviews wait." in shown.text]
        assert shown.text.count("charts need the extra package `talaria[charts]`") == 1
        assert [shown.file for shown in harness.chat.shown if shown.file] == []
        assert "is not installed here" in str(model.requests[-1].messages[-1])


@pytest.mark.thorough
@pytest.mark.parametrize("is_open", [True, False])
async def test_a_digest_of_a_calendar_a_feed_a_page_and_github_comes_with_its_picture(
    tmp_path: Path, *, is_open: bool
) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    (tmp_path / "sources" / "people" / "ana").mkdir(parents=True)
    (tmp_path / "sources" / "people" / "ana" / "home.ics").write_text(CALENDAR)
    async with Sources() as web:
        feed, page = web.serve("/feed", FEED, "text/xml"), web.serve("/page", "<p>Tides: high</p>")
        web.notify("Fix the door")
        wanted = [
            {"kind": "calendar", "at": "home.ics"},
            {"kind": "feed", "at": feed},
            {"kind": "page", "at": page},
            {"kind": "github"},
        ]
        model = FakeModel(
            schedule(
                kind="prompt",
                title="Digest",
                text=f"My digest of {feed} and {page}.",
                cron="0 8 * * 1",
                skills=["digest"],
            ),
            say("yes please"),
            ask(call("gather", json.dumps({"sources": wanted}), "g1"), CHART),
            say("**Dentist at 10:00**\n\n- [Newest](https://news.example/new)"),
        )
        harness_of = SETTINGS | {
            "GITHUB_TOKEN": web.token,
            "TALARIA_DIGEST__GITHUB_URL": web.url,
            "TALARIA_DIGEST__ALLOW_HOSTS": "127.0.0.1" if is_open else "",
        }
        async with running(tmp_path, model, now=clock, **harness_of) as harness:
            job = await makes(harness)
            await make_owner(harness)
            clock.move(harness, days=2, hours=19)
            await harness.chat.sees_text("_Digest_")
            assert any(one.text.startswith("**Dentist at 10:00**") for one in harness.chat.shown)
            await ended(harness, 1, job.id)
            await harness.at_rest()
            assert [one.file.name for one in harness.chat.shown if one.file] == ["Week.png"]
            gathered = str(model.requests[-1].messages[-1])
            assert "Dentist" in gathered
            assert "Fix the door" in gathered  # that server is named in the settings
            assert ("Newest" in gathered) == is_open
            assert ("Tides: high" in gathered) == is_open
            assert ("is not a public address" in gathered) != is_open


async def test_only_jobs_gather(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(digest(cron="0 8 * * 1"), say("yes please"), say("News."))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        await makes(harness)
        clock.move(harness, days=2, hours=19)
        await harness.chat.sees_text("News.")
    assert tools(model, 2) - tools(model, 0) == {"gather"}
    assert tools(model, 0) <= tools(model, 2)


async def test_a_job_with_a_missing_skill_says_so(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(digest(cron="0 8 * * 1"), say("yes please"))
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        job = await makes(harness)
        await give_skills(harness, job, "digest-of-old")
        clock.move(harness, days=2, hours=19)
        await harness.chat.sees_text(
            "the skill “digest-of-old”. Details: “there is no skill digest-of-old; there"
            " is csv-report, diff-review, digest,"
        )
        await ended(harness, 1, job.id)
        assert await states(harness) == ["failed"]
        assert len(model.requests) == 2


async def test_a_skills_text_is_not_searchable(tmp_path: Path) -> None:
    clock = Clock(2026, 11, 20, 12, 0)
    model = FakeModel(
        digest(cron="0 8 * * 1"),
        say("yes please"),
        say("News."),
        ask(call("recall", '{"query": "lock screen notification advertising"}', "r1")),
        say("Nothing."),
    )
    async with running(tmp_path, model, now=clock, **SETTINGS) as harness:
        job = await makes(harness)
        await give_skills(harness, job, "digest")
        clock.move(harness, days=2, hours=19)
        await harness.chat.sees_text("News.")
        await harness.at_rest()
        await harness.chat.says("what did I say?")
        await harness.chat.sees_text("Nothing.")
        assert "Nothing found" in str(model.requests[-1].messages[-1])


@pytest.mark.thorough
def test_the_gateway_loads_digest_libraries_only_for_digests() -> None:
    heavy = ("matplotlib", "numpy", "feedparser", "icalendar", "recurring_ical_events")
    code = f"import sys, gateway.app.build; print([one for one in {heavy} if one in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ROOT,
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
