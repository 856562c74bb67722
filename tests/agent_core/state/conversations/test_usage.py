"""What model calls cost, by person and by turn."""

from dataclasses import replace

from agent_core.ids import PersonId, TurnId
from agent_core.state.conversations import usage, usage_sums
from agent_core.state.conversations.usage import EVERYONE, ModelCall, QuotaUsage, Total, UsageLine
from agent_core.state.conversations.usage_sums import Amounts, UsageSum
from agent_core.state.engine.database import Connection
from tests.agent_core.state.rows import add_dialogue, add_person, add_turn

CALL = ModelCall(
    purpose="turn",
    model="m",
    input_tokens=1,
    cache_read_tokens=20,
    cache_write_tokens=300,
    output_tokens=4000,
    micro_dollars=50_000,
)
NOTHING = Total(calls=0, input_tokens=0, cache_read_tokens=0, output_tokens=0, micro_dollars=0)


def test_sums_count_every_token_of_the_input(connection: Connection) -> None:
    person = add_person(connection)
    turn_id = add_turn(connection, add_dialogue(connection, person))
    for spent in (CALL, replace(CALL, micro_dollars=None)):
        usage.insert(connection, spent, person_id=person.id, turn_id=turn_id, now=10)
    total = Total(
        calls=2, input_tokens=642, cache_read_tokens=40, output_tokens=8000, micro_dollars=50_000
    )
    assert usage.total_of_turn(connection, turn_id=turn_id) == total
    assert usage.total_since(connection, person_id=person.id, since=10) == total


def test_sums_are_of_one_person_since_a_moment(connection: Connection) -> None:
    ann, bob = add_person(connection, "ann"), add_person(connection, "bob")
    for person, now in ((ann, 9), (ann, 10), (ann, 11), (bob, 10)):
        usage.insert(connection, CALL, person_id=person.id, turn_id=None, now=now)
    assert usage.total_since(connection, person_id=ann.id, since=10).calls == 2
    assert usage.total_since(connection, person_id=bob.id, since=0).calls == 1
    assert usage.total_since(connection, person_id=PersonId(9), since=0) == NOTHING
    assert usage.total_of_turn(connection, turn_id=TurnId(9)) == NOTHING


def test_money_is_charged_where_there_is_a_price_and_tokens_where_there_is_none(
    connection: Connection,
) -> None:
    ann, bob = add_person(connection, "ann"), add_person(connection, "bob")
    for person, spent, now in (
        (ann, CALL, 9),
        (ann, CALL, 10),
        (ann, replace(CALL, micro_dollars=None), 11),
        (ann, replace(CALL, micro_dollars=0), 12),
        (ann, CALL, 99),  # the clock was ahead
        (bob, CALL, 10),
        (bob, CALL, 11),
    ):
        usage.insert(connection, spent, person_id=person.id, turn_id=None, now=now)
    charged = QuotaUsage(micro_dollars=50_000, unpriced_tokens=4321)
    assert usage.charged_since(connection, person_id=ann.id, since=10, until=99) == charged
    assert usage.charged_by_person(connection, since=10, until=99) == [
        (bob.id, "Bob", QuotaUsage(micro_dollars=100_000, unpriced_tokens=0)),
        (ann.id, "Ann", charged),
    ]
    nothing = QuotaUsage(micro_dollars=0, unpriced_tokens=0)
    assert usage.charged_since(connection, person_id=ann.id, since=13, until=99) == nothing
    assert usage.charged_by_person(connection, since=13, until=99) == []


def test_lines_are_by_purpose_and_model_the_dearest_first(connection: Connection) -> None:
    ann, bob = add_person(connection, "ann"), add_person(connection, "bob")
    title = replace(CALL, purpose="title", model="n", micro_dollars=None)
    for person, spent, now in ((ann, title, 10), (ann, CALL, 10), (ann, CALL, 11), (bob, CALL, 10)):
        usage.insert(connection, spent, person_id=person.id, turn_id=None, now=now)
    assert usage.list_lines(connection, person_id=ann.id, since=10) == [
        UsageLine(
            purpose="turn",
            model="m",
            calls=2,
            input_tokens=642,
            output_tokens=8000,
            charged=QuotaUsage(micro_dollars=100_000, unpriced_tokens=0),
        ),
        UsageLine(
            purpose="title",
            model="n",
            calls=1,
            input_tokens=321,
            output_tokens=4000,
            charged=QuotaUsage(micro_dollars=0, unpriced_tokens=4321),
        ),
    ]


