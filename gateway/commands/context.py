"""The command that makes a long talk shorter now: compact."""

from agent_core.compaction.folding import Talk
from agent_core.ids import PromptHash
from agent_core.state import sessions, turns
from agent_core.state.database import Connection
from agent_core.state.sessions import Session
from gateway import wording_context
from gateway.commands.registry import Call, House, Reply, SlashCommand


async def _compact(call: Call, house: House) -> Reply:
    """Fold this talk; the argument is what the summary has to keep above all."""
    conversation = call.conversation
    if house.lanes.is_running(conversation.id):
        return Reply(text=wording_context.COMPACT_RUNNING)

    def look(connection: Connection) -> tuple[Session | None, PromptHash | None]:
        session = sessions.find_open(connection, conversation_id=conversation.id)
        latest = turns.find_latest(
            connection, conversation_id=conversation.id, person_id=call.person.id
        )
        # After a fold the session has none until its next turn: the last one's was as long.
        last = latest.prompt_hash if latest else None
        return session, (session and session.prompt_hash) or last

    session, prompt_hash = await house.database.read(look)
    if session is None:
        return Reply(text=wording_context.COMPACT_EMPTY)
    talk = Talk(session_id=session.id, owner_id=conversation.person_id, payer_id=call.person.id)
    folded = await house.folding.fold_now(talk, prompt_hash, call.argument)
    if folded is None:
        return Reply(text=wording_context.COMPACT_NO_GAIN)
    house.lanes.forget_talks()
    return Reply(
        text=wording_context.describe_compact(folded.fold.tokens_before, folded.fold.tokens_after)
    )


COMMANDS = (
    SlashCommand(
        name="compact",
        summary="Tell the older part of this talk by a summary, to save tokens",
        run=_compact,
    ),
)
