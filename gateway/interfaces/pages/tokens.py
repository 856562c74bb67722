"""Tokens: the programs that act for the person, and how one begins and ends."""

from starlette.responses import Response

from gateway.errors import Declined
from gateway.interfaces.api.responses import read_form
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.operations import tokens as operations
from gateway.operations.tokens_types import CreateToken, ListTokens, RevokeToken
from gateway.operations.wire import load
from gateway.texts import forms
from gateway.texts import tokens as texts

_MOST_BYTES = 4_000


async def show(look: Look) -> Fields:
    """List the person's tokens; a new one is shown with its secret, once."""
    listed = await operations.list_tokens(look.context, ListTokens(person=look.person.slug))
    return {
        "tokens": listed.tokens,
        "secret": look.flash.get("secret", ""),
        "name": look.flash.get("name", ""),
        "typed": "",
        "chosen": "mcp",
        "faults": {},
        "k": texts,
        "f": forms,
    }


async def create(look: Look) -> Response:
    """Make a token of the person. A name that can't be stays in the form."""
    form = await read_form(look.request, _MOST_BYTES)
    name, scope = form.get("name", [""])[0], form.get("scope", ["mcp"])[0]
    try:
        asked = load(CreateToken, {"name": name, "person": look.person.slug, "scope": scope})
        made = await operations.create(look.context, asked)
    except Declined as error:
        said = str(error) if name.strip() else forms.MISSING()
        fields = {**await show(look), "typed": name, "chosen": scope, "faults": {"name": said}}
        return look.reject("tokens.html", **fields)
    return look.redirect("/tokens", secret=made.secret, name=made.name)


async def revoke(look: Look) -> Response:
    """End a token of the person. Raises `Missing`."""
    asked = RevokeToken(number=look.find_id("token"), person=look.person.slug)
    try:
        done = await operations.revoke(look.context, asked)
    except Declined as error:
        raise Missing from error
    return look.redirect("/tokens", note=texts.REVOKED(name=done.name))
