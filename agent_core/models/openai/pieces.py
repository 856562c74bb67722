"""Tell pieces of words that each hold all before them from ordinary ones; pure."""


class Pieces:
    """The words of one answer.

    Some servers send all words so far in each piece. A second piece that begins with the first may
    be chance, so it waits for the third.
    """

    def __init__(self) -> None:
        self._said = ""
        self._waiting = ""
        self._is_cumulative: bool | None = None

    @property
    def has_begun(self) -> bool:
        """True once there are words."""
        return bool(self._said)

    def feed(self, piece: str) -> str:
        """Take a piece; return the words that it surely adds."""
        if self._is_cumulative is False or not piece:
            return piece
        if not self._said:
            self._said = piece
            return piece
        last = self._waiting or self._said
        repeats = piece.startswith(last) and len(piece) > len(last)
        if self._is_cumulative:
            return self._add(piece)
        if repeats and not self._waiting:
            self._waiting = piece
            return ""
        self._is_cumulative = repeats
        if repeats:
            return self._add(piece)
        waiting, self._waiting = self._waiting, ""
        return waiting + piece

    def finish(self) -> str:
        """Return the words that still wait."""
        waiting, self._waiting = self._waiting, ""
        return waiting

    def _add(self, piece: str) -> str:
        """Return what a piece adds to the words so far."""
        self._waiting = ""
        if not piece.startswith(self._said):
            return ""  # a piece once more
        added, self._said = piece[len(self._said) :], piece
        return added
