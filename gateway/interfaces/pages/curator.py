"""Tidying up: when it was done, what is suggested, and the person's decision about it."""

from starlette.responses import Response

from gateway.interfaces.pages.views import Fields, Look, Missing
from gateway.operations import curator as operations
from gateway.operations.curator_types import (
    DecideProposal,
    ListProposals,
    RunCurator,
    ShowReport,
)
from gateway.texts import curator as texts

_CHOICES = {"accept": True, "decline": False}


async def read_tidying(look: Look) -> Fields:
    """Read what the page Memory shows about tidying up."""
    context, slug = look.context, look.person.slug
    found = await operations.report(context, ShowReport(person=slug))
    waiting = await operations.list_proposals(context, ListProposals(person=slug))
    return {
        "u": texts,
        "tidying": look.viewer.mark_within(
            texts.describe_status(found.last, found.following, 0, look.viewer.clock),
            found.last,
            found.following,
        ),
        "proposals": [(one, texts.name_way(one)) for one in waiting.proposals],
    }


async def run(look: Look) -> Response:
    """Tidy up now. Raises `Declined`."""
    done = await operations.run(look.context, RunCurator(person=look.person.slug))
    return look.redirect("/memory#tidying", note=texts.STARTED[done.scope]())


async def decide(look: Look) -> Response:
    """Accept or decline a suggestion, and offer to undo it. Raises `Missing` and `Declined`."""
    path = look.request.path_params
    if path["choice"] not in _CHOICES:
        raise Missing
    asked = DecideProposal(
        person=look.person.slug, key=path["proposal"], accepts=_CHOICES[path["choice"]]
    )
    done = await operations.decide(look.context, asked)
    undo = f"/memory/{done.rows[0]}/undo" if len(done.rows) == 1 else ""
    return look.redirect("/memory#tidying", note=texts.DECIDED[done.state](), undo_at=undo)
