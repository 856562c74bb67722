"""Reader program: cleans and masks a long output.

It takes a JSON list of the forms of known secrets, a line break, and the output. It prints a line
of JSON about the clean output, and then the clean output itself.
"""

import json
import os
import sys
from dataclasses import asdict, dataclass

from agent_core.execution.subprocesses.confinement import confine_reader
from agent_core.tools.readers.limits import LIMITS
from agent_core.tools.secret_scan import SecretMask
from agent_core.transcript import strip_controls

_UNFINISHED = 500
"""Characters left out where an output was cut: a word may be all of it, but of a token, so many
are masked already.
"""
_NICENESS = 10
"""Somebody waits for the output, but everybody waits for the gateway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The work to do on a text. `errors` is how bytes are read that are not UTF-8.

    An `is_output` has no control characters and no white space at its end, and is no text if it has
    a NUL. A text longer than `head` and `tail` is reported by so many first and last characters.
    """

    head: int = 0
    tail: int = 0
    is_output: bool = False
    is_growing: bool = False
    errors: str = "strict"


def clean(data: bytes, order: Order, mask: SecretMask) -> tuple[dict[str, object], bytes]:
    """Return a report about a clean text, and all of it unless the report shows all of it.

    Data that is no text is returned as it is.
    """
    if order.is_output and b"\0" in data:
        return {"is_binary": True}, b""
    try:
        text = data.decode("utf-8", order.errors)
    except UnicodeDecodeError:
        return {"is_binary": True}, data
    if order.is_output:
        text = strip_controls(text).rstrip("\n")
    text = mask.hide_growing(text, most=_UNFINISHED) if order.is_growing else mask.hide(text)
    if len(text) <= order.head + order.tail:
        return {"head": text, "length": len(text)}, b""
    tail = text[len(text) - order.tail :]
    report: dict[str, object] = {"head": text[: order.head], "tail": tail, "length": len(text)}
    return report, text.encode("utf-8", "surrogatepass" if order.errors != "strict" else "strict")


def dump_order(order: Order) -> str:
    """Return an order as the program's argument."""
    return json.dumps(asdict(order))


if __name__ == "__main__":
    os.nice(_NICENESS)
    confine_reader(LIMITS)
    forms, _, given = sys.stdin.buffer.read().partition(b"\n")
    about, rest = clean(given, Order(**json.loads(sys.argv[1])), SecretMask.of(json.loads(forms)))
    sys.stdout.write(json.dumps(about) + "\n")
    sys.stdout.flush()
    sys.stdout.buffer.write(rest)
