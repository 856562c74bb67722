"""Deeds about memory."""

import json
from typing import Any

from agent_core.skills.curation.looks import list_memory
from agent_core.state.conversations import questions
from agent_core.state.memory import archive, blocks, shares
from agent_core.state.memory.archive import ArchiveFilter
from agent_core.state.people.deeds import Doer, list_standing
from gateway.operations.curator import list_waiting
from gateway.turns.proposals import list_held
from tests.fakes.model import ask, call, say
from tests.integration.interfaces.held_notes import hold
from tests.integration.interfaces.same_deeds.ability_rows import look_at_tools
from tests.integration.interfaces.same_deeds.surfaces import Do, Row, Surfaces
from tests.integration.interfaces.same_deeds.talk_rows import find_message, is_over
from tests.integration.interfaces.suggestions import suggest
from tests.integration.memory.learning import remember as make_claim


async def look_at_block(here: Surfaces, name: str) -> Any:
    found = await here.read(blocks.find, label=name)
    return found and (found.description, found.limit)


async def look_at_audience(here: Surfaces, name: str) -> Any:
    olga = await here.olga()
    found = await here.read(shares.list_of, person_id=olga.id)
    return [one.audience for one in found if one.entry == name]


async def look_at_entries(here: Surfaces, name: str) -> Any:
    found = await here.read(list_memory, person_id=(await here.olga()).id)
    return [one.target for one in found if one.text == name]


async def remember(here: Surfaces, name: str) -> str:
    """Remember something, and return the number of the entry."""
    made = await here.ask("POST", "/memory/entries", {"text": name})
    return str(made["id"])


async def remember_and_name(here: Surfaces, name: str) -> str:
    """Remember something; its number and its words."""
    return f"{await remember(here, name)} {name}"


async def look_at_rest(here: Surfaces, one: str) -> Any:
    """Look for the entry of a row that has other words now."""
    name = one.split()[-1]
    return await look_at_entries(here, name), await look_at_entries(here, f"{name}-new")


async def look_at_archive(here: Surfaces, name: str) -> Any:
    within = ArchiveFilter(person_id=(await here.olga()).id)
    found = await here.read(archive.list_holders, within=within, limit=99, offset=0)
    listed = await here.read(archive.list_entries, person_id=within.person_id, archive_ids=found)
    return [one.text for one in listed if one.text == name] != []


async def look_at_note(here: Surfaces, one: str) -> Any:
    """Look what became of a note: whether it is remembered, and whether it waits."""
    name, olga = one.split()[-1], (await here.olga()).id
    asked = await here.read(questions.find_open, person_id=olga)
    held = await here.read(list_held, olga)
    waits = [*(each.text for each in asked), *(each.claim.text for _, each in held)]
    return await look_at_entries(here, name), any(name in each for each in waits)


async def look_at_readers(here: Surfaces, name: str) -> Any:
    block = await here.read(blocks.find, label=name)
    found = await here.read(blocks.list_readers, block_id=block.id)
    return sorted(one.slug for one in found)


async def look_at_limits(here: Surfaces, name: str) -> Any:
    block = await here.read(blocks.find, label=name)
    return block.limit, block.is_read_only


async def share_entry(here: Surfaces, name: str) -> str:
    one = await remember_and_name(here, name)
    await here.ask("PUT", f"/memory/entries/{one.split()[0]}/audience", {"sees": "everyone"})
    return one


async def make_block(here: Surfaces, name: str) -> str:
    body = {"name": name, "limit": 300, "description": "where we go"}
    await here.ask("POST", "/blocks", body)
    return name


async def make_shared_block(here: Surfaces, name: str) -> str:
    await make_block(here, name)
    await here.ask("PUT", f"/blocks/{name}/readers/zebrana")
    return name


async def hold_note(here: Surfaces, name: str) -> str:
    """Let a note wait; the number of its review, and its words."""
    olga = await here.olga()
    review, _ = await here.write(lambda c: hold(c, olga, name, most=1))
    return f"{review} {name}"


async def dismiss_note(here: Surfaces, name: str) -> str:
    """Let a note be dismissed; the number of its question, and its words."""
    one = await hold_note(here, name)
    await here.post(f"/memory/held/{one.split()[0]}/1/dismiss")
    found = await here.ask("GET", "/questions/dismissed")
    return f"{found['questions'][0]['id']} {name}"


def decide(choice: str, label: str, left: object) -> Row:
    """Decide about a note that waits."""

    async def press(here: Surfaces, one: str) -> None:
        await here.chat_and_press("/learned review", label)

    async def answer(here: Surfaces, one: str) -> None:
        number = (await ask_again(here)).partition(" ")[0]
        await here.ask("POST", f"/questions/{number}/answer", {"choice": choice})

    return Row(
        deed="Decide about notes that wait",
        ready=hold_note,
        by={
            "chat": press,
            "page": lambda here, one: here.post(f"/memory/held/{one.split()[0]}/1/{choice}"),
            "api": answer,
        },
        look=look_at_note,
        left=left,
    )


