"""Count what people saw and inspect the database after the gateway stopped."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.faults.process import EFFECTS
from tests.faults.script import FILLER, OPENING, SLOW, Asked, Saying, Token, answer_ids, tokens_of

_OPEN = {
    "inbox": "SELECT id, state, reason FROM inbox WHERE state <> 'done'",
    "turns": "SELECT id, state, reason FROM turns WHERE state <> 'answered'",
    "outbox": "SELECT id, state, reason FROM outbox WHERE state <> 'sent' OR is_live = 1",
    "steps": "SELECT id, name, effect FROM steps WHERE outcome IS NULL",
}

_DONE = (
    "SELECT (SELECT COUNT(*) FROM inbox WHERE state = 'done')"
    " + (SELECT COUNT(*) FROM turns WHERE state <> 'running')"
    " + (SELECT COUNT(*) FROM outbox WHERE state = 'sent' AND is_live = 0)"
)

_FAULTS = (
    "lost",
    "twice",
    "foreign",
    "disordered",
    "strange",
    "rung_twice",
    "asked_again",
    "unexplained",
    "open_rows",
    "damage",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The findings. Every field named in `_FAULTS` must be empty."""

    lost: list[Token]
    twice: list[Token]
    foreign: list[Token]
    disordered: list[int]
    """Chats in which answers have another order than the messages."""
    strange: list[str]
    """Messages that answer nothing, such as notices of failure."""
    rung_twice: list[str]
    asked_again: list[str]
    """Model calls that were made although their answer was recorded."""
    open_rows: list[str]
    damage: list[str]
    """Errors of SQLite's integrity check, and a gateway that failed to stop normally."""
    strays: int
    """Live messages that were left unfinished."""
    unexplained: list[str]
    """Strays that no kill explains: no message with their text was in doubt when one came."""
    repeats: int
    """Model calls made again because a crash came before their answer was recorded."""
    rung: int
    """How often the unsafe tool took effect."""

    def assert_flawless(self) -> None:
        """Fail the test if anything is wrong."""
        found = {name: getattr(self, name) for name in _FAULTS}
        assert not any(found.values()), "\n".join(
            f"{name}: {len(items)} ({', '.join(map(str, items[:5]))})"
            for name, items in found.items()
            if items
        )


def list_doubts(home: Path) -> list[tuple[str, str]]:
    """Return key and text of each message of which nobody knows whether it was sent."""
    with closing(sqlite3.connect(home / "state.db")) as connection:
        return connection.execute(
            "SELECT key, shown FROM outbox WHERE shown IS NOT NULL"
        ).fetchall()


def list_open(home: Path) -> list[str]:
    """Return unfinished rows of the database. A gateway may be running."""
    with closing(sqlite3.connect(home / "state.db")) as connection:
        return [
            f"{table} {row}" for table, query in _OPEN.items() for row in connection.execute(query)
        ]


def count_done(home: Path) -> int:
    """Count the finished rows of the database. A gateway may be running."""
    with closing(sqlite3.connect(home / "state.db")) as connection:
        (count,) = connection.execute(_DONE).fetchone()
    return int(count)


def look(
    home: Path,
    said: Sequence[Saying],
    shown: Mapping[int, Sequence[str]],
    asked: Sequence[Asked],
    doubts: Iterable[tuple[str, str]] = (),
) -> Findings:
    """Compare messages with answers. `shown` has the bot's messages by chat, in order.

    `doubts` are what `list_doubts` returned after kills; each explains one stray with its text.
    """
    seen = {
        chat: [token for text in texts for token in tokens_of(text)]
        for chat, texts in shown.items()
    }
    at_home = Counter(t for chat, tokens in seen.items() for t in tokens if t.chat == chat)
    expected = {token for saying in said for token in saying.tokens}
    blank = [text for texts in shown.values() for text in texts if not tokens_of(text)]
    strays = [text for texts in shown.values() for text in _find_strays(texts)]
    with closing(sqlite3.connect(home / "state.db")) as connection:
        damage = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        parts = [row[0] for row in connection.execute("SELECT text || parts FROM messages")]
    excused = Counter(squeeze(text) for _, text in set(doubts))
    rung = _count_rings(home / EFFECTS)
    recorded = {number for text in parts for number in answer_ids(text)}
    return Findings(
        lost=sorted(expected - at_home.keys()),
        twice=sorted(token for token, count in at_home.items() if count > 1),
        foreign=sorted(t for chat, tokens in seen.items() for t in tokens if t.chat != chat),
        disordered=[chat for chat, tokens in seen.items() if tokens != sorted(tokens)],
        strange=[text for text in blank if FILLER not in text and OPENING not in text],
        rung_twice=[what for what, count in rung.items() if count > 1],
        rung=rung.total(),
        asked_again=_find_asked_again(asked, recorded),
        open_rows=list_open(home),
        damage=damage,
        strays=len(strays),
        unexplained=[*(Counter(map(squeeze, strays)) - excused).elements()],
        repeats=len(asked) - len({a.key for a in asked}),
    )


def _find_strays(texts: Sequence[str]) -> list[str]:
    """Return unfinished starts of answers that no next message continues.

    A further message during a slow answer finishes the live message, and a new one shows the rest.
    What a model says before it calls a tool is only seen in a live message.
    """
    return [
        text
        for text, later in zip(texts, [*texts, ""][1:], strict=True)
        if not tokens_of(text)
        and (OPENING in text or (FILLER in text and squeeze(SLOW) not in squeeze(text + later)))
    ]


def squeeze(text: str) -> str:
    """Remove spaces, which are lost where an answer is split into messages."""
    return "".join(text.split())


def _count_rings(effects: Path) -> Counter[str]:
    lines = effects.read_text(encoding="utf-8").splitlines() if effects.exists() else []
    return Counter(line.split()[-1] for line in lines)


def _find_asked_again(asked: Sequence[Asked], recorded: set[int]) -> list[str]:
    """Return calls that were repeated although their answer was recorded."""
    by_key: defaultdict[str, list[Asked]] = defaultdict(list)
    for call in asked:
        by_key[call.key].append(call)
    return [
        f"{call.text} (answer {call.answer_id})"
        for calls in by_key.values()
        for call in calls[:-1]
        if call.answer_id in recorded
    ]
