"""What was found is taken out in small strokes, so that nobody waits long behind one."""

from agent_core.ids import InboxId, MessageId
from agent_core.privacy.erasure.search import Found


def test_pieces_are_small_and_hold_everything_once() -> None:
    found = Found(
        changes=tuple(range(7)),
        events=tuple(InboxId(number) for number in range(3)),
        messages=(MessageId(1),),
        keys=("a", "b"),
    )
    pieces = list(found.cut(3))
    assert [len(piece.changes) for piece in pieces] == [3, 3, 1]
    assert [row for piece in pieces for row in piece.changes] == list(range(7))
    assert [row for piece in pieces for row in piece.events] == [0, 1, 2]
    assert [row for piece in pieces for row in piece.messages] == [1]
    assert [key for piece in pieces for key in piece.keys] == ["a", "b"]


def test_nothing_found_is_one_piece() -> None:
    assert list(Found().cut(3)) == [Found()]
