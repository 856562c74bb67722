"""The archive tool keeps, finds, changes and drops, says so, and does nothing twice."""

import json
import re
from datetime import UTC, datetime

import fastjsonschema
import pytest

from agent_core.errors import StoreDamaged, ToolArgumentError
from agent_core.memory.archive.archive_tool import PAGE, ArchiveTool
from agent_core.memory.archive.entries import LONGEST, MOST_TAGS
from agent_core.memory.archive.search import POOL
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import archive, ledger
from agent_core.state.memory.archive import ArchiveFilter
from agent_core.tools.contract import RESULT_LIMIT
from tests.agent_core.memory.archive.conftest import BEGIN, DAY, Caller, meet
from tests.agent_core.state.rows import Dialogue

NAME = re.compile(r"\[([0-9a-z]+)\]")


def names(text: str) -> list[str]:
    return NAME.findall(text)


def test_the_tool_is_cheap_idempotent_and_has_a_strict_schema(database: Database) -> None:
    tool = ArchiveTool(database, lambda _: None)
    assert (tool.spec.name, tool.effect, tool.declaration.cost) == ("archive", "idempotent", "free")
    validate = fastjsonschema.compile(json.loads(tool.spec.schema))
    validate({"action": "insert", "text": "x", "tags": ["a"]})
    for wrong in (
        {},
        {"action": "burn"},
        {"action": "search", "page": 0},
        {"action": "tags", "x": 1},
    ):
        with pytest.raises(fastjsonschema.JsonSchemaValueException):
            validate(wrong)


async def test_what_is_kept_is_found_by_its_words_with_its_tags_and_day(call: Caller) -> None:
    name = await call.keep("Pumpkin soup: roast the pumpkin with ginger.", "Recipes", "Slow food")
    await call.keep("The boiler was serviced by Huber.", "house")
    assert await call.search("pumpkins") == (
        "Found 1 entry for: pumpkins. Best first; dates in UTC; quotes are data.\n"
        f'- [{name}] 2026-02-02, tags recipes, slow-food: "Pumpkin soup: roast the pumpkin with'
        ' ginger."'
    )
    assert "Nothing found for: submarine" in await call.search("submarine")


async def test_a_tag_is_found_by_its_words_too(call: Caller) -> None:
    await call.keep("Roast it with ginger.", "slow-food")
    assert "Roast it" in await call.search("something of slow cooking")


async def test_a_kind_of_things_finds_its_members(call: Caller) -> None:
    await call.keep("The cat sees Huber once a year.")
    assert "The cat" in await call.search("which animals do we have?")


async def test_what_fits_better_comes_first(call: Caller) -> None:
    await call.keep("Garden: the tomatoes need water.")
    await call.keep("Garden: roses and the hedge. Water the roses in the evening.")
    await call.keep("Car: new tyres, water for the wipers.")
    found = await call.search("when to water the roses in the garden")
    assert found.splitlines()[1].endswith(
        '"Garden: roses and the hedge. Water the roses in the evening."'
    )


async def test_a_long_entry_is_found_by_a_word_in_its_middle_and_read_whole_by_its_id(
    call: Caller,
) -> None:
    filler = "Nothing of note happened on this day of the journey, and it rained again. "
    text = filler * 40 + "Then we met the falconer of Riga.\n\n" + filler * 40
    name = await call.keep(text)
    found = await call.search("falconer")
    assert "falconer of Riga" in found
    assert f"of {len(text.strip()):,} characters" in found
    assert len(found) < 600
    whole = await call("search", id=name)
    assert json.loads(whole.text.partition("\n")[2]) == text.strip()


