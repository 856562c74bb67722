"""The policy of calls: loads the facts for a decision, and decides."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent_core.ids import PersonId, SessionId
from agent_core.state.conversations import approvals, delegated_turns, messages, sessions, turns
from agent_core.state.conversations.turns import Turn
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.tools.contract import ToolContext
from agent_core.tools.policy.contract import Action
from agent_core.tools.policy.protected import Protected
from agent_core.tools.policy.rules import Facts, Rule, Verdict, judge, normalize_address
from agent_core.transcript import (
    ATTACHED_END,
    SKILLED,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    split_source,
)

_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]{0,40}://|www\.)[^\s<>\"'`\\]+", re.IGNORECASE)
_BARE = re.compile(r"(?<![\w@/.:-])(?:[a-z0-9-]+\.)+[a-z]{2,}(?:/[^\s<>\"'`\\]*)?(?![\w@])", re.I)
_CLOSERS = ".,;:!?)]}*_~|"


class Policy:
    """Decides about calls, by the owner's rules and by people's approvals."""

    def __init__(
        self, database: Database, *, rules: Sequence[Rule] = (), protected: Protected | None = None
    ) -> None:
        self._database = database
        self._rules = tuple(rules)
        self._protected = protected or Protected()

    async def judge(
        self, tool: str, actions: Sequence[Action], context: ToolContext, *, is_proposed: bool
    ) -> tuple[Verdict, SessionId | None]:
        """Decide about a call, and return its session. Raises `StoreError`."""
        strict = make_facts(context, self._rules, self._protected)
        verdict = judge(tool, actions, strict, is_proposed=is_proposed)
        climbs = any(".." in action.target for action in actions)
        if verdict.effect != "ask" and not self._rules and not climbs:
            return verdict, None  # no stored approval could change this
        facts, session_id = await self._database.read(lambda c: _load(c, context, strict))
        return judge(tool, actions, facts, is_proposed=is_proposed), session_id

    async def list_off(self, owner_id: PersonId) -> frozenset[str]:
        """Return the tools that are off now; a person may do that while a turn runs.

        Raises `StoreError`.
        """
        owner = await self._database.read(lambda c: people.find(c, person_id=owner_id))
        return frozenset(owner.tools_off if owner else ())


def make_facts(
    context: ToolContext, rules: tuple[Rule, ...] = (), protected: Protected | None = None
) -> Facts:
    """Return the facts about a call without the database; unknown facts get the strictest value."""
    owner = context.memory_owner
    is_private = context.owner_id == context.person_id or owner is None or owner.kind == "human"
    return Facts(
        rules=rules,
        protected=protected or Protected(),
        slug=owner.slug if owner and owner.kind == "human" else "",
        is_tainted=bool(context.sources) and is_private,
    )


def _load(
    connection: Connection, context: ToolContext, strict: Facts
) -> tuple[Facts, SessionId | None]:
    person = people.find(connection, person_id=context.person_id)
    accounts = people.list_accounts(connection, person_id=context.person_id)
    turn = turns.find(connection, turn_id=context.turn_id)
    session_id = turn.session_id if turn else None
    known = _list_known(connection, turn, context) if strict.is_tainted and turn else ()
    facts = replace(
        strict,
        accounts=tuple(f"{one.platform}:{one.user_id}" for one in accounts),
        other_slugs=frozenset(one.slug for one in people.list_all(connection))
        - frozenset((strict.slug,)),
        is_owner=person is not None and person.is_owner,
        grants=approvals.find_shapes(
            connection, person_id=context.person_id, session_id=session_id
        ),
        known_addresses=frozenset(known),
    )
    return facts, session_id


def _list_known(connection: Connection, turn: Turn, context: ToolContext) -> set[str]:
    """List the known addresses of a turn; for a helper, those of the turns that asked for it.

    The addresses in a helper's task don't count, because a model wrote the task.
    """
    known, asked, owner_id = set[str](), turn, context.owner_id
    while True:
        conversation = sessions.get_conversation(
            connection, conversation_id=asked.conversation_id, person_id=owner_id
        )
        task_of = asked.id if conversation.is_helper else None
        stored = messages.list_session(connection, session_id=asked.session_id, person_id=owner_id)
        known |= find_addresses(
            replace(one.message, role="assistant")
            if one.turn_id == task_of and one.message.role == "user"
            else one.message
            for one in stored
        )
        parent_id = delegated_turns.read_parent(conversation.key)
        parent = turns.find(connection, turn_id=parent_id) if parent_id else None
        if parent is None:
            return known
        owner = sessions.find_owner(
            connection, session_id=parent.session_id, person_id=context.person_id
        )
        if owner is None:
            return known
        asked, owner_id = parent, owner


def find_addresses(transcript: Iterator[Message]) -> frozenset[str]:
    """Return the addresses in people's messages, in skills, and in fetched pages.

    An address that the model wrote first may carry private data. A result does not make it known;
    only a person's message does. Outputs of commands and servers don't count, because the model can
    control them.
    """
    known, written = set[str](), set[str]()
    for message in transcript:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                written |= _list_addresses(part.arguments.replace("\\/", "/")) - known
            elif isinstance(part, ToolResultPart):
                if _is_fetched(part):
                    known |= _list_addresses(part.text) - written
            elif isinstance(part, TextPart) and part.is_fact:
                # Other untrusted text in the facts is JSON on one line, or ends before the skill.
                told = part.text.rpartition(ATTACHED_END)[2]
                known |= _list_addresses(told.partition(f"\n{SKILLED}")[2])
            elif isinstance(part, TextPart):
                if message.role == "user":
                    known |= _list_addresses(part.text)
                else:
                    written |= _list_addresses(part.text) - known
    return frozenset(known)


def _is_fetched(part: ToolResultPart) -> bool:
    """True for a result of Talaria's own tools that contains text from the web only."""
    kinds = {split_source(source)[0] for source in part.sources}
    return kinds == {"fetched"} and "__" not in part.name and not part.is_error


def _list_addresses(text: str) -> set[str]:
    found = set[str]()
    for address in (*_ADDRESS.findall(text), *_BARE.findall(text)):
        found.add(normalize_address(address))
        found.add(normalize_address(address.rstrip(_CLOSERS)))
    return found
