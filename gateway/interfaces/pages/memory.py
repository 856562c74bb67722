"""Memory: waiting claims, entries, profile, archive, and changes with evidence and undo."""

from collections.abc import Mapping
from typing import Any, Literal

from starlette.responses import Response

from agent_core.agent.review.profile import list_profile
from agent_core.agent.review.record import HeldClaim
from agent_core.agent.review.replacing import find_replaced
from agent_core.chats import Chat
from agent_core.memory.archive.conclusions import list_conclusions
from agent_core.memory.archive.entries import format_archive_id
from agent_core.memory.archive.history import format_archive_change
from agent_core.memory.numbering import NumberedEntry, list_entries
from agent_core.state.conversations import questions
from agent_core.state.engine.database import Connection
from agent_core.state.lifecycle.redact import FORGOTTEN
from agent_core.state.memory import archive, ledger
from agent_core.state.memory.archive import ArchiveFilter
from agent_core.state.memory.ledger import LedgerEntry
from agent_core.state.memory.shares import EVERYONE
from gateway.errors import Declined, Mistaken
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.curator import read_tidying
from gateway.interfaces.pages.views import LARGEST, Fields, Look, Missing, parse_number
from gateway.operations import proposals
from gateway.operations.logins import find_page_chat
from gateway.operations.memory import edit as edit_memory
from gateway.operations.memory import find_audiences
from gateway.operations.memory import share as share_entry
from gateway.operations.memory_types import EditMemory, ShareEntry
from gateway.people.owner_notices import find_direct_chat
from gateway.texts import approvals, forms, profile, rooms
from gateway.texts import learning as notices
from gateway.turns.proposals import (
    CHOICES,
    find_doubt,
    list_held,
    list_refused,
    name_change,
)

_PAGE = 30
_MOST_BYTES = 20_000
_EDITS: Mapping[str, Literal["replace", "remove"]] = {"replace": "replace", "remove": "remove"}


async def show(look: Look) -> Fields:
    """Read the person's memory, a page of its archive, and a page of its changes."""
    gateway, person = look.gateway, look.person
    own = await gateway.memory.store.snapshot(person.id, person.slug, gateway.now())
    shared = await gateway.memory.look(person.id, gateway.now())
    before, skipped = look.read_number("before", LARGEST), look.read_number("notes")

    def work(connection: Connection) -> dict[str, Any]:
        within = ArchiveFilter(person_id=person.id)
        ids = archive.list_holders(connection, within=within, limit=_PAGE, offset=skipped)
        return {
            "changes": ledger.list_recent_of(
                connection, person_id=person.id, limit=_PAGE, before=before
            ),
            "notes": archive.list_entries(connection, person_id=person.id, archive_ids=ids),
            "next_notes": skipped + _PAGE if len(ids) == _PAGE else None,
            "profile": list_profile(connection, person_id=person.id),
            "noted": {
                one.entry: (one, _name_audience(connection, one))
                for one in list_entries(connection, person_id=person.id)
            },
            "held": [
                (review, one, find_replaced(connection, person_id=person.id, claim=one.claim))
                for review, one in list_held(connection, person.id)
            ],
            "asked": [
                one
                for one in questions.find_open(connection, person_id=person.id)
                if one.kind == "proposal"
            ],
            "refused": list_refused(connection, person.id),
            "guesses": list_conclusions(connection, person_id=person.id),
        }

    fields = await gateway.database.read(work)
    fields |= await read_tidying(look)
    changes, known = fields["changes"], {line.text for line in fields["profile"]}
    return fields | {
        "changes": [
            format_archive_change(one) if one.target == "archive" else one for one in changes
        ],
        "about": [entry for entry in own.user if entry not in known],
        "remembered": [entry for entry in own.memory if entry not in known],
        "shared": [one for one in shared if one.entries],
        "name_note": format_archive_id,
        "name_change": name_change,
        "bring_back": approvals.BRING_BACK,
        "titles": profile.TITLES,
        "doubt": _describe_doubt,
        "digest": proposals.digest,
        "choices": {"accept": approvals.ACCEPT, "dismiss": approvals.DISMISS},
        "fault": None,
        "f": forms,
        "is_forgotten": _is_forgotten,
        "next": changes[-1].id if len(changes) == _PAGE else None,
    }