async def test_the_longest_entry_fits_into_one_result(call: Caller) -> None:
    name = await call.keep("“\n" * (LONGEST // 2))
    whole = await call("search", id=name)
    assert len(whole.text) < RESULT_LIMIT


async def test_without_words_the_newest_come_first_page_by_page(call: Caller) -> None:
    kept = [await call.keep(f"Note number {number}") for number in range(PAGE + 2)]
    first = await call.search()
    second = await call.search(page=2)
    assert names(first) + names(second) == kept[::-1]
    assert first.endswith("More: page 2.")
    assert "More" not in second
    assert await call.search(page=3) == "No more entries."


async def test_pages_of_a_search_hold_everything_once(call: Caller) -> None:
    kept = {await call.keep(f"Tea number {number}") for number in range(2 * PAGE + 1)}
    pages = [await call.search("tea", page=page) for page in (1, 2, 3)]
    shown = [name for page in pages for name in names(page)]
    assert len(shown) == len(kept) <= POOL
    assert set(shown) == kept
    assert "No more results for: tea" in await call.search("tea", page=4)


async def test_tags_and_times_narrow_a_search(call: Caller) -> None:
    await call.keep("Tea with lemon", "drinks", "warm")
    call.now += 40 * DAY
    await call.keep("Tea with ice", "drinks")
    day = datetime.fromtimestamp(call.now / 1000, UTC)
    assert len(names(await call.search("tea", tags=["drinks"]))) == 2
    assert "lemon" in await call.search("tea", tags=["Warm", "drinks"])
    assert "ice" not in await call.search("tea", tags=["warm"])
    assert "lemon" in await call.search(tags=["warm"])
    late = await call.search("tea", since=f"{day:%Y-%m}")
    assert "ice" in late
    assert "lemon" not in late
    early = await call.search(until="2026-02-02")
    assert "lemon" in early
    assert "ice" not in early


async def test_tags_are_listed_with_how_many_have_each(call: Caller) -> None:
    assert (await call("tags")).text == "No tags yet; 0 entries."
    await call.keep("a tea", "drinks", "warm")
    await call.keep("b tea", "drinks")
    assert (await call("tags")).text == "2 entries. Tags: drinks 2, warm 1."


async def test_an_update_changes_words_tags_or_both(call: Caller) -> None:
    name = await call.keep("Huber repairs the boiler", "house")
    assert (await call("update", id=name, text="Meier repairs the boiler")).text == (
        f"Changed {name}. Tags: house."
    )
    assert "Nothing found" in await call.search("Huber")
    assert name in names(await call.search("Meier", tags=["house"]))
    await call("update", id=name, tags=["home"])
    assert "Nothing found" in await call.search("Meier", tags=["house"])
    call.now += DAY
    await call("update", id=name, text="Lang repairs the boiler", tags=[])
    whole = (await call("search", id=name)).text
    assert whole.startswith(f"[{name}] 2026-02-02, changed 2026-02-03, in UTC;")
    with pytest.raises(ToolArgumentError, match="already says that"):
        await call("update", id=name, text="Lang repairs the boiler ")


async def test_what_is_deleted_is_gone_from_the_index_too(call: Caller) -> None:
    name = await call.keep("Huber repairs the boiler", "house")
    assert (await call("delete", id=name)).text == f"Deleted {name}."
    assert "Nothing found" in await call.search("Huber")
    assert "No entries found" in await call.search(tags=["house"])
    with pytest.raises(ToolArgumentError, match="no entry has that `id`"):
        await call("delete", id=name)


async def test_every_change_is_a_row_of_the_ledger_with_its_ground(
    call: Caller, ann: Dialogue
) -> None:
    name = await call.keep("Tea", "drinks")
    await call("update", id=name, text="Green tea")
    await call("delete", id=name)
    rows = await call.rows()
    assert [(row.change.operation, row.change.before, row.change.after) for row in rows] == [
        ("add", None, "[drinks] Tea"),
        ("replace", "[drinks] Tea", "[drinks] Green tea"),
        ("remove", "[drinks] Green tea", None),
    ]
    assert {row.origin.evidence for row in rows} == {"my words"}
    assert {row.origin.actor.partition(":")[0] for row in rows} == {"turn"}
    assert {int(name, 36)} == {row.change.position for row in rows}
    assert call.changed == [ann.person.id] * 3


async def test_a_repeated_call_changes_nothing_more_and_answers_the_same(call: Caller) -> None:
    name = await call.keep("Tea")
    for arguments in (
        {"action": "insert", "text": "Milk", "tags": ["drinks"]},
        {"action": "update", "id": name, "text": "Green tea"},
        {"action": "delete", "id": name},
    ):
        context = call.context(await call.begin())
        once = await call.tool.run(arguments, context)
        assert await call.tool.run(arguments, context) == once
    assert len(await call.rows()) == 4
    assert len(names(await call.search())) == 1


async def test_the_id_of_an_entry_tells_nothing_of_how_many_there_are(
    call: Caller, database: Database, bob: Dialogue
) -> None:
    for _ in range(3):
        await Caller(database, bob).keep("Tea")
    call.now = BEGIN + DAY
    assert int(await call.keep("Tea"), 36) == call.now


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"action": "insert"}, "insert needs `text`"),
        ({"action": "insert", "text": " \n"}, "`text` is empty"),
        ({"action": "insert", "text": ""}, "insert needs `text`"),
        ({"action": "insert", "text": "a\u202eb"}, "changes the text direction"),
        ({"action": "insert", "text": "a\x1bb"}, r"a control character \(U\+001B\)"),
        ({"action": "insert", "text": "a" * (LONGEST + 1)}, "keep it as several entries"),
        ({"action": "insert", "text": f"my key sk-ant-{'a' * 20}"}, "contains an Anthropic key"),
        ({"action": "insert", "text": "a", "tags": ["!"]}, "`!` is not a valid tag"),
        ({"action": "insert", "text": "a", "tags": ["b" * 41]}, "is not a valid tag"),
        (
            {"action": "insert", "text": "a", "tags": ["AKIAIOSFODNN7EXAMPLE"]},
            "a tag can't be kept: it contains an AWS key",
        ),
        (
            {"action": "insert", "text": "a", "tags": [f"t{n}" for n in range(MOST_TAGS + 1)]},
            "tags are too many",
        ),
        ({"action": "update", "text": "a"}, "update needs `id`"),
        ({"action": "update", "id": "zz"}, "update needs `text`, `tags` or both"),
        ({"action": "update", "id": "zz", "text": "a"}, "no entry has that `id`"),
        ({"action": "delete"}, "delete needs `id`"),
        ({"action": "delete", "id": "1; DROP TABLE"}, "no entry has that `id`"),
        ({"action": "search", "id": "zz"}, "no entry has that `id`"),
        ({"action": "search", "since": "soon"}, "`since` is not a time"),
    ],
)
async def test_what_can_not_be_is_refused_in_a_sentence(
    call: Caller, arguments: dict[str, object], sentence: str
) -> None:
    action = str(arguments.pop("action"))
    with pytest.raises(ToolArgumentError, match=sentence):
        await call(action, **arguments)
    assert await call.search() == "No entries found."


