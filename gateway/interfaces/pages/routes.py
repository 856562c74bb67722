"""The routes of the console's pages. The gate has let in nobody but the owner."""

from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from gateway.bootstrap.lifecycle import Gateway
from gateway.errors import Declined, Mistaken
from gateway.interfaces.api.access import find_owner
from gateway.interfaces.api.event_feed import EventFeed, read_cursor
from gateway.interfaces.api.events import follow_feed
from gateway.interfaces.operations.contract import find_zone_of
from gateway.interfaces.pages import health, jobs, memory, people, skills, today, turns, usage
from gateway.interfaces.pages.rendering import (
    FILES,
    Viewer,
    read_file,
    render,
    speak_to_viewer,
)
from gateway.interfaces.pages.views import Look, Missing, View
from gateway.texts.console import pages as texts

_VIEWS: dict[str, tuple[str, View]] = {
    "/today": ("today.html", today.show),
    "/turns": ("turns.html", turns.show_list),
    "/turns/{turn:int}": ("turn.html", turns.show),
    "/memory": ("memory.html", memory.show),
    "/skills": ("skills.html", skills.show_list),
    "/skills/{skill}": ("skill.html", skills.show),
    "/jobs": ("jobs.html", jobs.show),
    "/usage": ("usage.html", usage.show),
    "/people": ("people.html", people.show),
    "/condition": ("health.html", health.show),  # monitors read `/health`
}
"""What each page shows, by its address."""
_CHANGES: dict[str, tuple[str, View]] = {
    "/questions/{question:int}/answer": ("/today", today.answer),
    "/memory/{change:int}/undo": ("/memory", memory.undo_change),
    "/jobs/{job:int}/{verb}": ("/jobs", jobs.act),
}
"""The changes, by their addresses, and the page that each leads back to."""

Handler = Callable[[Request], Awaitable[Response]]
IsLoggedIn = Callable[[Request], Awaitable[bool]]
"""Returns whether the login of a request has not ended."""


class Pages:
    """Answers the requests of the pages."""

    def __init__(self, gateway: Gateway, is_logged_in: IsLoggedIn) -> None:
        self._gateway = gateway
        self._is_logged_in = is_logged_in
        self._zone = find_zone_of(gateway.settings)
        self._files = {path: (read_file(name), kind) for path, (name, kind) in FILES.items()}

    def list_routes(self) -> list[BaseRoute]:
        """List the routes of pages, changes, files and events."""
        return [
            *(Route(path, self._give_file) for path in self._files),
            *(Route(path, self._make_page(*view)) for path, view in _VIEWS.items()),
            *(
                Route(path, self._make_change(*change), methods=["POST"])
                for path, change in _CHANGES.items()
            ),
            Route("/pages/events", self._follow),
        ]

    async def _find_viewer(self) -> Viewer:
        person = await self._gateway.database.read(find_owner)
        return Viewer(person=person, zone=(person and person.time_zone) or self._zone)

    def _make_page(self, template: str, view: View) -> Handler:
        async def show(look: Look) -> Response:
            fields = await view(look)
            return render(look.request, look.viewer, template, **fields)

        return self._guard(show)

    def _make_change(self, back: str, change: View) -> Handler:
        async def work(look: Look) -> Response:
            await change(look)
            return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": back})

        return self._guard(work)

    def _guard(self, work: Callable[[Look], Awaitable[Response]]) -> Handler:
        """Answer with a note where there is no person, no such thing, or a refusal."""

        async def handle(request: Request) -> Response:
            viewer = await self._find_viewer()
            if viewer.person is None:
                return render(request, viewer, "note.html", note=texts.UNOWNED)
            look = Look(gateway=self._gateway, viewer=viewer, person=viewer.person, request=request)
            note: Callable[[], str] = texts.NOT_FOUND
            status = HTTPStatus.NOT_FOUND
            try:
                with speak_to_viewer(request, viewer):
                    return await work(look)
            except Missing:
                pass
            except (Declined, Mistaken) as error:
                status, note = HTTPStatus.CONFLICT, partial(texts.REFUSED, reason=str(error))
            return render(request, viewer, "note.html", status=status, note=note)

        return handle

    async def _give_file(self, request: Request) -> Response:
        body, kind = self._files[request.scope["path"]]
        return Response(body, media_type=f"{kind}; charset=utf-8")

    async def _follow(self, request: Request) -> Response:
        viewer = await self._find_viewer()
        if viewer.person is None:
            return Response(status_code=HTTPStatus.NO_CONTENT)
        last = request.headers.get("last-event-id", "")
        feed = EventFeed(viewer.person.id, read_cursor(last))

        async def is_open() -> bool:
            return await self._is_logged_in(request)

        lines = follow_feed(self._gateway.database, feed, is_open)
        return StreamingResponse(lines, media_type="text/event-stream")


def make_pages(gateway: Gateway, is_logged_in: IsLoggedIn) -> list[BaseRoute]:
    """Make the routes of the pages."""
    return Pages(gateway, is_logged_in).list_routes()