async def ask_again(here: Surfaces) -> str:
    """Ask about the notes that wait in the chat; the number of the question."""
    await here.chat("/memory review")
    olga = await here.olga()
    asked = await here.wait_for(lambda: here.read(questions.find_open, person_id=olga.id))
    return str(asked[-1].id)


async def answer_on_memory(here: Surfaces, one: str) -> None:
    number = await ask_again(here)
    await here.post(f"/memory/questions/{number}/answer", choice="accept")


async def press_after_memory(here: Surfaces, one: str) -> None:
    await here.chat_and_press("/memory review", "Accept")


async def suggest_change(here: Surfaces, name: str) -> str:
    """Let the curator suggest to keep the newer of two notes; its key, and the note that goes."""
    kept, goes = f"{name}-kept", name
    for note in (kept, goes):
        await here.ask("POST", "/memory/entries", {"text": note})
    olga = await here.olga()
    now = here.setup.served.gateway.now()
    look = await here.write(
        lambda c: suggest(c, olga, kind="contradiction", stays=kept, goes=goes, now=now)
    )
    return f"{look}-0 {name}"


async def look_at_suggestion(here: Surfaces, one: str) -> Any:
    key, _, name = one.partition(" ")
    waiting = await here.read(list_waiting, await here.olga())
    return await look_at_entries(here, name), key in [each.key for each in waiting]


def judge(choice: str, left: object) -> Row:
    """Decide about a suggestion of the curator."""
    return Row(
        deed="Decide about suggestions and contradictions",
        ready=suggest_change,
        by={
            "chat": lambda here, one: here.chat(f"/curator {choice} {one.split()[0]}"),
            "page": lambda here, one: here.post(f"/memory/proposals/{one.split()[0]}/{choice}"),
            "api": lambda here, one: here.ask(
                "POST", f"/curator/proposals/{one.split()[0]}/{choice}"
            ),
        },
        look=look_at_suggestion,
        left=left,
    )


async def share_in_chat(here: Surfaces, name: str) -> str:
    """Let everyone see an entry, by a command of the chat."""
    one = await remember_and_name(here, name)
    await here.chat(f"/share {one.split()[0]} everyone")
    await here.wait_for(lambda: look_at_audience(here, name))
    return one


async def switch_off_in_chat(here: Surfaces, name: str) -> str:
    await here.chat("/tools off recall")
    await here.wait_for(lambda: look_at_tools(here, name))
    return name


async def undo_on_page(here: Surfaces, _: str) -> None:
    """Press the newest Undo of the page Today."""
    olga = await here.olga()
    doer = Doer(person_id=olga.id, owner_id=olga.id, platform="console")
    newest, *_ = await here.read(list_standing, doer)
    assert f'action="/deeds/{newest.id}/undo"' in await here.read_page("/today")
    await here.post(f"/deeds/{newest.id}/undo")


def take_back(ready: Do, look: Do, left: object) -> Row:
    """Take back the newest deed of the chat."""
    return Row(
        deed="Take back what was done, of any kind",
        ready=ready,
        by={"chat": lambda here, _: here.chat("/undo"), "page": undo_on_page},
        look=look,
        left=left,
    )


async def say_to_be_learned(here: Surfaces, name: str) -> str:
    """Say something of which a review keeps a note."""
    here.setup.model.plays = [say("Fine.")]
    await here.chat(f"I prefer {name}")
    await here.wait_for(lambda: is_over(here, f"I prefer {name}"))
    message, _, _ = await find_message(here, f"I prefer {name}")
    claim = make_claim(f"Prefers {name}", f"I prefer {name}", message)
    here.setup.model.plays = [ask(call("memory", claim))]
    return name


async def look_at_learned(here: Surfaces, name: str) -> Any:
    """Look whether a note was kept, and how many reviews are not over."""
    kept = await look_at_entries(here, f"Prefers {name}")
    return kept, await here.count_tasks("review")


async def note_twice(here: Surfaces, name: str) -> str:
    """Remember the same twice, of which the curator will say so."""
    notes = (f"{name} twice", f"{name} once more")
    for note in notes:
        await here.ask("POST", "/memory/entries", {"text": note})
    olga = await here.olga()
    found = await here.read(list_memory, person_id=olga.id)
    kept, goes = ([one.text for one in found].index(one) for one in notes)
    tidying = {"kind": "duplicate", "remove": [goes], "keep": kept, "reason": "Twice."}
    here.setup.model.plays = [ask(call("tidy", json.dumps(tidying))), say("nothing")]
    return name