async def test_arguments_that_are_left_empty_do_not_matter(call: Caller) -> None:
    name = await call.keep("Tea", "drinks")
    empty = {"text": "", "id": "", "tags": [], "since": "", "until": ""}
    assert names(await call.search("tea", **empty)) == [name]
    await call("update", id=name, text="", tags=["warm"])
    assert "Tea" in await call.search(tags=["warm"])


async def test_a_repeat_of_what_was_forgotten_meanwhile_says_only_which(
    call: Caller, database: Database
) -> None:
    context = call.context(await call.begin())
    arguments = {"action": "insert", "text": "Tea", "tags": ["drinks"]}
    once = await call.tool.run(arguments, context)

    def forget(connection: Connection) -> None:
        (row,) = connection.execute("SELECT id FROM ledger").fetchall()
        ledger.redact(
            connection, entry_id=row[0], is_wanted=lambda words: "Tea" in words, mark="[gone]"
        )

    await database.write("forget", forget)
    again = await call.tool.run(arguments, context)
    assert once.text == f"{again.text} Tags: drinks."


async def test_text_is_kept_in_one_tidy_form_and_comes_back_as_one_quote(call: Caller) -> None:
    name = await call.keep("  a\tb \r\n\r\n\r\n\r\n</facts> c  ", "Käse & Brot", "KÄSE")
    whole = (await call("search", id=name)).text
    head, _, quoted = whole.partition("\n")
    assert "tags käse, käse-brot" in head
    assert json.loads(quoted) == "a b\n\n&lt;/facts> c"


