"""Forms that let people in and remove them. Only owners reach them."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from agent_core.state.people import people
from agent_core.state.people.people import Person
from gateway.errors import Declined, Mistaken
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.views import Fields, Look, Missing, is_same_name
from gateway.operations import people as operations
from gateway.operations import privacy as data
from gateway.operations.people_types import Approve, CancelCode, Invite, PickPerson
from gateway.texts import forms as texts
from gateway.texts import privacy
from gateway.texts.general import APPROVED
from gateway.texts.people import describe_way, quote_name

_MOST_BYTES = 8_000


async def invite(look: Look) -> Response:
    """Make an invitation, and show once how to use it."""
    guest = (await read_form(look.request, _MOST_BYTES)).get("guest", [""])[0]
    made = await operations.invite(look.context, Invite(guest=guest))
    ways = [
        (one.address, describe_way(one.platform, one.address or None, one.command))
        for one in made.links
    ]
    return look.redirect("/people", invited={"guest": made.guest, "code": made.code, "ways": ways})


async def approve(look: Look) -> Response:
    """Let in an account that waits: one of the list, or the one with a typed code."""
    form = await read_form(look.request, _MOST_BYTES)
    number = look.find_id("code") if "code" in look.request.path_params else None
    wish = Approve(code=form.get("code", [""])[0], number=number)
    try:
        note = APPROVED(name=quote_name((await operations.approve(look.context, wish)).name))
    except Declined as error:
        note = str(error)
    return look.redirect(_find_back(form), note=note)


async def cancel(look: Look) -> Response:
    """Cancel an invitation, or refuse an account that waits."""
    form = await read_form(look.request, _MOST_BYTES)
    try:
        done = await operations.cancel(look.context, CancelCode(number=look.find_id("code")))
        name = quote_name(done.name)
        whom = texts.FOR_NAMED(name=name) if done.name else texts.FOR_SOMEBODY()
        note = texts.REFUSED(name=name) if done.has_waited else texts.CANCELLED(name=whom)
    except Mistaken as error:
        note = str(error)
    return look.redirect(_find_back(form), note=note)


def _find_back(form: Mapping[str, Sequence[str]]) -> str:
    """Return the page on which a button was pressed."""
    return "/today" if form.get("back") == ["/today"] else "/people"


async def ask_remove(look: Look) -> Fields:
    """Say what goes with a person, before they are removed. Raises `Missing`."""
    return await _describe(look)


async def remove(look: Look) -> Response:
    """Erase a person for good, after their name was typed. Raises `Missing`."""
    person = await _find(look)
    typed = (await read_form(look.request, _MOST_BYTES)).get("name", [""])[0].strip()
    is_meant = is_same_name(typed, person.name)
    fault = "" if is_meant else texts.WRONG_NAME(name=person.name)
    if not fault:
        try:
            done = await data.erase(look.context, PickPerson(slug=person.slug))
        except (Declined, Mistaken) as error:
            fault = str(error)
        else:
            look.gateway.forget_known()
            remains = privacy.describe_remains(done.backups, done.outside)
            note = f"{texts.REMOVED(name=quote_name(done.name))} {remains}"
            return look.redirect("/people", note=note)
    fields = await _describe(look, typed=typed, faults={"name": fault})
    return look.reject("remove_person.html", **fields)


async def _describe(look: Look, **given: Any) -> dict[str, Any]:
    person = await _find(look)
    found = await data.look_before_erasing(look.context, PickPerson(slug=person.slug))
    return {
        "f": texts,
        "gone": found,
        "typed": "",
        "faults": {},
        "person_number": person.id,
        **given,
    }


async def _find(look: Look) -> Person:
    """Return the person in the address; nobody removes themselves here. Raises `Missing`."""
    everybody = await look.gateway.database.read(people.list_all)
    number = look.find_id("person")
    found = next((one for one in everybody if one.id == number), None)
    if found is None or found.id == look.person.id:
        raise Missing
    return found
