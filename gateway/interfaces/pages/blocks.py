"""Memory blocks: the notes that the person shares with others, and the forms that change them."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from starlette.responses import Response

from gateway.errors import Declined
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.operations import blocks as operations
from gateway.operations.block_types import (
    BlockAudience,
    ChangeBlock,
    ChangedBlock,
    ListBlocks,
    MakeBlock,
    PickBlock,
)
from gateway.operations.contract import OperationContext
from gateway.texts import blocks as texts
from gateway.texts import forms

_MOST_BYTES = 16_000
_PLACE = "/blocks"
_Asked = TypeVar("_Asked")


async def show(look: Look) -> Fields:
    """List the blocks that the person sees or made."""
    asked = ListBlocks(person=look.person.slug)
    found = await operations.list_own(look.context, look.gateway.memory, asked)
    return _describe(found.blocks, {}, {})


async def make(look: Look) -> Response:
    """Make a block. What can't be stays in the form."""
    form = await _read(look)
    asked = MakeBlock(
        person=look.person.slug,
        name=form.get("name", ""),
        description=form.get("description", ""),
        limit=_read_limit(form),
    )
    try:
        made = await operations.make_own(look.context, look.gateway.memory, asked)
    except Declined as error:
        fields = {**await show(look), "typed": form, "faults": {"name": str(error)}}
        return look.reject("blocks.html", **fields)
    return _end(look, made)


async def change(look: Look) -> Response:
    """Change a block. Raises `Missing` and `Declined`."""
    form = await _read(look)
    asked = ChangeBlock(
        person=look.person.slug,
        name=_name(look),
        description=form.get("description", ""),
        limit=_read_limit(form),
        is_read_only=form.get("is_read_only") == "on",
    )
    return await _perform(look, operations.change_own, asked)


async def share(look: Look) -> Response:
    """Let somebody see a block. Raises `Missing` and `Declined`."""
    return await _perform(look, operations.share_own, await _read_audience(look))


async def unshare(look: Look) -> Response:
    """Hide a block from somebody. Raises `Missing` and `Declined`."""
    return await _perform(look, operations.unshare_own, await _read_audience(look))


async def drop(look: Look) -> Response:
    """Delete a block. Raises `Missing` and `Declined`."""
    asked = PickBlock(person=look.person.slug, name=_name(look))
    return await _perform(look, operations.drop_own, asked)


async def _perform(
    look: Look,
    operation: Callable[[OperationContext, _Asked], Awaitable[ChangedBlock]],
    asked: _Asked,
) -> Response:
    """Perform an operation on a block, and say what it did. Raises `Missing` and `Declined`."""
    try:
        return _end(look, await operation(look.context, asked))
    except operations.UnknownBlock as error:
        raise Missing from error


def _describe(found: Any, typed: dict[str, str], faults: dict[str, str]) -> dict[str, Any]:
    return {"blocks": found, "typed": typed, "faults": faults, "b": texts, "f": forms}


async def _read(look: Look) -> dict[str, str]:
    form = await read_form(look.request, _MOST_BYTES, keeps_empty=True)
    return {name: values[0] for name, values in form.items()}


async def _read_audience(look: Look) -> BlockAudience:
    reader = (await _read(look)).get("reader", "")
    return BlockAudience(person=look.person.slug, name=_name(look), reader=reader)


def _read_limit(form: dict[str, str]) -> int:
    """Return the typed number of characters; 0, which no block has, for anything else."""
    digits = form.get("limit", "")
    return int(digits) if digits.isdecimal() and len(digits) < 10 else 0


def _name(look: Look) -> str:
    return str(look.request.path_params["block"])


def _end(look: Look, done: ChangedBlock) -> Response:
    return look.redirect(_PLACE, note=done.said)
