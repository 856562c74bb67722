"""The page Settings: what a person sets there, what is refused, and how it is undone."""

import html
import re
from collections.abc import Mapping, Sequence

import aiohttp
import pytest

from agent_core.state.people import delivery_targets
from agent_core.state.people.people import Person
from tests.integration.interfaces.api_setup import ZEBRANA, Setup, find_named, make_token
from tests.integration.interfaces.console_setup import browse_as
from tests.tables import await_each

Form = Mapping[str, str] | Sequence[tuple[str, str]]
_UNDO = re.compile(r'<input type="hidden" name="set-\w+" value="([^"]*)">')


async def put(session: aiohttp.ClientSession, name: str, value: str) -> tuple[int, str]:
    """Send one setting, as the button to undo does; the status and the page that follows."""
    return await send(session, {"name": name, f"set-{name}": value})


async def send(session: aiohttp.ClientSession, form: Form) -> tuple[int, str]:
    """Send the form; the status and the page that follows."""
    async with session.post("/settings", data=form) as answer:
        return answer.status, html.unescape(await answer.text())


async def find_zebrana(setup: Setup) -> Person:
    return await find_named(setup, "zebrana")


def find_old(text: str) -> str:
    """The value that the button to undo sends."""
    found = _UNDO.search(text)
    assert found is not None, text
    return found[1]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("time_zone", "Vienna", {"time_zone": "Europe/Vienna"}),
        ("language", "pt-BR", {"language": "pt-BR"}),
        ("language", "is", {"language": "is"}),
        ("quiet_hours", "10pm-7am", {"quiet_from": 1320, "quiet_until": 420}),
        ("verbosity", "quiet", {"verbosity": "quiet"}),
        ("context_cap", "50k", {"context_cap": 50_000}),
        ("learning", "ask", {"learning": "ask"}),
        ("learning", "weekly", {"learning": "quiet", "learning_summary": "weekly"}),
    ],
    ids=["zone", "language", "icelandic", "quiet", "verbosity", "cap", "learning", "summary"],
)
async def test_a_setting_is_changed_for_its_person_alone_and_undone(
    setup: Setup, name: str, value: str, expected: Mapping[str, object]
) -> None:
    before, olga = await find_zebrana(setup), await find_named(setup, "olga")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        status, text = await put(session, name, value)
        assert status == 200
        changed = await find_zebrana(setup)
        assert {key: getattr(changed, key) for key in expected} == expected
        assert changed != before
        assert await find_named(setup, "olga") == olga
        status, text = await put(session, name, find_old(text))
        assert status == 200
        assert await find_zebrana(setup) == before
        assert _UNDO.search(text) is not None  # the undo is undone, too


async def test_days_off_and_the_model_are_changed_and_undone(setup: Setup) -> None:
    model = setup.served.gateway.settings.model.name
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        _, text = await put(session, "days_off", "weekend")
        assert re.findall(r'name="days_off" value="(\w+)" checked', text) == ["sat", "sun"]
        _, text = await put(session, "days_off", find_old(text))
        assert find_old(text) == "sat,sun"
        _, text = await put(session, "model", model.upper())
        assert (await find_zebrana(setup)).model == model
        await put(session, "model", find_old(text))
        assert (await find_zebrana(setup)).model == ""


