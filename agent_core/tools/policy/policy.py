"""The policy of calls: loads the facts for a decision, and decides."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from agent_core.ids import CallId, PersonId, SessionId, TurnId
from agent_core.state.conversations import (
    approvals,
    delegated_turns,
    messages,
    page_fetches,
    sessions,
    turns,
)
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.tools.contract import ToolContext
from agent_core.tools.policy.contract import Action
from agent_core.tools.policy.protected import Protected
from agent_core.tools.policy.verdicts import Facts, Rule, Verdict, judge, normalize_address
from agent_core.transcript import (
    ATTACHED_END,
    PROGRAM,
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
        facts, turns_known = await self._database.read(_load, context, strict)
        verdict = judge(tool, actions, facts, is_proposed=is_proposed)
        session_id = turns_known.session_id if turns_known else None
        if verdict.effect != "allow" or not verdict.fetched or turns_known is None:
            return verdict, session_id
        root_id = turns_known.root_id

        def count(connection: Connection) -> Verdict:
            """Decide again beside calls that began meanwhile, and count what this one fetches."""
            now = replace(facts, fetched=_count_fetched(connection, root_id, context))
            found = judge(tool, actions, now, is_proposed=is_proposed)
            if found.effect == "allow":
                page_fetches.note(connection, found.fetched, **_name_call(root_id, context))
            return found

        return await self._database.write("policy.count", count), session_id

    async def list_off(self, owner_id: PersonId) -> frozenset[str]:
        """Return the tools that are off now; a person may do that while a turn runs.

        Raises `StoreError`.
        """
        owner = await self._database.read(people.find, person_id=owner_id)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _CallOrigin:
    """The place of a call: its session, and the turn that a person began."""

    session_id: SessionId
    root_id: TurnId


class _CallName(TypedDict):
    """The name of a call among those that count together."""

    turn_id: TurnId
    caller_id: TurnId
    call_id: CallId


def _name_call(root_id: TurnId, context: ToolContext) -> _CallName:
    return {"turn_id": root_id, "caller_id": context.turn_id, "call_id": context.call_id}


def _count_fetched(
    connection: Connection, root_id: TurnId, context: ToolContext
) -> Mapping[str, int]:
    return page_fetches.count_others(connection, **_name_call(root_id, context))


def _load(
    connection: Connection, context: ToolContext, strict: Facts
) -> tuple[Facts, _CallOrigin | None]:
    person = people.find(connection, person_id=context.person_id)
    accounts = people.list_accounts(connection, person_id=context.person_id)
    turn = turns.find(connection, turn_id=context.turn_id)
    session_id = turn.session_id if turn else None
    facts = replace(
        strict,
        accounts=tuple(f"{one.platform}:{one.user_id}" for one in accounts),
        other_slugs=frozenset(one.slug for one in people.list_all(connection))
        - frozenset((strict.slug,)),
        is_owner=person is not None and person.is_owner,
        grants=approvals.find_shapes(
            connection, person_id=context.person_id, session_id=session_id
        ),
    )
    if turn is None:
        return facts, None
    if not strict.is_tainted:
        return facts, _CallOrigin(session_id=turn.session_id, root_id=turn.id)
    told, read, root_id = _list_known(connection, turn, context)
    facts = replace(
        facts,
        known_addresses=frozenset(told | read),
        page_addresses=frozenset(read - told),
        fetched=_count_fetched(connection, root_id, context),
    )
    return facts, _CallOrigin(session_id=turn.session_id, root_id=root_id)


def _list_known(
    connection: Connection, turn: StoredTurn, context: ToolContext
) -> tuple[set[str], set[str], TurnId]:
    """List the addresses that people told in a turn, those of pages, and the first turn.

    For a helper, list those of the turns that asked for it. The addresses in a helper's task don't
    count, because a model wrote the task.
    """
    told, read, asked, owner_id = set[str](), set[str](), turn, context.owner_id
    while True:
        conversation = sessions.get_conversation(
            connection, conversation_id=asked.conversation_id, person_id=owner_id
        )
        task_of = asked.id if conversation.is_helper else None
        stored = messages.list_session(connection, session_id=asked.session_id, person_id=owner_id)
        found = _sort_addresses(
            replace(one.message, role="assistant")
            if one.turn_id == task_of and one.message.role == "user"
            else one.message
            for one in stored
        )
        told |= found[0]
        read |= found[1]
        parent_id = delegated_turns.read_parent(conversation)
        parent = turns.find(connection, turn_id=parent_id) if parent_id else None
        if parent is None:
            return told, read, asked.id
        owner = sessions.find_owner(
            connection, session_id=parent.session_id, person_id=context.person_id
        )
        if owner is None:
            return told, read, parent.id
        asked, owner_id = parent, owner


def find_addresses(transcript: Iterator[Message]) -> frozenset[str]:
    """Return the addresses in people's messages, in skills, and in fetched pages.

    An address that the model wrote first may carry private data. A result does not make it known;
    only a person's message does. Outputs of commands and servers don't count, because the model can
    control them.
    """
    told, read = _sort_addresses(transcript)
    return frozenset(told | read)


def _sort_addresses(transcript: Iterator[Message]) -> tuple[set[str], set[str]]:
    """Return the addresses in people's messages, and those in skills, pages and programs' messages.

    A program may pass on words of others, so its addresses count as those of a page.
    """
    told, read, written = set[str](), set[str](), set[str]()
    for message in transcript:
        heard = read if _is_programs(message) else told
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                found = _list_addresses(part.arguments.replace("\\/", "/"))
                written |= found - told - read
            elif isinstance(part, ToolResultPart):
                if _is_fetched(part):
                    read |= _list_addresses(part.text) - written
            elif isinstance(part, TextPart) and part.is_fact:
                # Other untrusted text in the facts is JSON on one line, or ends before the skill.
                given = part.text.rpartition(ATTACHED_END)[2]
                read |= _list_addresses(given.partition(f"\n{SKILLED}")[2])
            elif isinstance(part, TextPart):
                if message.role == "user":
                    heard |= _list_addresses(part.text)
                else:
                    written |= _list_addresses(part.text) - told - read
    return told, read


def _is_programs(message: Message) -> bool:
    """Return whether a message holds the words of a program."""
    facts = (one.text for one in message.parts if isinstance(one, TextPart) and one.is_fact)
    return any(f"\n{PROGRAM}" in one for one in facts)


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
