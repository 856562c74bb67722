"""Word what the model is asked about a claim, and what the person reads if it claims it again."""

from collections.abc import Mapping

from agent_core.agent.claims.deeds import Kind
from agent_core.localization import Text
from agent_core.transcript import Message, TextPart, flatten

_START = "<facts>\nNo tool did this in this turn: "
_LONGEST_QUOTE = 300
_NOT_DONE: Mapping[Kind, Text] = {
    "job": Text("⚠ I wrote “{claim}”, but I haven't scheduled anything. Please ask me again."),
    "memory": Text(
        "⚠ I wrote “{claim}”, but I haven't saved or deleted anything. Please ask me again."
    ),
    "setting": Text("⚠ I wrote “{claim}”, but I haven't changed any setting. Please ask me again."),
    "message": Text("⚠ I wrote “{claim}”, but I haven't sent anything. Please ask me again."),
    "any": Text("⚠ I wrote “{claim}”, but I haven't done that. Please ask me again."),
}


def ask_again(claim: str) -> Message:
    """Ask the model to do what it claims, or to say that it is not done."""
    text = (
        f"{_START}“{flatten(claim, _LONGEST_QUOTE)}”. Do it now with a tool, ask for what is"
        " missing, or tell the person that it is not done. The person has read what stands above,"
        " and nothing that claims it; go on from there.\n</facts>"
    )
    return Message(role="user", parts=(TextPart(text=text, is_fact=True),))


def is_question(message: Message) -> bool:
    """True for a message that asks the model about a claim."""
    part = message.parts[0] if message.role == "user" and len(message.parts) == 1 else None
    return isinstance(part, TextPart) and part.is_fact and part.text.startswith(_START)


def correct(kind: Kind, claim: str) -> str:
    """Tell the person that what the model claims did not happen."""
    return _NOT_DONE[kind](claim=flatten(claim, _LONGEST_QUOTE))