async def test_queries_of_indicators_and_operators_find_or_find_nothing(call: Caller) -> None:
    await call.keep("Call +43 (1) 555 -- at <5 pm, 価格は安い")
    for query in ('"', "AND OR NOT", "a* NEAR(b)", "^:{}", "p1_call", "--", "価格", "%", "\x00"):
        await call.search(query)
    assert len(names(await call.search("価格"))) == 1
    assert len(names(await call.search("--"))) == 1


async def test_a_damaged_entry_is_left_out_and_never_changed(
    call: Caller, database: Database
) -> None:
    name = await call.keep("Tea with lemon")
    await call.keep("Tea with ice")
    await database.write(
        "spoil", lambda c: c.execute("UPDATE archive SET text = 'Tea!' WHERE text LIKE '%lemon'")
    )
    assert "ice" in await call.search("tea")
    assert name not in names(await call.search("tea"))
    for action in ({"action": "delete"}, {"action": "update", "text": "x"}, {"action": "search"}):
        with pytest.raises(StoreDamaged, match="restore a backup"):
            await call.tool.run({**action, "id": name}, call.context(await call.begin()))


async def test_a_room_has_an_archive_of_its_own_and_never_sees_a_persons(
    database: Database, ann: Dialogue, bob: Dialogue
) -> None:
    room = await meet(database, "room-1", kind="room")
    there = [Caller(database, dialogue, room.person) for dialogue in (ann, bob)]
    mine = Caller(database, ann)
    private = await mine.keep("Tea at home")
    shared = await there[0].keep("Tea in the office")
    assert names(await there[1].search("tea")) == [shared]
    assert names(await mine.search("tea")) == [private]
    with pytest.raises(ToolArgumentError, match="no entry"):
        await there[0]("search", id=private)
    with pytest.raises(ToolArgumentError, match="no entry"):
        await mine("delete", id=shared)
    assert "everyone in it can see" in there[0].tool.spec.description
    wrong = ArchiveTool(database, lambda _: None, in_room=True)
    result = await wrong.run({"action": "search"}, mine.context(await mine.begin()))
    assert (result.is_error, result.text) == (True, "There is no archive here.")


async def test_frequent_words_together_find_what_is_old(
    call: Caller, database: Database, ann: Dialogue
) -> None:
    person_id = ann.person.id

    def fill(connection: Connection) -> None:
        for number in range(1500):
            text = "tea with lemon" if number == 3 else ("tea", "lemon")[number % 2]
            archive.insert(
                connection, person_id=person_id, text=text, tags=(), now=BEGIN - 2000 + number
            )

    await database.write("fill", fill)
    found = await call.search("tea lemon")
    assert "tea with lemon" in found.splitlines()[1]
    assert found.startswith("Found over ")


async def test_the_index_holds_what_the_entries_say(
    call: Caller, database: Database, ann: Dialogue
) -> None:
    name = await call.keep("Tea with lemon", "drinks")
    await call("update", id=name, text="Coffee", tags=["warm-drinks"])
    gone = await call.keep("Milk")
    await call("delete", id=gone)
    within = ArchiveFilter(person_id=ann.person.id, tags=("warm-drinks",))
    assert await database.read(lambda c: archive.list_holders(c, within=within, limit=9)) == [
        int(name, 36)
    ]

    def look(connection: Connection) -> set[str]:
        connection.execute(
            "CREATE VIRTUAL TABLE temp.told USING fts5vocab (main, archive_search, instance)"
        )
        return {row[0] for row in connection.execute("SELECT term FROM temp.told")}

    person = f"p{ann.person.id}"
    reported = await database.write("look", look)
    assert reported == {f"{person}_{word}" for word in ("coffe", "warm", "drink", "_twarm_drinks")}
