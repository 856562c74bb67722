"""Messages of the program around the model's code, one per line; all are untrusted."""

import json
from dataclasses import dataclass

_LONGEST_LINE = 2_000_000
"""Bytes of a line; a call in a longer line would be too long for any tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOutput:
    """More output of the code."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeCall:
    """A call that the code makes. `arguments` is JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeEnd:
    """The end of the code, with its exit status; a negative status is the signal that ended it."""

    status: int


Frame = CodeOutput | CodeCall | CodeEnd


class FrameReader:
    """Parses frames from pieces of a stream; anything else counts as output."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, piece: bytes) -> list[Frame]:
        """Return the frames that a piece completes; an empty piece ends the stream."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        if not piece or len(self._rest) > _LONGEST_LINE:
            lines, self._rest = [*lines, self._rest], b""
        return [_read(line) for line in lines if line]


def _read(line: bytes) -> Frame:
    text = line.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    match value:
        case {"output": str(shown)}:
            return CodeOutput(text=shown)
        case {"call": str(name), "arguments": dict(arguments)}:
            return CodeCall(name=name, arguments=json.dumps(arguments))
        case {"status": int(status)}:
            return CodeEnd(status=status)
    return CodeOutput(text=f"{text}\n")