def _name_audience(connection: Connection, entry: NumberedEntry) -> str:
    """Name those who see an entry besides its person."""
    names = find_audiences(connection, [entry])
    return rooms.name_audiences(list(names.values()), is_for_everyone=EVERYONE in entry.audiences)


async def edit(look: Look) -> Response:
    """Add, change or delete an entry of the person's memory, and offer to undo it."""
    form = await read_form(look.request, _MOST_BYTES)
    given = {name: values[0].replace("\r\n", "\n") for name, values in form.items()}
    action: Literal["add", "replace", "remove"] = _EDITS.get(given.get("action", ""), "add")
    asked = EditMemory(
        person=look.person.slug,
        action=action,
        row=parse_number(given.get("row", ""), 0),
        text=given.get("text", ""),
    )
    try:
        made = await edit_memory(look.context, asked)
    except (Declined, Mistaken) as error:
        fault = {"row": asked.row if action != "add" else 0, "words": str(error)}
        return await _refuse(look, fault | {"text": asked.text})
    note = forms.REMEMBERED() if made.after else forms.FORGOTTEN()
    return look.redirect("/memory", note=note, undo_at=f"/memory/{made.row}/undo")


async def share(look: Look) -> Response:
    """Let everyone see an entry of the person's memory, or nobody else. Raises `Mistaken`."""
    form = await read_form(look.request, _MOST_BYTES)
    is_for_all = form.get("sees", [""])[0] == "everyone"
    asked = ShareEntry(
        person=look.person.slug,
        row=look.find_id("change"),
        sees="everyone" if is_for_all else "nobody",
    )
    done = await share_entry(look.context, asked)
    describe = rooms.describe_share if is_for_all else rooms.describe_private
    return look.redirect("/memory", note=describe(done.row, done.words))


async def _refuse(look: Look, fault: Mapping[str, Any]) -> Response:
    """Show the page with what was typed, and what is wrong with it."""
    fields = {**await show(look), "fault": fault}
    return look.reject("memory.html", **fields)


async def decide(look: Look) -> Fields:
    """Accept or dismiss a waiting claim. Raises `Missing` and `Declined`."""
    gateway, person, now = look.gateway, look.person, look.gateway.now()
    number = (look.find_id("review"), look.find_id("claim"))
    choice = look.request.path_params["choice"]
    if choice not in CHOICES:
        raise Missing
    seen = (await read_form(look.request, _MOST_BYTES)).get("seen", [""])[0]

    def find_chat(connection: Connection) -> Chat:
        direct = find_direct_chat(connection, person, gateway.platforms.adapters)
        return direct or find_page_chat(connection, person.id)

    here = await gateway.database.read(find_chat)
    decision = proposals.Decision(number=number, choice=choice, seen=seen)
    is_done = await proposals.decide(
        gateway.database, gateway.questions, person, decision, here, now
    )
    if not is_done:
        raise Missing
    return {}


def _is_forgotten(row: LedgerEntry) -> bool:
    """Return whether the words of a change were deleted, so that it can't be undone."""
    return FORGOTTEN in (row.change.before, row.change.after)


def _describe_doubt(held: HeldClaim, replaced: str) -> str:
    return notices.describe_doubt(find_doubt(held, replaced))


async def restore(look: Look) -> Fields:
    """Make a dismissed change wait for an answer again. Raises `Missing`."""
    gateway, person, now = look.gateway, look.person, look.gateway.now()
    number = look.find_id("question")

    rows = await gateway.database.write(
        "memory.restore", proposals.bring_back, gateway.questions, person.id, number, None, now
    )
    if rows is None:
        raise Missing
    return {}