async def look_at_tidying(here: Surfaces, name: str) -> Any:
    """Look whether the curator suggests to remove a note, and what it has still to look at."""
    waiting = await here.read(list_waiting, await here.olga())
    is_suggested = any(f"{name} once more" in one.proposal.change.removed for one in waiting)
    return is_suggested, await here.count_tasks("curation")


def on_block(ready: Do, look: Do, left: object, chat: Do, page: Do, api: Do) -> Row:
    """Do something to a block that is there."""
    return Row(
        deed=_BLOCKS, ready=ready, by={"chat": chat, "page": page, "api": api}, look=look, left=left
    )


_BLOCKS = "See memory blocks, make them, and share them with people and groups"


def remove_by(command: str) -> Row:
    """Remove an entry; in the chat by a command."""
    return Row(
        deed="Remember, change or remove something",
        ready=remember_and_name,
        by={
            "chat": lambda here, one: here.chat(f"/{command} {one.split()[0]}"),
            "page": lambda here, one: here.post(
                "/memory/entries", action="remove", row=one.split()[0]
            ),
            "api": lambda here, one: here.ask("DELETE", f"/memory/entries/{one.split()[0]}"),
            "mcp": lambda here, one: here.propose(
                "memory", action="remove", target="user", old=one.split()[1]
            ),
        },
        look=lambda here, one: look_at_entries(here, one.split()[1]),
        left=[],
    )


