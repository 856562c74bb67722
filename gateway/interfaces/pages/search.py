"""Search over everything of a person: pages, sessions, messages, memory, reminders and skills."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from markupsafe import Markup, escape

from agent_core.ids import TurnId
from agent_core.memory.recall.formatting import excerpt, find_match, list_held
from agent_core.memory.recall.message_search import search_messages
from agent_core.memory.recall.query import Query, read_query
from agent_core.memory.recall.ranking import Ranked
from agent_core.state.conversations import session_list
from agent_core.state.engine.database import Connection
from agent_core.state.jobs import jobs
from agent_core.state.search.search_scope import SearchFilter, scope_of_person
from agent_core.tools.clock import local_time
from gateway.interfaces.pages.configuration import find_names
from gateway.interfaces.pages.settings import list_names
from gateway.interfaces.pages.views import Fields, Look
from gateway.operations.skill_types import ListSkills
from gateway.operations.skills import list_skills

_HITS, _MOST = 20, 5
LONGEST_QUERY = 1000
_PREFIX = 5
"""Letters of a word by which the search compares it."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A message that was found: `text` is the part around the words, which are marked."""

    session: int
    message: int
    role: str
    platform: str
    said_at: int
    text: Markup


async def show(look: Look) -> Fields:
    """Search for the words of the address; without any, list the newest sessions."""
    asked = look.request.query_params.get("q", "").replace("\0", " ")[:LONGEST_QUERY].strip()
    lists = ("exact", "near", "noted", "skills", "settings")
    found: dict[str, Any] = {"asked": asked, **{name: [] for name in lists}}
    if asked:
        own = await look.gateway.memory.store.snapshot(
            look.person.id, look.person.slug, look.gateway.now()
        )
        listed = (await list_skills(look.context, ListSkills())).skills
        found["noted"] = _pick(((one, one) for one in (*own.user, *own.memory)), asked)
        found["skills"] = _pick(
            ((one.name, f"{one.name} {one.description}") for one in listed), asked
        )
        found["settings"] = _pick((((a, name), name) for a, name in list_names()), asked)
        if look.viewer.is_owner:
            found["settings"] += await find_names(look.gateway.settings, asked, _MOST)

    def work(connection: Connection) -> dict[str, Any]:
        hits = find_hits(connection, look, read_query(asked)) if asked else ([], [])
        own_jobs = jobs.list_of_person(connection, person_id=look.person.id) if asked else []
        return {
            "talks": session_list.list_newest(
                connection, person_id=look.person.id, limit=_MOST, words=asked
            ),
            "exact": hits[0],
            "near": hits[1],
            "reminders": _pick(((one, f"{one.title} {one.body}") for one in own_jobs), asked),
        }

    return found | await look.gateway.database.read(work) | {"mark": mark_words}


def find_hits(connection: Connection, look: Look, query: Query) -> tuple[list[Hit], list[Hit]]:
    """Find messages with the words, those with the very phrase first; and their neighbours."""
    if not query.asked:
        return [], []
    field = SearchFilter(
        person_id=look.person.id, scope=scope_of_person(look.person.id), except_turn=TurnId(0)
    )
    zone = look.viewer.zone
    found = search_messages(
        connection, field, query, limit=_HITS, clock=lambda moment: local_time(moment, zone)
    )
    phrase = " ".join(query.asked).lower()
    exact = sorted(
        (hit for hit in found.hits if hit.holds), key=lambda hit: phrase not in hit.text.lower()
    )
    near = [hit for hit in found.hits if not hit.holds]
    return [_show(query, hit) for hit in exact], [_show(query, hit) for hit in near]


def _show(query: Query, hit: Ranked) -> Hit:
    text = excerpt(hit.text, find_match(query, hit.text)).replace("**", "").replace("`", "")
    words = list_held(query, hit.text) if hit.holds else []
    return Hit(
        session=hit.message.session_id,
        message=hit.message.id,
        role=hit.message.role,
        platform=hit.message.platform,
        said_at=hit.message.said_at,
        text=mark_words(text, words),
    )


def mark_words(text: str, words: Sequence[str]) -> Markup:
    """Return a text as HTML, with words that begin as one of `words` marked."""
    sought = sorted({word[:_PREFIX] for word in words if word}, key=len, reverse=True)
    if not sought:
        return escape(text)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sought))})\w*", re.IGNORECASE)
    shown, end = Markup(), 0
    for found in pattern.finditer(text):
        shown += escape(text[end : found.start()])
        shown += Markup("<mark>{}</mark>").format(found[0])
        end = found.end()
    return shown + escape(text[end:])


def _pick(things: Iterable[tuple[T, str]], asked: str) -> list[T]:
    """Return the first things whose texts contain every word that is asked for."""
    words = asked.casefold().split()
    found = [one for one, text in things if all(word in text.casefold() for word in words)]
    return found[:_MOST] if words else []
