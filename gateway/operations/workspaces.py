"""Operations on the files of a person's own workspace: list them, read one, add one."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakValueDictionary

from agent_core.errors import BackendUnavailable, WorkspaceError
from agent_core.execution import file_list
from agent_core.execution.file_list import ListedFile
from gateway.errors import Declined
from gateway.texts import forms as texts

if TYPE_CHECKING:
    from agent_core.execution.contract import Backend
    from agent_core.state.people.people import Person

_Result = TypeVar("_Result")
MOST_BYTES = 50_000_000
"""Bytes of a file that the page gives or takes."""
_adding: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()
"""By workspace: held while a file gets its name."""


async def list_files(backend: "Backend | None", person: "Person", folder: str) -> list[ListedFile]:
    """List a folder of a person's workspace. Raises `Declined`."""
    return await _do(file_list.list_folder, _find_place(backend, person), folder)


async def read_file(backend: "Backend | None", person: "Person", path: str) -> bytes:
    """Read a file of a person's workspace. Raises `Declined`."""
    return await _do(file_list.read_file, _find_place(backend, person), path, MOST_BYTES)


async def add_file(backend: "Backend | None", person: "Person", path: str, data: bytes) -> str:
    """Add a file to a person's workspace under a free name, and return its path.

    It never replaces a file. Raises `Declined`.
    """
    place = _find_place(backend, person)
    assert backend is not None  # noqa: S101 - a place has one
    stem, dot, ending = path.rpartition(".")
    if not dot or "/" in ending:
        stem, ending = path, ""
    async with _adding.setdefault(place, asyncio.Lock()):  # two at once may have one name
        number, free = 1, path
        while await _do(file_list.exists, place, free):
            number += 1
            free = f"{stem} ({number}){dot if ending else ''}{ending}"
        try:
            await backend.write_file(person.slug, free, data)
        except (WorkspaceError, BackendUnavailable) as error:
            raise Declined(texts.FILE_REFUSED(reason=str(error))) from error
    return free


def is_here(backend: "Backend | None", person: "Person") -> bool:
    """Return whether the person has a workspace on this machine."""
    return backend is not None and backend.find_place(person.slug) is not None


def _find_place(backend: "Backend | None", person: "Person") -> Path:
    """Return the folder of a workspace. Raises `Declined` if it is not on this machine."""
    place = backend.find_place(person.slug) if backend else None
    if place is None:
        raise Declined(texts.NO_WORKSPACE())
    return place


async def _do(work: Callable[..., _Result], *arguments: object) -> _Result:
    """Work on files in a thread. Raises `Declined` with the reason."""
    try:
        return await asyncio.to_thread(work, *arguments)
    except (WorkspaceError, BackendUnavailable) as error:
        raise Declined(texts.FILE_REFUSED(reason=str(error))) from error
