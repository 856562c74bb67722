"""The jobs that wait in one conversation, and which of them a turn takes."""

import asyncio
from collections import deque
from collections.abc import Sequence

from agent_core.chats import Chat, Place
from agent_core.ids import PersonId
from agent_core.state.conversations.turns import StoredTurn
from gateway.chats import make_chat
from gateway.queued_message import QueuedMessage

LaneJob = QueuedMessage | StoredTurn
"""Work of a lane: a message, or a turn that an earlier process left."""


class LaneQueue:
    """The jobs that wait in one conversation, and the rules for taking them."""

    def __init__(self, jobs: deque[LaneJob], draining: asyncio.Event) -> None:
        """`draining` is set once no more turns begin."""
        self.jobs = jobs
        self.draining = draining

    def take_batch(self) -> list[QueuedMessage]:
        """Take the first job, with the messages behind it that go into the same turn.

        Return the messages; none for a turn of an earlier process. Messages of another person or
        chat need a turn of their own, with its own answer.
        """
        first = self.jobs.popleft()
        if not isinstance(first, QueuedMessage):
            return []
        batch = [first]
        while not first.starts_own_turn and (job := self._find_next(first)):
            self.jobs.popleft()
            batch.append(job)
        return batch

    def find_steers(self, place: Place, asker: PersonId) -> list[QueuedMessage]:
        """Return the messages that steer a turn: its asker's, in its chat or sent to steer.

        In its chat, a message with `starts_own_turn` waits, and so do the messages after it. Other
        people's messages wait, and hold nothing up.
        """
        found: list[QueuedMessage] = []
        is_open = True
        for job in self.jobs:
            if not isinstance(job, QueuedMessage):
                continue
            is_here = _origin(job) == _spot(place, asker)
            is_open = is_open and not (is_here and job.starts_own_turn)
            if (is_here and is_open) or (job.is_steer and job.person.id == asker):
                found.append(job)
        return found

    def has_other_wish(self, asker: PersonId) -> bool:
        """Return whether a message of the asker waits that ends a question of the running turn."""
        return any(
            isinstance(job, QueuedMessage) and job.ends_question and job.person.id == asker
            for job in self.jobs
        )

    def take_steers(self, place: Place, asker: PersonId) -> list[QueuedMessage]:
        """Take the messages that `find_steers` returns out of the queue."""
        taken = self.find_steers(place, asker)
        left = [job for job in self.jobs if not any(job is one for one in taken)]
        self._replace(left)
        return taken

    def put_back(self, messages: Sequence[QueuedMessage]) -> None:
        """Put messages back in their places, ordered by age with everything else that waits."""
        self._replace(sorted([*messages, *self.jobs], key=_age))

    def _find_next(self, first: QueuedMessage) -> QueuedMessage | None:
        job = self.jobs[0] if self.jobs else None
        if not isinstance(job, QueuedMessage) or job.starts_own_turn:
            return None
        return job if _origin(job) == _origin(first) else None

    def _replace(self, jobs: Sequence[LaneJob]) -> None:
        self.jobs.clear()
        self.jobs.extend(jobs)


def _spot(place: Place, asker: PersonId) -> tuple[Chat, PersonId]:
    return place.chat, asker


def _origin(pending: QueuedMessage) -> tuple[Chat, PersonId]:
    return make_chat(pending.platform, pending.message.address), pending.person.id


def _age(job: LaneJob) -> int:
    return job.inbox_ids[0] if isinstance(job, QueuedMessage) else 0
