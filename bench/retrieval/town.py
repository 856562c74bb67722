"""A database of made-up conversations in made-up words, to measure recall.

The words follow Zipf's law, as those of real talk do: half of a message are the function words
of English, the rest comes from 12,000 words, of which a person with 1,000 messages uses about
3,000. One person wrote a tenth of everything. On request, the answers are long: 350 words in the
median, as those of an assistant.
"""

import random
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from agent_core.chats import Chat, Place
from agent_core.ids import PromptHash
from agent_core.state.conversations import messages, sessions, turns
from agent_core.state.conversations.messages import TranscriptPlace
from agent_core.state.conversations.turns import TurnRequest
from agent_core.state.people import people
from agent_core.state.tokenizer import ENGLISH
from agent_core.transcript import Message, TextPart
from tests.agent_core.state.schema import migrate

PROMPT = PromptHash("0" * 64)
BATCH = 1000
"""Messages that are written in one transaction."""
_VOCABULARY = 12_000
_TURNS_OF_SESSION = 20
_BEGIN, _SPAN = 1_690_000_000_000, 3 * 365 * 24 * 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """Bytes of text, and milliseconds to write an indexed message: elapsed and CPU."""

    text_bytes: int
    clock_ms: float
    worked_ms: float


class Talkers:
    """Words of messages, most frequent first in `vocabulary`."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.vocabulary = _make_words(chance)
        self._weights = list(accumulate(1 / (rank + 8) for rank in range(1, _VOCABULARY + 1)))
        self._function_words = sorted(ENGLISH)

    def say(self) -> str:
        return self._write(min(120, max(3, int(self._chance.lognormvariate(2.75, 0.6)))))

    def answer(self) -> str:
        """Write a long answer of several paragraphs."""
        length = min(1500, max(20, int(self._chance.lognormvariate(5.86, 0.6))))
        return "\n\n".join(self._write(min(60, length - start)) for start in range(0, length, 60))

    def _write(self, length: int) -> str:
        content = self._chance.choices(
            self.vocabulary, cum_weights=self._weights, k=length - length // 2
        )
        words = content + self._chance.choices(self._function_words, k=length // 2)
        self._chance.shuffle(words)
        return " ".join(words).capitalize() + self._chance.choice(".?!")


def build(
    path: Path,
    *,
    count: int,
    population: int,
    report: Callable[[str], None],
    has_long_answers: bool = False,
) -> Built:
    """Make a database of `count` messages; the first of `population` people wrote a tenth."""
    chance = random.Random(4)
    talkers = Talkers(chance)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    migrate(connection)
    connection.execute("BEGIN")
    sessions.insert_prompt(connection, prompt_hash=PROMPT, system="", tools="[]", now=0)
    writers = [_Writer(connection, number) for number in range(population)]
    connection.execute("COMMIT")
    size, clock, worked = 0, 0.0, 0.0
    for start in range(0, count, BATCH):
        answer = talkers.answer if has_long_answers else talkers.say
        said = [answer() if number % 2 else talkers.say() for number in range(BATCH)]
        size += sum(len(text) for text in said)
        connection.execute("BEGIN")
        batch = []
        for offset in range(0, BATCH, 2):
            now = _BEGIN + _SPAN * (start + offset) // count
            writer = writers[0] if chance.random() < 0.1 else chance.choice(writers)
            batch.append((writer, writer.begin_turn(now), said[offset : offset + 2], now))
        clock -= time.perf_counter()
        worked -= time.process_time()
        for writer, place, texts, now in batch:
            writer.say(place, texts, now)
        connection.execute("COMMIT")
        clock += time.perf_counter()
        worked += time.process_time()
        if start % 100_000 == 0:
            report(f"{start:,} messages are written")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return Built(text_bytes=size, clock_ms=clock * 1000 / count, worked_ms=worked * 1000 / count)


class _Writer:
    """A person with one direct conversation, who starts a new one now and then."""

    def __init__(self, connection: sqlite3.Connection, number: int) -> None:
        self._connection = connection
        self._person = people.insert(
            connection, slug=f"p{number}", name=f"Person {number}", role="member", now=0
        )
        self._dialogue = sessions.ensure_conversation(
            connection,
            sessions.NewConversation(
                key=f"k{number}", kind="direct", person_id=self._person.id, is_direct=True
            ),
            now=0,
        )
        self._platform = ("telegram", "discord", "slack")[number % 3]
        self._turns = 0

    def begin_turn(self, now: int) -> TranscriptPlace:
        """Open a turn, and a session where it is time."""
        if self._turns % _TURNS_OF_SESSION == 0:
            self._session_id = sessions.insert(
                self._connection, conversation_id=self._dialogue.id, now=now
            )
        self._turns += 1
        turn_id = turns.insert(
            self._connection,
            conversation=self._dialogue,
            session_id=self._session_id,
            request=TurnRequest(
                person_id=self._person.id,
                account_id=None,
                place=Place(chat=Chat(platform=self._platform, address="{}")),
            ),
            prompt_hash=PROMPT,
            now=now,
        )
        return TranscriptPlace(
            session_id=self._session_id,
            turn_id=turn_id,
            person_id=self._person.id,
            conversation_id=self._dialogue.id,
            platform=self._platform,
        )

    def say(self, place: TranscriptPlace, texts: list[str], now: int) -> None:
        roles = ("user", "assistant")
        said = [
            Message(role="user" if role == "user" else "assistant", parts=(TextPart(text=text),))
            for role, text in zip(roles, texts, strict=True)
        ]
        messages.append(self._connection, place, said, now=now)


def _make_words(chance: random.Random) -> list[str]:
    consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
    words: dict[str, None] = {}
    while len(words) < _VOCABULARY:
        syllables = (
            chance.choice(consonants)
            + chance.choice(vowels)
            + (chance.choice(consonants) if chance.random() < 0.4 else "")
            for _ in range(chance.choice([1, 2, 2, 2, 3, 3]))
        )
        words["".join(syllables)] = None
    return list(words)
