"""Outputs of any length are cleaned and masked while the event loop goes on with others."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from agent_core.tools.secret_scan import HIDDEN, SecretMask
from agent_core.tools.text_cleaner import MOST_AT_ONCE, TextCleaner
from tests.tables import await_each

SECRET = "canary-of-anna-0123456789"
HEAD, TAIL = 4_000, 6_000
MUCH = 8_000_000
PATIENCE = 120.0
"""Seconds for an output, also while other tests use the processors."""


def repeat(piece: bytes, size: int = MUCH) -> bytes:
    return piece * (size // len(piece))


NOISE = base64.b64encode(bytes(number * 7919 >> 3 & 255 for number in range(57 * 64)))
OUTPUTS: Mapping[str, bytes] = {
    "yes": repeat(b"y\n"),
    "one line": repeat(b"x"),
    "digits": repeat(b"1234567890"),
    "digits, then a line": repeat(b"7") + b" \n",
    "base64": repeat(NOISE),
    "wrapped base64": repeat(b"\n".join(NOISE[at : at + 76] for at in range(0, len(NOISE), 76))),
    "hex": repeat(b"00ffab12"),
    "beginnings of tokens": repeat(b"-eyJ"),
    "halves of tokens": repeat(b"eyJhbGciOiJub25lIn0.eyJhbGciOiJub25lIn0 "),
    "colours": repeat(b"\x1b[31mred\x1b[0m "),
    "open sequences": repeat(b"\x1b]0;"),
    "one open sequence": b"\x1b[" + repeat(b"0"),
    "carriage returns": repeat(b"10%\r"),
    "combining marks": repeat("a\u0301\u0323\u0308".encode()),
    "invisible": repeat("\u202e\u2066\u200b".encode()),
    "not UTF-8": repeat(b"\xff\xfe\xc3"),
    "tags": repeat(b"<<facts"),
    "JSON": repeat(json.dumps({"a": [1, 2, {"b": "c"}]}).encode()),
    "beginnings of keys": repeat(b"-----BEGIN A "),
    "AWS": repeat(b"aws_secret_access_key = "),
}


class WatchedMask(SecretMask):
    """A mask that notes how long the texts are that this process searches."""

    longest = 0

    def hide(self, text: str) -> str:
        self.longest = max(self.longest, len(text))
        return super().hide(text)


@asynccontextmanager
async def counting() -> AsyncIterator[list[int]]:
    """Count the rounds of the event loop that pass during the block."""
    rounds = [0]

    async def count() -> None:
        while True:
            rounds[0] += 1
            await asyncio.sleep(0)

    counter = asyncio.create_task(count())
    try:
        yield rounds
    finally:
        counter.cancel()


@pytest.mark.process
@pytest.mark.thorough
async def test_the_loop_goes_on_whatever_a_long_output_holds() -> None:
    async def check(name: str) -> None:
        mask = WatchedMask([SECRET])
        async with counting() as rounds:
            found = await TextCleaner(mask, seconds=PATIENCE).clean_output(
                OUTPUTS[name], head=HEAD, tail=TAIL
            )
        assert found.fault == ""
        assert mask.longest <= MOST_AT_ONCE
        assert rounds[0] > 100

    await await_each(OUTPUTS, check)


@pytest.mark.process
async def test_a_long_output_is_cleaned_elsewhere() -> None:
    mask = WatchedMask([SECRET])
    async with counting() as rounds:
        found = await TextCleaner(mask).clean_output(OUTPUTS["yes"], head=HEAD, tail=TAIL)
    assert mask.longest <= MOST_AT_ONCE
    assert rounds[0] > 100, "others had their turns"
    assert (found.head, found.tail) == ("y\n" * (HEAD // 2), "\ny" * (TAIL // 2))
    assert (found.length, found.data) == (MUCH - 1, OUTPUTS["yes"].rstrip(b"\n"))


@pytest.mark.process
@pytest.mark.parametrize("size", [20_000, MOST_AT_ONCE + 20_000], ids=["short", "long"])
async def test_no_border_cuts_a_secret_out_of_its_mask(size: int) -> None:
    """A secret that lies across the end of what is shown, or across the end of the output."""

    async def leak(output: str, *, is_growing: bool = False) -> list[str]:
        cleaner = TextCleaner(SecretMask([SECRET]))
        found = await cleaner.clean_output(
            output.encode(), head=HEAD, tail=TAIL, is_growing=is_growing
        )
        shown = (found.head, found.tail, found.data.decode())
        return [text for text in shown if SECRET[:8] in text or SECRET[-8:] in text]

    for offset in range(0, len(SECRET) + 1, 5):
        before = "a " * (HEAD // 2 - len(SECRET)) + "-" * offset
        assert await leak(f"{before}{SECRET} {'b ' * (size // 2)}") == []
        after = " " + "-" * offset + " c" * ((TAIL - len(SECRET)) // 2)
        assert await leak(f"{'b ' * (size // 2)}{SECRET}{after}") == []
    cut = SECRET[:16]
    assert await leak("a " * (size // 2) + cut, is_growing=True) == []


@pytest.mark.process
async def test_a_long_output_reads_like_a_short_one() -> None:
    cleaner = TextCleaner(SecretMask([SECRET]))
    rows = {
        "colours": b"\x1b[31mred\x1b[0m \x07x",
        "lines": b"a\r\nb\rc\x85",
        "broken": b"\xff\xc3(",
        "secret": f"a {SECRET} b".encode(),
        "wrapped secret": f"{SECRET[:9]}\n{SECRET[9:]} b".encode(),
        "shape": b"a ghp_abcdefghijklmnopqrstuvwxyz0123456789 b",
    }

    async def check(name: str) -> None:
        row = rows[name]
        short = await cleaner.clean_output(row, head=HEAD, tail=TAIL)
        filler = b"word " * MOST_AT_ONCE
        long = await cleaner.clean_output(filler + row, head=HEAD, tail=TAIL)
        assert short.head == long.data.decode().removeprefix(filler.decode())
        assert SECRET not in short.head

    await await_each(rows, check)


@pytest.mark.process
async def test_long_texts_and_files_are_masked_elsewhere_too() -> None:
    mask = WatchedMask([SECRET])
    cleaner = TextCleaner(mask)
    text = f"wörter \ud800 {SECRET} " * 10_000
    assert await cleaner.hide(text) == text.replace(SECRET, HIDDEN)
    data = f"wörter {SECRET} ".encode() * 10_000
    assert await cleaner.hide_in_file(data) == data.replace(SECRET.encode(), HIDDEN.encode())
    picture = b"\x89PNG\xff\0" * 10_000
    assert await cleaner.hide_in_file(picture) == picture
    assert (await cleaner.clean_output(picture, head=HEAD, tail=TAIL)).is_binary
    assert mask.longest == 0


def test_masking_takes_time_that_grows_with_the_length_only() -> None:
    """The first row took an hour, the others some minutes, when each step read the rest again."""
    mask = SecretMask([SECRET])
    for row in ("-eyJ" * 250_000 + " .", "7" * 1_000_000 + " .", "=/" * 500_000 + " ."):
        assert mask.hide_growing(row).startswith(row[:1000])
