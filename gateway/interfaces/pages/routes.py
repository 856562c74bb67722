"""The routes of the console's pages. The gate rejects every request without a login."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from urllib.parse import quote

from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Match, Route

from agent_core.errors import StoreError
from agent_core.ids import PersonId
from agent_core.state.conversations import questions, session_list
from agent_core.state.conversations.session_list import ListedSession
from agent_core.state.engine.database import Connection
from agent_core.state.people import codes
from agent_core.state.people.people import Person
from agent_core.transcript import STAND_IN
from gateway.app.gateway import Gateway
from gateway.errors import Declined, Mistaken
from gateway.interfaces.api.streams import end_with_error, follow_feed
from gateway.interfaces.pages import (
    accounts,
    admitting,
    agents,
    approvals,
    blocks,
    configuration,
    connections,
    conversations,
    curator,
    data,
    everyone,
    health,
    memory,
    model,
    replays,
    room_forms,
    search,
    settings,
    skill_forms,
    skills,
    teams,
    today,
    tokens,
    tools,
    turns,
    undoing,
    webhooks,
    workspace,
)
from gateway.interfaces.pages import sessions as session_pages
from gateway.interfaces.pages import usage_views as views
from gateway.interfaces.pages.accounts import ask_unlink, show_own
from gateway.interfaces.pages.configuration import load_next
from gateway.interfaces.pages.flashes import FLASH, Flashes
from gateway.interfaces.pages.jobs import adding, editing, listing
from gateway.interfaces.pages.jobs.calendar import show_calendar
from gateway.interfaces.pages.jobs.editing import put_back, show_job
from gateway.interfaces.pages.rendering import (
    FILES,
    NOBODY,
    OWNERS_ONLY,
    Viewer,
    read_file,
    render,
    render_note,
    speak_to_viewer,
)
from gateway.interfaces.pages.usage_views import show_everyone
from gateway.interfaces.pages.views import Look, Missing, View
from gateway.operations.logins import OWNER, find_owner
from gateway.outbound.event_feed import EventFeed, find_now, read_cursor
from gateway.people.admission import LOCAL_PLATFORM
from gateway.texts import access, general, shell
from gateway.texts import pages as texts


class _Number(IntegerConvertor):
    """Matches the numbers that Python parses: no other has a page, not even an error of one."""

    regex = "[0-9]{1,18}"


register_url_convertor("int", _Number())  # Starlette's own one fails at 4,301 digits

_VIEWS: dict[str, tuple[str, View]] = {
    "/today": ("today.html", today.show),
    "/search": ("search.html", search.show),
    "/talks": ("talks.html", session_pages.list_newest),
    "/chats/{session:int}": ("talk.html", session_pages.show),
    "/conversations": ("conversations.html", conversations.show_list),
    "/conversations/{conversation:int}": ("conversation.html", conversations.show),
    "/turns": ("turns.html", turns.show_list),
    "/turns/{turn:int}": ("turn.html", turns.show),
    "/turns/{turn:int}/replay": ("replay.html", replays.show),
    "/memory": ("memory.html", memory.show),
    "/skills": ("skills.html", skills.show_list),
    "/skills/new": ("new_skill.html", skill_forms.show),
    "/skills/{skill}/edit": ("edit_skill.html", skill_forms.edit),
    "/skills/{skill}": ("skill.html", skills.show),
    "/jobs": ("jobs.html", listing.show),
    "/jobs/calendar": ("calendar.html", show_calendar),
    "/jobs/new": ("new_job.html", adding.show),
    "/jobs/{job:int}": ("job.html", show_job),
    "/agents": ("agents.html", agents.show_list),
    "/agents/new": ("edit_agent.html", agents.begin),
    "/agents/{agent}/edit": ("edit_agent.html", agents.edit),
    "/agents/{agent}": ("agent.html", agents.show),
    "/teams/new": ("edit_team.html", teams.begin),
    "/teams/{team}/edit": ("edit_team.html", teams.edit),
    "/teams/{team}": ("team.html", teams.show),
    "/usage": ("usage.html", views.show),
    "/approvals": ("approvals.html", approvals.show),
    "/tools": ("tools.html", tools.show),
    "/connections": ("connections.html", connections.show),
    "/tokens": ("tokens.html", tokens.show),
    "/blocks": ("blocks.html", blocks.show),
    "/workspace": ("workspace.html", workspace.show),
    "/settings": ("settings.html", settings.show),
    "/data": ("data.html", data.show),
    "/webhooks": ("webhooks.html", webhooks.show),
    "/accounts": ("accounts.html", show_own),
    "/accounts/{account:int}/unlink": ("unlink.html", ask_unlink),
    "/people": ("people.html", everyone.show),
    "/people/usage": ("usage.html", show_everyone),
    "/people/{person:int}/remove": ("remove_person.html", admitting.ask_remove),
    "/people/rooms/{room:int}": ("edit_room.html", room_forms.show),
    "/people/{person:int}": ("others.html", conversations.show_list_of_other),
    "/people/{person:int}/{conversation:int}": ("conversation.html", conversations.show_of_other),
    "/condition": ("health.html", health.show),  # the path `/health` is for monitors
    "/model": ("model.html", model.show),
    "/configuration/{name}": ("edit_setting.html", configuration.edit),
    "/configuration": ("configuration.html", configuration.show),
}
"""The template and the view of each page, by address."""
_CHANGES: dict[str, tuple[str, View]] = {
    "/reading/end": ("/conversations", conversations.end_consents),
    "/people/{person:int}/ask": ("/people", conversations.ask_to_read),
    "/memory/dismissed/{question:int}/restore": ("/memory", memory.restore),
    "/memory/held/{review:int}/{claim:int}/{choice}": ("/memory", memory.decide),
    "/webhooks/{webhook:int}/{verb}": ("/webhooks", webhooks.act),
    "/webhooks/{webhook:int}/deliveries/{delivery:int}/redeliver": (
        "/webhooks",
        webhooks.redeliver,
    ),
}
"""The changes by their addresses; each has the page to which it redirects."""
_ANSWERS: dict[str, Callable[[Look], Awaitable[Response]]] = {
    "/accounts/{account:int}/unlink": accounts.unlink,
    "/conversations/messages": conversations.send,
    "/data/find": data.find,
    "/data/forget": data.forget,
    "/data/erase": data.erase,
    "/messages/{message:int}/fork": conversations.fork,
    "/conversations/{conversation:int}/remove": conversations.remove,
    "/conversations/{conversation:int}/restore": conversations.restore,
    "/new": session_pages.begin,
    "/chats/{session:int}/go-on": session_pages.go_on,
    "/chats/{session:int}/title": session_pages.name,
    "/jobs/{job:int}/change": editing.change,
    "/jobs/{job:int}/urgent": listing.deliver_anyway,
    "/jobs/{job:int}/undo": put_back,
    "/jobs/{job:int}/{verb}": listing.act,
    "/deeds/{deed:int}/{verb}": undoing.change_deed,
    "/questions/{question:int}/answer": partial(today.answer, back="/today"),
    "/memory/questions/{question:int}/answer": partial(today.answer, back="/memory"),
    "/settings": settings.change,
    "/people/invite": admitting.invite,
    "/people/approve": admitting.approve,
    "/people/waiting/{code:int}/approve": admitting.approve,
    "/people/waiting/{code:int}/cancel": admitting.cancel,
    "/people/{person:int}/remove": admitting.remove,
    "/people/rooms/{room:int}": room_forms.change,
    "/skills/new": skill_forms.create,
    "/skills/{skill}/edit": skill_forms.change,
    "/skills/{skill}/{verb}": skill_forms.act,
    "/agents/new": agents.create,
    "/agents/{agent}/edit": agents.change,
    "/agents/{agent}/move": agents.move,
    "/agents/{agent}/{verb}": agents.act,
    "/teams/new": teams.create,
    "/teams/{team}/edit": teams.change,
    "/teams/{team}/task": teams.give_task,
    "/teams/{team}/{verb}": teams.act,
    "/condition/chores/{chore:int}/run": health.run,
    "/configuration/{name}": configuration.change,
    "/model": model.connect,
    "/approvals/{approval:int}/revoke": approvals.revoke,
    "/connections/finish": connections.finish,
    "/connections/{server}/connect": connections.connect,
    "/connections/{server}/end": connections.end,
    "/connections/{server}/accept": connections.accept,
    "/connections/{server}/retry": connections.retry,
    "/tools/switch": tools.switch,
    "/blocks/new": blocks.make,
    "/blocks/{block}/change": blocks.change,
    "/blocks/{block}/share": blocks.share,
    "/blocks/{block}/unshare": blocks.unshare,
    "/blocks/{block}/drop": blocks.drop,
    "/tokens/new": tokens.create,
    "/tokens/{token:int}/revoke": tokens.revoke,
    "/workspace/add": workspace.add,
    "/memory/entries": memory.edit,
    "/memory/{change:int}/undo": undoing.undo_change,
    "/memory/entries/{change:int}/share": memory.share,
    "/memory/tidy": curator.run,
    "/memory/proposals/{proposal}/{choice}": curator.decide,
    "/jobs/new": adding.add,
    "/jobs/new/times": adding.preview,
    "/webhooks/add": webhooks.add,
    "/webhooks/{webhook:int}/change": webhooks.change,
    "/webhooks/{webhook:int}/rotate": webhooks.rotate,
}
"""The forms that answer with a page of their own, by their addresses."""

_LISTED = 40
"""Sessions in the sidebar; the page Conversations and the search have all."""

PageHandler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A login of a browser; `person_id` is None if it comes from the printed address."""

    person_id: PersonId | None


