"""GitHub notifications as lines of a digest."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

from agent_core.digest.formatting import count, fit
from agent_core.digest.requests import GatherRequest
from agent_core.tools.network.addresses import show_link
from agent_core.tools.readers.faults import FetchFailed, SourceFailed
from agent_core.tools.web.fetching import Fetcher, FetchRequest
from agent_core.transcript import flatten, quote

MOST_PAGES = 4
_PAGE = 50
"""The page size, and GitHub's maximum:
https://docs.github.com/en/rest/activity/notifications#list-notifications-for-the-authenticated-
user
"""
_LONGEST_TITLE = 200
_NO_TOKEN = "no GITHUB_TOKEN is set"  # noqa: S105 - it is a sentence
_FAULTS = {
    401: "GitHub rejects the token; the owner has to set a new GITHUB_TOKEN",
    403: "the token may not read notifications (a classic one needs the scope `notifications`),"
    " or GitHub's rate limit is reached",
}
_PLACES = {"pulls": "pull", "issues": "issues", "commits": "commit"}
"""Path segments of the API and the matching ones of the site."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubAccess:
    """A GitHub server and its token; the token is "" if there is none."""

    url: str
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A notification, and the reason why GitHub sent it."""

    title: str
    repository: str
    kind: str
    reason: str
    link: str
    at: str


async def read_notifications(access: GitHubAccess, fetcher: Fetcher, wanted: GatherRequest) -> str:
    """Format unread notifications since a moment, newest first. Raises `SourceFailed`."""
    if not access.token:
        raise SourceFailed(_NO_TOKEN)
    found, is_all = await _fetch(access, fetcher, wanted.since)
    lines = [
        f"- {flatten(one.repository, 100)}, {flatten(one.kind, 40)}, {flatten(one.reason, 40)}:"
        f" {quote(one.title, _LONGEST_TITLE)}, {flatten(one.at, 20)}{show_link(one.link)}"
        for one in found
    ]
    more = "" if is_all else " (there are more)"
    return fit(f"{count(len(found), 'unread notification')}{more}", lines, wanted.room)


async def _fetch(
    access: GitHubAccess, fetcher: Fetcher, since: int
) -> tuple[list[Notification], bool]:
    """Fetch the notifications; the flag is true if they are complete."""
    home = access.url.rstrip("/")
    moment = datetime.fromtimestamp(since // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    url = f"{home}/notifications?{urlencode({'since': moment, 'per_page': _PAGE})}"
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {access.token}",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    found: list[Notification] = []
    for _ in range(MOST_PAGES):
        try:
            page = await fetcher.fetch(FetchRequest(url=url, headers=headers, is_trusted=True))
        except FetchFailed as error:
            raise SourceFailed(_FAULTS.get(error.status, str(error))) from error
        found += _read(page.body)
        # Never send the token to another server, whatever the next link says.
        if not page.next_url.startswith(f"{home}/"):
            return found, not page.next_url
        url = page.next_url
    return found, False


def _read(body: bytes) -> Sequence[Notification]:
    try:
        given = json.loads(body)
        return list(_list(given))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SourceFailed("its answer is not GitHub's format") from error


def _list(given: object) -> Iterator[Notification]:
    if not isinstance(given, list):
        raise TypeError("no list")
    for one in given:
        subject, repository = one["subject"], one["repository"]
        yield Notification(
            title=str(subject["title"]),
            repository=str(repository["full_name"]),
            kind=str(subject["type"]),
            reason=str(one["reason"]).replace("_", " "),
            link=_link(str(repository["html_url"]), subject.get("url")),
            at=str(one["updated_at"])[:16].replace("T", " ") + "Z",
        )


def _link(site: str, url: object) -> str:
    """Build the link to the web page: the API returns only an address of its own, or none."""
    kind, _, number = str(url or "").rpartition("/")
    place = _PLACES.get(kind.rpartition("/")[2])
    return f"{site}/{place}/{number}" if place else site
