"""Approvals: what may be done for the person without a question, and how to take it back."""

from starlette.responses import Response

from agent_core.state.conversations import approvals
from agent_core.tools.policy.shapes import describe_shape
from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.operations.approvals import take_back
from gateway.texts import approvals as texts
from gateway.texts import forms


async def show(look: Look) -> Fields:
    """List what the person has allowed in advance."""
    found = await look.gateway.database.read(approvals.list_of, person_id=look.person.id)
    rows = [(one, describe_shape(one.shape), texts.SCOPES[one.scope]()) for one in found]
    return {"allowed": rows, "a": texts, "f": forms}


async def revoke(look: Look) -> Response:
    """Take an approval back. Raises `Missing`."""
    shape = await look.gateway.database.write(
        "approvals.revoke",
        take_back,
        look.person.id,
        look.find_id("approval"),
        actor=f"person:{look.person.id}",
        now=look.gateway.now(),
    )
    if not shape:
        raise Missing
    return look.redirect("/approvals", note=texts.describe_revoked(shape))
