"""Every sentence that the loop itself says to a model."""

from agent_core.budget import Exhausted
from agent_core.transcript import Message, TextPart

UNSURE = (
    "It is not known whether this call took effect: the process ended while it ran."
    " Check before repeating it."
)
"""The result of a call that a crash cut off and that must not simply be made again."""

_LIMITS: dict[Exhausted, str] = {
    "steps": "This turn has reached the number of steps it may take.",
    "tokens": "This turn has reached the number of tokens it may use.",
    "money": "This turn has reached the money it may cost.",
    "time": "This turn has reached the time it may take.",
}


def ask_for_summary(limit: Exhausted, circle: str) -> Message:
    """What leads the last call of a turn that has to end; `circle` says what went in circles."""
    why = circle or _LIMITS[limit]
    return _fact(
        f"{why} No tool is run any more in this turn. Tell the person in a few sentences what"
        " was done, what is left, and how to go on."
    )


def ask_for_answer() -> Message:
    """What follows an answer without words."""
    return _fact("Your answer held no words. Answer the person now.")


def _fact(sentence: str) -> Message:
    text = f"<facts>\n{sentence}\n</facts>"
    return Message(role="user", parts=(TextPart(text=text, is_fact=True),))
