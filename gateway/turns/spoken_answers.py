"""Spoken answers: audio that follows an answer, for people who want it."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from adapters.abilities import CanSendFiles
from agent_core.agent.prompt.message_facts import SPOKEN
from agent_core.agent.turn import ActiveTurn
from agent_core.chats import Place
from agent_core.ids import TurnId
from agent_core.localization import use_language
from agent_core.state.conversations import files, messages, turns
from agent_core.state.conversations.turns import StoredTurn
from agent_core.state.engine import meta
from agent_core.state.engine.database import Connection, Database
from agent_core.state.people import people
from agent_core.state.people.people import Person
from agent_core.state.queues import outbox, tasks
from agent_core.state.queues.outbox import NewOutboxMessage, OutboxRow
from agent_core.state.queues.tasks import Task
from gateway.chats import read_chat
from gateway.media.media_command import CommandFailed, MediaCommand
from gateway.media.speech import Recording, select_words, speak
from gateway.outbound.dispatcher import OutboxDispatcher
from gateway.texts.attachments import (
    SPEECH_TOO_LARGE,
    describe_slow_speech,
    describe_speech_fault,
)

SPEECH_TASK = "speech"
"""The kind of the tasks; the payload is the number of the turn."""
_REPORTED = "speech_reported"
"""Key in `meta` of the time of the last report to the owners, in milliseconds."""
_REPORT_PAUSE = 86_400_000
NotifyOwners = Callable[[Connection, Callable[[], str], int], Sequence[OutboxRow]]
"""Enqueues a notice to every owner, rendered in their languages."""
_LANGUAGE = "en"
"""The language of a person who has set none."""

_log = logging.getLogger(__name__)


def enqueue_speech(connection: Connection, active: ActiveTurn, place: Place, now: int) -> None:
    """Queue the speech of an answer in a direct chat, in the transaction that ends its turn."""
    if active.conversation.is_private and read_chat(place.chat.address).is_direct:
        tasks.enqueue(
            connection,
            kind=SPEECH_TASK,
            key=f"turn:{active.id}",
            person_id=active.person.id,
            payload=str(active.id),
            now=now,
        )


@dataclass(frozen=True, slots=True)
class SpokenAnswers:
    """Speaks answers, and sends the audio behind them; does neither without a command."""

    database: Database
    dispatcher: OutboxDispatcher
    command: MediaCommand | None
    notify_owners: NotifyOwners
    now: Callable[[], int]

    async def apply(self, task: Task) -> None:
        """Speak one answer; a repeated task sends it once.

        A failure is reported to the owners, at most once a day. Raises `StoreError`.
        """
        found = await self.database.read(self._find, task)
        if found is None or self.command is None:
            return
        turn, person, words = found
        adapter = self.dispatcher.adapters.get(turn.place.chat.platform)
        most_bytes = adapter.most_file_bytes if isinstance(adapter, CanSendFiles) else 0
        if not (words and most_bytes):
            return
        try:
            with use_language(person.language):
                recording = await speak(self.command, words, person.language or _LANGUAGE)
        except TimeoutError:
            seconds = self.command.seconds
            await self._report(f"slower than {seconds:g} s", partial(describe_slow_speech, seconds))
        except CommandFailed as error:
            await self._report(str(error), partial(describe_speech_fault, str(error)))
        else:
            if len(recording.data) > most_bytes:
                await self._report("its audio is too large", SPEECH_TOO_LARGE)
            else:
                await self._send(task, turn, recording)

    def _find(self, connection: Connection, task: Task) -> tuple[StoredTurn, Person, str] | None:
        """Return the turn, its person and the words; None if they no longer want to hear them."""
        turn = turns.find(connection, turn_id=TurnId(int(task.payload)))
        person = people.find(connection, person_id=task.person_id)
        if turn is None or person is None or person.spoken_answers == "off":
            return None
        if person.spoken_answers == "voice":
            facts = messages.facts_of_turn(connection, turn_id=turn.id, person_id=person.id)
            if SPOKEN not in facts.split("\n"):
                return None
        answer = messages.answer_of_turn(connection, turn_id=turn.id, person_id=person.id)
        return turn, person, select_words(self.dispatcher.mask.hide(answer))

    async def _send(self, task: Task, turn: StoredTurn, recording: Recording) -> None:
        """Enqueue the audio silently behind the answer, and end the task with it.

        The message names no turn: like an export, its file is removed soon after it was sent.
        """
        now = self.now()

        def work(connection: Connection) -> OutboxRow:
            tasks.finish(connection, task_id=task.id)
            key = files.store(
                connection, data=recording.data, media_type=recording.media_type, now=now
            )
            message = NewOutboxMessage(
                chat=turn.place.chat,
                body="",
                person_id=task.person_id,
                is_silent=True,
                file=(key, recording.name),
            )
            return outbox.enqueue(connection, message, now=now)

        self.dispatcher.enqueue([await self.database.write("speech.send", work)])

    async def _report(self, reason: str, say: Callable[[], str]) -> None:
        """Tell the owners that an answer was not spoken; at most once a day."""
        now = self.now()
        _log.warning("an answer is not spoken: %s", reason)

        def work(connection: Connection) -> Sequence[OutboxRow]:
            last = meta.get(connection, key=_REPORTED)
            if last and now - int(last) < _REPORT_PAUSE:
                return ()
            meta.put(connection, key=_REPORTED, value=str(now))
            return self.notify_owners(connection, say, now)

        self.dispatcher.enqueue(await self.database.write("speech.report", work))
