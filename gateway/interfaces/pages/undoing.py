"""Undo on a page: take a deed or a change of memory back, or bring it back, without a chat."""

from starlette.responses import Response

from adapters.ids import PlatformMessageId, PlatformUserId
from adapters.messages import InboundMessage, Sender
from agent_core.ids import InboxId
from agent_core.localization import find_language
from agent_core.state.engine.database import Connection
from agent_core.state.memory import ledger
from agent_core.state.people import deeds
from agent_core.state.people.deeds import Deed, Doer
from gateway.chats import read_chat
from gateway.commands.deed_undo import BACK, DEED, UNDO, find_past
from gateway.commands.registry import Call
from gateway.errors import Declined
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.views import Look, Missing
from gateway.operations import memory
from gateway.operations.logins import find_page_chat
from gateway.operations.memory_types import UndoChange
from gateway.people.admission import LOCAL_PLATFORM
from gateway.texts import pages as texts
from gateway.texts.undo import describe_past

_MOST_BYTES = 4_000
_PAGES = ("/today", "/jobs", "/memory")
"""The pages with such buttons."""
_WORDS = {"undo": DEED, "back": BACK}


async def change_deed(look: Look) -> Response:
    """Take a deed back, or bring it back, and say what became of it on the page of the button.

    `/undo` does it, but nothing is said in a chat. Raises `Missing`.
    """
    number, word = look.find_id("deed"), _WORDS.get(look.request.path_params["verb"])
    place = await _find_place(look, "/today")
    if word is None:
        raise Missing
    database = look.gateway.database
    deed = await database.read(_find_deed, look.doer, number, word)
    past = await database.read(find_past, deed) if deed and word == DEED else None
    if past:
        return look.redirect(place, note=describe_past(past.title, past.state))
    try:
        call = await _make_call(look, f"{word} {number}", InboxId(-number))
        said = await look.gateway.command_runner.press(call, UNDO)
    except Declined as error:
        said = str(error)
    is_done = await database.read(_is_done, look.doer, number, word)
    if deed and is_done:
        describe = texts.TOOK_BACK if word == DEED else texts.BROUGHT_BACK
        said = describe(name=deed.did.replace("\n", "; "))
    return look.redirect(place, note=said)


async def find_undo(look: Look, command: str) -> str:
    """Return the address of the Undo of what was just done, which the command takes back.

    It is "" if something else was done, or was taken back.
    """
    standing = await look.gateway.database.read(deeds.list_standing, look.doer)
    is_newest = command and standing and standing[0].undo == command
    return f"/deeds/{standing[0].id}/undo" if is_newest else ""


async def undo_change(look: Look) -> Response:
    """Undo one change of the person's memory. Raises `Missing` and `Declined`."""
    number = look.find_id("change")
    place = await _find_place(look, "/memory")
    found = await look.gateway.database.read(ledger.find_row, entry_id=number)
    if found is None or found[0] != look.person.id:
        raise Missing
    await memory.undo(look.context, UndoChange(row=number))
    return look.redirect(place)


async def _find_place(look: Look, usual: str) -> str:
    """Return the page on which a button was pressed."""
    place = (await read_form(look.request, _MOST_BYTES)).get("place", [usual])[0]
    return place if place in _PAGES else usual


def _find_deed(connection: Connection, doer: Doer, number: int, word: str) -> Deed | None:
    """Return a deed that stands, or one that can be brought back."""
    standing, gone = deeds.list_standing, deeds.list_taken_back
    found = (standing if word == DEED else gone)(connection, doer)
    deed = next((one for one in found if one.id == number), None)
    can_change = word == DEED or deeds.find_redo(connection, doer, number)
    return deed if can_change else None


def _is_done(connection: Connection, doer: Doer, number: int, word: str) -> bool:
    """Return whether a deed was taken back, or brought back, by the button that could do it."""
    is_gone = any(one.id == number for one in deeds.list_taken_back(connection, doer))
    return is_gone and (word == DEED or not deeds.find_redo(connection, doer, number))


async def _make_call(look: Look, argument: str, inbox_id: InboxId) -> Call:
    """Make the call that a button stands for, as if the person had said it in their own chat."""
    gateway, person = look.gateway, look.person
    chat = await gateway.database.read(find_page_chat, person.id)
    address = read_chat(chat.address)
    message = InboundMessage(
        address=address,
        message_id=PlatformMessageId(""),
        sender=Sender(
            user_id=PlatformUserId(address.chat_id),
            display_name=person.name,
            language=find_language(),
        ),
        text="",
        is_addressed=True,
        sent_at=gateway.now(),
    )
    place = await gateway.rooms.place(LOCAL_PLATFORM, message, person)
    return Call(
        argument=argument,
        platform=LOCAL_PLATFORM,
        message=message,
        inbox_id=inbox_id,
        person=person,
        conversation=await gateway.conversations.find(place),
        room=None,
        zone=look.viewer.zone,
        now=gateway.now(),
        is_repeat=False,
    )
