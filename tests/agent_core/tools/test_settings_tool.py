"""What a person may set, in which words, and what the tool makes of it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent_core.errors import ToolArgumentError
from agent_core.ids import CallId, PersonId
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import delivery_targets, people
from agent_core.state.people.people import Person
from agent_core.tools.contract import ToolContext
from agent_core.tools.settings_tool import (
    SettingsTool,
    apply_setting,
    describe_hours,
    describe_settings,
)
from agent_core.tools.toolbox import Toolbox
from agent_core.transcript import ToolCallPart
from tests.agent_core.state.rows import add_person
from tests.agent_core.tools.toolbox_calls import CONTEXT
from tests.databases import open_database

ANN = Person(id=PersonId(1), slug="ann", name="Ann", role="member", time_zone=None)


@pytest.mark.parametrize(
    ("name", "value", "reported"),
    [
        ("time_zone", "europe/vienna", "time zone Europe/Vienna"),
        ("time_zone", "America/New York", "time zone America/New_York"),
        ("time_zone", "", "time zone not set"),
        ("language", "pt-BR", "language pt-BR"),
        ("language", "", "language not set"),
        ("quiet_hours", "22:00-07:30", "quiet hours 22:00-07:30"),
        ("quiet_hours", "9:05 – 17:00", "quiet hours 09:05-17:00"),
        ("quiet_hours", "off", "quiet hours none"),
        ("verbosity", "verbose", "verbosity verbose"),
        ("verbosity", "", "verbosity normal"),
    ],
)
def test_a_wish_is_taken_in_the_words_people_use(name: str, value: str, reported: str) -> None:
    before = replace(
        ANN,
        time_zone="Asia/Tokyo",
        language="ja",
        quiet_from=60,
        quiet_until=120,
        verbosity="quiet",
    )
    assert reported in describe_settings(apply_setting(before, name, value))


@pytest.mark.parametrize(
    ("value", "tokens"),
    [
        *(("50000", 50_000), ("50k", 50_000), ("50,000", 50_000), ("50 000 tokens", 50_000)),
        *(("8000", 8_000), ("10000000", 10_000_000), ("", None), ("off", None)),
    ],
)
def test_a_cap_is_taken_as_people_write_numbers(value: str, tokens: int | None) -> None:
    before = replace(ANN, context_cap=9_000)
    assert apply_setting(before, "context_cap", value).context_cap == tokens


@pytest.mark.parametrize(
    ("value", "choice"),
    [
        *(("", "off"), ("off", "off"), ("always", "always"), ("on", "always")),
        *(("voice", "voice"), ("To voice messages", "voice")),
    ],
)
def test_spoken_answers_are_asked_for_in_plain_words(value: str, choice: str) -> None:
    assert apply_setting(ANN, "spoken_answers", value).spoken_answers == choice


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("time_zone", "Vienna time", '"Vienna time" isn\'t a time zone'),
        ("time_zone", "../etc/passwd", "isn't a time zone"),
        ("language", "german please", "I don't know the language"),
        ("quiet_hours", "at night", "isn't a range of hours"),
        ("quiet_hours", "24:00-07:00", "isn't a range of hours"),
        ("quiet_hours", "22:00-22:00", "start and end at the same time"),
        ("verbosity", "loud", 'Choose "quiet" .answers only.'),
        ("spoken_answers", "sometimes", 'Choose "off", "to voice messages" or "always"'),
        ("context_cap", "many", 'Write a number of tokens, at least 8000, or "off"'),
        ("context_cap", "7999", "isn't a reading limit"),
        ("context_cap", "99999999999", "isn't a reading limit"),
        ("context_cap", "-50000", "isn't a reading limit"),
        ("volume", "11", 'There\'s no setting "volume"'),
    ],
)
def test_what_can_not_be_set_is_said(name: str, value: str, complaint: str) -> None:
    with pytest.raises(ToolArgumentError, match=complaint):
        apply_setting(ANN, name, value)


def test_hours_that_are_not_set_are_no_words() -> None:
    assert describe_hours(ANN) == ""
    assert describe_hours(replace(ANN, quiet_from=0, quiet_until=1)) == "00:00-00:01"


class NoFollower:
    """Nothing follows the time zone."""

    async def ask(self, context: ToolContext, old: str | None, new: str | None) -> bool:
        return False

    def move(
        self, connection: Connection, context: ToolContext, old: str | None, new: str | None
    ) -> None:
        raise AssertionError("there is nothing to move")


class Rig:
    """The tool in a toolbox, on behalf of Ann."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.changes = 0
        self.eased: list[tuple[PersonId, int]] = []
        self.toolbox = Toolbox(
            [
                SettingsTool(
                    database,
                    changed=self.note,
                    on_quiet_times=self.reschedule,
                    follower=NoFollower(),
                )
            ]
        )

    def note(self) -> None:
        self.changes += 1

    def reschedule(self, connection: Connection, person: Person, now: int) -> None:
        self.eased.append((person.id, now))

    async def run(self, arguments: str) -> tuple[str, bool]:
        call = ToolCallPart(call_id=CallId("c1"), name="settings", arguments=arguments)
        result = await self.toolbox.run(call, CONTEXT)
        return result.text, result.is_error

    async def days_off(self) -> tuple[int, ...]:
        home = await self.database.read(lambda c: delivery_targets.find(c, person_id=PersonId(1)))
        return home.days_off

    async def ann(self) -> Person:
        found = await self.database.read(lambda c: people.find(c, person_id=PersonId(1)))
        assert found
        return found


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    database = await open_database(tmp_path / "state.db")
    await database.write("ann", add_person)
    yield Rig(database)
    await database.close()


