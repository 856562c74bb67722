"""Renders the pages: templates, their viewer, and the headers of each answer."""

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date
from functools import cache
from http import HTTPStatus
from importlib import resources

import jinja2
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response

from agent_core.localization import (
    find_language,
    format_date,
    format_number,
    format_weekday,
    use_language,
)
from agent_core.state.people.people import Person
from agent_core.tools.clock import local_time
from agent_core.tools.time_zones import name_zone
from gateway.texts import access, states
from gateway.texts import pages as texts
from gateway.texts.general import name_role
from gateway.texts.job_results import name_run_state
from gateway.texts.jobs import IN_ZONE
from gateway.texts.memory import name_maker
from gateway.texts.usage import describe_amount, describe_charged, name_purpose

_CODE = re.compile(r"```\w*\n(.*?)\n```|`([^`\n]+)`", re.DOTALL)
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
PLACES: Mapping[str, Callable[[], str]] = {
    "/": texts.CHAT,
    "/today": texts.TODAY,
    "/conversations": texts.CONVERSATIONS,
    "/turns": texts.TURNS,
    "/memory": texts.MEMORY,
    "/skills": texts.SKILLS,
    "/jobs": texts.JOBS,
    "/usage": texts.USAGE,
    "/settings": texts.SETTINGS,
    "/people": texts.PEOPLE,
    "/condition": texts.HEALTH,
    "/configuration": texts.CONFIGURATION,
}
"""The pages by their addresses, in the order of the menu."""
OWNERS_ONLY = frozenset({"/people", "/condition", "/configuration"})
"""Pages that only owners may open."""
FILES: Mapping[str, tuple[str, str]] = {
    "/pages/pages.css": ("pages.css", "text/css"),
    "/pages/pages.js": ("pages.js", "text/javascript"),
    "/pages/htmx.js": ("htmx.min.js", "text/javascript"),
}
"""The static files by their addresses, each with its name and media type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """The reader of a page: their person and time zone. `person` is None before the first message.

    An owner operates the gateway, and may see the pages about it.
    """

    person: Person | None
    zone: str
    is_owner: bool
    has_chat: bool = False

    def show_time(self, moment: int) -> str:
        """Format a moment, in milliseconds UTC, in the viewer's time zone."""
        local = local_time(moment, self.zone)
        return f"{format_date(local.date())} {local:%H:%M}"

    def show_timing(self, timing: str, zone: str) -> str:
        """Return a job's schedule, with its time zone if that differs from the viewer's."""
        return timing if zone == self.zone else IN_ZONE(timing=timing, zone=name_zone(zone))

    def show_zone(self, zone: str) -> str:
        """Return a time zone as people write it."""
        return name_zone(zone)

    def show_date(self, day: date) -> str:
        """Format a date."""
        return format_date(day)

    def show_weekday(self, day: date) -> str:
        """Format a date with its weekday."""
        return f"{format_weekday(day.weekday())} {format_date(day)}"

    def mark_time(self, moment: int) -> Markup:
        """Return the HTML element of a moment, which programs can read, too."""
        return self._mark(moment, self.show_time(moment))

    def mark_clock(self, moment: int) -> Markup:
        """Return the HTML element of a moment, showing only the time of day."""
        return self._mark(moment, f"{local_time(moment, self.zone):%H:%M}")

    def _mark(self, moment: int, shown: str) -> Markup:
        machine = local_time(moment, self.zone).isoformat(timespec="seconds")
        return Markup('<time datetime="{}">{}</time>').format(machine, shown)


NOBODY = Viewer(person=None, zone="UTC", is_owner=False)
"""The viewer of a page that needs no login."""


def mark_code(text: str) -> Markup:
    """Return a text as HTML, with words between backticks marked as code, as in a chat."""

    def mark(found: re.Match[str]) -> str:
        return f"<code>{found[1] or found[2] or ''}</code>"

    return Markup(_CODE.sub(mark, str(escape(text))))  # noqa: S704 - escaped


def render_note(request: Request, note: Callable[[], str], status: HTTPStatus) -> Response:
    """Render a page with one sentence, for a reader who may see no other page."""
    return render(request, NOBODY, "note.html", status=status, note=note)


def render(
    request: Request,
    viewer: Viewer,
    template: str,
    *,
    status: HTTPStatus = HTTPStatus.OK,
    **fields: object,
) -> Response:
    """Render a page in the language of its viewer."""
    with speak_to_viewer(request, viewer):
        body = (
            _load()
            .get_template(template)
            .render(
                t=texts,
                language=find_language(),
                access=access,
                places={address: PLACES[address]() for address in _list_places(viewer)},
                here=request.url.path,
                address=_find_address(request),
                amount=describe_amount,
                viewer=viewer,
                number=format_number,
                **fields,
            )
        )
    # With `no-referrer`, a browser would send no origin with a form.
    headers = {"Content-Security-Policy": _POLICY, "Referrer-Policy": "same-origin"}
    return Response(body, status, headers, media_type="text/html; charset=utf-8")


def _find_address(request: Request) -> str:
    """Return a request's path with its query; a page that updates itself requests it again."""
    return f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path


def _list_places(viewer: Viewer) -> list[str]:
    """List the pages in a viewer's menu. The chat needs a login from the printed address."""
    if viewer.person is None and not viewer.is_owner:
        return []
    return [
        address
        for address in PLACES
        if (viewer.is_owner or address not in OWNERS_ONLY) and (viewer.has_chat or address != "/")
    ]


def read_file(name: str) -> bytes:
    """Read a static file."""
    return (resources.files("gateway.interfaces.pages") / "static" / name).read_bytes()


def speak_to_viewer(request: Request, viewer: Viewer) -> AbstractContextManager[None]:
    """Return a context manager that sets the language of texts to the viewer's."""
    asked = request.headers.get("accept-language", "").split(",")
    tags = [tag.partition(";")[0].strip() for tag in asked]
    return use_language(viewer.person.language if viewer.person else None, *tags)


@cache
def _load() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("gateway.interfaces.pages"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "actor": name_maker,
        "charged": describe_charged,
        "code": mark_code,
        "connection": lambda state: states.CONNECTIONS[state](),
        "job_state": lambda state: states.JOBS[state](),
        "mode": lambda mode: states.MODES[mode](),
        "platform": states.name_platform,
        "purpose": name_purpose,
        "role": name_role,
        "run_state": name_run_state,
        "skill_origin": lambda origin: states.ORIGINS[origin](),
        "skill_state": lambda state: states.SKILLS[state](),
        "turn_state": lambda state: states.TURNS[state](),
    }
    return environment
