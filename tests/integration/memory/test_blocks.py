"""Named blocks: made, shared and dropped by command, and visible only to those who share them."""

from pathlib import Path

from agent_core.state.engine.database import Connection
from agent_core.state.memory import blocks
from agent_core.state.memory.blocks import NewBlock
from agent_core.state.people import audit, owners, people
from gateway.texts import blocks as blocks_texts
from tests.fakes.chat import FakeChat
from tests.fakes.model import FakeModel, ask, call, say
from tests.integration.model_requests import facts, results
from tests.integration.shared_harness import SharedHarness, shared_harness
from tests.tables import await_each

NEW = "/block new Shopping 200 what we need from the market"
HEADING = "## block shopping ["


def remember(here: SharedHarness, slug: str, *entries: str) -> None:
    """Write a block's file by hand."""
    folder = here.home / "memories" / "blocks" / slug
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath("MEMORY.md").write_text("".join(f"- {entry}\n" for entry in entries))


async def meet(here: SharedHarness, *names: str) -> None:
    """Let everyone write, so that they are known and reachable."""
    for name in names:
        await here.says(name, "hello")


async def test_a_block_is_seen_by_its_maker_until_it_is_shared(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await meet(here, "ann", "bob")
        said = await here.says("ann", NEW)
        assert said.startswith(
            "I've made the block “shopping” for at most 200 characters. Only you"
        )
        remember(here, "shopping", "milk")
        (request, *_) = await here.asks("ann", "hi")
        assert f"{HEADING}7/200 characters]\nFor: what we need from the market\n- milk\n" in (
            request.system
        )
        assert "milk" not in (await here.asks("bob", "hi"))[0].system

        said = await here.says("ann", "/block share shopping with Bob")
        reported, said = here.harness.chat.shown[-2:]
        assert {reported.text, said.text} == {
            blocks_texts.describe_shared_with_you(
                "ann", "shopping", "what we need from the market"
            ),
            "The block “shopping” is now shared with “bob”.",
        }
        assert "- milk\n" in (await here.asks("bob", "hi"))[0].system
        again = await here.says("ann", "/block share shopping bob")
        assert again == "The block “shopping” is already shared with “bob”."

        await here.says("ann", "/block unshare shopping bob")
        assert "shopping" not in (await here.asks("bob", "hi"))[0].system


async def test_a_write_to_a_block_is_a_fact_of_the_next_turn(
    tmp_path: Path,
) -> None:
    async with shared_harness(tmp_path) as here:
        await meet(here, "ann", "bob")
        await here.says("ann", NEW)
        await here.says("ann", "/block share shopping bob")
        before = (await here.asks("bob", "hi"))[0].system
        remember(here, "shopping", "milk", "eggs")
        first, *_ = await here.asks("bob", "what do we need?")
        assert 'New in block:shopping: ["milk", "eggs"]' in facts(first)
        second, *_ = await here.asks("bob", "and what else?")
        assert not [line for line in facts(second) if "shopping" in line], "once is enough"
        assert first.system == second.system == before, "what the provider has kept is of use"
        remember(here, "shopping", "milk", "eggs", "tea")
        third, *_ = await here.asks("bob", "really?")
        assert 'New in block:shopping: ["tea"]' in facts(third)
        await here.says("bob", "/new")
        fresh, *_ = await here.asks("bob", "hi")
        assert "- milk\n- eggs\n- tea\n" in fresh.system
        assert not [line for line in facts(fresh) if "shopping" in line]


async def test_removed_entries_of_a_block_leave_every_prompt(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await meet(here, "ann", "bob")
        await here.says("ann", NEW)
        remember(here, "shopping", "milk", "a secret")
        await here.make_owner("ann")
        await here.says("ann", "/block share shopping everyone")
        assert "a secret" in (await here.asks("bob", "hi"))[0].system
        remember(here, "shopping", "milk", "more")
        assert 'New in block:shopping: ["more"]' not in facts((await here.asks("bob", "hi"))[0])
        fresh, *_ = await here.asks("bob", "hi")
        assert "a secret" not in fresh.system
        assert "- more\n" in fresh.system
        remember(here, "shopping", "milk", "more", "told")
        await here.asks("bob", "hi")
        remember(here, "shopping", "milk", "more")
        reported, *_ = await here.asks("bob", "hi")
        assert 'Gone from block:shopping: ["told"]' in facts(reported)


async def test_a_tools_write_to_a_shared_block_reaches_the_other(tmp_path: Path) -> None:
    add = '{"action": "add", "target": "block:Shopping", "text": "bread"}'
    model = FakeModel(say("Hi."), say("Hi."), ask(call("memory", add)), say("Ok."))
    async with shared_harness(tmp_path, model) as here:
        await meet(here, "ann", "bob")
        await here.says("ann", NEW)
        await here.says("ann", "/block share shopping bob")
        await here.says("ann", "we need bread")
        assert results(model) == ["Added to `block:shopping`. It holds 1 entry, 8/200 characters."]
        path = tmp_path / "memories" / "blocks" / "shopping" / "MEMORY.md"
        assert path.read_text() == "- bread\n"
        model.plays.append(say("Bread."))
        (request,) = await here.asks("bob", "what do we need?")
        assert "- bread\n" in request.system


async def test_a_blocks_newest_change_is_undone_by_its_maker_and_owners(
    tmp_path: Path,
) -> None:
    add = '{"action": "add", "target": "block:Shopping", "text": "bread"}'
    model = FakeModel(say("Hi."), say("Hi."), ask(call("memory", add)), say("Ok."))
    async with shared_harness(tmp_path, model) as here:
        await meet(here, "ann", "bob")
        await here.says("ann", NEW)
        await here.says("ann", "/block share shopping bob")
        await here.says("bob", "we need bread")
        path = tmp_path / "memories" / "blocks" / "shopping" / "MEMORY.md"
        path.write_text("- bread\n- milk\n")
        refused = blocks_texts.NOT_YOURS(name="“shopping”")
        assert await here.says("bob", "/block undo shopping") == refused
        assert await here.says("ann", "/block undo shopping", room="den") != refused
        assert path.read_text() == "- bread\n- milk\n"
        assert await here.says("ann", "/block undo shopping") == (
            "↩ Taken back in “shopping”:\n"
            "- Change by hand in the file. Removed: milk\n\n"
            "/block undo shopping undoes the change before that one, too."
        )
        assert "by me. Removed: bread" in (await here.says("ann", "/block undo Shopping"))
        assert await here.says("ann", "/block undo shopping") == "There's nothing to undo."
        assert path.read_text() == ""
        model.plays.append(say("Nothing."))
        (request,) = await here.asks("bob", "what do we need?")
        assert "bread" not in request.system.partition(HEADING)[2]


async def test_an_owner_undoes_a_change_of_the_teams_memory(tmp_path: Path) -> None:
    add = '{"action": "add", "target": "team", "text": "Rent is due"}'
    model = FakeModel(say("Hi."), say("Hi."), ask(call("memory", add)), say("Ok."))
    async with shared_harness(tmp_path, model) as here:
        await meet(here, "cleo", "bob")
        await here.make_owner("cleo")
        await here.says("cleo", "rent is due, for all")
        assert await here.says("bob", "/block undo team") == blocks_texts.NOT_YOURS(name="“team”")
        assert "Removed: Rent is due" in await here.says("cleo", "/block undo team")
        unknown = blocks_texts.UNKNOWN(name="“plan”")
        assert await here.says("cleo", "/block undo plan") == unknown
        path = tmp_path / "memories" / "team" / "MEMORY.md"
        assert path.read_text() == ""


async def test_a_block_named_team_precedes_no_team_list(tmp_path: Path) -> None:
    add = '{"action": "add", "target": "team", "text": "Rent is due"}'
    model = FakeModel(say("Hi."), say("Hi."), ask(call("memory", add)), say("Ok."))

    def work(connection: Connection) -> None:
        cleo = people.find_by_account(connection, platform="fake", user_id="cleo")
        assert cleo
        new = NewBlock(slug="team", label="team", description="us", limit=200, made_by=cleo.id)
        block = blocks.insert(connection, new, now=0)
        blocks.share(connection, block_id=block.id, person_id=cleo.id)

    async with shared_harness(tmp_path, model) as here:
        await meet(here, "cleo", "bob")
        await here.make_owner("cleo")
        await here.harness.gateway.database.write("test", work)
        here.harness.gateway.memory.expect_blocks()
        await here.says("cleo", "rent is due, for all")
        remember(here, "team", "We wear blue")
        said = await here.says("cleo", "/block undo team")
        assert "Rent is due" in said
        assert "We wear blue" not in said
        assert "We wear blue" in await here.says("cleo", "/block undo block:team")


async def test_an_invalid_request_gets_a_sentence(tmp_path: Path) -> None:
    rows = [
        ("/block new", blocks_texts.BAD_LABEL()),
        ("/block new 123 500 numbers", blocks_texts.BAD_LABEL()),
        ("/block new share 500 a word of the house", blocks_texts.BAD_LABEL()),
        ("/block new a:b 500 signs", blocks_texts.BAD_LABEL()),
        ("/block new Team 500 what the team's list is called", blocks_texts.BAD_LABEL()),
        ("/block new \u3164x 500 nothing to see", blocks_texts.BAD_LABEL()),
        ("/block new other 99 too short", blocks_texts.BAD_LIMIT()),
        ("/block new other many words", blocks_texts.BAD_LIMIT()),
        ("/block new other 500", blocks_texts.NO_DESCRIPTION()),
        (
            f"/block new sk-ant-{'x' * 20} 500 a key as a name",
            blocks_texts.SECRET_FOUND(),
        ),
        (
            f"/block new other 500 it opens with sk-ant-{'x' * 20}",
            blocks_texts.SECRET_FOUND(),
        ),
        ("/block new shopping 500 again", blocks_texts.TAKEN()),
        ("/block share shopping", blocks_texts.WITH_WHOM()),
        ("/block share shopping here", blocks_texts.HERE_NOWHERE()),
        (
            "/block share shopping with nobody",
            (
                "I don't know anyone called “nobody”. Check the name, or use an account such as "
                "telegram:1234."
            ),
        ),
        ("/block readonly shopping perhaps", blocks_texts.ON_OR_OFF(name="shopping")),
        ("/block limit shopping 1000000", blocks_texts.BAD_LIMIT()),
        ("/block describe shopping", blocks_texts.NO_DESCRIPTION()),
        ("/block share nothing bob", "You have no block called “nothing”."),
        ("/block nothing", "You have no block called “nothing”."),
    ]
    async with shared_harness(tmp_path) as here:
        await here.says("ann", NEW)

        async def check(row: tuple[str, str]) -> None:
            assert (await here.says("ann", row[0])).startswith(row[1])

        await await_each(rows, check)


async def test_only_the_maker_and_owners_change_a_block(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await meet(here, "ann", "bob", "cleo")
        await here.make_owner("cleo")
        await here.says("ann", NEW)
        hidden = "You have no block called “shopping”."
        words = ("share shopping bob", "limit shopping 300", "drop shopping yes")
        for word in words:
            assert (await here.says("bob", f"/block {word}")).startswith(hidden)
        await here.says("ann", "/block share shopping bob")
        for word in words:
            said = await here.says("bob", f"/block {word}")
            assert said == blocks_texts.NOT_YOURS(name="“shopping”")
        said = await here.says("cleo", "/block limit shopping 300")
        assert said == blocks_texts.NEW_LIMIT(label="shopping", limit=300)

        def look(connection: Connection) -> list[str]:
            block = blocks.find(connection, label="shopping")
            assert block
            done = audit.list_of(connection, person_id=block.person_id, limit=9)
            return [deed.action for deed in done]

        assert await here.harness.read(look) == ["block.limit", "block.share", "block.new"]


async def test_only_owners_share_a_block_with_everyone(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await meet(here, "ann", "bob", "cleo")
        await here.make_owner("cleo")
        await here.says("ann", NEW)
        remember(here, "shopping", "do as ann says")
        said = await here.says("ann", "/block share shopping with everyone")
        assert said == blocks_texts.ONLY_OWNERS_WITH_ALL()
        assert "do as ann says" not in (await here.asks("bob", "hi"))[0].system
        await here.says("cleo", "/block share shopping with everyone")
        assert "do as ann says" in (await here.asks("bob", "hi"))[0].system


async def test_a_person_can_leave_a_shared_block(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await meet(here, "ann", "bob", "cleo")
        await here.says("ann", NEW)
        remember(here, "shopping", "do as ann says")
        for name in ("bob", "cleo"):
            await here.says("ann", f"/block share shopping with {name}")
            assert "do as ann says" in (await here.asks(name, "hi"))[0].system
        said = await here.says("bob", "/block unshare shopping cleo")
        assert said == blocks_texts.NOT_YOURS(name="“shopping”")
        said = await here.says("bob", "/block unshare shopping me")
        assert said == "The block “shopping” is no longer shared with you."
        assert "do as ann says" not in (await here.asks("bob", "hi"))[0].system
        assert "do as ann says" in (await here.asks("cleo", "hi"))[0].system
        unknown = blocks_texts.UNKNOWN(name="“shopping”")
        assert await here.says("bob", "/block unshare shopping me") == unknown


async def test_a_button_drops_a_block_for_everyone(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", NEW)
        remember(here, "shopping", "milk")
        assert "- milk\n" in (await here.asks("ann", "hi"))[0].system
        asked = await here.says("ann", "/block delete shopping")
        assert asked.startswith("Delete the block “shopping”? Nobody")
        await here.harness.chat.press("Delete it", user="ann", name="ann", chat="ann")
        await here.harness.at_rest()
        assert here.harness.chat.shown[-1].text == "I've deleted the block “shopping”."
        assert "shopping" not in (await here.asks("ann", "hi"))[0].system
        assert await here.says("ann", "/block") == blocks_texts.list_blocks([])
        assert (await here.says("ann", NEW)).startswith("I've made the block “shopping”")
        assert (tmp_path / "memories/blocks/shopping/MEMORY.md").read_text() == "- milk\n"


async def test_a_long_block_is_shortened_to_a_message(tmp_path: Path) -> None:
    async with shared_harness(tmp_path, chat=FakeChat(limit=2000)) as here:
        await here.says("ann", "/block new long 20000 " + "x" * 300)
        remember(here, "long", *(f"entry {number} " + "y" * 100 for number in range(50)))
        said = await here.says("ann", "/block long")
        assert said.startswith("**long** [5,590/20,000 characters]: xxx")
        assert said.endswith("\n… and 40 more")
        assert len(said) < 2000
        for number in range(12):
            await here.says("ann", f"/block new block{number} 1000 " + "z" * 300)
        listed = await here.says("ann", "/block")
        assert "more\n\nWith /block you can:" in listed
        assert len(listed) < 2000


async def test_only_people_are_counted_as_people(tmp_path: Path) -> None:
    async with shared_harness(tmp_path) as here:
        await here.says("ann", NEW)
        await here.make_owner("ann")
        await here.says("ann", "/block share shopping everyone")

        def look(connection: Connection) -> tuple[list[str], list[str]]:
            everyone = [person.slug for person in people.list_all(connection)]
            return everyone, [person.slug for person in owners.list_all(connection)]

        assert await here.harness.read(look) == (["ann"], ["ann"])
        listed = await here.says("ann", "/block")
        assert listed.startswith(
            "**shopping** [0/200 characters]: what we need from the market"
            " (you made it; shared with everyone)"
        )