async def test_the_tool_sets_what_it_is_given_and_leaves_the_rest(rig: Rig) -> None:
    text, is_error = await rig.run('{"time_zone": "Europe/Vienna", "quiet_hours": "22:00-07:00"}')
    assert not is_error
    assert text.startswith("Set. Now: time zone Europe/Vienna, language not set, quiet hours 22")
    await rig.run('{"language": "de"}')
    ann = await rig.ann()
    assert (ann.time_zone, ann.language, ann.quiet_from) == ("Europe/Vienna", "de", 22 * 60)
    assert rig.changes == 2


async def test_one_bad_value_sets_nothing(rig: Rig) -> None:
    text, is_error = await rig.run('{"language": "de", "time_zone": "Mars/Base"}')
    assert is_error
    assert text.startswith('`settings` was not run: "Mars/Base" isn\'t a time zone')
    assert (await rig.ann()).language is None
    assert rig.changes == 0


@pytest.mark.parametrize("arguments", ["{}", '{"volume": "11"}', '{"verbosity": "loud"}'])
async def test_what_does_not_fit_the_schema_is_refused(rig: Rig, arguments: str) -> None:
    _, is_error = await rig.run(arguments)
    assert is_error
    assert rig.changes == 0


async def test_days_off_are_set_and_taken_back(rig: Rig) -> None:
    text, is_error = await rig.run('{"days_off": "sat,sun"}')
    assert not is_error
    assert text.endswith("days off Sat, Sun.")
    assert await rig.days_off() == (6, 7)
    await rig.run('{"language": "de"}')
    assert await rig.days_off() == (6, 7)
    text, _ = await rig.run('{"days_off": ""}')
    assert text.endswith("days off none.")
    assert await rig.days_off() == ()


async def test_days_that_are_none_set_nothing(rig: Rig) -> None:
    text, is_error = await rig.run('{"language": "de", "days_off": "someday"}')
    assert is_error
    assert '"someday" isn\'t a list of days' in text
    assert (await rig.ann()).language is None


async def test_what_is_held_is_looked_at_whenever_something_was_set(rig: Rig) -> None:
    await rig.run('{"quiet_hours": ""}')
    await rig.run('{"days_off": "someday"}')
    assert rig.eased == [(PersonId(1), CONTEXT.now)]