def test_a_turn_lists_its_own_calls_as_they_were_made(connection: Connection) -> None:
    person = add_person(connection)
    dialogue = add_dialogue(connection, person)
    turn_id, other = add_turn(connection, dialogue), add_turn(connection, dialogue)
    asked = replace(CALL, request_hash="ab", asked_model="n", output_limit=8)
    for spent, of in ((asked, turn_id), (CALL, other), (CALL, turn_id)):
        usage.insert(connection, spent, person_id=person.id, turn_id=of, now=10)
    assert usage.list_of_turn(connection, turn_id=turn_id) == [asked, CALL]
    assert CALL.read_tokens == 321


DAY = 86_400_000
ONCE = Amounts(
    calls=1,
    input_tokens=1,
    cache_read_tokens=20,
    cache_write_tokens=300,
    output_tokens=4000,
    charged=QuotaUsage(micro_dollars=50_000, unpriced_tokens=0),
)


def test_sums_are_of_a_person_and_of_everyone_to_the_quarter_of_an_hour(
    connection: Connection,
) -> None:
    ann, bob = add_person(connection, "ann"), add_person(connection, "bob")
    kathmandu = 18 * 3_600_000 + 900_000  # midnight there, in UTC
    unpriced = replace(CALL, micro_dollars=None)
    for person, spent, now in (
        (ann, CALL, kathmandu - 1),
        (ann, CALL, kathmandu),
        (ann, CALL, kathmandu + 1),
        (bob, unpriced, kathmandu + 2),
    ):
        usage.insert(connection, spent, person_id=person.id, turn_id=None, now=now)
    nothing = QuotaUsage(micro_dollars=0, unpriced_tokens=4321)
    of_bob = replace(ONCE, charged=nothing)

    def summed(whose: PersonId, since: int, until: int) -> list[Amounts]:
        found = usage_sums.list_sums(connection, person_id=whose, spans=[(since, until)])[0]
        assert {(one.purpose, one.model) for one in found} <= {("turn", "m")}
        return [one.amounts for one in found]

    assert summed(ann.id, 0, kathmandu) == [ONCE]
    assert summed(ann.id, kathmandu, DAY) == [ONCE + ONCE]
    assert summed(bob.id, 0, DAY) == [of_bob]
    assert summed(EVERYONE, kathmandu, DAY) == [ONCE + ONCE + of_bob]
    later = kathmandu + usage.QUARTER
    usage.insert(connection, CALL, person_id=ann.id, turn_id=None, now=later)
    found = usage_sums.list_people(connection, since=kathmandu, today=later)
    assert [(one.person_id, one.name, one.amounts) for one in found] == [
        (ann.id, "Ann", ONCE + ONCE + ONCE),
        (bob.id, "Bob", of_bob),
    ]
    assert [one.today for one in found] == [ONCE.charged, None]
    assert (ONCE + of_bob).read_tokens == 642


def test_old_sums_go_with_the_next_call(connection: Connection) -> None:
    ann, bob = add_person(connection, "ann"), add_person(connection, "bob")
    for person, now in ((ann, 0), (bob, 0), (ann, usage.SUMS_DAYS * DAY + usage.QUARTER)):
        usage.insert(connection, CALL, person_id=person.id, turn_id=None, now=now)
    rows = connection.execute("SELECT person_id, quarter FROM usage_sums ORDER BY 1, 2").fetchall()
    newest = usage.SUMS_DAYS * 96 + 1
    assert rows == [(EVERYONE, newest), (ann.id, newest), (bob.id, 0)]
    assert usage.total_since(connection, person_id=ann.id, since=0).calls == 2


def test_renewed_sums_are_those_that_each_call_made(connection: Connection) -> None:
    ann = add_person(connection, "ann")
    for number in range(40):
        spent = replace(CALL, model=f"m{number % 3}", micro_dollars=number if number % 4 else None)
        now = number * usage.QUARTER // 3
        usage.insert(connection, spent, person_id=ann.id, turn_id=None, now=now)

    def everything() -> list[UsageSum]:
        return usage_sums.list_sums(connection, person_id=ann.id, spans=[(0, DAY)])[0]

    table = "SELECT * FROM usage_sums ORDER BY person_id, quarter, purpose, model"
    kept = connection.execute(table).fetchall()
    before = everything()
    usage_sums.renew(connection, person_id=ann.id)
    assert connection.execute(table).fetchall() == kept
    assert everything() == before
    assert sum(one.amounts.calls for one in before) == 40
