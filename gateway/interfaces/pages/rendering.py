"""Renders the pages: templates, their viewer, and the headers of each answer."""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from http import HTTPStatus
from importlib import resources
from itertools import groupby
from urllib.parse import parse_qsl, urlencode

import jinja2
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response

from adapters.registry import list_declared
from agent_core.localization import (
    find_language,
    format_date,
    format_number,
    format_weekday,
    name_month,
    say_clock,
    say_day,
    use_language,
)
from agent_core.shown_settings import name_city
from agent_core.state.conversations.session_list import ListedSession
from agent_core.state.people.people import Person
from agent_core.tools.clock import ReaderClock, local_time
from gateway.interfaces.pages.flashes import FLASH
from gateway.operations.skill_types import SkillLine
from gateway.texts import access, agent_pages, console_page, forms, model_page, shell, states
from gateway.texts import pages as texts
from gateway.texts.general import name_role
from gateway.texts.job_results import name_run_state
from gateway.texts.memory import name_maker
from gateway.texts.privacy import show_words
from gateway.texts.skills import summarize_bundled
from gateway.texts.usage import describe_amount, describe_charged, name_purpose

_CODE = re.compile(r"```\w*\n(.*?)\n```|`([^`\n]+)`", re.DOTALL)
_CELLS = re.compile(r"<(?:tr|th|td)\b")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:;"
    # Before 15.4, Safari's 'self' does not cover a WebSocket of the page's own host. The gate has
    # checked that the host is this machine.
    " connect-src 'self' ws://{host}; manifest-src 'self';"
    " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_MAIN: Mapping[str, Callable[[], str]] = {
    "/": texts.CHAT,
    "/today": texts.TODAY,
    "/jobs": texts.JOBS,
    "/memory": texts.MEMORY,
    "/skills": texts.SKILLS,
}
_OWN: Mapping[str, Callable[[], str]] = {
    "/turns": texts.TURNS,
    "/agents": agent_pages.AGENTS,
    "/workspace": forms.FILES,
    "/usage": texts.USAGE,
    "/settings": texts.SETTINGS,
}
_ADMINISTRATION: Mapping[str, Callable[[], str]] = {
    "/people": texts.PEOPLE,
    "/condition": texts.HEALTH,
    "/model": texts.MODEL,
    "/configuration": texts.CONFIGURATION,
}
PLACES: Mapping[str, Callable[[], str]] = {
    **_MAIN,
    "/conversations": texts.CONVERSATIONS,
    **_OWN,
    **_ADMINISTRATION,
}
"""The pages by their addresses, in the order of the sidebar."""
_WITHIN: Mapping[str, str] = {
    "chats": "/conversations",
    "teams": "/agents",
    "blocks": "/memory",
    **dict.fromkeys(
        ("accounts", "tools", "approvals", "connections", "tokens", "webhooks", "data"),
        "/settings",
    ),
}
"""Where the pages are found that are not in the sidebar, by the first part of their addresses."""
OWNERS_ONLY = frozenset(_ADMINISTRATION)
"""Pages that only owners may open."""
FILES: Mapping[str, tuple[str, str]] = {
    "/pages/pages.css": ("pages.css", "text/css"),
    "/pages/pages.js": ("pages.js", "text/javascript"),
    "/manifest.webmanifest": ("manifest.webmanifest", "application/manifest+json"),
    "/icon-192.png": ("icon-192.png", "image/png"),
    "/icon-512.png": ("icon-512.png", "image/png"),
    "/pages/forms.js": ("forms.js", "text/javascript"),
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
    has_model: bool = True
    """Whether a language model answers, and no stand-in."""
    next_model: str = ""
    """The model that answers from the next start on, if there is none yet."""
    now: int = 0
    sessions: tuple[ListedSession, ...] = ()
    """The newest sessions, for the sidebar."""
    waiting: int = 0
    """Questions and people that wait for this reader; the sidebar shows the number."""
    since: str = ""
    """The position in the person's stream of events before the page was read (`Cursor`)."""

    @property
    def clock(self) -> ReaderClock:
        """The clock on which the chats show moments to this reader, too."""
        return ReaderClock(zone=self.zone, now=self.now)

    def show_time(self, moment: int) -> str:
        """Format a moment, in milliseconds UTC, in the viewer's time zone."""
        local = local_time(moment, self.zone)
        return f"{format_date(local.date())} {local:%H:%M}"

    def show_zone(self, zone: str) -> str:
        """Return the city of a time zone."""
        return name_city(zone)

    def show_date(self, day: date) -> str:
        """Return a day as people say it, but by its date if it is near, too: `Mon 30 Nov`."""
        return say_day(day, day + _WEEK)

    def tell_time(self, moment: int) -> str:
        """Return a moment as people say it, seen from now: `5 min ago`, `tomorrow, 9:00`."""
        local, now = local_time(moment, self.zone), local_time(self.now, self.zone)
        days = (local.date() - now.date()).days
        minutes = abs(moment - self.now) // 60_000
        is_past, clock = moment <= self.now, say_clock(local)
        if minutes < 1:
            return shell.JUST_NOW()
        if minutes < 60:
            return (shell.MINUTES_AGO if is_past else shell.IN_MINUTES)(minutes)
        if days == 0 or minutes < 6 * 60:
            return (shell.HOURS_AGO if is_past else shell.IN_HOURS)(minutes // 60)
        if days in _NEAR:
            return _NEAR[days](time=clock)
        if abs(days) < 7:
            return shell.ON_WEEKDAY(weekday=format_weekday(local.weekday()), time=clock)
        return self.clock.show(moment)

    def mark_time(self, moment: int) -> Markup:
        """Return the HTML element of a moment: as people say it, with the exact one on hover."""
        return self._mark(moment, self.tell_time(moment))

    def mark_moment(self, moment: int) -> Markup:
        """Return the HTML element of a moment with its day, as chats show it: `tomorrow, 9:00`."""
        return self._mark(moment, self.clock.show(moment))

    def mark_clock(self, moment: int) -> Markup:
        """Return the HTML element of a moment, showing only the time of day."""
        return self._mark(moment, say_clock(local_time(moment, self.zone)))

    def mark_day(self, moment: int) -> Markup:
        """Return the HTML element of the day of a moment, without a time."""
        day = local_time(moment, self.zone).date()
        exact = f"{format_weekday(day.weekday())} {format_date(day)}"
        return _TIME.format(day.isoformat(), exact, self.show_date(day))

    def mark_within(self, text: str, *moments: int | None) -> Markup:
        """Return a sentence as HTML; the moments in it, as chats show them, are elements."""
        marked = escape(text)
        for moment in moments:
            shown = (self.clock.show(moment), self.clock.show_day(moment)) if moment else ()
            for words in [one for one in shown if one in text][:1]:
                marked = marked.replace(escape(words), self._mark(moment or 0, words), 1)
        return marked

    def group_sessions(self) -> list[tuple[str, list[ListedSession]]]:
        """Group the sessions of the sidebar by the day of their last message."""
        today = local_time(self.now, self.zone).date()
        groups: dict[str, list[ListedSession]] = {}
        for one in self.sessions:
            day = local_time(one.last_at, self.zone)
            groups.setdefault(_name_span(day, today), []).append(one)
        return list(groups.items())

    def find_place(self, one: ListedSession) -> str:
        """Return the address of a session: the open one goes on in the chat."""
        if one.kind != "direct":
            return f"/conversations/{one.conversation_id}"
        is_present = one.is_open and self.person is not None and one.agent == self.person.agent
        return "/" if is_present else f"/chats/{one.session_id}"

    def _mark(self, moment: int, shown: str) -> Markup:
        local = local_time(moment, self.zone)
        exact = f"{format_weekday(local.weekday())} {self.show_time(moment)}"
        return _TIME.format(local.isoformat(timespec="seconds"), exact, shown)


def _summarize_skill(skill: SkillLine) -> str:
    """Return what a skill does, in the reader's language if it comes with Talaria."""
    known = summarize_bundled(skill.name) if skill.origin == "bundled" else None
    return known or skill.description


_TIME = Markup('<time datetime="{}" title="{}">{}</time>')
_WEEK = timedelta(days=7)
_NEAR = {-1: shell.YESTERDAY_AT, 1: shell.TOMORROW_AT}


def _name_span(day: datetime, today: date) -> str:
    """Name the span of time that a day belongs to, seen from today."""
    days = (today - day.date()).days
    if days <= 0:
        return texts.TODAY()
    if days == 1:
        return shell.YESTERDAY()
    if days < 7:
        return shell.LAST_WEEK()
    return shell.MONTH(month=name_month(day.month), year=day.year)


NOBODY = Viewer(person=None, zone="UTC", is_owner=False)
"""The viewer of a page that needs no login."""


def mark_code(text: str) -> Markup:
    """Return a text as HTML, with words between backticks marked as code, as in a chat."""

    def mark(found: re.Match[str]) -> str:
        return f"<code>{found[1] or found[2] or ''}</code>"

    return Markup(_CODE.sub(mark, str(escape(text))))  # noqa: S704 - escaped


def mark_lists(text: str) -> Markup:
    """Return a text as HTML, with its code marked, and lines that begin with "- " or "* " as lists.

    Two signs in a row are two lists.
    """
    blocks: list[str] = []
    for sign, lines in groupby(str(mark_code(text)).split("\n"), _find_sign):
        if sign:
            items = "".join(f"<li>{line[2:]}</li>" for line in lines)
            blocks.append(f"<ul>{items}</ul>")
        elif words := "\n".join(lines).strip("\n"):
            blocks.append(f"<p>{words}</p>")
    return Markup("".join(blocks))  # noqa: S704 - escaped


def _find_sign(line: str) -> str:
    return line[:2] if line.startswith(("- ", "* ")) else ""


def label_cells(rows: str, headings: Sequence[str]) -> Markup:
    """Return rows of a table whose cells name their columns, for phones, which show no heads."""
    columns = iter(headings)

    def label(found: re.Match[str]) -> str:
        nonlocal columns
        if found[0] == "<tr":
            columns = iter(headings)
            return found[0]
        heading = next(columns, "")
        return str(Markup('<td data-label="{}"').format(heading)) if found[0] == "<td" else found[0]

    return Markup(_CELLS.sub(label, rows))  # noqa: S704 - templates have escaped the rows


def render_note(
    request: Request, note: Callable[[], str], status: HTTPStatus, viewer: Viewer = NOBODY
) -> Response:
    """Render a page with one sentence, and a way on from it; without a viewer, out of the frame.

    Whose login has ended gets the way back to the same page, for afterwards.
    """
    ways = [one for one in (_find_place(request), "/today") if one not in ("", request.url.path)]
    is_link = bool({"link", "token"} & request.query_params.keys())
    has_ended = status == HTTPStatus.UNAUTHORIZED and not is_link and request.method == "GET"
    back = _find_address(request) if has_ended else ""
    return render(
        request,
        viewer,
        "note.html",
        status=status,
        note=note,
        way=(ways or ["/today"])[0],
        back=back,
    )


def render(
    request: Request,
    viewer: Viewer,
    template: str,
    *,
    status: HTTPStatus = HTTPStatus.OK,
    **fields: object,
) -> Response:
    """Render a page in the language of its viewer.

    `flash` says what the last form did, and `undo_at` is the address of its Undo.
    """
    with speak_to_viewer(request, viewer):
        body = (
            _load()
            .get_template(template)
            .render(
                t=texts,
                f_=forms,
                s_=shell,
                m_=model_page,
                c=console_page.TEXTS,
                language=find_language(),
                access=access,
                places=_list_places(viewer),
                here=request.url.path,
                place=_find_place(request),
                address=_find_address(request),
                amount=describe_amount,
                viewer=viewer,
                number=format_number,
                **{"flash": "", "undo_at": "", "is_rejected": False, **fields},
            )
        )
    # With `no-referrer`, a browser would send no origin with a form.
    policy = _POLICY.format(host=request.headers.get("host", ""))
    headers = {"Content-Security-Policy": policy, "Referrer-Policy": "same-origin"}
    return Response(body, status, headers, media_type="text/html; charset=utf-8")


def _find_address(request: Request) -> str:
    """Return a request's path with its query; a page that updates itself requests it again."""
    asked = [one for one in parse_qsl(request.url.query, keep_blank_values=True) if one[0] != FLASH]
    return f"{request.url.path}?{urlencode(asked)}" if asked else request.url.path


def _find_place(request: Request) -> str:
    """Return the address of the page in the sidebar that a page belongs to; empty without one."""
    part = request.url.path.split("/")[1]
    place = _WITHIN.get(part, f"/{part}")
    return place if place in PLACES and part else ""


def _list_places(viewer: Viewer) -> Mapping[str, Sequence[tuple[str, str]]]:
    """List the pages in a viewer's sidebar with their names, in groups; none without a login."""
    if viewer.person is None and not viewer.is_owner:
        return {}
    groups = {
        "main": _MAIN,
        "own": _OWN,
        "administration": _ADMINISTRATION if viewer.is_owner else {},
    }
    return {name: [(one, text()) for one, text in group.items()] for name, group in groups.items()}


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
        "label_cells": label_cells,
        "listed": mark_lists,
        "job_state": lambda state: states.JOBS[state](),
        "mode": lambda mode: states.MODES[mode](),
        "place": lambda address: PLACES[address](),
        "platform": states.name_platform,
        "platform_icon": _find_icon,
        "purpose": name_purpose,
        "role": name_role,
        "run_state": name_run_state,
        "said": show_words,
        "skill_origin": lambda origin: states.ORIGINS[origin](),
        "skill_summary": _summarize_skill,
        "skill_state": lambda state: states.SKILLS[state](),
        "turn_state": lambda state: states.TURNS[state](),
    }
    return environment


def _find_icon(name: str) -> str:
    declared = list_declared().get(name)
    return declared.icon if declared else ""
