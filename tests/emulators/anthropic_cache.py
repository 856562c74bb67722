"""Prefix-cache accounting like Anthropic's API: by blocks, breakpoints, minimum and age."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.emulators.streaming import IMAGE_TOKENS, count_tokens

Json = dict[str, Any]

_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
LOOKBACK = 20
"""How many blocks before a breakpoint are searched for an entry."""
MINIMUM = 1024
"""Tokens below which a prefix is not cached."""
TTL_SECONDS = {"5m": 300.0, "1h": 3600.0}


class PrefixCache:
    """The cached prefixes, and a request's cost with them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._entries: dict[bytes, tuple[float, float]] = {}
        """Prefix hash -> (expiry, lifetime)."""

    def account(self, measured: "Measured") -> Json:
        """Return the input side of `usage` for a request, and cache its prefixes."""
        now = self._clock()
        totals, hashes, points = measured.totals, measured.hashes, measured.points
        read = self._find(hashes, points, now)
        read_tokens = totals[read] if read >= 0 else 0
        if read >= 0:
            lifetime = self._entries[hashes[read]][1]
            self._entries[hashes[read]] = (now + lifetime, lifetime)
        written = {"5m": 0, "1h": 0}
        done = read_tokens
        for place, ttl in points:
            if totals[place] < MINIMUM:
                continue
            if totals[place] > done:
                written[ttl] += totals[place] - done
                done = totals[place]
            lifetime = TTL_SECONDS[ttl]
            self._entries[hashes[place]] = (now + lifetime, lifetime)
        return {
            "input_tokens": measured.tokens - done,
            "cache_read_input_tokens": read_tokens,
            "cache_creation_input_tokens": done - read_tokens,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written["5m"],
                "ephemeral_1h_input_tokens": written["1h"],
            },
        }

    def _find(self, hashes: list[bytes], points: list[tuple[int, str]], now: float) -> int:
        """Return the index of the longest cached prefix, or -1."""
        best = -1
        for point, _ in points:
            for place in range(point, max(point - LOOKBACK, best), -1):
                entry = self._entries.get(hashes[place])
                if entry is not None and entry[0] > now:
                    best = place
                    break
        return best


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A request's breakpoints, and the tokens and prefix hash up to the end of each block."""

    totals: list[int]
    hashes: list[bytes]
    points: list[tuple[int, str]]

    @property
    def tokens(self) -> int:
        """Tokens of all blocks."""
        return self.totals[-1] if self.totals else 0


def measure(body: Json) -> Measured:
    """Put a request's blocks in order and count them."""
    totals: list[int] = []
    hashes: list[bytes] = []
    points: list[tuple[int, str]] = []
    running = hashlib.sha256(str(body.get("model")).encode())
    tokens = 0
    for owner, block in _blocks(body):
        mark = block.get("cache_control")
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        text = owner + _ENCODE(bare)
        running.update(text.encode())
        tokens += IMAGE_TOKENS if bare.get("type") == "image" else count_tokens(text)
        if mark is not None:
            points.append((len(totals), mark.get("ttl", "5m")))
        totals.append(tokens)
        hashes.append(running.digest())
    return Measured(totals=totals, hashes=hashes, points=points)


def _blocks(body: Json) -> Iterator[tuple[str, Json]]:
    """Return every block in the API's order."""
    for tool in body.get("tools", ()):
        yield "tool", tool
    yield from (("system", block) for block in as_blocks(body.get("system", ())))
    for message in body.get("messages", ()):
        yield from ((message["role"], block) for block in as_blocks(message["content"]))


def as_blocks(content: Any) -> list[Json]:
    """Return content as blocks; a string stands for one text block."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
