"""Clean and mask texts of any length without holding up the event loop.

A regular expression keeps Python's lock for its whole run, so even a thread would hold up
everybody. A short text is cleaned at once, and a longer one by a program of its own.
"""

import json
import logging
from dataclasses import dataclass
from typing import Any

from agent_core.tools.readers.faults import ReaderFailed
from agent_core.tools.readers.output_reader import Order, clean, dump_order
from agent_core.tools.readers.pool import ReaderCommand, ReaderPool
from agent_core.tools.secret_scan import SecretMask

MOST_AT_ONCE = 32_000
"""Bytes that the event loop cleans itself, in about 4 ms; starting a program takes 50 ms."""
_SECONDS = 20.0
_PROGRAM = "agent_core.tools.readers.output_reader"
_GROWTH = 4
"""A byte that is not UTF-8 becomes three, and a short secret becomes a longer mark."""
_REPORT = 1_000_000
"""Bytes of a report: the characters that are shown, as JSON."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanOutput:
    """A clean output: its length in characters, and its first and last ones.

    `data` is all of it as UTF-8 if it is longer than these. `fault` is a sentence that stands for
    an output that can't be shown, or "".
    """

    head: str = ""
    tail: str = ""
    length: int = 0
    is_binary: bool = False
    data: bytes = b""
    fault: str = ""


class TextCleaner:
    """Cleans and masks outputs, texts and files; `mask` knows the secrets.

    A text that takes longer than `seconds` is not shown.
    """

    def __init__(self, mask: SecretMask, *, seconds: float = _SECONDS) -> None:
        self.mask = mask
        self._readers = ReaderPool(seconds=seconds)

    async def clean_output(
        self, output: bytes, *, head: int, tail: int, is_growing: bool = False
    ) -> CleanOutput:
        """Return an output without control characters and secrets.

        `head` and `tail` are the characters shown of a longer one. The end of an output that
        `is_growing` is left out if it may begin a secret. An output that can't be cleaned is not
        shown.
        """
        order = Order(head=head, tail=tail, is_output=True, is_growing=is_growing, errors="replace")
        try:
            report, data = await self._clean(output, order)
        except ReaderFailed as error:
            return CleanOutput(fault=_describe(f"output of {len(output):,} bytes", error))
        return CleanOutput(**report, data=data)

    async def hide(self, text: str) -> str:
        """Return a text without secrets; a note stands for a text that can't be searched."""
        if len(text) <= MOST_AT_ONCE:
            return self.mask.hide(text)
        order = Order(errors="surrogatepass")
        try:
            _, data = await self._clean(text.encode("utf-8", order.errors), order)
        except ReaderFailed as error:
            return _describe(f"text of {len(text):,} characters", error)
        return data.decode("utf-8", order.errors)

    async def hide_in_file(self, data: bytes) -> bytes:
        """Return a file without secrets; one that is no UTF-8 text stays as it is.

        A note stands for a text that can't be searched.
        """
        try:
            _, masked = await self._clean(data, Order())
        except ReaderFailed as error:
            return _describe(f"file of {len(data):,} bytes", error).encode()
        return masked

    async def _clean(self, data: bytes, order: Order) -> tuple[dict[str, Any], bytes]:
        if len(data) <= MOST_AT_ONCE:
            return clean(data, order, self.mask)
        said = await self._readers.run(
            ReaderCommand(
                program=_PROGRAM,
                arguments=(dump_order(order),),
                data=b"".join((json.dumps(self.mask.forms).encode(), b"\n", data)),
                seconds=self._readers.seconds,
                most_bytes=_GROWTH * len(data) + _REPORT,
                has_packages=False,
            )
        )
        report, _, rest = said.partition(b"\n")
        return json.loads(report), rest


def _describe(what: str, error: ReaderFailed) -> str:
    _log.error("the %s is not shown: %s", what, error)
    return f"[The {what} can't be shown: {error}.]"
