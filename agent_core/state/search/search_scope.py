"""Decides whose conversations a search returns: all of its person, or one conversation alone.

Each conversation stores the scope of its own searches, and each of its messages the scopes in
which it is found. A direct conversation searches everything of its person, a room only itself.
"""

import re
from dataclasses import dataclass
from typing import Literal

from agent_core.ids import ConversationId, PersonId, TurnId

Speaker = Literal["user", "assistant"]

_SCOPE = re.compile(r"[pc][0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """The scope of a search: messages of one person or room, in one scope, without one turn.

    `scope` is a result of `scope_of_person` or `scope_of_conversation`. `since` and `until` are
    inclusive, in milliseconds since the epoch.
    """

    person_id: PersonId
    scope: str
    except_turn: TurnId
    since: int | None = None
    until: int | None = None
    role: Speaker | None = None
    platform: str | None = None

    @property
    def is_everything(self) -> bool:
        """True if the scope is the person, so that it excludes nothing of theirs.

        Raises `ValueError` for a text that is no scope.
        """
        if not _SCOPE.fullmatch(self.scope):
            raise ValueError(f"{self.scope!r} is no search scope")
        return self.scope == scope_of_person(self.person_id)


def scope_of_person(person_id: PersonId) -> str:
    """Return the scope of all conversations of a person."""
    return f"p{person_id}"


def scope_of_conversation(conversation_id: ConversationId) -> str:
    """Return the scope of one conversation."""
    return f"c{conversation_id}"


def scopes_of_messages(
    person_id: PersonId, conversation_id: ConversationId, *, is_searchable: bool = True
) -> str:
    """Return the scopes in which a conversation's messages are found: its person's and its own.

    The person's is left out for conversations that the person's search must not find: those of
    helpers, whose requests a model wrote, and removed ones.
    """
    own = scope_of_conversation(conversation_id)
    return f"{scope_of_person(person_id)} {own}" if is_searchable else own
