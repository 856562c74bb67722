"""Skills: the list with uses and success, and one skill with its versions as differences."""

from collections.abc import Iterator, Sequence
from difflib import unified_diff
from itertools import islice
from typing import Any

from gateway.interfaces.operations.contexts import open_context
from gateway.interfaces.operations.skills import list_skills, list_versions_of, show_skill
from gateway.interfaces.pages.views import Fields, Look, Missing

_MOST = 20
"""Versions on a page."""
_HEAD = 2
"""Lines of a difference that name its two files."""


async def show_list(look: Look) -> Fields:
    """Read all skills. Raises `Declined` if their folder can't be read."""
    found = await list_skills(open_context(look.gateway, actor="person"), {})
    return {"skills": found["skills"]}


async def show(look: Look) -> Fields:
    """Read one skill. Raises `Missing`, and `Declined` if it is broken."""
    context = open_context(look.gateway, actor="person")
    asked = {"name": look.request.path_params["skill"]}
    listed = await list_skills(context, {})
    if asked["name"] not in [one["name"] for one in listed["skills"]]:
        raise Missing
    skill = await show_skill(context, asked)
    is_own = skill["origin"] == "home"
    found = (await list_versions_of(context, asked))["versions"] if is_own else []
    return {"skill": skill, "versions": _compare(found)[-_MOST:][::-1]}


def _compare(versions: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], list[str]]]:
    """Give each version the lines in which it differs from the one before, oldest first."""
    texts = ["", *(one["text"] for one in versions)]
    return [
        (one, list(islice(_differ(old, one["text"]), _HEAD, None)))
        for old, one in zip(texts, versions, strict=False)
    ]


def _differ(old: str, new: str) -> Iterator[str]:
    return unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1)
