"""Your data: get a copy, delete words of it, or delete everything."""

from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.responses import FileResponse, Response

from gateway.errors import Declined, Mistaken
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.rendering import render_note
from gateway.interfaces.pages.views import Fields, Look, is_same_name
from gateway.operations import privacy as operations
from gateway.operations.people_types import PickPerson
from gateway.operations.privacy_types import ExportPerson, FindWords, ForgetWords
from gateway.people.data_export import discard
from gateway.texts import forms
from gateway.texts import privacy as texts

_MOST_BYTES = 8_000


async def show(look: Look) -> Fields:
    """Say what a person can do with their data."""
    del look
    return _describe()


async def export(look: Look) -> Response:
    """Answer with an archive of the person's data, which the browser saves. Raises `Declined`."""
    written = await operations.export(look.context, ExportPerson(slug=look.person.slug))
    path = Path(written.target)
    return FileResponse(
        path,
        media_type="application/zip",
        filename=path.name,
        headers={"Cache-Control": "no-store"},
        background=BackgroundTask(discard, path),
    )


async def find(look: Look) -> Response:
    """Show what holds the words that were typed, before any of it is deleted."""
    words = await _read(look, "words")
    try:
        found = await operations.find_words(
            look.context, FindWords(slug=look.person.slug, words=words)
        )
    except (Declined, Mistaken) as error:
        return look.reject("data.html", **_describe(words, faults={"words": str(error)}))
    shown = texts.ask_to_forget(
        (found.entries, found.messages, found.jobs, found.blocks),
        found.lines,
        [(one.name, one.lines, one.past) for one in found.groups],
        quotes=found.quotes,
        has_past=found.has_past,
    )
    has_notes = bool(found.entries or found.blocks or found.groups or found.has_past)
    fields = {**_describe(words, found=shown), "has_notes": has_notes}
    return look.show_again("data.html", HTTPStatus.OK, **fields)


async def forget(look: Look) -> Response:
    """Delete the words for good, soon. Raises `Mistaken`."""
    form = await read_form(look.request, _MOST_BYTES)
    asked = ForgetWords(
        slug=look.person.slug,
        words=form.get("words", [""])[0],
        has_messages=form.get("scope") == ["all"],
    )
    done = await operations.forget(look.context, asked)
    note = texts.FORGET_SOON() if done.is_late else texts.FORGET_BEGUN()
    return look.redirect("/data", note=note)


async def erase(look: Look) -> Response:
    """Erase the person who asks, after they typed their name."""
    typed, name = await _read(look, "name"), look.person.name
    fault = forms.WRONG_NAME(name=name) if not is_same_name(typed, name) else ""
    if not fault:
        try:
            done = await operations.erase_own(look.context, PickPerson(slug=look.person.slug))
        except Declined as error:
            fault = str(error)
        else:
            # Their logins end with them: a redirect would lead nowhere.
            said = texts.describe_erase_begun(done.backups, done.outside)
            return render_note(look.request, lambda: said, HTTPStatus.OK)
    return look.reject("data.html", **_describe(typed=typed, faults={"name": fault}))


async def _read(look: Look, name: str) -> str:
    return (await read_form(look.request, _MOST_BYTES)).get(name, [""])[0].strip()


def _describe(
    words: str = "",
    *,
    found: str = "",
    typed: str = "",
    faults: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    return {
        "d": texts,
        "f": forms,
        "words": words,
        "found": found,
        "typed": typed,
        "faults": faults or {},
    }