FindLogin = Callable[[HTTPConnection], Awaitable[Login | None]]
"""Returns the login of a request; None if it has ended. Raises `StoreError`."""


class Pages:
    """Answers requests for the pages."""

    def __init__(self, gateway: Gateway, find_login: FindLogin) -> None:
        self._gateway = gateway
        self._find_login = find_login
        self._flashes = Flashes(gateway.now)
        self._files = {path: (read_file(name), kind) for path, (name, kind) in FILES.items()}
        self._routes: list[BaseRoute] = [
            Route("/", self._show_chat),
            *(Route(path, self._give_file) for path in self._files),
            *(Route(path, self._make_page(*view)) for path, view in _VIEWS.items()),
            *(Route(path, self._guard(work), methods=["POST"]) for path, work in _ANSWERS.items()),
            *(
                Route(path, self._make_change(*change), methods=["POST"])
                for path, change in _CHANGES.items()
            ),
            Route("/workspace/file", self._guard(workspace.give)),
            Route("/data/export", self._guard(data.export)),
            # Whoever keeps or reloads the address of a form gets the page that it is on.
            *(Route(path, find_page) for path in (*_ANSWERS, *_CHANGES) if path not in _VIEWS),
            Route("/pages/events", self._follow),
        ]

    def list_routes(self) -> list[BaseRoute]:
        """List the routes of pages, changes, files and events."""
        return self._routes

    def has_path(self, path: str) -> bool:
        """Return whether a path belongs to the pages."""
        return has_route(self._routes, path)

    async def _find_viewer(self, request: Request, *, has_frame: bool = True) -> Viewer | None:
        """Return the viewer; None if the login has ended or the person may not talk any more.

        Raises `StoreError`.
        """
        login = await self._find_login(request)
        if login is None:
            return None
        person_id = login.person_id

        now = self._gateway.now()

        def look(
            connection: Connection,
        ) -> tuple[Person | None, list[ListedSession], int, str]:
            if person_id is None:
                person = find_owner(connection)
            else:
                person = self._gateway.identity.find_admitted(connection, person_id)
            if person is None or not has_frame:
                return person, [], 0, ""
            listed = session_list.list_newest(connection, person_id=person.id, limit=_LISTED)
            since = find_now(connection, person_id=person.id).write()
            return person, listed, _count_waiting(connection, person, now), since

        person, listed, waiting, since = await self._gateway.database.read(look)
        if person is None and person_id is not None:
            return None
        if person is None:  # whoever has the printed address owns the home, as in the terminal
            person = await self._gateway.identity.identify(LOCAL_PLATFORM, OWNER)
        settings = self._gateway.settings
        has_model = settings.model.provider != STAND_IN
        following = await load_next(settings) if has_frame and not has_model else settings
        is_saved = following.model.provider != settings.model.provider
        return Viewer(
            person=person,
            zone=self._gateway.zone_of(person),
            is_owner=person_id is None or (person is not None and person.is_owner),
            has_model=has_model,
            next_model=following.model.name if is_saved else "",
            now=now,
            sessions=tuple(listed),
            waiting=waiting,
            since=since,
        )

    async def _show_chat(self, request: Request) -> Response:
        viewer = await self._find_viewer(request)
        if viewer is None:
            return render_note(request, access.LOGIN_ENDED, HTTPStatus.UNAUTHORIZED)
        return render(request, viewer, "chat.html", examples=general.EXAMPLES)

    async def show_error(self, request: Request, status: HTTPStatus) -> Response:
        """Return a page about a request that has no answer, in the frame if there is a login."""
        try:
            viewer = await self._find_viewer(request) or NOBODY
        except StoreError:
            viewer = NOBODY
        return render_note(request, shell.FAULTS.get(status, shell.FAULT), status, viewer)

    def _make_page(self, template: str, view: View) -> PageHandler:
        async def show(look: Look) -> Response:
            fields = await view(look)
            said = look.said
            if said and said.template:  # a rejected form, with what was typed and what is wrong
                return render(
                    look.request, look.viewer, said.template, is_rejected=True, **said.fields
                )
            told = {"flash": said.note if said else "", "undo_at": look.flash.get("undo_at", "")}
            return render(look.request, look.viewer, template, **{**told, **fields})

        return self._guard(show)

    def _make_change(self, back: str, change: View) -> PageHandler:
        async def work(look: Look) -> Response:
            await change(look)
            return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": back})

        return self._guard(work)

    def _guard(self, work: Callable[[Look], Awaitable[Response]]) -> PageHandler:
        """Wrap a view: if it has no person, finds nothing, or is refused, the answer is a note."""

        async def handle(request: Request) -> Response:
            note: Callable[[], str]
            viewer = await self._find_viewer(request)
            if viewer is None:
                return render_note(request, access.LOGIN_ENDED, HTTPStatus.UNAUTHORIZED)
            if viewer.person is None:
                return render_note(request, access.LOGIN_ENDED, HTTPStatus.UNAUTHORIZED)
            if f"/{request.url.path.split('/')[1]}" in OWNERS_ONLY and not viewer.is_owner:
                status, note = HTTPStatus.FORBIDDEN, access.ONLY_OWNERS
                return render_note(request, note, status, viewer)
            name = request.query_params.get(FLASH, "")
            look = Look(
                gateway=self._gateway,
                viewer=viewer,
                person=viewer.person,
                request=request,
                flashes=self._flashes,
                said=self._flashes.take(viewer.person.id, name) if name else None,
            )
            note = texts.NOT_FOUND
            status = HTTPStatus.NOT_FOUND
            try:
                with speak_to_viewer(request, viewer):
                    return await work(look)
            except Missing:
                pass
            except (Declined, Mistaken) as error:
                status, note = HTTPStatus.CONFLICT, partial(texts.REFUSED, reason=str(error))
            return render_note(request, note, status, viewer)

        return handle

    async def _give_file(self, request: Request) -> Response:
        body, kind = self._files[request.scope["path"]]
        is_text = kind.startswith(("text/", "application/"))
        return Response(body, media_type=f"{kind}; charset=utf-8" if is_text else kind)

    async def _follow(self, request: Request) -> Response:
        viewer = await self._find_viewer(request, has_frame=False)
        if viewer is None or viewer.person is None:
            return Response(status_code=HTTPStatus.NO_CONTENT)
        last = request.headers.get("last-event-id") or request.query_params.get("since", "")
        feed = EventFeed(viewer.person.id, read_cursor(last))

        async def is_open() -> bool:
            return await self._find_viewer(request, has_frame=False) is not None

        lines = end_with_error(follow_feed(self._gateway.database, feed, is_open))
        return StreamingResponse(lines, media_type="text/event-stream")


def _count_waiting(connection: Connection, person: Person, now: int) -> int:
    """Count what waits for a person on the page Today."""
    paired = codes.list_open(connection, purpose="pairing", now=now) if person.is_owner else []
    strangers = {(one.platform, one.user_id) for one in paired}
    return len(questions.find_open(connection, person_id=person.id)) + len(strangers)


async def find_page(request: Request) -> Response:
    """Redirect from the address of a form to the nearest page above it."""
    pages = [Route(path, find_page) for path in _VIEWS]
    path = request.url.path
    while path and not has_route(pages, path):
        path = path.rpartition("/")[0]
    query = f"?{request.url.query}" if FLASH in request.query_params else ""
    place = f"{quote(path) or '/today'}{query}"
    return Response(status_code=HTTPStatus.SEE_OTHER, headers={"Location": place})


def make_pages(gateway: Gateway, find_login: FindLogin) -> Pages:
    """Make the pages of a gateway."""
    return Pages(gateway, find_login)


def has_route(routes: Iterable[BaseRoute], path: str) -> bool:
    """Return whether one of the routes has this path."""
    scope = {"type": "http", "method": "GET", "path": path, "headers": []}
    return any(route.matches(scope)[0] != Match.NONE for route in routes)
