"""Choose the language of sentences by who reads them."""

from contextlib import AbstractContextManager

from agent_core.ids import PersonId
from agent_core.localization import find_language, use_language
from agent_core.state.engine.database import Connection
from agent_core.state.people import people


def speak_to(connection: Connection, person_id: PersonId | None) -> AbstractContextManager[None]:
    """Render sentences in a person's language, or in the current one if they set none."""
    person = people.find(connection, person_id=person_id) if person_id else None
    return use_language(person.language if person else None, find_language())