ROWS = (
    # The notes that wait below belong to reviews of turns to come, so this row is the first.
    Row(
        deed="Learn from the newest messages now",
        ready=say_to_be_learned,
        by={
            "chat": lambda here, _: here.chat("/learn"),
            "page": lambda here, _: here.write_on_page("/learn"),
            "terminal": lambda here, _: here.run("chat", given="/learn\n"),
        },
        look=look_at_learned,
        left=(["user"], 0),
    ),
    Row(
        deed="Remember, change or remove something",
        by={
            "chat": lambda here, name: here.tell("memory", action="add", target="user", text=name),
            "page": lambda here, name: here.post("/memory/entries", text=name),
            "api": lambda here, name: here.ask("POST", "/memory/entries", {"text": name}),
            "mcp": lambda here, name: here.propose(
                "memory", action="add", target="user", text=name
            ),
        },
        look=look_at_entries,
        left=["user"],
    ),
    Row(
        deed="Remember, change or remove something",
        ready=remember_and_name,
        by={
            "chat": lambda here, one: here.tell(
                "memory", action="remove", target="user", old=one.split()[1]
            ),
            "page": lambda here, one: here.post(
                "/memory/entries", action="remove", row=one.split()[0]
            ),
            "api": lambda here, one: here.ask("DELETE", f"/memory/entries/{one.split()[0]}"),
            "mcp": lambda here, one: here.propose(
                "memory", action="remove", target="user", old=one.split()[1]
            ),
        },
        look=lambda here, one: look_at_entries(here, one.split()[1]),
        left=[],
    ),
    Row(
        deed="See changes, and undo them by their number",
        ready=remember_and_name,
        by={
            "chat": lambda here, one: here.chat(f"/undo {one.split()[0]}"),
            "page": lambda here, one: here.post(f"/memory/{one.split()[0]}/undo"),
            "terminal": lambda here, one: here.run("memory", "undo", one.split()[0]),
            "api": lambda here, one: here.ask("POST", f"/memory/ledger/{one.split()[0]}/undo"),
        },
        look=lambda here, one: look_at_entries(here, one.split()[1]),
        left=[],
    ),
    Row(
        deed="Share an entry with everyone, or make it private",
        ready=remember_and_name,
        by={
            "chat": lambda here, one: here.chat(f"/share {one.split()[0]} everyone"),
            "page": lambda here, one: here.post(
                f"/memory/entries/{one.split()[0]}/share", sees="everyone"
            ),
            "api": lambda here, one: here.ask(
                "PUT", f"/memory/entries/{one.split()[0]}/audience", {"sees": "everyone"}
            ),
        },
        look=lambda here, one: look_at_audience(here, one.split()[1]),
        left=["everyone"],
    ),
    Row(
        deed="See memory blocks, make them, and share them with people and groups",
        by={
            "chat": lambda here, name: here.chat(f"/block new {name} 300 where we go"),
            "page": lambda here, name: here.post(
                "/blocks/new", name=name, limit="300", description="where we go"
            ),
            "api": lambda here, name: here.ask(
                "POST", "/blocks", {"name": name, "limit": 300, "description": "where we go"}
            ),
        },
        look=look_at_block,
        left=("where we go", 300),
    ),
    Row(
        deed="Remember, change or remove something",
        ready=remember_and_name,
        by={
            "chat": lambda here, one: here.tell(
                "memory",
                action="replace",
                target="user",
                old=one.split()[1],
                text=f"{one.split()[1]}-new",
            ),
            "page": lambda here, one: here.post(
                "/memory/entries",
                action="replace",
                row=one.split()[0],
                text=f"{one.split()[1]}-new",
            ),
            "api": lambda here, one: here.ask(
                "PATCH", f"/memory/entries/{one.split()[0]}", {"text": f"{one.split()[1]}-new"}
            ),
            "mcp": lambda here, one: here.propose(
                "memory",
                action="replace",
                target="user",
                old=one.split()[1],
                text=f"{one.split()[1]}-new",
            ),
        },
        look=look_at_rest,
        left=([], ["user"]),
    ),
    remove_by("memory forget"),
    remove_by("profile forget"),
    Row(
        deed="Keep a longer note in the archive",
        by={
            "chat": lambda here, name: here.tell("archive", action="insert", text=name),
            "mcp": lambda here, name: here.propose("archive", action="insert", text=name),
        },
        look=look_at_archive,
        left=True,
    ),
    Row(
        deed="Share an entry with everyone, or make it private",
        ready=share_entry,
        by={
            "chat": lambda here, one: here.chat(f"/share {one.split()[0]} private"),
            "page": lambda here, one: here.post(f"/memory/entries/{one.split()[0]}/share"),
            "api": lambda here, one: here.ask(
                "PUT", f"/memory/entries/{one.split()[0]}/audience", {"sees": "nobody"}
            ),
        },
        look=lambda here, one: look_at_audience(here, one.split()[1]),
        left=[],
    ),
    on_block(
        *(make_block, look_at_limits, (500, False)),
        lambda here, name: here.chat(f"/block limit {name} 500"),
        lambda here, name: here.post(
            f"/blocks/{name}/change", limit="500", description="where we go"
        ),
        lambda here, name: here.ask("PATCH", f"/blocks/{name}", {"limit": 500}),
    ),
    on_block(
        *(make_block, look_at_limits, (300, True)),
        lambda here, name: here.chat(f"/block readonly {name} on"),
        lambda here, name: here.post(
            f"/blocks/{name}/change", limit="300", description="where we go", is_read_only="on"
        ),
        lambda here, name: here.ask("PATCH", f"/blocks/{name}", {"is_read_only": True}),
    ),
    on_block(
        *(make_block, look_at_readers, ["olga", "zebrana"]),
        lambda here, name: here.chat(f"/block share {name} zebrana"),
        lambda here, name: here.post(f"/blocks/{name}/share", reader="zebrana"),
        lambda here, name: here.ask("PUT", f"/blocks/{name}/readers/zebrana"),
    ),
    on_block(
        *(make_shared_block, look_at_readers, ["olga"]),
        lambda here, name: here.chat(f"/block unshare {name} zebrana"),
        lambda here, name: here.post(f"/blocks/{name}/unshare", reader="zebrana"),
        lambda here, name: here.ask("DELETE", f"/blocks/{name}/readers/zebrana"),
    ),
    on_block(
        *(make_block, look_at_block, None),
        lambda here, name: here.chat(f"/block drop {name} yes"),
        lambda here, name: here.post(f"/blocks/{name}/drop"),
        lambda here, name: here.ask("DELETE", f"/blocks/{name}"),
    ),
    decide("accept", "Accept", (["user"], False)),
    decide("dismiss", "Dismiss", ([], False)),
    Row(
        deed="Decide about notes that wait",
        ready=hold_note,
        by={
            "chat": press_after_memory,
            "page": answer_on_memory,
            "api": decide("accept", "", None).by["api"],
        },
        look=look_at_note,
        left=(["user"], False),
    ),
    Row(
        deed="Bring back a note that was dismissed",
        ready=dismiss_note,
        by={
            "chat": lambda here, one: here.chat(f"/learned restore {one.split()[0]}"),
            "page": lambda here, one: here.post(f"/memory/dismissed/{one.split()[0]}/restore"),
            "api": lambda here, one: here.ask("POST", f"/questions/{one.split()[0]}/restore"),
        },
        look=look_at_note,
        left=([], True),
    ),
    judge("accept", ([], False)),
    judge("decline", (["user"], False)),
    take_back(share_in_chat, lambda here, one: look_at_audience(here, one.split()[1]), []),
    take_back(switch_off_in_chat, look_at_tools, ()),
    Row(
        deed="Tidy up now",
        ready=note_twice,
        by={
            "chat": lambda here, _: here.chat("/curator run"),
            "page": lambda here, _: here.post("/memory/tidy"),
            "terminal": lambda here, _: here.run("skills", "curate"),
            "api": lambda here, _: here.ask("POST", "/curator/run"),
        },
        look=look_at_tidying,
        left=(True, 0),
    ),
)
