"""The messages and answers of these tests, in a form that can be counted.

A person's message is a verb and a mark: `say m3-7` is the seventh message of chat 3. An
answer has the mark of every message since the last answer, as tokens that must be seen
exactly once: the mark itself, or for `long` the mark with each line's number (`m3-7.1`...).
"""

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.emulators.streaming import Answer, Reply, text_answer

Verb = Literal["say", "ring", "collapse", "long", "slow", "tale", "fetch", "/queue say"]
"""A plain answer; a call of the unsafe tool first; a call of the tool that ends the process; an
answer in several parts; a slow one; two that only `Tales` gives; a plain one that is asked for by
command, as a turn of its own.
"""

LINES = 170
"""Lines of a long answer: about 10,000 characters, or three messages on Telegram."""
PIECES = 300
"""Pieces of a slow answer. Its mark comes last, so only the whole answer shows it."""
OPENING = "ringing id"
"""What the model says before it calls a tool; the answer's number follows."""
FILLER = "let me think"
SLOW = f"{FILLER}. " * 40 + "It is"
"""The start of a slow answer, up to its mark."""

SUMMARY = "All before this was answered."
"""The summary of a compaction. What was kept from before it is no request."""

_SAID = re.compile(r"\b(say|ring|collapse|long|slow|tale|fetch) (m\d+-\d+)\b")
_TOKEN = re.compile(r"\bm(\d+)-(\d+)(?:\.(\d+))?\b")
_NOTE = re.compile(r"^.*don.t know whether it took effect.*$", re.MULTILINE)
"""The notice about a step with an unknown outcome, which quotes the step."""
_ANSWER_ID = re.compile(r"\bid(\d+)\b")


@dataclass(frozen=True, slots=True, order=True)
class Token:
    """Text that must be seen exactly once, in its chat and in order."""

    chat: int
    number: int
    line: int = 0


def tokens_of(text: str) -> list[Token]:
    """Return the tokens in a visible text."""
    said = _NOTE.sub("", text)
    return [Token(int(c), int(n), int(line or 0)) for c, n, line in _TOKEN.findall(said)]


def answer_ids(text: str) -> list[int]:
    """Return the ids of the model's answers in a text."""
    return [int(number) for number in _ANSWER_ID.findall(text)]


@dataclass(frozen=True, slots=True)
class Saying:
    """One message of a person."""

    chat: int
    number: int
    verb: Verb = "say"

    @property
    def text(self) -> str:
        """The message as typed."""
        return f"{self.verb} m{self.chat}-{self.number}"

    @property
    def tokens(self) -> list[Token]:
        """The tokens that must be seen."""
        if self.verb == "long":
            return [Token(self.chat, self.number, line) for line in range(1, LINES + 1)]
        return [Token(self.chat, self.number)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One model call: the hash of its input, and its answer."""

    key: str
    answer_id: int
    text: str


def is_turn(body: dict[str, Any]) -> bool:
    """Return whether a turn made this call; False for a title."""
    return any(tool["name"] == "ring" for tool in body.get("tools", ()))


class Script:
    """The emulated model; `answer` is the emulator's hook."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.ids = itertools.count(1)

    def answer(self, body: dict[str, Any]) -> Reply:
        """Return the reply to one request. Titles are not counted."""
        if not is_turn(body):
            return text_answer("A talk")
        answer_id = next(self.ids)
        said = list(said_since_answer(body["messages"]))
        rung = set(called_since_answer(body["messages"]))
        key = hashlib.sha256(_canonical(body["messages"])).hexdigest()
        tools = ("ring", "collapse")
        to_call = [(verb, mark) for verb, mark in said if verb in tools and mark not in rung]
        self.asked.append(Asked(key=key, answer_id=answer_id, text=" ".join(m for _, m in said)))
        if to_call:
            calls = [{"type": "tool_use", "name": v, "input": {"what": m}} for v, m in to_call]
            thought = {"type": "text", "text": f"{OPENING}{answer_id}"}
            return Answer(blocks=[thought, *calls], stop="tool_use")
        text = "\n\n".join(_respond(verb, mark) for verb, mark in said)
        is_slow = any(verb == "slow" for verb, _ in said)
        blocks = [{"type": "text", "text": f"{text}\n\nid{answer_id}"}]
        return Answer(blocks=blocks, deltas=PIECES if is_slow else None)


def _respond(verb: str, mark: str) -> str:
    if verb == "long":
        words = "of a long answer to a short question about nothing"
        return "\n".join(f"{mark}.{line} {words}" for line in range(1, LINES + 1))
    if verb == "slow":
        return f"{SLOW} {mark}"
    return f"heard {mark}"


def said_since_answer(messages: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield verb and mark of each message since the last answer."""
    for message in _since_answer(messages):
        if message["role"] == "user":
            yield from _SAID.findall(_words(message).rpartition(SUMMARY)[2])


def called_since_answer(messages: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the marks of the calls since the last answer."""
    for message in _since_answer(messages):
        for block in _blocks(message):
            if block["type"] == "tool_use":
                yield block["input"]["what"]


def _since_answer(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages after the last answer without tool calls, or from a summary on."""
    start = 0
    for place, message in enumerate(messages):
        kinds = {block["type"] for block in _blocks(message)}
        if message["role"] == "assistant" and "tool_use" not in kinds:
            start = place + 1
        elif SUMMARY in _words(message):
            start = place
    return list(messages[start:])


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _words(message: dict[str, Any]) -> str:
    return "\n".join(b["text"] for b in _blocks(message) if b["type"] == "text")


def _canonical(messages: Sequence[dict[str, Any]]) -> bytes:
    """Return the messages without cache breakpoints, which move."""
    bare = [
        [m["role"], [{k: v for k, v in b.items() if k != "cache_control"} for b in _blocks(m)]]
        for m in messages
    ]
    return json.dumps(bare, sort_keys=True).encode()