async def test_an_undo_brings_back_the_mode_and_the_summary_of_learning(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        await put(session, "learning", "ask")
        await put(session, "learning", "daily")
        before = await find_zebrana(setup)
        assert (before.learning, before.learning_summary) == ("ask", "daily")
        _, text = await put(session, "learning", "off")
        assert "before: Daily summary." in text
        await put(session, "learning", find_old(text))
        assert await find_zebrana(setup) == before


async def test_a_refused_value_changes_nothing_and_gets_the_sentence_of_the_chat(
    setup: Setup,
) -> None:
    rows = [
        ("time_zone", "Atlantis"),
        ("language", "<b>"),
        ("quiet_hours", "22:00-22:00"),
        ("days_off", "someday"),
        ("verbosity", "loud"),
        ("context_cap", "3"),
        ("spoken_answers", "always"),
        ("learning", "loud"),
        ("model", "nobody/knows"),
    ]
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:

        async def check(row: tuple[str, str]) -> None:
            name, value = row
            command = {"learning": "learned", "model": "model"}.get(name, f"settings {name}")
            setup.chat.shown.clear()
            fields = {"user": ZEBRANA, "chat": ZEBRANA, "name": "Z", "id": f"said {name}"}
            await setup.chat.says(f"/{command} {value}", **fields)
            told = await setup.chat.sees_text("")
            before = await find_zebrana(setup)
            status, text = await put(session, name, value)
            assert status == 422
            assert f'id="fault-{name}" role="alert">{told.text}</p>' in text
            assert await find_zebrana(setup) == before
            assert _UNDO.search(text) is None

        await await_each(rows, check)


async def test_a_new_zone_names_the_jobs_that_stay(setup: Setup) -> None:
    token = await make_token(setup.home, "zebrana", "manage")
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        await put(session, "time_zone", "Europe/Vienna")
        body = {"kind": "message", "text": "Water the plants", "cron": "0 9 * * *"}
        head = {"Authorization": f"Bearer {token}"}
        url = f"{setup.served.address.origin()}/api/jobs"
        async with aiohttp.ClientSession() as api, api.post(url, json=body, headers=head) as made:
            assert made.status == 201
        _, text = await put(session, "time_zone", "Asia/Tokyo")
        assert "1 reminder keeps the time zone Vienna." in text
        _, text = await put(session, "time_zone", find_old(text))
        assert "keeps the time zone" not in text


async def test_a_new_language_shows_at_once(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        _, text = await put(session, "language", "de")
        assert "<h1>Einstellungen</h1>" in text
        async with session.get("/settings") as answer:
            assert "<h1>Einstellungen</h1>" in await answer.text()


async def test_an_unknown_setting_is_not_found(setup: Setup) -> None:
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        status, text = await put(session, "nothing", "1")
        assert (status, "There is nothing at this address." in text) == (404, True)


@pytest.mark.parametrize("value", ["", "ask loud"], ids=["empty", "half"])
async def test_a_way_of_learning_is_set_as_a_whole_or_not_at_all(setup: Setup, value: str) -> None:
    before = await find_zebrana(setup)
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        status, text = await put(session, "learning", value)
    assert (status, "With /learned you can" in text) == (422, True)
    assert await find_zebrana(setup) == before


async def test_the_form_changes_what_was_touched_and_nothing_else(setup: Setup) -> None:
    before = await find_zebrana(setup)
    form = [
        *(("shown", name) for name in ("language", "time_zone", "quiet_hours", "days_off")),
        *(("shown", name) for name in ("verbosity", "learning", "model", "context_cap")),
        ("language", ""),
        ("time_zone", "Europe/Vienna"),
        ("quiet", "on"),
        ("quiet_from", "22:30"),
        ("quiet_until", "06:00"),
        ("days_off", "sun"),
        ("verbosity", before.verbosity),
        ("learning", "quiet"),
        ("model", ""),
        ("context_cap", ""),
    ]
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        status, text = await send(session, form)
        assert (status, "Saved." in text) == (200, True)
        changed = await find_zebrana(setup)
        assert (changed.time_zone, changed.quiet_from, changed.quiet_until) == (
            "Europe/Vienna",
            22 * 60 + 30,
            6 * 60,
        )
        assert (changed.language, changed.verbosity) == (None, before.verbosity)
        assert re.findall(r'name="days_off" value="(\w+)" checked', text) == ["sun"]
        undo = re.findall(r'type="hidden" name="(name|set-\w+)" value="([^"]*)"', text)
        assert sorted(value for name, value in undo if name == "name") == [
            "days_off",
            "quiet_hours",
            "time_zone",
        ]
        await send(session, undo)
        assert await find_zebrana(setup) == before
        status, text = await send(session, [*form[:8], *form[8:10], *form[14:]])
        assert (await find_zebrana(setup)).quiet_from is None, "a switch that is off sends nothing"


async def test_reminders_go_to_a_chosen_app_and_back(setup: Setup) -> None:
    async def read_home() -> str:
        person = await find_zebrana(setup)
        found = await setup.served.gateway.database.read(delivery_targets.find, person_id=person.id)
        return found.chat.platform if found.chat else ""

    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        async with session.get("/settings") as answer:
            text = html.unescape(await answer.text())
        (choice,) = re.findall(r'<select id="set-home".*?</select>', text, re.DOTALL)
        latest, app = re.findall(r'value="(\w*)"', choice)
        assert latest == ""
        status, text = await put(session, "home", app)
        assert (status, await read_home()) == (200, app)
        status, text = await put(session, "home", find_old(text))
        assert (status, await read_home()) == (200, "")
        status, text = await put(session, "home", "carrier-pigeon")
        assert status == 422
        assert "You haven't written to me in that chat app" in text
        assert await read_home() == ""


async def test_a_wrong_form_saves_nothing_and_keeps_what_was_typed(setup: Setup) -> None:
    before = await find_zebrana(setup)
    form = [
        ("shown", "quiet_hours"),
        ("shown", "context_cap"),
        ("shown", "days_off"),
        ("quiet", "on"),
        ("quiet_from", "22:00"),
        ("quiet_until", "22:00"),
        ("context_cap", "3"),
        ("days_off", "sat"),
    ]
    async with browse_as(setup.served, setup.chat, ZEBRANA) as session:
        status, text = await send(session, form)
    assert status == 422
    assert text.count('class="fault" id="fault-') == 2
    assert 'id="fault-quiet_hours"' in text
    assert re.search(r'name="context_cap" value="3"[^>]*aria-invalid="true"', text)
    assert re.findall(r'name="days_off" value="(\w+)" checked', text) == ["sat"]
    assert await find_zebrana(setup) == before


async def test_the_lists_hold_zones_by_continent_and_languages(setup: Setup) -> None:
    async with (
        browse_as(setup.served, setup.chat, ZEBRANA) as session,
        session.get("/settings") as answer,
    ):
        text = await answer.text()
    assert '<optgroup label="Europe">' in text
    assert re.search(r'<option value="Europe/Vienna">Vienna \(UTC\+[12]\)</option>', text)
    assert '<option value="de" lang="de">Deutsch</option>' in text
    assert 'role="switch" name="quiet"' in text
