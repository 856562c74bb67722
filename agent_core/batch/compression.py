"""Shorten a conversation to a limit of tokens: its head, its tail and its pairs stay whole. Pure.

A pair is a message with tool calls and the message with their results.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from agent_core.agent.replay.trajectories import Trajectory
from agent_core.models.contract import ModelRequest
from agent_core.models.token_estimate import estimate_input
from agent_core.transcript import Message, user_message

_TAIL = 3
"""Pieces at the end that stay: mostly the last two pairs and the answer."""

Piece = tuple[Message, ...]


def count_tokens(trajectory: Trajectory) -> int:
    """Estimate the tokens of a conversation with its prompt and tools."""
    return estimate_input(
        ModelRequest(
            model="",
            system=trajectory.system,
            tools=trajectory.tools,
            messages=trajectory.messages,
            max_output_tokens=0,
        )
    )


def compress(trajectory: Trajectory, most: int) -> Trajectory | None:
    """Leave out whole pieces from the middle, the oldest first, until the rest has `most` tokens.

    One line tells what is left out. None if head and tail alone are longer.
    """
    if count_tokens(trajectory) <= most:
        return trajectory
    pieces = split_pieces(trajectory.messages)
    head = _count_head(pieces)
    end = max(head, len(pieces) - _TAIL)
    for cut in range(head + 1, end + 1):
        shown = [*pieces[:head], (_tell(pieces[head:cut]),), *pieces[cut:]]
        shorter = replace(trajectory, messages=tuple(one for piece in shown for one in piece))
        if count_tokens(shorter) <= most:
            return shorter
    return None


def split_pieces(messages: Sequence[Message]) -> list[Piece]:
    """Split a conversation into pairs and single messages."""
    pieces: list[Piece] = []
    for message in messages:
        if message.role == "tool" and pieces and pieces[-1][-1].calls:
            pieces[-1] = (*pieces[-1], message)
        else:
            pieces.append((message,))
    return pieces


def _count_head(pieces: Sequence[Piece]) -> int:
    """Count the pieces of the head: all up to the first answer or pair of the model."""
    first = (n for n, piece in enumerate(pieces) if piece[0].role == "assistant")
    return next(first, len(pieces) - 1) + 1


def _tell(left_out: Sequence[Piece]) -> Message:
    calls = Counter(call.name for piece in left_out for call in piece[0].calls)
    names = ", ".join(f"{name} {count} times" for name, count in sorted(calls.items()))
    steps = "1 step is" if len(left_out) == 1 else f"{len(left_out)} steps are"
    return user_message(f"[{steps} left out here{f': {names}' if names else ''}.]")
