"""Takes the bot's own name out of what was said to it; pure."""

from collections.abc import Sequence

_BEFORE_WORDS = " \t,:"
_BEHIND_NAME = " .,:;!?\n"


def join_around_name(pieces: Sequence[str]) -> str:
    """The pieces of a text that stood around the bot's name, without the gaps it leaves."""
    text, *rest = pieces
    for piece in rest:
        if not text.strip():
            text = piece.lstrip(_BEFORE_WORDS)
        elif text[-1] == " " and (not piece or piece[0] in _BEHIND_NAME):
            text = text[:-1] + piece
        else:
            text += piece
    return text
