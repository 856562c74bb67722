"""Count a person's reaction to an answer as feedback on the skills that the answer used."""

from agent_core.agent.outcomes import note_reaction
from agent_core.state.engine.database import Connection, Database
from agent_core.state.memory import skill_uses
from agent_core.state.people import people
from agent_core.state.queues import inbox
from gateway.chats import span_threads
from gateway.inbound.events import ReactionEvent


async def take_reaction(database: Database, event: ReactionEvent, now: int) -> None:
    """Count a reaction by the person who was answered, and finish its event.

    Raises `StoreError`.
    """
    row, reaction = event.row, event.reaction
    signs = {(str(reaction.message_id), sign): False for sign in reaction.removed}
    signs |= {(reaction.message_id, sign): True for sign in reaction.added}

    def work(connection: Connection) -> None:
        person = people.find_by_account(connection, platform=row.platform, user_id=reaction.user_id)
        turn_id = person and skill_uses.find_answered(
            connection,
            person_id=person.id,
            platform=row.platform,
            chats=span_threads(reaction.address),
            message_id=reaction.message_id,
        )
        if person and turn_id:
            note_reaction(connection, turn_id, person.id, signs, now)
        inbox.finish(connection, inbox_id=row.id, reason="reaction" if turn_id else "not for us")
        inbox.drop_payload(connection, inbox_id=row.id)

    await database.write("inbox.reaction", work)
