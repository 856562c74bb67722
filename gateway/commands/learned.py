"""The command `learned`: the feed of learned entries, those that wait for a yes, and the mode."""

from collections.abc import Callable, Mapping, Sequence

from agent_core.agent.review.feed import LearnedEntry, list_learned, list_records
from agent_core.agent.review.triggers import ReviewRules, enqueue_now
from agent_core.agent.review.unproved import list_unproved
from agent_core.shown_settings import LEARNING_MODES, SUMMARIES
from agent_core.state.engine.database import Connection
from agent_core.tools.clock import ReaderClock
from gateway.commands.memory_scope import MemoryAccess, own_scope
from gateway.commands.numbers import read_number
from gateway.commands.registry import Call, Handler, Outcome, Reply
from gateway.commands.settings import note_settings
from gateway.operations import proposals
from gateway.operations.settings import LEARNING, choose_learning, list_settings
from gateway.outbound.command_buttons import stand_for
from gateway.outbound.questions import Questions
from gateway.texts import learning as notices
from gateway.texts.rooms import ONLY_IN_DIRECT
from gateway.turns import open_notes
from gateway.turns.proposals import (
    list_held,
    list_refused,
    make_learned_buttons,
    name_change,
)

_MOST_SHOWN = 15
_MOST_UNPROVED = 5
_MOST_DISMISSED = 5
"""Most dismissed notes in a list: each has a button, and more would fill a phone's screen."""


class LearningCommands:
    """Shows and controls what reviews keep of a person."""

    def __init__(
        self,
        access: MemoryAccess,
        questions: Questions,
        rules: ReviewRules,
        may_review: Callable[[], bool],
    ) -> None:
        """`may_review` returns whether the model may review now."""
        self._access = access
        self._questions = questions
        self._rules = rules
        self._may_review = may_review

    def handlers(self) -> Mapping[str, Handler]:
        """Return the handlers by command name."""
        return {"learned": self._learned, "learn": self._learn, "refine": self._learn}

    async def _learn(self, call: Call) -> Reply:
        """Review the conversation now, once for one event."""

        def effect(connection: Connection) -> Outcome:
            if self._rules.are_off:
                return notices.NO_REVIEWS(), []
            if not self._may_review():
                return notices.UNTRUSTED(), []
            is_any = enqueue_now(connection, call.person.id, call.now)
            return (notices.LOOKING() if is_any else notices.NOTHING_NEW()), []

        if call.argument or call.person.learning == "off":
            return await self._learned(call)  # `/learn off` must not begin a review
        return Reply(effect=effect)

    async def _learned(self, call: Call) -> Reply:
        word = call.argument.casefold()
        if word == "review":
            return await self.review(call)
        if word == "dismissed":
            return await self._access.database.read(_list_dismissed, call)
        verb, _, named = word.partition(" ")
        if verb == "restore" and (number := read_number(named)) is not None:
            return Reply(effect=lambda connection: self._restore(connection, call, number))
        if word in (*LEARNING_MODES, *SUMMARIES):
            return Reply(effect=lambda connection: _choose(connection, call, word))
        if word:
            return Reply(text=notices.USAGE())
        await self._access.open(call, own_scope(call.person))
        may_review = self._may_review()
        text, learned = await self._access.database.read(_describe, call, may_review=may_review)
        chosen = call.person.learning_summary if call.person.learning != "off" else ""
        modes = [
            stand_for(
                f"learned {learning}",
                label(),
                "good" if learning == call.person.learning and not chosen else "plain",
            )
            for learning, label in LEARNING_MODES.items()
        ]
        modes += [
            stand_for(f"learned {summary}", label(), "good" if summary == chosen else "plain")
            for summary, label in SUMMARIES.items()
        ]
        return Reply(text=text, buttons=(*make_learned_buttons(learned), *modes))

    async def review(self, call: Call) -> Reply:
        """Ask about the claims that wait, in a direct chat only."""
        if not call.message.address.is_direct:
            return Reply(text=ONLY_IN_DIRECT())
        return Reply(effect=lambda connection: self._ask(connection, call))

    def _ask(self, connection: Connection, call: Call) -> Outcome:
        """Ask about the notes that wait; the question itself is the reply."""
        rows = open_notes.ask(connection, self._questions, call.person.id, call.chat, call.now)
        return ("" if rows else notices.NOTHING_HELD()), rows

    def _restore(self, connection: Connection, call: Call, number: int) -> Outcome:
        """Ask about a dismissed note again."""
        asking, person_id = self._questions, call.person.id
        rows = proposals.bring_back(connection, asking, person_id, number, call.chat, call.now)
        if rows is None:
            return notices.DISMISSED_UNKNOWN(), []
        return "", rows


def _choose(connection: Connection, call: Call, word: str) -> Outcome:
    """Store how to learn, or when to say so, and record it for `/undo`."""

    def look() -> dict[str, str]:
        return {LEARNING: list_settings(connection, call.person, can_speak=False)[LEARNING]}

    before = look()
    said = choose_learning(connection, call.person, word, now=call.now)
    note_settings(connection, call, before, look())
    return said, ()


def _list_dismissed(connection: Connection, call: Call) -> Reply:
    """List the newest notes that were dismissed, each with a button that brings it back."""
    found = list_refused(connection, call.person.id)[:_MOST_DISMISSED]
    if not found:
        return Reply(text=notices.NOTHING_DISMISSED())
    return Reply(
        text=notices.list_dismissed([(one.id, name_change(one)) for one in found]),
        buttons=tuple(
            stand_for(f"learned restore {one.id}", notices.RESTORE(number=one.id)) for one in found
        ),
    )


def _describe(
    connection: Connection, call: Call, *, may_review: bool
) -> tuple[str, list[LearnedEntry]]:
    records = [record for _, record in list_records(connection, person_id=call.person.id)]
    held = len(list_held(connection, call.person.id))
    row_ids = [row_id for record in records for row_id in reversed((*record.merged, *record.kept))]
    learned = list_learned(connection, person_id=call.person.id, row_ids=row_ids)[:_MOST_SHOWN]
    unproved = list_unproved(connection, person_id=call.person.id)[:_MOST_UNPROVED]
    is_off = call.person.learning == "off"
    learns = may_review and not is_off
    parts = [] if learns else [notices.SWITCHED_OFF() if is_off else notices.UNTRUSTED()]
    if learned or held:
        parts.append(notices.list_feed(_date(learned, call.clock), held))
    elif learns:
        parts.append(notices.NOTHING())
    if unproved:
        parts.append(notices.list_unproved(_date(unproved, call.clock)))
    if learns:
        parts.append(notices.HOW())
    return "\n\n".join(parts), learned


def _date(entries: Sequence[LearnedEntry], clock: ReaderClock) -> list[tuple[str, str, str]]:
    return [(one.name, one.text, clock.show_day(one.at)) for one in entries]
